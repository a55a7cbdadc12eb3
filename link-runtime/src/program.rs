//! The file of this program: a process that a server refuses for its build waits for another one.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime},
};

use tokio::time::sleep;

/// How often it is looked whether there is another file.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The program that this process runs, as its file was when this was made: make it at the start.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    args: Vec<OsString>,
    was: Option<Stamp>,
}

/// What tells a file from another one under the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    length: u64,
    changed: Option<SystemTime>,
    #[cfg(unix)]
    inode: u64,
}

impl Program {
    /// The program of this process, with its arguments.
    ///
    /// # Errors
    /// When the system does not say where its file is.
    pub fn of_this_process() -> io::Result<Self> {
        let path = env::current_exe()?;
        Ok(Self {
            was: stamp(&path),
            path,
            args: env::args_os().skip(1).collect(),
        })
    }

    /// Where its file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the arguments with which the next one runs, in place of those of this process: so it
    /// goes on where this one is.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(|arg| arg.as_ref().into()).collect();
        self
    }

    /// Returns when there is another file in its place, which has not changed for a second: it is
    /// whole.
    ///
    /// # Cancel safety
    /// It may be dropped and asked again.
    pub async fn replaced(&self) {
        let mut before = self.was.clone();
        loop {
            sleep(LOOK_EVERY).await;
            let now = stamp(&self.path);
            if now.is_some() && now != self.was && now == before {
                return;
            }
            before = now;
        }
    }

    /// Runs the file in place of this process: the same process ID, and the same input, output and
    /// environment. What is in memory goes. Returns only when that fails.
    pub fn run(&self) -> io::Error {
        let mut command = Command::new(&self.path);
        command.args(&self.args);
        #[cfg(unix)]
        return std::os::unix::process::CommandExt::exec(&mut command);
        #[cfg(not(unix))]
        return io::Error::new(
            io::ErrorKind::Unsupported,
            "this system runs no program in place of another: start it again",
        );
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let file = fs::metadata(path).ok()?;
    Some(Stamp {
        length: file.len(),
        changed: file.modified().ok(),
        #[cfg(unix)]
        inode: std::os::unix::fs::MetadataExt::ino(&file),
    })
}
