//! `riff-server calls show` and `settle`: asks the running server about one call.

use std::{env, future::Future};

use riff_api::RIFF;
use riff_link::{
    CallFate, CallId, Fate,
    client::{Api, CallError, Cause, Credentials, PendingCall, Resolved, Unresolved},
    link,
};
use serde_json::{Value, json};

use super::At;
use crate::{clock, output, server::stop::Stop};

pub(super) fn show(at: &At, call: CallId) -> Result<(), Stop> {
    let api = api(at)?;
    let call = PendingCall::from(call);
    let fate: CallFate<Value> = answer(api.fate(&call).into_future())?.map_err(stop)?;
    if at.json {
        output::json(&fate)?;
    } else {
        output::data(output::plain(&line(&fate)))?;
    }
    match fate.fate {
        Fate::Forgotten => Err(may_have_run(&call)),
        _ => Ok(()),
    }
}

pub(super) fn settle(at: &At, call: CallId) -> Result<(), Stop> {
    let api = api(at)?;
    let call = PendingCall::from(call);
    let resolved = answer(api.resolve::<Value>(&call).into_future())?;
    let resolved = resolved.map_err(|Unresolved { why, .. }| stop(why))?;
    let (fate, said, rest) = match resolved {
        Resolved::Ran { reply } => ("ran", format!("{call} ran{}", told(reply.as_ref())), {
            json!({ "reply": reply })
        }),
        Resolved::Refused { code, detail } => (
            "refused",
            format!("{call} was refused and never runs: {detail} ({code})"),
            json!({ "code": code, "detail": detail }),
        ),
        Resolved::NeverRan => (
            "cancelled",
            format!("{call} never ran, and never runs"),
            json!({}),
        ),
        Resolved::MayHaveRun => return Err(may_have_run(&call)),
        other => return Err(Stop::Unknown(format!("{other:?}"))),
    };
    if at.json {
        let mut object = json!({ "call": call.id, "fate": fate });
        if let (Some(object), Value::Object(rest)) = (object.as_object_mut(), rest) {
            object.extend(rest);
        }
        output::json(&object)?;
    } else {
        output::data(output::plain(&said))?;
    }
    Ok(())
}

fn api(at: &At) -> Result<Api, Stop> {
    let token = env::var("RIFF_TOKEN").map_err(|_| {
        Stop::Failed(
            "there is no token: a server tells about a call only to its caller; set RIFF_TOKEN to \
             a token of the caller"
                .into(),
        )
    })?;
    let link =
        link::with(&at.server, RIFF.limits).map_err(|error| Stop::Usage(error.to_string()))?;
    Ok(Api::new(link, Credentials::bearer(token), &RIFF))
}

fn answer<T>(question: impl Future<Output = T>) -> Result<T, Stop> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime does not start: {error}"))?;
    Ok(runtime.block_on(question))
}

fn line(fate: &CallFate<Value>) -> String {
    let call = &fate.call;
    let command = fate.command.as_ref().map(|name| format!(" ({name})"));
    let command = command.unwrap_or_default();
    let at = match (fate.at, fate.position) {
        (Some(at), Some(position)) => format!(", {} at {position}", clock::utc(at)),
        _ => String::new(),
    };
    match fate.fate {
        Fate::Pending => format!("{call}{command} is being written"),
        Fate::Ran => format!("{call}{command} ran{at}{}", told(fate.reply.as_ref())),
        Fate::Refused => {
            let detail = fate
                .detail
                .as_deref()
                .unwrap_or("its text is no longer kept");
            let code = fate.code.as_deref().unwrap_or("no code");
            format!("{call}{command} was refused and never runs{at}: {detail} ({code})")
        }
        Fate::Cancelled => format!("{call} never ran, and never runs{at}"),
        Fate::Forgotten => format!("{call} is not known: it may have run, and never runs any more"),
        Fate::Unknown => format!("{call} is not known: it has not run, and runs if it arrives"),
        other => format!("{call}: {other:?}"),
    }
}

fn told(reply: Option<&Value>) -> String {
    match reply {
        Some(reply) => format!(" -> {reply}"),
        None => "; its reply is no longer kept".into(),
    }
}

fn may_have_run(call: &PendingCall) -> Stop {
    Stop::Unknown(format!(
        "the server has forgotten calls of the age of {call}: it may have run, and never runs any \
         more; `riff-server log show --call {call}` may still know"
    ))
}

fn stop(error: CallError) -> Stop {
    match error {
        CallError::Refused(no) => Stop::Refused(output::plain(&format!("refused: {no}"))),
        CallError::NotSent {
            cause: cause @ Cause::Invalid { .. },
        } => Stop::Usage(cause.to_string()),
        CallError::Unknown {
            cause: cause @ (Cause::NotOurServer { .. } | Cause::Undecodable { .. }),
            ..
        } => Stop::Failed(cause.to_string()),
        CallError::NotSent { cause } | CallError::Unknown { cause, .. } => {
            Stop::Unreachable(format!("no answer: {cause}"))
        }
    }
}
