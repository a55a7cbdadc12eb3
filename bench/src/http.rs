//! A durable command over HTTP: ours beside other servers that run a command once.
//!
//! Each server is a process of its own, with its data on a disk, and answers the same command: a
//! small JSON body and a key. All run the whole time; in a round they are loaded one after the
//! other, by one client that is the same for all.
//!
//! The commands go to a hundred threads in turn. In a single one PostgreSQL would hold the row of
//! the counter until its commit is on the disk, and Restate would run one call at a time: that
//! would compare locks. Ours and SQLite do not care.
//!
//! | module | what |
//! |---|---|
//! | `client` | a connection, and a load of so many of them |
//! | `peer` | a server as a process: how it starts, tells its address and ends |
//! | `place` | directories on a real disk, free ports, processes that end with their owner |
//! | `ours` | the server of this project, over files or over memory |
//! | `table` | what an axum server with an idempotency table does, past the database |
//! | `sqlite`, `postgres` | that table in a database |
//! | `restate` | a virtual object behind Restate |

use std::{process::ExitCode, sync::Arc, time::Duration};

use crate::row::Rounds;

use self::{
    client::Target,
    peer::{Peer, Running},
};

mod client;
mod ours;
mod peer;
mod place;
mod postgres;
mod restate;
mod sqlite;
mod table;

/// The word with which this program is one of the servers.
pub(crate) const CHILD: &str = "server-over-http";

/// The process of a server.
pub(crate) fn child(name: &str) -> ExitCode {
    peer::child(name)
}

/// A server that runs, and what was measured of it.
struct Side {
    peer: Peer,
    target: Arc<Target>,
    /// Calls a second, a round each.
    rates: Vec<f64>,
    /// Ends the process when it goes.
    _running: Running,
}

/// Runs the case, and gives each row as soon as it is there. A peer that does not start is told
/// on stderr and left out; ours has to start.
pub(crate) fn run(quick: bool, say: impl Fn(Rounds)) -> Result<(), String> {
    // One thread: a load of more would take the cores from what is measured.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let mut ours = start(Peer::Ours)?;
    let mut others = Vec::new();
    for peer in Peer::OTHERS {
        match start(peer) {
            Ok(side) => others.push(side),
            Err(why) => eprintln!("{} is missing: {why}", peer.title()),
        }
    }
    let rounds = if quick { 2 } else { 5 };
    let warm = Duration::from_millis(if quick { 30 } else { 250 });
    let within = Duration::from_millis(if quick { 150 } else { 1_500 });
    for side in std::iter::once(&ours).chain(&others) {
        let first = async {
            side.target.check().await?;
            // What is made at the first calls only: pools, caches, the partitions of Restate.
            side.target.load(64, warm, within).await
        };
        runtime.block_on(first).map_err(|why| side.told(&why))?;
    }
    for in_flight in [1, 16, 64, 256] {
        for _ in 0..rounds {
            for side in std::iter::once(&mut ours).chain(&mut others) {
                let load = side.target.load(in_flight, warm, within);
                let rate = runtime.block_on(load).map_err(|why| side.told(&why))?;
                side.rates.push(rate);
            }
        }
        let mine = std::mem::take(&mut ours.rates);
        for side in &mut others {
            let theirs = std::mem::take(&mut side.rates);
            say(Rounds {
                case: format!("durable command over HTTP / {}", side.peer.title()),
                in_flight,
                unit: "1/s",
                rounds: mine.iter().copied().zip(theirs).collect(),
                more_is_better: true,
                goal: side.peer.goal(in_flight),
            });
        }
    }
    Ok(())
}

fn start(peer: Peer) -> Result<Side, String> {
    let running = Running::start(peer)?;
    Ok(Side {
        peer,
        target: Arc::new(Target::new(running.at(), peer.dialect())),
        rates: Vec::new(),
        _running: running,
    })
}

impl Side {
    fn told(&self, why: &str) -> String {
        format!("{}: {why}", self.peer.title())
    }
}
