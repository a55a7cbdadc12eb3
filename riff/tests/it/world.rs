//! A server process on a free port, and the client beside it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    mem,
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Output, Stdio},
};

/// A directory of a server, and one of what its callers owe. They go when the value does.
pub(crate) struct Dir {
    dir: tempfile::TempDir,
    outbox: tempfile::TempDir,
}

impl Dir {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            outbox: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn outbox(&self) -> &Path {
        self.outbox.path()
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn token(&self, caller: &str) -> String {
        let output = server()
            .arg("token")
            .arg(caller)
            .arg("--dir")
            .arg(self.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).trim().to_owned()
    }

    pub(crate) fn log(&self) -> Vec<serde_json::Value> {
        let output = server()
            .args(["log", "--json", "--dir"])
            .arg(self.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The one segment of a short log.
    pub(crate) fn segment(&self) -> PathBuf {
        self.path().join("00000000000000000001.log")
    }
}

/// The program `riff-server`.
pub(crate) fn server() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_riff-server"));
    command
        .env_remove("RIFF_DIR")
        .env_remove("RIFF_LISTEN")
        .env_remove("RIFF_LOG")
        .env_remove("RIFF_LOG_FORMAT")
        .env_remove("RIFF_SERVER")
        .env_remove("RIFF_TOKEN")
        .stdin(Stdio::null());
    command
}

/// A server that listens. It is killed when the value goes.
pub(crate) struct Server {
    child: Child,
    talk: BufReader<ChildStderr>,
    /// What it said on stderr, as far as it was read.
    told: String,
    pub(crate) address: String,
    /// Where its callers keep what they owe.
    outbox: PathBuf,
}

impl Server {
    pub(crate) fn start(dir: &Dir) -> Self {
        Self::start_at(dir, "127.0.0.1:0")
    }

    pub(crate) fn start_at(dir: &Dir, address: &str) -> Self {
        let mut command = server();
        command.args(["serve", "--listen", address, "--dir"]);
        Self::spawn(dir, command.arg(dir.path()))
    }

    /// With further arguments or variables.
    pub(crate) fn start_with(dir: &Dir, with: impl FnOnce(&mut Command) -> &mut Command) -> Self {
        let mut command = server();
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
            .arg(dir.path());
        Self::spawn(dir, with(&mut command))
    }

    /// What was made ready by hand.
    pub(crate) fn spawn(dir: &Dir, command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let mut talk = BufReader::new(child.stderr.take().unwrap());
        let mut told = String::new();
        let Some(address) = line.trim().strip_prefix("listening on ") else {
            talk.read_to_string(&mut told).unwrap();
            unreachable!("{line}{told}");
        };
        Self {
            address: address.to_owned(),
            outbox: dir.outbox().to_owned(),
            child,
            talk,
            told,
        }
    }

    /// Reads what it says on stderr up to a line that has this text; gives that line.
    pub(crate) fn said(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.talk.read_line(&mut line).unwrap();
            assert!(read > 0, "it ended without {text:?}: {}", self.told);
            self.told.push_str(&line);
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Sends it a signal, as `-TERM`.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// SIGKILL: it gets no chance to end in order.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// SIGTERM, and all that it said on stderr.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        self.signal("-TERM");
        self.talk.read_to_string(&mut self.told).unwrap();
        let status = self.child.wait().unwrap();
        (status.code(), mem::take(&mut self.told))
    }

    /// The program `riff`, as the caller of a token.
    pub(crate) fn riff(&self, token: &str) -> Command {
        let mut command = client();
        command
            .env("RIFF_TOKEN", token)
            .env("RIFF_OUTBOX", &self.outbox)
            .env("RIFF_SERVER", format!("http://{}", self.address));
        command
    }

    /// One request over a socket of its own, and all of its reply.
    pub(crate) fn raw(&self, request: &str) -> String {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        socket.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        socket.read_to_string(&mut reply).unwrap();
        reply
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program `riff`, without a token.
pub(crate) fn client() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_riff"));
    command
        .env_remove("RIFF_TOKEN")
        .env_remove("RIFF_SERVER")
        // Never that of the user who runs the tests.
        .env(
            "RIFF_OUTBOX",
            concat!(env!("CARGO_TARGET_TMPDIR"), "/outbox"),
        )
        .stdin(Stdio::null());
    command
}

/// Runs a command that must succeed; gives its data.
pub(crate) fn ok(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Runs a command that must not; gives its exit code and its talk.
pub(crate) fn no(command: &mut Command) -> (i32, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    assert!(!status.success(), "{}{}", text(&stdout), text(&stderr));
    (status.code().unwrap(), text(&stderr))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A POST with a call ID, as curl would send it.
pub(crate) fn post(path: &str, token: &str, call: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: riff\r\nauthorization: Bearer {token}\r\n\
         riff-call: {call}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}
