//! Asking a command's handler: panics are caught, and in a debug build it must say the same twice.

use std::fmt::Write as _;

use link_wire::Route;

use super::shared::caught;
use crate::{
    Cx, Input, State,
    handler::{CommandFn, Decision, No},
};

/// What the handler decides. Nothing of it has happened yet.
pub(super) fn decide<S: State>(
    route: &'static Route,
    run: CommandFn<S>,
    state: &S,
    cx: &Cx<'_>,
    input: &Input<'_>,
) -> Result<Decision<S::Change>, No> {
    let ask = || caught(|| run(state, cx, input)).unwrap_or_else(|panic| Err(No::Failed(panic)));
    let first = ask();
    if cfg!(debug_assertions) && !matches!(first, Err(No::Failed(_))) {
        let (one, two) = (said(&first), said(&ask()));
        if one != two {
            return Err(No::Failed(format!(
                "the handler `{}` is not pure: of one state, context and input it made {one}, then \
                 {two}",
                route.name
            )));
        }
    }
    first
}

/// All that a decision changes and answers, as text.
fn said<C>(decision: &Result<Decision<C>, No>) -> String {
    match decision {
        Ok(decision) => {
            let mut text = format!("the reply {}", decision.reply.json());
            for changed in &decision.changes {
                // Writing to a string does not fail.
                let _ = write!(text, ", the change {}", changed.json);
            }
            text
        }
        Err(no) => format!("{no:?}"),
    }
}
