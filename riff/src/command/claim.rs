//! `riff claim`: claims an item.

use riff_api::{Claim, ItemId, RiffApi};

use super::{end::End, line::short, when::when};
use crate::{clock::now, output};

pub(super) async fn claim(api: &RiffApi, json: bool, item: &ItemId) -> Result<(), End> {
    let claimed = short(api, api.claim(item, &Claim {})).await?;
    if json {
        return Ok(output::json(&claimed)?);
    }
    let since = when(claimed.since, now());
    Ok(output::data(format_args!(
        "{item} is yours, since {since}"
    ))?)
}
