//! `riff`: what a person or an agent types. One file a command.
//!
//! A command does not connect, try again or show a fault in a way of its own: it makes calls of
//! the generated [`RiffApi`], and `line` shows the state of its one link.

mod ack;
mod claim;
mod end;
mod history;
mod line;
mod outbox;
mod post;
mod release;
mod renew;
mod tail;
mod threads;
mod when;
mod who;

use std::{env, path::PathBuf, process::ExitCode, time::Duration};

use clap::{Args, Parser, Subcommand};
use riff_api::{ItemId, RiffApi, Thread};
use riff_link::client::{Credentials, Outbox};
use tracing_subscriber::EnvFilter;

use self::end::End;
use crate::output;

/// Talks with the people and agents that work on a repository.
#[derive(Debug, Parser)]
#[command(
    name = "riff",
    version,
    after_help = "\
Examples:
  riff post general 'the build is green'
  riff claim issue-12
  riff tail general

The token of the caller comes from RIFF_TOKEN; `riff-server token NAME` makes one.

Exit codes: 0 ok, 1 failure, 2 usage, 3 refused, 4 outcome unknown (it may have run),
5 not reachable (nothing was changed)."
)]
pub struct Options {
    #[command(flatten)]
    at: At,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Args)]
struct At {
    /// The URL of the server.
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "RIFF_SERVER",
        default_value = "http://127.0.0.1:7433"
    )]
    server: String,
    /// One JSON object a line instead of text.
    #[arg(long, global = true)]
    json: bool,
    /// Where commands are kept that owe a reply [default: riff-link/outbox in `XDG_STATE_HOME`, or in
    /// ~/.local/state].
    #[arg(long, global = true, value_name = "DIR", env = "RIFF_OUTBOX")]
    outbox: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Who is here now, and what they hold.
    Who,
    /// The threads, and how much of each is unread.
    Threads,
    /// Posts a message to a thread.
    Post {
        /// The thread, as `general`; it begins with its first message.
        thread: Thread,
        /// What to say: 1 to 16,384 bytes.
        text: String,
    },
    /// Claims an item, so that nobody else works on it.
    Claim {
        /// The item, as `issue-12`.
        item: ItemId,
    },
    /// Releases an item that you hold.
    Release {
        /// The item, as `issue-12`.
        item: ItemId,
    },
    /// The messages of a thread.
    History {
        /// The thread.
        thread: Thread,
        /// Only messages with a greater number.
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        after: u64,
    },
    /// Says how far you have read a thread.
    Ack {
        /// The thread.
        thread: Thread,
        /// The number of the last message that you read.
        seq: u64,
    },
    /// The commands of this machine that owe a reply.
    ///
    /// A command that ends without one (the server is away, the machine goes down) is sent again
    /// with the next command of the same caller, under the same call ID: it runs once.
    #[command(subcommand)]
    Outbox(outbox::Command),
    /// Each message of a thread as it is posted, until Ctrl-C.
    ///
    /// It goes on through a restart of the server, a cut or a sleep of the machine, and shows
    /// each message once.
    Tail {
        /// The thread.
        thread: Thread,
        /// Begin with the message after this number; 0 for the first. Without it, with the next.
        #[arg(long, value_name = "NUMBER")]
        after: Option<u64>,
        /// End after this many messages.
        #[arg(long, value_name = "COUNT")]
        limit: Option<u64>,
    },
}

/// Runs `riff`.
pub fn run(options: Options) -> ExitCode {
    match start(options) {
        Ok(()) | Err(End::Enough) => ExitCode::SUCCESS,
        Err(end) => {
            output::talk(format_args!("riff: {end}"));
            ExitCode::from(end.code())
        }
    }
}

fn start(options: Options) -> Result<(), End> {
    show_warnings();
    let outbox = match &options.at.outbox {
        Some(dir) => Outbox::open(dir),
        None => Outbox::of_user(),
    };
    let outbox =
        outbox.map_err(|error| End::Failure(format!("{error}; choose another with --outbox")))?;
    if let Command::Outbox(outbox::Command::List) = options.command {
        return outbox::list(&outbox, options.at.json);
    }
    let token = env::var("RIFF_TOKEN").map_err(|_| {
        End::Failure(
            "there is no token: make one with `riff-server token NAME --dir DIR` and set \
             RIFF_TOKEN to it"
                .into(),
        )
    })?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| End::Failure(format!("the runtime does not start: {error}")))?;
    let api = RiffApi::open(&options.at.server, Credentials::bearer(token))
        .map_err(|error| End::Usage(error.to_string()))?;
    runtime.block_on(async {
        // Held, so that a file that may not grow is an error, and no end of this program.
        #[cfg(unix)]
        let _file_size = {
            use tokio::signal::unix::{SignalKind, signal};

            let kind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
            signal(kind).map_err(|error| End::Failure(error.to_string()))?
        };
        let api = api.with_outbox(&outbox);
        one(options, &api).await?;
        // What was left behind has had no time yet beside a query.
        api.as_ref().flush_outbox(OWED_WITHIN).await;
        Ok(())
    })
}

/// How long a command that has ended well still sends what earlier ones have left behind.
const OWED_WITHIN: Duration = Duration::from_secs(5);

/// Shows what the outbox has to say, as when it sets a damaged file aside.
fn show_warnings() {
    let which = EnvFilter::try_from_env("RIFF_LOG")
        .unwrap_or_else(|_| "off,link_runtime::outbox=warn".into());
    // Another program may have set one.
    let _ = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .log_internal_errors(false)
        .without_time()
        .with_target(false)
        .with_env_filter(which)
        .try_init();
}

async fn one(options: Options, api: &RiffApi) -> Result<(), End> {
    let json = options.at.json;
    match options.command {
        Command::Who => who::who(api, json).await,
        Command::Threads => threads::threads(api, json).await,
        Command::Post { thread, text } => post::post(api, json, &thread, text).await,
        Command::Claim { item } => claim::claim(api, json, &item).await,
        Command::Release { item } => release::release(api, json, &item).await,
        Command::History { thread, after } => history::history(api, json, &thread, after).await,
        Command::Ack { thread, seq } => ack::ack(api, json, &thread, seq).await,
        Command::Outbox(command) => outbox::run(api, json, command).await,
        Command::Tail {
            thread,
            after,
            limit,
        } => tail::tail(api, json, &thread, after, limit).await,
    }
}
