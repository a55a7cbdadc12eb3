//! `riff tail`: each message of a thread as it is posted.

use std::ffi::OsString;

use riff_api::{RiffApi, Thread};
use riff_link::client::{Program, StreamError, StreamItem};

use super::{
    end::End,
    history::{lost, show},
    line::Line,
    renew::{self, is_for_another_build},
};
use crate::output;

pub(super) async fn tail(
    api: &RiffApi,
    json: bool,
    thread: &Thread,
    after: Option<u64>,
    limit: Option<u64>,
) -> Result<(), End> {
    // Before anybody puts another file in its place.
    let program = Program::of_this_process().ok();
    let mut line = Line::new(api);
    let mut events = api.tail(thread);
    if let Some(after) = after {
        events = events.after(after);
    }
    let (mut left, mut after) = (limit, after);
    while left != Some(0) {
        let item = tokio::select! {
            item = events.next() => item,
            () = line.show() => continue,
        };
        match item {
            None => return Ok(()),
            Some(Err(StreamError::Refused(refused))) if is_for_another_build(&refused) => {
                let args = args(api, json, thread, after, left);
                return Err(renew::wait(program, refused, args).await);
            }
            Some(Err(error)) => return Err(error.into()),
            Some(Ok(StreamItem::Gap { lost: Some(count) })) => lost(count),
            Some(Ok(StreamItem::Gap { lost: None })) => {
                output::talk("some messages may be missing here");
            }
            Some(Ok(StreamItem::Event(message))) => {
                show(&message, json)?;
                after = Some(message.seq);
                left = left.map(|left| left - 1);
            }
        }
    }
    Ok(())
}

/// The arguments with which another `riff` goes on from here.
fn args(
    api: &RiffApi,
    json: bool,
    thread: &Thread,
    after: Option<u64>,
    left: Option<u64>,
) -> Vec<OsString> {
    let mut args = vec!["tail".to_owned(), thread.to_string()];
    args.extend(["--server".to_owned(), api.link().base().to_owned()]);
    args.extend(json.then(|| "--json".to_owned()));
    for (flag, number) in [("--after", after), ("--limit", left)] {
        if let Some(number) = number {
            args.extend([flag.to_owned(), number.to_string()]);
        }
    }
    args.into_iter().map(Into::into).collect()
}
