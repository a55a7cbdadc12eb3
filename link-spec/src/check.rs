//! The rules that need more than one value, one function each. This list is the specification of
//! what a link.toml may say; what each value may be by itself is told by `read`.

mod budgets;
mod limits;
mod link;
mod paths;
mod reserved;
mod resume;
mod routes;

use crate::{draft::Draft, report::Problems};

type Check = fn(&Draft<'_>, &mut Problems);

const CHECKS: &[Check] = &[
    link::is_there,
    link::name_begins_a_header,
    link::line_is_major_minor,
    link::rule_is_built,
    limits::a_try_holds_a_connect,
    limits::the_first_wait_is_the_shortest,
    limits::a_stream_outlives_a_late_comment,
    limits::a_session_outlives_its_period,
    limits::the_server_remembers_longer_than_the_outbox,
    limits::the_server_keeps_a_reply,
    budgets::names_are_snake_case,
    budgets::a_budget_holds_a_connect,
    budgets::a_budget_has_a_try,
    budgets::a_period_has_one_try,
    routes::there_is_one,
    routes::names_are_methods,
    routes::kind_and_path_are_there,
    routes::the_method_fits_the_kind,
    routes::only_a_stream_has_no_budget,
    routes::the_budget_exists,
    routes::only_a_signal_has_the_period,
    routes::only_a_command_has_an_outbox,
    routes::an_outbox_keeps_no_longer_than_all,
    routes::since_is_a_line_so_far,
    reserved::no_path_is_the_servers_own,
    paths::no_two_are_the_same,
    paths::none_shadows_another,
    paths::a_place_has_one_name,
    resume::only_a_stream_resumes,
    resume::cursor_and_catch_up_stand_together,
    resume::the_cursor_is_a_field,
    resume::the_catch_up_exists,
    resume::the_catch_up_is_a_query,
    resume::the_catch_up_can_be_asked,
];

/// Adds what is wrong with a draft.
pub(crate) fn check(draft: &Draft<'_>, problems: &mut Problems) {
    for check in CHECKS {
        check(draft, problems);
    }
}

/// `MAJOR.MINOR`, two whole numbers without leading zeros.
fn line(text: &str) -> Option<(u32, u32)> {
    let number = |digits: &str| -> Option<u32> {
        let plain = digits.bytes().all(|b| b.is_ascii_digit());
        let leads_with_zero = digits.len() > 1 && digits.starts_with('0');
        if plain && !leads_with_zero {
            digits.parse().ok()
        } else {
            None
        }
    };
    let (major, minor) = text.split_once('.')?;
    Some((number(major)?, number(minor)?))
}
