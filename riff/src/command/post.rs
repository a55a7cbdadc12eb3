//! `riff post`: posts a message.

use riff_api::{Post, RiffApi, Thread};

use super::{end::End, line::short};
use crate::output;

pub(super) async fn post(
    api: &RiffApi,
    json: bool,
    thread: &Thread,
    text: String,
) -> Result<(), End> {
    let posted = short(api, api.post(thread, &Post { text })).await?;
    if json {
        return Ok(output::json(&posted)?);
    }
    Ok(output::data(format_args!(
        "posted as {} of {thread}",
        posted.seq
    ))?)
}
