//! `riff ack`: says how far a thread was read.

use riff_api::{Ack, RiffApi, Thread};

use super::{end::End, line::short};
use crate::output;

pub(super) async fn ack(api: &RiffApi, json: bool, thread: &Thread, seq: u64) -> Result<(), End> {
    let acked = short(api, api.ack(thread, &Ack { seq })).await?;
    if json {
        return Ok(output::json(&acked)?);
    }
    Ok(output::data(format_args!(
        "read {thread} up to {}",
        acked.seq
    ))?)
}
