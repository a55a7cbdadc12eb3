//! The table as bytes, in a checkpoint: all that later answers depend on.
//!
//! Numbers are little endian; a text has its length before it.
//!
//! ```text
//! u32 version, u64 floor
//! u32 runs:     16 bytes run, u64 first position
//! u32 names:    u16 length, text
//! u32 callers:  u16 length, name, u64 the highest position of an ID that was dropped
//! three times, for kept, thin and foreign, in the order of their lists:
//!   u32 entries: u32 caller, u16 name, u64 position, u64 at, 16 bytes fingerprint,
//!                u16 length, ID, u8 how it ended, and
//!                  0 reply:        u32 length, JSON
//!                  1 refused:      u16 status, u16 length, code, u32 length, text
//!                  2 cancelled
//!                  3 ran, without its reply
//!                  4 refused, without its text: u16 status, u16 length, code
//! u32 acknowledged, by caller and in their order: u32 number of the entry in kept, from 0
//! ```

use std::collections::HashMap;

use link_wire::{Caller, Position, RunId};
use serde_json::value::RawValue;

use InvalidTable::Value;

use super::{
    Body, By, CallLimits, Calls, Fingerprint, Place,
    slots::{Id, Slot},
};
use crate::{Reply, refusal::KeptRefusal};

/// The version of the format.
const VERSION: u32 = 1;

/// What is wrong with a saved table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum InvalidTable {
    /// It ends in the middle, or goes on behind its end.
    #[error("it has another length than it says")]
    Length,
    /// It was written by another version.
    #[error("its format has version {0}, this program knows {VERSION}")]
    Version(u32),
    /// Something in it cannot be.
    #[error("it names {0} that cannot be")]
    Value(&'static str),
}

impl Calls {
    /// Appends the table to `out`. What is pending is not in it: it is not written.
    pub(in super::super) fn save(&self, out: &mut Vec<u8>) {
        put_u32(out, VERSION);
        put_u64(out, self.runs.floor().0);
        put_len(out, self.runs.iter().len());
        for (run, position) in self.runs.iter() {
            out.extend_from_slice(&run.to_bytes());
            put_u64(out, position.0);
        }
        put_len(out, self.names.len());
        for name in &self.names {
            put_text(out, name);
        }
        put_len(out, self.accounts.len());
        for account in &self.accounts {
            put_text(out, account.caller.as_str());
            put_u64(out, account.forgotten);
        }
        let mut numbers = HashMap::new();
        for list in [self.kept, self.thin, self.foreign] {
            put_u32(out, list.len);
            for (number, at) in (0..).zip(self.slots.iter(list, By::All)) {
                let slot = &self.slots[at];
                if slot.place == Place::Acked {
                    numbers.insert(at, number);
                }
                put_slot(out, slot);
            }
        }
        put_len(out, numbers.len());
        for account in &self.accounts {
            for at in self.slots.iter(account.acked, By::Caller) {
                put_u32(out, numbers.get(&at).copied().unwrap_or_default());
            }
        }
    }

    /// The table that was saved in these bytes, under these limits.
    pub(in super::super) fn load(bytes: &[u8], limits: CallLimits) -> Result<Self, InvalidTable> {
        let mut from = Bytes(bytes);
        let version = from.u32()?;
        if version != VERSION {
            return Err(InvalidTable::Version(version));
        }
        // Each entry has some fifty bytes.
        let mut calls = Self::with_room_for(limits, bytes.len() / 64);
        let floor = Position(from.u64()?);
        for _ in 0..from.u32()? {
            let run = RunId::from_bytes(from.u128()?.to_le_bytes());
            calls.run(run, Position(from.u64()?), false);
        }
        calls.runs.set_floor(floor);
        for _ in 0..from.u32()? {
            let name = from.text()?;
            calls.names.push(name.into());
        }
        for _ in 0..from.u32()? {
            let name: Caller = from.text()?.parse().map_err(|_| Value("a caller"))?;
            let number = calls.caller(&name);
            calls.accounts[number as usize].forgotten = from.u64()?;
        }
        let mut hashes = Vec::with_capacity(bytes.len() / 64);
        for place in [Place::Kept, Place::Thin, Place::Foreign] {
            for _ in 0..from.u32()? {
                hashes.push(calls.load_slot(&mut from, place)?);
            }
        }
        calls.index_all(hashes);
        let kept: Vec<u32> = calls.slots.iter(calls.kept, By::All).collect();
        for _ in 0..from.u32()? {
            let entry = kept.get(from.u32()? as usize).copied();
            let entry = entry.filter(|at| calls.slots[*at].place == Place::Kept);
            calls.mark_acked(entry.ok_or(Value("an acknowledged call"))?);
        }
        if from.0.is_empty() {
            Ok(calls)
        } else {
            Err(InvalidTable::Length)
        }
    }

