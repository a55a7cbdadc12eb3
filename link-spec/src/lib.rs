//! link.toml: reading it, checking it, and what is made of it.
//!
//! The macros and the command-line tool are thin over this library, so both always agree.
//!
//! | module | what |
//! |---|---|
//! | [`read`](mod@read) | from a text to a [`Spec`], or to all that is wrong with it |
//! | [`model`] | a checked file |
//! | [`report`] | what is wrong, with its places |
//! | [`rule_id`] | the list of the rules: the specification of the file |
//! | [`expand`](mod@expand) | the code of both sides, from a file and its trait |
//! | [`handlers`] | what `#[riff_handlers]` holds against the table of a link |
//! | [`generate`](mod@generate) | the files that are made for a review |

mod args;
mod check;
mod declared;
mod distance;
mod draft;
mod duration;
pub mod expand;
mod fallback;
mod faults;
mod fitted;
pub mod generate;
pub mod handlers;
mod ident;
pub mod model;
pub mod read;
mod render;
pub mod report;
pub mod rule_id;
mod source;

pub use self::{
    args::LinkArgs,
    expand::{Expanded, Options, Sides, expand},
    fallback::fallback,
    generate::{GenerateError, Generated, generate},
    handlers::{check as check_handlers, hand_over},
    model::{
        At, Budget, Kind, Limits, Link, Method, Outbox, Path, Place, Route, Rule, Segment, Source,
        Spec, Within,
    },
    read::{ReadError, parse, read},
    report::{Problem, Report, frame},
    rule_id::RuleId,
};
