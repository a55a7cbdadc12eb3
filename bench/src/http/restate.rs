//! Restate: its server from npm, and a virtual object for each thread on its SDK.
//!
//! All settings that bear on durability are as they are by default on one node: the log goes to
//! the log server of the node (`replicated`, a replication of 1) with a sync of its write-ahead
//! log at each batch (`rocksdb-disable-wal-fsync = false`); state and journal of a call are kept
//! by partitions that follow from that log; a reply is kept by its key for a day.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use restate_sdk::prelude::{
    ContextReadState as _, ContextWriteState as _, Endpoint, HttpServer, Json, ObjectContext,
    TerminalError, object,
};
use rustix::process::Signal;
use tempfile::TempDir;

use super::{
    client::Connection,
    peer::Up,
    place::{self, Process},
};
use crate::app::{Reply, Said};

const PACKAGE: &str = "@restatedev/restate-server";
const VERSION: &str = "1.7.12";

/// The object of a thread: its state is how many messages there are. The messages themselves
/// stand in the journals of their calls.
struct Board;

#[object]
impl Board {
    #[handler]
    async fn say(
        &self,
        ctx: ObjectContext<'_>,
        _said: Json<Said>,
    ) -> Result<Json<Reply>, TerminalError> {
        let number = ctx.get::<u64>("messages").await?.unwrap_or(0) + 1;
        ctx.set("messages", number);
        Ok(Json(Reply::to(number)))
    }
}

pub(crate) async fn serve() -> Result<Up, String> {
    let program = program()?;
    let dir = place::directory()?;
    let [ingress, admin, node] = place::free().await?;
    let mut command = Command::new(program);
    command
        .args(["--no-logo", "--listen-mode", "tcp", "--node-name", "bench"])
        .args(["--bind-address", &node.to_string()])
        .arg("--base-dir")
        .arg(dir.path().join("data"))
        .env("RESTATE_INGRESS__BIND_ADDRESS", ingress.to_string())
        .env("RESTATE_ADMIN__BIND_ADDRESS", admin.to_string())
        .env("RESTATE_LOG_FILTER", "warn")
        .env("RESTATE_DISABLE_TELEMETRY", "true")
        .current_dir(dir.path());
    let process = Process::start(&mut command, Signal::TERM, dir.path().join("log"))?;
    // In this order: the process ends before its directory goes.
    let mut held: (Process, TempDir) = (process, dir);
    let (listener, service) = place::listener().await?;
    let endpoint = Endpoint::builder().bind(Board).build();
    tokio::spawn(
        HttpServer::new(endpoint).serve_with_cancel(listener, std::future::pending::<()>()),
    );
    let mut tries = 0;
    while let Err(why) = register(admin, service).await {
        tries += 1;
        if tries == 300 || held.0.has_ended() {
            return Err(held.0.not_up(&why));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(Up {
        at: ingress,
        held: Box::new(held),
    })
}

/// Tells the server where the object is.
async fn register(admin: SocketAddr, service: SocketAddr) -> Result<(), String> {
    let mut connection = Connection::open(admin, None).await?;
    let body = format!("{{\"uri\":\"http://{service}\"}}");
    connection.request = format!(
        "POST /deployments HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes();
    let (status, body) = connection.ask().await?;
    if matches!(status, 200 | 201) {
        return Ok(());
    }
    Err(format!("{status}: {}", String::from_utf8_lossy(&body)))
}

/// The server's program; npm fetches it when it is not there yet.
fn program() -> Result<PathBuf, String> {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let dir = place::target().join(format!("restate-{VERSION}"));
    let package = format!("node_modules/{PACKAGE}-{system}-{machine}");
    let program = dir.join(package).join("bin/restate-server");
    if !program.exists() {
        install(&dir)?;
    }
    if program.exists() {
        return Ok(program);
    }
    Err(format!(
        "{PACKAGE} {VERSION} has no program for {system}-{machine}"
    ))
}

fn install(dir: &Path) -> Result<(), String> {
    std::fs::create_dir_all(dir).map_err(|error| error.to_string())?;
    eprintln!("fetching {PACKAGE} {VERSION} with npm");
    let ran = Command::new("npm")
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
        ])
        .arg(dir)
        .arg(format!("{PACKAGE}@{VERSION}"))
        .output();
    let ran = ran.map_err(|error| format!("npm: {error}"))?;
    if ran.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ran.stderr);
    Err(format!("npm: {}", said.trim()))
}
