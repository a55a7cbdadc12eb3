//! Rules for `[limits]`. They hold for the defaults too, so one limit can be wrong beside another
//! that the file does not say.

use std::time::Duration;

use crate::{draft::Draft, duration::text, report::Problems, rule_id::RuleId};

/// How often a server writes a comment into a stream that is silent.
const STREAM_COMMENT: Duration = Duration::from_secs(15);

/// How long a server remembers a session that gives no sign of life.
const SESSION: Duration = Duration::from_secs(180);

pub(super) fn a_try_holds_a_connect(draft: &Draft<'_>, problems: &mut Problems) {
    let (attempt, connect) = (draft.limits.values.attempt, draft.limits.values.connect);
    if let Some(place) = draft.limits.compared("try", "connect")
        && attempt < connect
    {
        problems.add_with_help(
            RuleId::TryBelowConnect,
            place,
            format!(
                "`try` ({}) is shorter than `connect` ({})",
                text(attempt),
                text(connect)
            ),
            "a try begins with the connect: raise `try`, or lower `connect`",
        );
    }
}

pub(super) fn the_first_wait_is_the_shortest(draft: &Draft<'_>, problems: &mut Problems) {
    let (first, most) = (
        draft.limits.values.first_wait,
        draft.limits.values.most_wait,
    );
    if let Some(place) = draft.limits.compared("first_wait", "most_wait")
        && first > most
    {
        problems.add_with_help(
            RuleId::WaitOrder,
            place,
            format!(
                "`first_wait` ({}) is longer than `most_wait` ({})",
                text(first),
                text(most)
            ),
            "the wait begins with `first_wait` and doubles up to `most_wait`",
        );
    }
}

pub(super) fn a_stream_outlives_a_late_comment(draft: &Draft<'_>, problems: &mut Problems) {
    let idle = draft.limits.values.stream_idle;
    if let Some(place) = draft.limits.place("stream_idle")
        && idle < STREAM_COMMENT * 2
    {
        problems.add_with_help(
            RuleId::IdleTooShort,
            place,
            format!("`stream_idle` ({}) ends streams that live", text(idle)),
            format!(
                "a server writes a comment each {}: write \"{}\" or more, so that one may be late",
                text(STREAM_COMMENT),
                text(STREAM_COMMENT * 2)
            ),
        );
    }
}

pub(super) fn a_session_outlives_its_period(draft: &Draft<'_>, problems: &mut Problems) {
    let every = draft.limits.values.alive_every;
    if let Some(place) = draft.limits.place("alive_every")
        && every >= SESSION
    {
        problems.add_with_help(
            RuleId::AliveTooRare,
            place,
            format!(
                "`alive_every` ({}) comes after the session is forgotten",
                text(every)
            ),
            format!(
                "a server forgets a session after {}: write less, \"60s\"",
                text(SESSION)
            ),
        );
    }
}

pub(super) fn the_server_remembers_longer_than_the_outbox(
    draft: &Draft<'_>,
    problems: &mut Problems,
) {
    let (outbox, server) = (
        draft.limits.values.outbox_keep,
        draft.limits.values.call_keep,
    );
    if let Some(place) = draft.limits.compared("outbox_keep", "call_keep")
        && outbox >= server
    {
        problems.add_with_help(
            RuleId::KeepOrder,
            place,
            format!(
                "`outbox_keep` ({}) is not below `call_keep` ({})",
                text(outbox),
                text(server)
            ),
            "a command must leave the outbox while the server still knows whether it ran",
        );
    }
}

pub(super) fn the_server_keeps_a_reply(draft: &Draft<'_>, problems: &mut Problems) {
    if let Some(place) = draft.limits.place("call_keep_most")
        && draft.limits.values.call_keep_most == 0
    {
        problems.add_with_help(
            RuleId::KeepNone,
            place,
            "with no kept reply, no command can be sent again",
            "write 1 or more; 1024 is the default",
        );
    }
}
