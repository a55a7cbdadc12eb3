//! `riff who`: who is here now.

use riff_api::{RiffApi, Who};

use super::{end::End, line::short};
use crate::{clock::now, output};

pub(super) async fn who(api: &RiffApi, json: bool) -> Result<(), End> {
    let reply = short(api, api.who(&Who {})).await?;
    if json {
        return Ok(output::json(&reply)?);
    }
    let now = now();
    for present in reply.present {
        let mut line = present.caller.to_string();
        if let Some(doing) = &present.doing {
            line.push_str(&format!(": {}", output::plain(doing)));
        }
        let holds: Vec<&str> = present.holds.iter().map(riff_api::ItemId::as_str).collect();
        if !holds.is_empty() {
            line.push_str(&format!(" (holds {})", holds.join(", ")));
        }
        let silent = now.since(present.seen).as_secs();
        if silent >= 60 {
            line.push_str(&format!(", silent for {} min", silent / 60));
        }
        output::data(line)?;
    }
    Ok(())
}
