//! A start in a process of its own, as a server starts: how long it takes, and what it holds.

use std::{
    path::Path,
    process::{Command, ExitCode},
    time::Instant,
};

use server_runtime::{CallLimits, EngineOptions};

use crate::app;

/// The word with which this program is that process; then `all` or `some` of the calls are kept.
pub(crate) const CHILD: &str = "start-in-a-fresh-process";

/// What a start came to.
pub(crate) struct Started {
    pub(crate) seconds: f64,
    /// The resident bytes of the process, less those before.
    pub(crate) bytes: f64,
    /// The calls whose replies are kept.
    pub(crate) kept: u64,
    /// The position of the checkpoint from which it began; 0 for none.
    pub(crate) checkpoint: u64,
}

/// Starts an engine over the log in a directory, which keeps all calls, or as many as engines do.
pub(crate) fn start(dir: &Path, keeps_all: bool) -> Result<Started, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let keeps = if keeps_all { "all" } else { "some" };
    let output = Command::new(program).args([CHILD, keeps]).arg(dir).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().flat_map(str::parse).collect();
    let &[seconds, bytes, kept, checkpoint] = numbers.as_slice() else {
        return Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    };
    Ok(Started {
        seconds,
        bytes,
        kept: kept as u64,
        checkpoint: checkpoint as u64,
    })
}

/// The process: prints the numbers.
pub(crate) fn child(keeps: &str, dir: &Path) -> ExitCode {
    match begin(keeps == "all", dir) {
        Ok(numbers) => {
            println!("{numbers}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn begin(keeps_all: bool, dir: &Path) -> Result<String, String> {
    let mut options = EngineOptions::default();
    if keeps_all {
        options.calls = CallLimits {
            most_kept: u32::MAX,
            most_kept_bytes: u64::MAX,
            most_bytes: u64::MAX,
            ..CallLimits::default()
        };
    }
    let before = resident()?;
    let began = Instant::now();
    let engine = app::engine(dir, options)?;
    let seconds = began.elapsed().as_secs_f64();
    let bytes = resident()?.saturating_sub(before);
    let kept = engine.stats().calls.kept;
    let checkpoint = engine.opened().checkpoint.map_or(0, |at| at.0);
    Ok(format!("{seconds} {bytes} {kept} {checkpoint}"))
}

/// The bytes of this process that are in memory.
fn resident() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| "no VmRSS".into())
}
