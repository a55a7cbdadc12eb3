//! `riff threads`: the threads, and how much of each is unread.

use riff_api::{RiffApi, Threads};

use super::{end::End, line::short};
use crate::output;

pub(super) async fn threads(api: &RiffApi, json: bool) -> Result<(), End> {
    let reply = short(api, api.threads(&Threads {})).await?;
    if json {
        return Ok(output::json(&reply)?);
    }
    for info in reply.threads {
        let unread = match info.unread {
            0 => String::new(),
            unread => format!(", {unread} unread"),
        };
        output::data(format_args!(
            "{}: {} messages{unread}",
            info.thread, info.newest
        ))?;
    }
    Ok(())
}
