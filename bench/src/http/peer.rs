//! A server as a process: this program again, which tells its address and ends when its input
//! does, so that none outlives the benchmark.

use std::{
    any::Any,
    io::{BufRead as _, BufReader, Read as _},
    net::SocketAddr,
    os::unix::process::CommandExt as _,
    process::{Child, ChildStdin, Command, ExitCode, Stdio},
};

use super::{CHILD, client::Dialect, ours, postgres, restate, sqlite};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Ours,
    NotDurable,
    Sqlite,
    Postgres,
    Restate,
}

/// A server that listens; what it needs is given up when `held` goes.
pub(crate) struct Up {
    pub(crate) at: SocketAddr,
    pub(crate) held: Box<dyn Any>,
}

impl Peer {
    /// All but ours.
    pub(crate) const OTHERS: [Self; 4] = [
        Self::NotDurable,
        Self::Sqlite,
        Self::Postgres,
        Self::Restate,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::NotDurable => "not durable",
            Self::Sqlite => "axum + SQLite",
            Self::Postgres => "axum + PostgreSQL",
            Self::Restate => "Restate",
        }
    }

    /// The largest ratio of our time through the other's that is as it should be.
    pub(crate) fn goal(self, in_flight: usize) -> f64 {
        match self {
            Self::Ours => 1.0,
            Self::NotDurable if in_flight >= 256 => 1.0 / 0.97,
            Self::NotDurable => 1.0 / 0.9,
            Self::Sqlite => 0.25,
            Self::Postgres | Self::Restate => 0.20,
        }
    }

    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::Ours | Self::NotDurable => Dialect::Riff,
            Self::Sqlite | Self::Postgres => Dialect::Key,
            Self::Restate => Dialect::Restate,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::NotDurable => "not-durable",
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Restate => "restate",
        }
    }

    async fn serve(self) -> Result<Up, String> {
        match self {
            Self::Ours => ours::durable().await,
            Self::NotDurable => ours::not_durable().await,
            Self::Sqlite => sqlite::serve().await,
            Self::Postgres => postgres::serve().await,
            Self::Restate => restate::serve().await,
        }
    }
}

/// The process of a server, seen from the benchmark.
#[derive(Debug)]
pub(crate) struct Running {
    process: Child,
    /// Open as long as the process is to run.
    input: Option<ChildStdin>,
    at: SocketAddr,
}

impl Running {
    /// Starts it, and returns when it listens.
    pub(crate) fn start(peer: Peer) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut process = Command::new(program)
            .args([CHILD, peer.word()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // What interrupts the benchmark does not end it before it has put its things away.
            .process_group(0)
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            // What cannot be read shows as a line that names no address.
            let _ = BufReader::new(output).read_line(&mut line);
        }
        let input = process.stdin.take();
        let at = line.trim().strip_prefix("at ").map(str::parse);
        let Some(Ok(at)) = at else {
            drop(input);
            let _ = process.wait();
            let why = line.trim().strip_prefix("no ");
            return Err(why
                .unwrap_or("its process ended and did not say why")
                .into());
        };
        Ok(Self { process, input, at })
    }

    pub(crate) fn at(&self) -> SocketAddr {
        self.at
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.input = None;
        // It ends what it started, and then itself.
        let _ = self.process.wait();
    }
}

/// The process: serves until its input ends.
pub(crate) fn child(name: &str) -> ExitCode {
    match serve(name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("no {}", why.replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

fn serve(name: &str) -> Result<(), String> {
    let all = [Peer::Ours].into_iter().chain(Peer::OTHERS);
    let peer = all.into_iter().find(|peer| peer.word() == name);
    let peer = peer.ok_or("no server has this name")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let up = runtime.block_on(peer.serve())?;
    println!("at {}", up.at);
    let mut rest = Vec::new();
    // An input that cannot be read has ended.
    let _ = std::io::stdin().read_to_end(&mut rest);
    drop(up.held);
    runtime.shutdown_background();
    Ok(())
}
