//! `riff-server token`: makes, lists, rotates and revokes the tokens of callers.

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand};
use riff_link::{CallId, Caller, UnixMillis, server::Tokens};
use serde_json::json;

use super::{
    amount, place,
    stop::Stop,
    tokens::{
        self, edit,
        line::{Hash, Line},
    },
};
use crate::{clock, output};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    add: Option<Add>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Makes a token for a caller and prints it, alone, on stdout.
    ///
    /// Each token of a caller stands for the same caller: a command that was sent under the one is
    /// known under the other. A running server takes it at once.
    Add(Add),
    /// Lists the tokens: the first 8 hex digits of their SHA-256, caller, when made, when they end.
    List {
        #[command(flatten)]
        at: At,
        /// Only those of this caller.
        #[arg(value_name = "CALLER")]
        caller: Option<Caller>,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Makes a new token for a caller, prints it, and sets an end to the caller's other ones.
    Rotate {
        /// The name of the caller, who must have a token.
        caller: Caller,
        /// How long the old ones are still taken; 0s ends them now. One that ends sooner stays so.
        #[arg(long, value_name = "TIME", default_value = "1h", value_parser = amount::time)]
        keep: Duration,
        /// When the new one ends; without it, never.
        #[arg(long, value_name = "TIME", value_parser = amount::time)]
        expires: Option<Duration>,
        #[command(flatten)]
        at: At,
    },
    /// Takes tokens from a caller: all of them, or one.
    ///
    /// The next request with it is refused. Streams that are open go on until they end, which is
    /// within an hour.
    Revoke {
        /// The name of the caller.
        caller: Caller,
        /// Only this one: the 8 hex digits that `list` shows.
        #[arg(long, value_name = "HEX")]
        id: Option<String>,
        #[command(flatten)]
        at: At,
    },
}

#[derive(Debug, Args)]
struct Add {
    /// The name of the caller: 1 to 128 visible ASCII characters.
    caller: Caller,
    /// When it ends, as 30d; without it, never.
    #[arg(long, value_name = "TIME", value_parser = amount::time)]
    expires: Option<Duration>,
    /// The directory of the server; made when it is missing.
    // Not flattened: clap sees an optional group only by arguments of its own.
    #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
    dir: PathBuf,
}

#[derive(Debug, Args)]
struct At {
    /// The directory of the server.
    #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
    dir: PathBuf,
}

pub(super) fn run(options: Options) -> Result<(), Stop> {
    match (options.command, options.add) {
        (Some(Command::Add(add)), _) | (None, Some(add)) => self::add(&add),
        (Some(Command::List { at, caller, json }), _) => list(&at.dir, caller.as_ref(), json),
        (
            Some(Command::Rotate {
                caller,
                keep,
                expires,
                at,
            }),
            _,
        ) => rotate(&at.dir, &caller, keep, expires),
        (Some(Command::Revoke { caller, id, at }), _) => revoke(&at.dir, &caller, id.as_deref()),
        (None, None) => Err(Stop::Usage(
            "say what to do: add, list, rotate or revoke".into(),
        )),
    }
}

fn add(options: &Add) -> Result<(), Stop> {
    let Add {
        caller,
        expires,
        dir,
    } = options;
    place::free(dir)?;
    fs::create_dir_all(dir).map_err(|error| format!("cannot make {}: {error}", dir.display()))?;
    let token = random_token()?;
    let line = line(caller, &token, *expires);
    edit::edit(dir, |lines| {
        lines.push(line);
        Ok(())
    })?;
    Ok(output::data(token)?)
}

fn rotate(
    dir: &Path,
    caller: &Caller,
    keep: Duration,
    expires: Option<Duration>,
) -> Result<(), Stop> {
    place::there(dir)?;
    let token = random_token()?;
    let line = line(caller, &token, expires);
    let now = clock::now();
    let end = after(now, keep);
    let ended = edit::edit(dir, |lines| {
        let mut ended = 0;
        let old = |line: &&mut Line| line.caller == *caller && !line.has_ended(now);
        for old in lines.iter_mut().filter(old) {
            old.ends = Some(old.ends.map_or(end, |ends| ends.min(end)));
            ended += 1;
        }
        if ended == 0 {
            return Err(format!(
                "{caller} has no token to rotate: make one with `riff-server token add {caller} \
                 --dir {}`",
                dir.display()
            ));
        }
        lines.push(line);
        Ok(ended)
    })?;
    output::talk(format_args!(
        "tokens of {caller} that are taken until {} at the latest: {ended}",
        clock::utc(end)
    ));
    Ok(output::data(token)?)
}

fn revoke(dir: &Path, caller: &Caller, id: Option<&str>) -> Result<(), Stop> {
    place::there(dir)?;
    let id = id.map(str::to_ascii_lowercase);
    let gone = edit::edit(dir, |lines| {
        let before = lines.len();
        lines.retain(|line| {
            let named = id.as_ref().is_none_or(|id| *id == line.hash.id());
            line.caller != *caller || !named
        });
        match before - lines.len() {
            0 => Err(match &id {
                Some(id) => {
                    format!("{caller} has no token {id}: `riff-server token list` shows them")
                }
                None => format!("{caller} has no token"),
            }),
            gone => Ok(gone),
        }
    })?;
    output::talk(format_args!("tokens of {caller} that were revoked: {gone}"));
    Ok(())
}

fn list(dir: &Path, caller: Option<&Caller>, json: bool) -> Result<(), Stop> {
    place::there(dir)?;
    let now = clock::now();
    let lines = edit::read(&dir.join(tokens::NAME))?;
    let named = |line: &&Line| caller.is_none_or(|caller| line.caller == *caller);
    for line in lines.iter().filter(named) {
        let ended = line.has_ended(now);
        let id = line.hash.id();
        if json {
            output::json(&json!({
                "id": id,
                "caller": line.caller,
                "made": line.made,
                "ends": line.ends,
                "ended": ended,
            }))?;
            continue;
        }
        let made = line.made.map_or("at an unknown time".into(), clock::utc);
        let ends = match line.ends {
            None => "never ends".into(),
            Some(at) if ended => format!("ended {}", clock::utc(at)),
            Some(at) => format!("ends {}", clock::utc(at)),
        };
        output::data(format_args!("{id} {}, made {made}, {ends}", line.caller))?;
    }
    Ok(())
}

fn line(caller: &Caller, token: &str, expires: Option<Duration>) -> Line {
    let now = clock::now();
    Line {
        caller: caller.clone(),
        hash: Hash(Tokens::sha256(token)),
        made: Some(now),
        ends: expires.map(|expires| after(now, expires)),
    }
}

fn after(UnixMillis(now): UnixMillis, span: Duration) -> UnixMillis {
    UnixMillis(now.saturating_add(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)))
}

/// 32 random bytes of the operating system, as text.
fn random_token() -> Result<String, String> {
    let random = || -> std::io::Result<String> {
        let mut bytes = [[0; 16]; 2];
        let mut source = File::open("/dev/urandom")?;
        for half in &mut bytes {
            source.read_exact(half)?;
        }
        let halves = bytes.map(|half| CallId::from_bytes(half).to_string());
        Ok(halves.concat())
    };
    random().map_err(|error| format!("no random bytes: {error}"))
}
