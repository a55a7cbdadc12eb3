//! `riff-server token`: makes a token for a caller.

use std::{fs::File, io::Read as _, path::Path};

use riff_link::{CallId, Caller};

use super::{stop::Stop, tokens};
use crate::output;

pub(super) fn token(caller: &Caller, dir: &Path) -> Result<(), Stop> {
    let token = random_token().map_err(|error| format!("no random bytes: {error}"))?;
    tokens::add(dir, caller, &token)?;
    Ok(output::data(token)?)
}

/// 32 random bytes of the operating system, as text.
fn random_token() -> std::io::Result<String> {
    let mut bytes = [[0; 16]; 2];
    let mut source = File::open("/dev/urandom")?;
    for half in &mut bytes {
        source.read_exact(half)?;
    }
    Ok(bytes
        .map(|half| CallId::from_bytes(half).to_string())
        .concat())
}
