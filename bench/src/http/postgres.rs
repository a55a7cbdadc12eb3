//! The table in PostgreSQL: a server of its own on a socket in a directory, with `fsync` and
//! `synchronous_commit` on, and a pool of connections with prepared statements.

use std::{
    fs,
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use rustix::process::Signal;
use tempfile::TempDir;
use tokio_postgres::{Config, NoTls, error::SqlState, types::ToSql};

use super::{
    peer::Up,
    place::{self, Process},
    table::{self, Answer, Call, Table},
};

const CONNECTIONS: usize = 16;
/// Where Debian has the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// It refuses to run as root; then it runs as this one.
const USER: &str = "postgres";

const TABLES: &str = "
    create table threads (name text primary key, messages bigint not null);
    create table messages (thread text not null, number bigint not null, caller text not null,
        title text not null, text text not null, primary key (thread, number));
    create table calls (caller text not null, key text not null, fingerprint bytea not null,
        reply bytea not null, primary key (caller, key));
";

type Value<'a> = &'a (dyn ToSql + Sync);

struct Postgres {
    pool: Pool,
}

pub(crate) async fn serve() -> Result<Up, String> {
    let programs = programs()?;
    let dir = place::directory()?;
    let process = start(&programs, dir.path())?;
    // In this order: the process ends before its directory goes.
    let mut held: (Process, TempDir) = (process, dir);
    let mut config = Config::new();
    config.host_path(held.1.path()).user(USER).dbname(USER);
    let recycling_method = RecyclingMethod::Fast;
    let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method });
    let pool = Pool::builder(manager).max_size(CONNECTIONS).build();
    let pool = pool.map_err(|error| error.to_string())?;
    let mut tries = 0;
    let client = loop {
        match pool.get().await {
            Ok(client) => break client,
            Err(error) if tries == 300 || held.0.has_ended() => {
                return Err(held.0.not_up(&error.to_string()));
            }
            Err(_) => tries += 1,
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let made = client.batch_execute(TABLES).await;
    made.map_err(|error| error.to_string())?;
    drop(client);
    Ok(Up {
        at: table::serve(Postgres { pool }).await?,
        held: Box::new(held),
    })
}

/// The directory of the programs, of the newest version that is there.
fn programs() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|version| version.path()).collect();
    versions.sort();
    let debian = versions
        .into_iter()
        .rev()
        .map(|version| version.join("bin"));
    let mut all = std::env::split_paths(&path).chain(debian);
    let found = all.find(|dir| dir.join("initdb").exists() && dir.join("postgres").exists());
    found.ok_or_else(|| {
        format!("no initdb in PATH or below {VERSIONS}: on Debian, apt-get install postgresql")
    })
}

/// Makes a cluster in the directory and starts its server.
fn start(programs: &Path, dir: &Path) -> Result<Process, String> {
    let told = |error: std::io::Error| error.to_string();
    let user = if rustix::process::geteuid().is_root() {
        let (user, group) = user()?;
        chown(dir, Some(user), Some(group)).map_err(told)?;
        Some((user, group))
    } else {
        None
    };
    let command = |name: &str| {
        let mut command = Command::new(programs.join(name));
        command.arg("-D").arg(dir.join("data")).current_dir(dir);
        if let Some((user, group)) = user {
            command.uid(user).gid(group);
        }
        command
    };
    let made = command("initdb")
        .args(["--auth=trust", "--encoding=UTF8", "--locale=C", "-U", USER])
        .output()
        .map_err(|error| format!("initdb: {error}"))?;
    if !made.status.success() {
        return Err(format!("initdb: {}", String::from_utf8_lossy(&made.stderr)));
    }
    let mut server = command("postgres");
    server.arg("-k").arg(dir);
    // Both are on by default; said here, as that is what is compared.
    for setting in ["listen_addresses=", "fsync=on", "synchronous_commit=on"] {
        server.args(["-c", setting]);
    }
    // Its fast shutdown.
    Process::start(&mut server, Signal::INT, dir.join("log"))
}

/// The number of the user and of its group.
fn user() -> Result<(u32, u32), String> {
    let all = fs::read_to_string("/etc/passwd").map_err(|error| error.to_string())?;
    let mut lines = all.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = lines.find_map(|line| match line.as_slice() {
        [name, _, user, group, ..] if *name == USER => Some((user.parse(), group.parse())),
        _ => None,
    });
    match found {
        Some((Ok(user), Ok(group))) => Ok((user, group)),
        _ => Err(format!(
            "it does not run as root, and there is no user {USER}"
        )),
    }
}

impl Table for Postgres {
    async fn say(&self, call: Call) -> Result<Answer, String> {
        let mut client = self.pool.get().await.map_err(|error| error.to_string())?;
        match run(&mut client, &call).await {
            Ok(answer) => answer,
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(Answer::Conflict),
            Err(error) => Err(error.to_string()),
        }
    }
}

async fn run(
    client: &mut deadpool_postgres::Client,
    call: &Call,
) -> Result<Result<Answer, String>, tokio_postgres::Error> {
    let transaction = client.transaction().await?;
    let look = "select fingerprint, reply from calls where caller = $1 and key = $2";
    let look = transaction.prepare_cached(look).await?;
    let known = transaction
        .query_opt(&look, &[&call.caller, &call.key])
        .await?;
    if let Some(row) = known {
        return Ok(Ok(table::kept(call, row.get(0), row.get(1))));
    }
    let said = &call.said;
    let count = "insert into threads values ($1, 1) \
         on conflict (name) do update set messages = threads.messages + 1 returning messages";
    let count = transaction.prepare_cached(count).await?;
    let number: i64 = transaction.query_one(&count, &[&said.thread]).await?.get(0);
    let reply = match table::reply(number) {
        Ok(reply) => reply,
        Err(why) => return Ok(Err(why)),
    };
    let insert = "insert into messages values ($1, $2, $3, $4, $5)";
    let insert = transaction.prepare_cached(insert).await?;
    let keep = "insert into calls values ($1, $2, $3, $4)";
    let keep = transaction.prepare_cached(keep).await?;
    let caller = &call.caller;
    let message: [Value<'_>; 5] = [&said.thread, &number, caller, &said.title, &said.text];
    let kept: [Value<'_>; 4] = [caller, &call.key, &call.fingerprint, &reply];
    // Both at once: they need no answer of each other.
    tokio::try_join!(
        transaction.execute(&insert, &message),
        transaction.execute(&keep, &kept),
    )?;
    transaction.commit().await?;
    Ok(Ok(Answer::Reply(reply)))
}
