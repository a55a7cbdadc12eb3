//! What both ends of a riff link share, so that neither has to import the other.
//!
//! | module | what |
//! |---|---|
//! | [`call_id`] | the name of one command, the same in each of its tries |
//! | [`build`] | which wire a program speaks, and with which others it fits |
//! | [`codes`] | the closed list of the reasons for which a server says no by itself |
//! | [`fate`] | what became of a call, as the server tells it |
//! | [`log_position`] | a place in one run of a server's log |
//! | [`problem`] | the JSON of every no (RFC 9457) |
//! | [`service`] | the table that the macros make of `link.toml` |
//! | [`page`] | the shape of a query that a stream catches up with |
//! | [`value`] | small values with a unit in their type |

pub mod build;
pub mod call_id;
pub mod codes;
pub mod fate;
pub mod log_position;
pub mod page;
pub mod problem;
pub mod service;
pub mod value;

pub use self::{
    build::{Build, Fit},
    call_id::{CallId, InvalidCallId},
    codes::Code,
    fate::{CALLS_PATH, CallFate, Fate},
    log_position::{InvalidLogPosition, LogPosition, RunId},
    page::{After, Page},
    problem::Problem,
    service::{Attempts, Budget, Headers, Kind, Limits, OutboxRule, Route, Service},
    value::{Caller, Cursor, InvalidCaller, PathValue, Position, UnixMillis},
};
