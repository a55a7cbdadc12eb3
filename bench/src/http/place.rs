//! Where a server lives: a directory on a real disk, free ports, and processes that end with
//! their owner.

use std::{
    fs::File,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    fs::FsWord,
    process::{Pid, Signal},
};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// What `statfs` says of file systems in memory: tmpfs and ramfs.
const IN_MEMORY: [FsWord; 2] = [0x0102_1994, 0x8584_58f6];
/// How long a process may take to end before it is killed.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// A new directory. Where the usual place for them is in memory it is below the target directory:
/// a sync has to reach a disk.
pub(crate) fn directory() -> Result<TempDir, String> {
    let usual = std::env::temp_dir();
    let usual = if is_on_disk(&usual)? { usual } else { target() };
    if !is_on_disk(&usual)? {
        return Err(format!("{} is not on a disk", usual.display()));
    }
    let made = tempfile::Builder::new().prefix("bench-").tempdir_in(usual);
    made.map_err(|error| error.to_string())
}

fn is_on_disk(dir: &Path) -> Result<bool, String> {
    let found = rustix::fs::statfs(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    Ok(!IN_MEMORY.contains(&found.f_type))
}

/// Where the benchmark is built.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target")
}

/// A listener on a free port of the loopback.
pub(crate) async fn listener() -> Result<(TcpListener, SocketAddr), String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.map_err(|error| error.to_string())?;
    let at = listener.local_addr().map_err(|error| error.to_string())?;
    Ok((listener, at))
}

/// Addresses on the loopback that are free now, all different.
pub(crate) async fn free<const N: usize>() -> Result<[SocketAddr; N], String> {
    let mut listeners = Vec::new();
    let mut free = [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)); N];
    for free in &mut free {
        let (listener, at) = listener().await?;
        listeners.push(listener);
        *free = at;
    }
    Ok(free)
}

/// A process of somebody else's program. It is asked to end when this goes, and killed when it
/// does not.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    ends_by: Signal,
    log: PathBuf,
}

impl Process {
    /// Starts it; what it says goes into a file.
    pub(crate) fn start(
        command: &mut Command,
        ends_by: Signal,
        log: PathBuf,
    ) -> Result<Self, String> {
        let told = |error: std::io::Error| format!("{:?}: {error}", command.get_program());
        let out = File::create(&log).map_err(told)?;
        let err = out.try_clone().map_err(told)?;
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        let child = command.spawn();
        let child = child.map_err(|error| format!("{:?}: {error}", command.get_program()))?;
        Ok(Self {
            child,
            ends_by,
            log,
        })
    }

    /// Why it is not up, for a person: with the end of what it said.
    pub(crate) fn not_up(&mut self, why: &str) -> String {
        let said = std::fs::read_to_string(&self.log).unwrap_or_default();
        let last: Vec<&str> = said.lines().rev().take(3).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        let ended = match self.child.try_wait() {
            Ok(Some(status)) => format!("it ended with {status}"),
            _ => "it does not answer".into(),
        };
        format!("{ended}: {why}: {}", last.join(" / "))
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.has_ended() {
            return;
        }
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // One that has ended meanwhile needs no signal.
            let _ = rustix::process::kill_process(pid, self.ends_by);
        }
        let began = Instant::now();
        while began.elapsed() < ENDS_WITHIN {
            if self.has_ended() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
