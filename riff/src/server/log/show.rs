//! `riff-server log show` and `export`: the records of a log, those that are there and those that
//! come.

use std::{
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use clap::Args;
use riff_link::{
    CallId, Caller, Position,
    server::log::{self, Logged},
};

use super::text;
use crate::{
    output,
    server::{place, stop::Stop},
};

/// How often a log is looked at for what came.
const LOOK_EVERY: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(super) struct Wanted {
    /// The directory of the server.
    #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
    dir: PathBuf,
    /// Only records from this position on.
    #[arg(long, value_name = "POSITION", default_value_t = 0)]
    from: u64,
    /// Only records of calls of this caller.
    #[arg(long, value_name = "CALLER")]
    caller: Option<Caller>,
    /// Only records of this call.
    #[arg(long, value_name = "CALL")]
    call: Option<CallId>,
    /// One JSON object a record.
    #[arg(long)]
    json: bool,
    /// Go on with each record as it is written, until Ctrl-C.
    #[arg(long, short)]
    follow: bool,
}

impl Wanted {
    fn wants(&self, record: &Logged) -> bool {
        if record.position < Position(self.from) {
            return false;
        }
        let Some(call) = record.call() else {
            return self.caller.is_none() && self.call.is_none();
        };
        self.caller.as_ref().is_none_or(|caller| call.by == *caller)
            && self.call.as_ref().is_none_or(|id| call.call == *id)
    }
}

pub(super) fn show(options: &Wanted) -> Result<(), Stop> {
    place::there(&options.dir)?;
    let mut next = Position(options.from.max(1));
    loop {
        next = pass(options, next)?;
        if !options.follow {
            return Ok(());
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Shows what is there from a position on; gives the position after it.
fn pass(options: &Wanted, from: Position) -> Result<Position, Stop> {
    output::bulk(|out| {
        let mut next = from;
        for record in log::read_from(&options.dir, from).map_err(|error| Stop::of(&error))? {
            let record = record.map_err(|error| Stop::of(&error))?;
            next = record.position.next();
            if !options.wants(&record) {
                continue;
            }
            if options.json {
                writeln!(out, "{}", text::object(record))?;
            } else {
                writeln!(out, "{}", text::line(&record))?;
            }
        }
        Ok(next)
    })
}

pub(super) fn export(dir: &Path) -> Result<(), Stop> {
    place::there(dir)?;
    output::bulk(|out| {
        for record in log::read(dir).map_err(|error| Stop::of(&error))? {
            let record = record.map_err(|error| Stop::of(&error))?;
            writeln!(out, "{}", text::object(record))?;
        }
        Ok(())
    })
}
