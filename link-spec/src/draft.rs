//! A file that was read and may be wrong: what the rules look at, and what a [`Spec`] is made of.
//!
//! Each field keeps apart whether it was left out, was told to be wrong, or is there, so that one
//! mistake is one problem.

use std::time::Duration;

use crate::{
    model::{Budget, Kind, Limits, Link, Method, Outbox, Path, Route, Rule, Spec, Within},
    source::{At, Place, Source},
};

/// A value that may be missing or wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field<T> {
    /// The file does not say it.
    Absent,
    /// The file says something else, and that was told.
    Faulty,
    /// The file says it.
    Given(At<T>),
}

impl<T> Field<T> {
    pub(crate) fn given(&self) -> Option<&At<T>> {
        match self {
            Self::Given(at) => Some(at),
            Self::Absent | Self::Faulty => None,
        }
    }

    pub(crate) fn value(&self) -> Option<T>
    where
        T: Copy,
    {
        self.given().map(|at| at.value)
    }

    pub(crate) const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    fn into_given(self) -> Option<At<T>> {
        match self {
            Self::Given(at) => Some(at),
            Self::Absent | Self::Faulty => None,
        }
    }
}

/// A whole file.
#[derive(Debug)]
pub(crate) struct Draft<'s> {
    pub(crate) source: &'s Source,
    pub(crate) link: DraftLink,
    pub(crate) limits: DraftLimits,
    pub(crate) budgets: Vec<DraftBudget>,
    pub(crate) routes: Vec<DraftRoute>,
    /// The place of `[routes]`. None when the file has none.
    pub(crate) routes_place: Option<Place>,
    /// Whether the file says anything of routes, be it wrong.
    pub(crate) says_routes: bool,
    /// Whether `[budgets]` is something else than a table.
    pub(crate) budgets_faulty: bool,
}

/// `[link]`.
#[derive(Debug)]
pub(crate) struct DraftLink {
    /// The table, at its header.
    pub(crate) table: Field<()>,
    pub(crate) name: Field<String>,
    pub(crate) line: Field<String>,
    pub(crate) rule: Field<Rule>,
}

/// `[limits]`: the values, and which of them are the file's own.
#[derive(Debug)]
pub(crate) struct DraftLimits {
    pub(crate) values: Limits,
    pub(crate) given: Vec<(&'static str, Place)>,
    pub(crate) faulty: Vec<&'static str>,
}

impl DraftLimits {
    /// Where the later one of two limits stands, if a comparison of them means something: one of
    /// them is given, and none is faulty.
    pub(crate) fn compared(&self, one: &'static str, other: &'static str) -> Option<Place> {
        if self.faulty.contains(&one) || self.faulty.contains(&other) {
            return None;
        }
        self.place(one).max(self.place(other))
    }

    pub(crate) fn place(&self, key: &str) -> Option<Place> {
        self.given
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, place)| *place)
    }

    pub(crate) fn is_sound(&self, key: &str) -> bool {
        !self.faulty.contains(&key)
    }
}

/// An entry of `[budgets]`.
#[derive(Debug)]
pub(crate) struct DraftBudget {
    pub(crate) name: At<String>,
    pub(crate) within: Field<Within>,
    pub(crate) tries: Field<u32>,
}

/// An entry of `[routes]`.
#[derive(Debug)]
pub(crate) struct DraftRoute {
    pub(crate) name: At<String>,
    pub(crate) place: Place,
    pub(crate) table: Place,
    pub(crate) kind: Field<Kind>,
    pub(crate) method: Field<Method>,
    pub(crate) path: Field<Path>,
    pub(crate) budget: Field<String>,
    pub(crate) outbox: Field<Outbox>,
    pub(crate) cursor: Field<String>,
    pub(crate) catch_up: Field<String>,
    pub(crate) since: Field<String>,
    pub(crate) deprecated: Field<String>,
}

impl Draft<'_> {
    /// The budget of this name.
    pub(crate) fn budget(&self, name: &str) -> Option<&DraftBudget> {
        self.budgets.iter().find(|budget| *budget.name == name)
    }

    /// The spec, when nothing is missing. The rules have told what is.
    pub(crate) fn into_spec(self) -> Option<Spec> {
        let link = Link {
            name: self.link.name.into_given()?,
            line: self.link.line.into_given()?,
            rule: self.link.rule.value().unwrap_or(Rule::Deliver),
        };
        let budgets = self
            .budgets
            .into_iter()
            .map(DraftBudget::into_budget)
            .collect::<Option<_>>()?;
        let routes = self
            .routes
            .into_iter()
            .map(DraftRoute::into_route)
            .collect::<Option<_>>()?;
        Some(Spec {
            source: self.source.clone(),
            link,
            limits: self.limits.values,
            budgets,
            routes,
        })
    }
}

impl DraftBudget {
    /// How long a call may take.
    pub(crate) fn time(&self, limits: &Limits) -> Option<Duration> {
        self.within.value().map(|within| match within {
            Within::Time(time) => time,
            Within::Period => limits.alive_every,
        })
    }

    fn into_budget(self) -> Option<Budget> {
        let within = self.within.value()?;
        let tries = match within {
            Within::Time(_) => self.tries.value(),
            Within::Period => Some(1),
        };
        Some(Budget {
            name: self.name,
            within,
            tries,
        })
    }
}

impl DraftRoute {
    fn into_route(self) -> Option<Route> {
        Some(Route {
            name: self.name,
            kind: self.kind.value()?,
            method: self.method.value()?,
            path: self.path.into_given()?.value,
            budget: self.budget.into_given(),
            outbox: self.outbox.into_given(),
            cursor: self.cursor.into_given(),
            catch_up: self.catch_up.into_given(),
            since: self.since.into_given().map(|at| at.value),
            deprecated: self.deprecated.into_given().map(|at| at.value),
            place: self.place,
            table: self.table,
        })
    }
}
