//! `riff history`: the messages of a thread, page by page.

use riff_api::{Message, RiffApi, Thread};
use riff_link::After;

use super::{end::End, line::short, when::when};
use crate::{clock::now, output};

pub(super) async fn history(
    api: &RiffApi,
    json: bool,
    thread: &Thread,
    mut after: u64,
) -> Result<(), End> {
    loop {
        let page = short(api, api.history(thread, &After { after })).await?;
        lost(page.lost);
        for message in &page.items {
            show(message, json)?;
        }
        match page.items.last() {
            Some(last) if page.more => after = last.seq,
            _ => return Ok(()),
        }
    }
}

/// One message, as `history` and `tail` show it.
pub(super) fn show(message: &Message, json: bool) -> Result<(), End> {
    if json {
        return Ok(output::json(message)?);
    }
    let Message { seq, by, at, text } = message;
    let (at, text) = (when(*at, now()), output::plain(text));
    Ok(output::data(format_args!("{seq} {at} {by}: {text}"))?)
}

/// The line for messages that the server no longer keeps in memory.
pub(super) fn lost(count: u64) {
    if count > 0 {
        output::talk(format_args!(
            "{count} older messages are no longer at hand; they stand in the server's log"
        ));
    }
}
