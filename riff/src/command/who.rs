//! `riff who`: who is here now.

use riff_api::{ItemId, RiffApi, Who};

use super::{end::End, line::short};
use crate::{clock::now, output};

pub(super) async fn who(api: &RiffApi, json: bool) -> Result<(), End> {
    let reply = short(api, api.who(&Who {})).await?;
    if json {
        return Ok(output::json(&reply)?);
    }
    let now = now();
    for present in reply.present {
        let doing = present
            .doing
            .map(|doing| format!(": {}", output::plain(&doing)));
        let holds: Vec<&str> = present.holds.iter().map(ItemId::as_str).collect();
        let holds = (!holds.is_empty()).then(|| format!(" (holds {})", holds.join(", ")));
        let minutes = now.since(present.seen).as_secs() / 60;
        let silent = (minutes > 0).then(|| format!(", silent for {minutes} min"));
        let said = [doing, holds, silent]
            .into_iter()
            .flatten()
            .collect::<String>();
        output::data(format_args!("{}{said}", present.caller))?;
    }
    Ok(())
}