    /// Adds an entry, which cannot be found yet. Gives its hash and its number.
    fn load_slot(
        &mut self,
        from: &mut Bytes<'_>,
        place: Place,
    ) -> Result<(u64, u32), InvalidTable> {
        let caller = from.u32()?;
        let command = from.u16()?;
        let (position, at) = (from.u64()?, from.u64()?);
        let fingerprint = Fingerprint(from.u128()?);
        let len = from.u16()?;
        let id = Id::of_bytes(from.take(len.into())?).ok_or(Value("a call ID"))?;
        let body = from.body()?;
        if caller as usize >= self.accounts.len() {
            return Err(Value("a caller"));
        }
        let hash = self.hash(caller, id.bytes());
        let entry = self.slots.insert(caller, id, fingerprint, body);
        let entry = entry.ok_or(Value("more calls than can be"))?;
        let slot = &mut self.slots[entry];
        (slot.position, slot.at, slot.command) = (position, at, command);
        self.place(entry, place);
        Ok((hash, entry))
    }

    /// Lets these entries be found.
    fn index_all(&mut self, mut hashes: Vec<(u64, u32)>) {
        self.reserve(hashes.len());
        // In the order of the places in the table: each entry in a place of its own would be a
        // miss of the cache.
        let places = self.index.num_buckets().max(1) as u64 - 1;
        hashes.sort_unstable_by_key(|(hash, _)| hash & places);
        for (hash, at) in hashes {
            self.let_find(hash, at);
        }
    }

    /// The table as bytes, for comparing two.
    #[cfg(test)]
    pub(in super::super) fn dump(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.save(&mut bytes);
        bytes
    }
}

fn put_u16(out: &mut Vec<u8>, number: u16) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    put_u32(out, u32::try_from(len).unwrap_or(u32::MAX));
}

/// A text of less than 64 KiB: a name, an ID or a code.
fn put_text(out: &mut Vec<u8>, text: &str) {
    put_u16(out, u16::try_from(text.len()).unwrap_or(u16::MAX));
    out.extend_from_slice(text.as_bytes());
}

fn put_long(out: &mut Vec<u8>, text: &str) {
    put_len(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn put_slot(out: &mut Vec<u8>, slot: &Slot) {
    put_u32(out, slot.caller);
    put_u16(out, slot.command);
    put_u64(out, slot.position);
    put_u64(out, slot.at);
    out.extend_from_slice(&slot.fingerprint.0.to_le_bytes());
    let id = slot.id.bytes();
    put_u16(out, u16::try_from(id.len()).unwrap_or(u16::MAX));
    out.extend_from_slice(id);
    match &slot.body {
        Body::Reply(reply) => {
            out.push(0);
            put_long(out, reply.json());
        }
        Body::Refused(refusal) => {
            out.push(1);
            put_u16(out, refusal.status);
            put_text(out, &refusal.code);
            put_long(out, &refusal.detail);
        }
        Body::ThinRan => out.push(3),
        Body::ThinRefused(refused) => {
            out.push(4);
            put_u16(out, refused.0);
            put_text(out, &refused.1);
        }
        Body::Cancelled | Body::Pending(_) | Body::Free(_) => out.push(2),
    }
}

/// What is still to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], InvalidTable> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(InvalidTable::Length)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], InvalidTable> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(InvalidTable::Length)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn u16(&mut self) -> Result<u16, InvalidTable> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, InvalidTable> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, InvalidTable> {
        self.array().map(u64::from_le_bytes)
    }

    fn u128(&mut self) -> Result<u128, InvalidTable> {
        self.array().map(u128::from_le_bytes)
    }

    fn text(&mut self) -> Result<&'a str, InvalidTable> {
        let len = self.u16()?;
        let bytes = self.take(len.into())?;
        str::from_utf8(bytes).map_err(|_| Value("a text"))
    }

    fn long(&mut self) -> Result<&'a str, InvalidTable> {
        let len = self.u32()?;
        let bytes = self.take(len as usize)?;
        str::from_utf8(bytes).map_err(|_| Value("a text"))
    }

    fn body(&mut self) -> Result<Body, InvalidTable> {
        let [kind] = self.array()?;
        Ok(match kind {
            0 => {
                let json = RawValue::from_string(self.long()?.into());
                Body::Reply(Reply(json.map_err(|_| Value("a reply"))?.into()))
            }
            1 => Body::Refused(Box::new(KeptRefusal {
                status: self.u16()?,
                code: self.text()?.into(),
                detail: self.long()?.into(),
            })),
            2 => Body::Cancelled,
            3 => Body::ThinRan,
            4 => Body::ThinRefused(Box::new((self.u16()?, self.text()?.into()))),
            _ => return Err(Value("an end of a call")),
        })
    }
}
