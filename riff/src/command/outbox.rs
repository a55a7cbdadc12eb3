//! `riff outbox`: the commands of this machine that owe a reply.

use std::time::Duration;

use clap::Subcommand;
use riff_api::RiffApi;
use riff_link::{
    CallId,
    client::{
        CallError, Cause, Outbox, OutboxError, PendingCall, Resolved,
        outbox::{OwedState, SettledHow},
    },
};
use serde_json::{Value, json};

use super::{end::End, when::when};
use crate::{clock::now, output};

/// How long `send` may take, unless it is said.
const SEND_WITHIN: u64 = 60;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// What owes a reply, and how the last ones ended that no command was told of.
    List,
    /// Takes a command out, and has the server settle it: it tells whether it ran, and one that
    /// did not never will.
    Drop {
        /// Its call ID.
        call: CallId,
    },
    /// Sends what waits, and ends when nothing does.
    Send {
        /// Ends after so many seconds, with exit code 5 when commands still wait.
        #[arg(long, value_name = "SECONDS", default_value_t = SEND_WITHIN)]
        within: u64,
    },
}

pub(super) async fn run(api: &RiffApi, json: bool, command: Command) -> Result<(), End> {
    match command {
        Command::List => match api.as_ref().outbox() {
            Some(outbox) => list(outbox, json),
            None => Ok(()),
        },
        Command::Drop { call } => drop_one(api, json, call).await,
        Command::Send { within } => send(api, json, Duration::from_secs(within)).await,
    }
}

/// Shows what is there, and takes nothing over.
pub(super) fn list(outbox: &Outbox, json: bool) -> Result<(), End> {
    let failed = |error: OutboxError| End::Failure(error.to_string());
    let owed = outbox.owed().map_err(failed)?;
    for one in &owed {
        let state = match &one.state {
            OwedState::Held => "is being sent".to_owned(),
            OwedState::Waits if one.caller.is_none() => {
                "waits for the next command with the token with which it was made".to_owned()
            }
            OwedState::Waits => "waits for the next command of its caller".to_owned(),
            OwedState::Stopped { why } => format!("is not sent any more: {why}"),
            _ => String::new(),
        };
        if json {
            output::json(&json!({
                "call": one.call, "route": one.route, "method": one.method, "path": one.path,
                "server": one.base, "caller": one.caller, "made": one.made, "until": one.until,
                "state": state,
            }))?;
        } else {
            let (made, of) = (when(one.made, now()), &one.base);
            output::data(format_args!(
                "{} {} to {of}, {made}: {state}",
                one.call, one.route
            ))?;
        }
    }
    for aside in outbox.set_aside().map_err(failed)? {
        output::talk(format_args!(
            "{} could not be read: commands in it are not sent",
            aside.display()
        ));
    }
    for one in &outbox.settled().map_err(failed)? {
        let (how, more) = told(&one.how);
        if json {
            output::json(&json!({
                "call": one.call, "route": one.route, "ended": one.at, "how": how, "detail": more,
            }))?;
        } else {
            let at = when(one.at, now());
            output::data(format_args!("{} {} {how}{more}, {at}", one.call, one.route))?;
        }
    }
    if owed.is_empty() && !json {
        output::talk("nothing owes a reply");
    }
    Ok(())
}

fn told(how: &SettledHow) -> (&'static str, String) {
    match how {
        SettledHow::Replied => ("ran", String::new()),
        SettledHow::Refused { code, detail } => (
            "was refused",
            output::plain(&format!(" ({code}): {detail}")),
        ),
        SettledHow::NotSent => ("was not sent", String::new()),
        SettledHow::Expired => ("was given up: it may have run", String::new()),
        SettledHow::Dropped => ("was taken out", String::new()),
        _ => ("ended", String::new()),
    }
}

async fn drop_one(api: &RiffApi, json: bool, call: CallId) -> Result<(), End> {
    let outbox = api.as_ref().outbox();
    let owed = outbox.map(Outbox::owed).transpose();
    let owed = owed.map_err(|error| End::Failure(error.to_string()))?;
    let known = owed.iter().flatten().any(|owed| owed.call == call);
    if !known {
        return Err(End::Usage(format!("the outbox has no command {call}")));
    }
    let pending = PendingCall::from(call);
    let resolved = api.as_ref().resolve::<Value>(&pending).await;
    let resolved = resolved.map_err(|error| match error.why {
        // Nobody was asked.
        CallError::NotSent {
            cause: Cause::Outbox { why },
        } => End::Failure(why),
        _ => End::Unknown(error.to_string()),
    })?;
    let text = match &resolved {
        Resolved::Ran { .. } => "it ran",
        Resolved::Refused { .. } => "it was refused, and did not run",
        Resolved::NeverRan => "it never ran, and never will",
        _ => "it may have run, and does not run any more",
    };
    if json {
        return Ok(output::json(
            &json!({ "call": pending.id, "became": text }),
        )?);
    }
    Ok(output::data(text)?)
}

async fn send(api: &RiffApi, json: bool, within: Duration) -> Result<(), End> {
    api.as_ref().flush_outbox(within).await;
    let outbox = api.as_ref().outbox();
    let owed = outbox.map(Outbox::owed).transpose();
    let owed = owed.map_err(|error| End::Failure(error.to_string()))?;
    // Whatever the reason: paused, stopped, another caller's, or not taken over.
    let base = api.link().base();
    let left = owed.iter().flatten().filter(|owed| owed.base == base);
    let left = left.count();
    if json {
        output::json(&json!({ "left": left }))?;
    }
    if left > 0 {
        return Err(End::Unreachable(format!(
            "{left} commands still owe a reply; `riff outbox list` says why"
        )));
    }
    Ok(())
}
