//! The closed list of the rules for link.toml: what each is called, and what it holds.
//!
//! Together with `check`, which holds one function a rule, it is the specification of the file.

use std::fmt;

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// What a problem breaks. The text stands in the report, in `error[…]`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum RuleId {
            $($(#[doc = $doc])+ $name,)+
        }

        impl RuleId {
            /// All rules, in the order of the file that they speak of.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Its name, in kebab case. It stays the same from version to version.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

rules! {
    /// The file is TOML.
    Syntax = "syntax",
    /// A key stands once.
    DuplicateKey = "duplicate-key",
    /// Every key is known.
    UnknownKey = "unknown-key",
    /// What must be said is said.
    MissingKey = "missing-key",
    /// A value has the type of its key.
    WrongType = "wrong-type",
    /// A duration is a whole number and a unit, and at most a year.
    BadDuration = "bad-duration",
    /// A duration is more than nothing.
    ZeroDuration = "zero-duration",
    /// `name` can begin a header: lower-case letters, digits and `-`.
    LinkName = "link-name",
    /// `line` is `MAJOR.MINOR`.
    LinkLine = "link-line",
    /// `rule` is `deliver` or `edge`.
    UnknownRule = "unknown-rule",
    /// `rule` is one that this version runs.
    RuleNotBuilt = "rule-not-built",
    /// `try` is not shorter than `connect`: a try begins with the connect.
    TryBelowConnect = "try-below-connect",
    /// `first_wait` is not longer than `most_wait`.
    WaitOrder = "wait-order",
    /// `stream_idle` is at least two of the server's comments, one each 15 s, so that one late
    /// comment ends no stream.
    IdleTooShort = "idle-too-short",
    /// `alive_every` is less than the three minutes after which a server forgets a session.
    AliveTooRare = "alive-too-rare",
    /// `outbox_keep` is less than `call_keep`: what the outbox still sends is still known.
    KeepOrder = "keep-order",
    /// `call_keep_most` is at least 1.
    KeepNone = "keep-none",
    /// The name of a budget is in snake case.
    BudgetName = "budget-name",
    /// A budget leaves time for a connect: it is at least `connect`, or 1 s where `connect` is
    /// longer. After 1 s a system sends a lost first packet again.
    BudgetBelowConnect = "budget-below-connect",
    /// A budget has at least one try.
    ZeroTries = "zero-tries",
    /// The budget `"period"` has one try.
    PeriodTries = "period-tries",
    /// There is a route.
    NoRoutes = "no-routes",
    /// The name of a route is in snake case and no keyword, since a method has it.
    RouteName = "route-name",
    /// The name of a route is none that the generated code has for itself.
    ReservedName = "reserved-name",
    /// `kind` is one of the four.
    UnknownKind = "unknown-kind",
    /// `path` is a method, a space and a path.
    PathForm = "path-form",
    /// The method is one of the five, in upper case.
    UnknownMethod = "unknown-method",
    /// A path begins with `/`.
    PathStart = "path-start",
    /// A path has no empty segment, and does not end with `/`.
    EmptySegment = "empty-segment",
    /// A path has no query and no fragment.
    PathQuery = "path-query",
    /// A literal segment has ASCII letters and digits and `-._~:@`, and is not `.` or `..`.
    PathCharacter = "path-character",
    /// A parameter is a whole segment, `{name}`.
    ParameterForm = "parameter-form",
    /// The name of a parameter is in snake case and no keyword, since an argument has it.
    ParameterName = "parameter-name",
    /// The name of a parameter stands in its path once.
    ParameterTwice = "parameter-twice",
    /// The path of a route is none that a server has for itself: `/healthz`, `/readyz`, `/metrics`,
    /// `/openapi.json`, and `/v1/calls` with what is below it. No method makes it another.
    ///
    /// A parameter is no such path: a server looks at its own paths first, so only the one value
    /// that stands there can never be asked for.
    ReservedPath = "reserved-path",
    /// A route has a method that its kind may have: a command or signal no `GET`, a stream only
    /// `GET`, a query `GET` or `POST`.
    MethodForKind = "method-for-kind",
    /// No two routes have the same method and the same path, whatever their parameters' names.
    SameRoute = "same-route",
    /// No request fits two paths, whatever their methods: the router looks at the path first.
    ///
    /// Two paths with the same number of segments shadow each other when at each place the
    /// segments are equal or one of them is a parameter. A literal beside a parameter is allowed
    /// when a later literal tells the two apart.
    ShadowedPath = "shadowed-path",
    /// At one place behind the same segments, a parameter has the same name in all paths.
    ParameterNamesDiffer = "parameter-names-differ",
    /// A stream has no budget: it lives until someone ends it.
    StreamWithBudget = "stream-with-budget",
    /// What is no stream has a budget.
    MissingBudget = "missing-budget",
    /// The budget of a route exists.
    UnknownBudget = "unknown-budget",
    /// Only a signal has the budget `"period"`: it is the sign of life that comes again.
    PeriodNotSignal = "period-not-signal",
    /// Only a command goes through the outbox.
    OutboxNotCommand = "outbox-not-command",
    /// `outbox` of a route is not longer than `outbox_keep`.
    OutboxTooLong = "outbox-too-long",
    /// Only a stream has `cursor` and `catch_up`.
    ResumeNotStream = "resume-not-stream",
    /// `cursor` and `catch_up` stand together: a cursor alone would lose events without a word.
    HalfResume = "half-resume",
    /// `cursor` names a field: snake case and no keyword.
    CursorName = "cursor-name",
    /// The route that `catch_up` names exists.
    UnknownCatchUp = "unknown-catch-up",
    /// The route that `catch_up` names is a query with `GET`.
    CatchUpNotQuery = "catch-up-not-query",
    /// The catch-up query has no path parameter that its stream does not have.
    CatchUpParameter = "catch-up-parameter",
    /// `since` is `MAJOR.MINOR` and not above `line`.
    BadSince = "bad-since",
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl RuleId {
    /// Whether the rule concludes from what is not there.
    ///
    /// Such a problem is not told of a file that is not TOML: what is missed may stand in the
    /// part that could not be read.
    pub(crate) const fn concludes_from_absence(self) -> bool {
        matches!(
            self,
            Self::MissingKey
                | Self::NoRoutes
                | Self::MissingBudget
                | Self::UnknownBudget
                | Self::UnknownCatchUp
                | Self::HalfResume
        )
    }
}
