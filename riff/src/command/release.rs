//! `riff release`: releases an item.

use riff_api::{ItemId, Release, RiffApi};

use super::{end::End, line::short};
use crate::output;

pub(super) async fn release(api: &RiffApi, json: bool, item: &ItemId) -> Result<(), End> {
    let released = short(api, api.release(item, &Release {})).await?;
    if json {
        return Ok(output::json(&released)?);
    }
    Ok(output::data(format_args!("{item} is free"))?)
}
