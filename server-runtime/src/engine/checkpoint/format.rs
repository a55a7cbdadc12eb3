//! A checkpoint as bytes, both ways. Pure.
//!
//! ```text
//! {"checkpoint":1,"position":17,"digest":"…32 hex digits…","state_bytes":2}
//! {}
//! … the table of calls (see `calls/saved`)
//! ```

use link_wire::Position;
use serde::{Deserialize, Serialize};

use super::super::{
    calls::{CallLimits, Calls},
    fold::Sum,
};
use crate::State;

/// The version of the format.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    checkpoint: u32,
    position: Position,
    /// xxh3-128 of the payload of the chunk that ends at the position: 32 hex digits.
    digest: String,
    state_bytes: usize,
}

/// A checkpoint that was read.
pub(in super::super) struct Loaded<S> {
    pub(in super::super) digest: u128,
    pub(in super::super) state: S,
    pub(in super::super) calls: Calls,
}

/// The bytes of a checkpoint of this sum.
pub(super) fn write<S: State>(sum: &Sum<S>) -> Result<Vec<u8>, String> {
    let state = serde_json::to_vec(&sum.state).map_err(|why| format!("the state: {why}"))?;
    let header = Header {
        checkpoint: VERSION,
        position: sum.end,
        digest: format!("{:032x}", sum.digest),
        state_bytes: state.len(),
    };
    let mut bytes = serde_json::to_vec(&header).map_err(|why| why.to_string())?;
    bytes.push(b'\n');
    bytes.extend_from_slice(&state);
    drop(state);
    bytes.push(b'\n');
    sum.calls.save(&mut bytes);
    Ok(bytes)
}

/// The header of a checkpoint that is named by this position, its digest, and what follows.
fn head(bytes: &[u8], at: Position) -> Result<(Header, u128, &[u8]), String> {
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let (header, rest) = bytes.split_at(end.ok_or_else(short)?);
    let header: Header =
        serde_json::from_slice(header).map_err(|why| format!("its first line: {why}"))?;
    if header.checkpoint != VERSION {
        let version = header.checkpoint;
        return Err(format!(
            "it has version {version}, this program knows {VERSION}"
        ));
    }
    if header.position != at {
        return Err(format!("it says that it is the one at {}", header.position));
    }
    let digest = u128::from_str_radix(&header.digest, 16);
    let digest = digest.map_err(|why| format!("its digest: {why}"))?;
    Ok((header, digest, rest))
}

fn short() -> String {
    "it ends too soon".into()
}

/// The digest of the chunk at whose end a checkpoint stands that is named by this position.
pub(crate) fn digest(bytes: &[u8], at: Position) -> Result<u128, String> {
    head(bytes, at).map(|(_, digest, _)| digest)
}

/// What these bytes say, of a checkpoint that is named by this position.
pub(super) fn read<S: State>(
    bytes: &[u8],
    at: Position,
    limits: CallLimits,
) -> Result<Loaded<S>, String> {
    let (header, digest, rest) = head(bytes, at)?;
    let state = rest.get(1..=header.state_bytes).ok_or_else(short)?;
    let calls = rest.get(header.state_bytes + 2..).ok_or_else(short)?;
    let state = serde_json::from_slice(state)
        .map_err(|why| format!("its state is not one of this program: {why}"))?;
    let calls = Calls::load(calls, limits).map_err(|why| format!("its table of calls: {why}"))?;
    Ok(Loaded {
        digest,
        state,
        calls,
    })
}
