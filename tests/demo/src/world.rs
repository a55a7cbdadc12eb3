//! The world of one run: a directory that goes away, and the real server as a process.

use std::{
    fs::File,
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

/// How long a start may take. A debug build on a slow machine needs a part of it.
const START: Duration = Duration::from_secs(30);
/// How long a stop may take; the server promises ten seconds.
const STOP: Duration = Duration::from_secs(15);

/// A directory for one server, and where its program is.
#[derive(Debug)]
pub struct World {
    program: PathBuf,
    dir: TempDir,
    /// More words for `serve`.
    serve: Vec<String>,
}

/// A server that runs. It is killed when this is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: SocketAddr,
    /// Held open: a server whose standard output is gone could stop at a later line.
    _lines: Lines<BufReader<ChildStdout>>,
}

impl World {
    /// A fresh directory for the server at `program`.
    ///
    /// # Errors
    /// There is no such program, or no room for a directory.
    pub fn new(program: Option<PathBuf>) -> Result<Self, String> {
        let program = program.map_or_else(beside, Ok)?;
        if !program.exists() {
            return Err(format!(
                "there is no server at {}: build it with `cargo build -p riff`, or name it with \
                 --server",
                program.display()
            ));
        }
        let dir = tempfile::Builder::new().prefix("riff-demo-").tempdir();
        let dir = dir.map_err(|error| format!("no temporary directory: {error}"))?;
        Ok(Self {
            program,
            dir,
            serve: Vec::new(),
        })
    }

    /// The same, and each start of the server gets these words, too.
    #[must_use]
    pub fn serve_with(mut self, words: &[&str]) -> Self {
        self.serve = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// Where the server has its log.
    pub fn dir(&self) -> PathBuf {
        self.dir.path().join("server")
    }

    /// Makes a token for a caller, as a person would.
    ///
    /// # Errors
    /// What the program says.
    pub async fn token(&self, caller: &str) -> Result<String, String> {
        let output = self
            .command("token")
            .arg(caller)
            .output()
            .await
            .map_err(|error| cannot_run(&error))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(format!("no token for {caller}: {why}"));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Starts the server and waits until it listens.
    ///
    /// # Errors
    /// It does not listen in time; with the last lines that it said.
    pub async fn start(&self) -> Result<Server, String> {
        let talk = self.dir.path().join("server.txt");
        let log = File::options().create(true).append(true).open(&talk);
        let log = log.map_err(|error| format!("no file for what the server says: {error}"))?;
        let mut child = self
            .command("serve")
            .args(["--listen", "127.0.0.1:0"])
            .args(&self.serve)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| cannot_run(&error))?;
        let stdout = child
            .stdout
            .take()
            .ok_or("the server has no standard output")?;
        let mut lines = BufReader::new(stdout).lines();
        let first = timeout(START, lines.next_line()).await;
        let address = match first {
            Ok(Ok(Some(line))) => line
                .strip_prefix("listening on ")
                .and_then(|a| a.parse().ok()),
            _ => None,
        };
        match address {
            Some(address) => Ok(Server {
                child,
                address,
                _lines: lines,
            }),
            None => Err(format!("the server did not start: {}", last_lines(&talk))),
        }
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(name).arg("--dir").arg(self.dir());
        command
    }
}

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Kills it at once (SIGKILL), as a power switch would.
    ///
    /// # Errors
    /// The system refuses.
    pub async fn kill(mut self) -> Result<(), String> {
        self.child
            .kill()
            .await
            .map_err(|error| format!("the server cannot be killed: {error}"))
    }

    /// Asks it to stop (SIGTERM) and waits until it has.
    ///
    /// # Errors
    /// It does not end in time, or has ended before.
    pub async fn stop(mut self) -> Result<ExitStatus, String> {
        let pid = self
            .child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        let Some(pid) = pid else {
            return Err("the server has ended by itself".to_owned());
        };
        kill_process(pid, Signal::TERM)
            .map_err(|error| format!("the server cannot be stopped: {error}"))?;
        match timeout(STOP, self.child.wait()).await {
            Ok(Ok(status)) => Ok(status),
            Ok(Err(error)) => Err(format!("the end of the server is not known: {error}")),
            Err(_) => Err(format!(
                "the server did not stop within {} s",
                STOP.as_secs()
            )),
        }
    }
}

/// The server that was built with this program.
fn beside() -> Result<PathBuf, String> {
    let demo = std::env::current_exe().map_err(|error| format!("where am I? {error}"))?;
    Ok(demo.with_file_name(format!("riff-server{}", std::env::consts::EXE_SUFFIX)))
}

fn cannot_run(error: &io::Error) -> String {
    format!("the server cannot be run: {error}")
}

fn last_lines(talk: &Path) -> String {
    let text = std::fs::read_to_string(talk).unwrap_or_default();
    let lines: Vec<&str> = text.lines().rev().take(5).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("; ")
}
