//! Rules for `[budgets]`.

use std::time::Duration;

use crate::{
    draft::Draft,
    duration::text,
    ident::{is_snake, snake},
    model::Within,
    report::{Problems, shown},
    rule_id::RuleId,
};

/// After this a system sends the first packet of a connect again (RFC 6298, section 2).
const LOST_PACKET: Duration = Duration::from_secs(1);

pub(super) fn names_are_snake_case(draft: &Draft<'_>, problems: &mut Problems) {
    for budget in draft
        .budgets
        .iter()
        .filter(|budget| !is_snake(&budget.name))
    {
        let help = snake(&budget.name).map_or_else(
            || "a name is in snake case".to_owned(),
            |name| format!("write `{name}`"),
        );
        let message = format!("{} is not the name of a budget", shown(&budget.name));
        problems.add_with_help(RuleId::BudgetName, budget.name.place, message, help);
    }
}

/// The limit `connect` is for a server that is slow to take a connection; a budget below it is
/// fine, as its connects are cut with it. A budget that is spent before a lost packet is sent
/// again is not.
pub(super) fn a_budget_holds_a_connect(draft: &Draft<'_>, problems: &mut Problems) {
    let limits = &draft.limits.values;
    let least = limits.connect.min(LOST_PACKET);
    if !draft.limits.is_sound("connect") {
        return;
    }
    for budget in &draft.budgets {
        let Some(within) = budget.within.given() else {
            continue;
        };
        if within.value == Within::Period && !draft.limits.is_sound("alive_every") {
            continue;
        }
        if let Some(time) = budget.time(limits)
            && time < least
        {
            let message = format!(
                "the budget `{}` ({}) is shorter than a connect",
                *budget.name,
                text(time)
            );
            let help = if limits.connect < LOST_PACKET {
                format!("`connect` is {}: write that or more", text(limits.connect))
            } else {
                format!(
                    "a connect whose first packet is lost takes {}: write that or more, or lower \
                     `connect`",
                    text(LOST_PACKET)
                )
            };
            problems.add_with_help(RuleId::BudgetBelowConnect, within.place, message, help);
        }
    }
}

pub(super) fn a_budget_has_a_try(draft: &Draft<'_>, problems: &mut Problems) {
    for budget in &draft.budgets {
        if let Some(tries) = budget.tries.given()
            && tries.value == 0
        {
            problems.add_with_help(
                RuleId::ZeroTries,
                tries.place,
                format!("with the budget `{}` nothing is ever sent", *budget.name),
                "write 1 or more, or leave it out: then there are as many as fit",
            );
        }
    }
}

pub(super) fn a_period_has_one_try(draft: &Draft<'_>, problems: &mut Problems) {
    for budget in &draft.budgets {
        if let Some(tries) = budget.tries.given()
            && budget.within.value() == Some(Within::Period)
            && tries.value > 1
        {
            problems.add_with_help(
                RuleId::PeriodTries,
                tries.place,
                "a sign of life has one try: the next one comes with the next period",
                format!("write `{} = \"period\"`", *budget.name),
            );
        }
    }
}
