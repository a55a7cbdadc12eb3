//! `riff tail`: each message of a thread as it is posted.

use riff_api::{RiffApi, Thread};
use riff_link::client::StreamItem;

use super::{
    end::End,
    history::{lost, show},
    line::Line,
};
use crate::output;

pub(super) async fn tail(
    api: &RiffApi,
    json: bool,
    thread: &Thread,
    after: Option<u64>,
    limit: Option<u64>,
) -> Result<(), End> {
    let mut line = Line::new(api);
    let mut events = api.tail(thread);
    if let Some(after) = after {
        events = events.after(after);
    }
    let mut left = limit;
    while left != Some(0) {
        let item = tokio::select! {
            item = events.next() => item,
            () = line.show() => continue,
        };
        match item {
            None => return Ok(()),
            Some(Err(error)) => return Err(error.into()),
            Some(Ok(StreamItem::Gap { lost: Some(count) })) => lost(count),
            Some(Ok(StreamItem::Gap { lost: None })) => {
                output::talk("some messages may be missing here");
            }
            Some(Ok(StreamItem::Event(message))) => {
                show(&message, json)?;
                left = left.map(|left| left - 1);
            }
        }
    }
    Ok(())
}
