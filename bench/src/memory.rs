//! What a million kept calls take, in a process of its own: its memory before and after.

use std::{
    path::Path,
    process::{Command, ExitCode},
};

use server_runtime::{CallLimits, EngineOptions};

use crate::app;

/// The word with which this program is that process.
pub(crate) const CHILD: &str = "memory-of-kept-calls";

/// The resident MiB of a process that keeps all calls of the log in that directory, less what it
/// has with an empty log.
pub(crate) fn measure(dir: &Path) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program).arg(CHILD).arg(dir).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let bytes: Result<f64, _> = text.trim().parse();
    let bytes = bytes.map_err(|_| format!("{text}{}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(bytes / f64::from(1 << 20))
}

/// The process: prints the bytes.
pub(crate) fn child(dir: &Path) -> ExitCode {
    match keep(dir) {
        Ok(bytes) => {
            println!("{bytes}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn keep(dir: &Path) -> Result<u64, String> {
    let before = resident()?;
    let calls = CallLimits {
        most_kept: u32::MAX,
        most_kept_bytes: u64::MAX,
        most_bytes: u64::MAX,
        ..CallLimits::default()
    };
    let options = EngineOptions {
        calls,
        ..EngineOptions::default()
    };
    let engine = app::engine(dir, options)?;
    let after = resident()?;
    let kept = engine.stats().calls.kept;
    if kept < crate::cases::MILLION {
        return Err(format!("only {kept} calls are kept"));
    }
    Ok(after.saturating_sub(before))
}

/// The bytes of this process that are in memory.
fn resident() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| "no VmRSS".into())
}
