//! What the server counts of its requests, with labels that are fixed when it starts.
//!
//! No label comes from a request: no caller, no call ID, no path that nobody declared.
//!
//! | module | what |
//! |---|---|
//! | `text` | all of it, and the numbers of the engine, as Prometheus reads it |

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use link_wire::{Code, Service};

use super::own::Own;

mod text;

pub(super) use self::text::{MEDIA_TYPE, Page};

/// The upper bounds of the histogram of durations, in milliseconds: those of the OpenTelemetry
/// conventions for HTTP.
const BOUNDS_MS: [u64; 14] = [
    5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000,
];
/// 2xx, 3xx, 4xx, 5xx.
const CLASSES: usize = 4;

/// What became of a command, told by its try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It was decided now.
    New,
    /// Its reply, refusal or end was kept.
    Kept,
    /// An earlier try was under way.
    Waited,
    /// The ID belongs to another command.
    Reused,
    /// The reply, or the ID, is no longer kept.
    Forgotten,
    /// It was settled before it arrived.
    Cancelled,
}

impl Repeat {
    pub(super) const ALL: [Self; 6] = [
        Self::New,
        Self::Kept,
        Self::Waited,
        Self::Reused,
        Self::Forgotten,
        Self::Cancelled,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Kept => "kept",
            Self::Waited => "waited",
            Self::Reused => "reused",
            Self::Forgotten => "forgotten",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Why a reply is a no: left at the response for whoever counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusing {
    /// The server said it.
    Server(Code),
    /// A handler said it. Its codes are the application's, and how many there are is not known.
    Handler,
}

/// The numbers.
#[derive(Debug)]
pub(super) struct Metrics {
    routes: Vec<Labels>,
    /// [`CLASSES`] for each route.
    durations: Vec<Histogram>,
    pub(super) in_flight: AtomicU64,
    pub(super) connections: AtomicU64,
    pub(super) connections_accepted: AtomicU64,
    pub(super) streams: AtomicU64,
    pub(super) request_bytes: AtomicU64,
    pub(super) response_bytes: AtomicU64,
    repeats: [AtomicU64; Repeat::ALL.len()],
    /// In the order of [`Code::ALL`].
    refusals: Vec<AtomicU64>,
    refused_by_handlers: AtomicU64,
}

#[derive(Debug)]
struct Labels {
    method: &'static str,
    path: &'static str,
}

#[derive(Debug, Default)]
struct Histogram {
    /// One more than there are bounds: the last has what is above all of them.
    counts: [AtomicU64; BOUNDS_MS.len() + 1],
    sum_micros: AtomicU64,
}

/// Which row of the metrics a request belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    /// The route of the service with this index.
    Route(usize),
    /// A path of the server's own.
    Own(Own),
    /// None: it was refused before its path was looked at, or has no such path.
    None,
}

impl Metrics {
    pub(super) fn new(service: &Service) -> Self {
        let routes = service.routes.iter().map(|route| Labels {
            method: route.method,
            path: route.path,
        });
        let own = Own::ALL.iter().map(|own| Labels {
            method: own.method(),
            path: own.path(),
        });
        let none = Labels {
            method: "_OTHER",
            path: "",
        };
        let routes: Vec<_> = routes.chain(own).chain([none]).collect();
        let mut durations = Vec::new();
        durations.resize_with(routes.len() * CLASSES, Histogram::default);
        let mut refusals = Vec::new();
        refusals.resize_with(Code::ALL.len(), AtomicU64::default);
        Self {
            routes,
            durations,
            in_flight: AtomicU64::default(),
            connections: AtomicU64::default(),
            connections_accepted: AtomicU64::default(),
            streams: AtomicU64::default(),
            request_bytes: AtomicU64::default(),
            response_bytes: AtomicU64::default(),
            repeats: Default::default(),
            refusals,
            refused_by_handlers: AtomicU64::default(),
        }
    }

    /// Counts a request that was answered: at the head of its reply, for a stream.
    pub(super) fn answered(
        &self,
        row: Row,
        status: u16,
        refusing: Option<Refusing>,
        took: Duration,
    ) {
        let none = self.routes.len() - 1;
        let first_own = none - Own::ALL.len();
        let row = match row {
            Row::Route(n) => n.min(none),
            Row::Own(own) => first_own + own.index(),
            Row::None => none,
        };
        let class = usize::from((status / 100).clamp(2, 5) - 2);
        self.durations[row * CLASSES + class].add(took);
        match refusing {
            Some(Refusing::Server(code)) => {
                if let Some(n) = Code::ALL.iter().position(|known| *known == code) {
                    self.refusals[n].fetch_add(1, Relaxed);
                }
            }
            Some(Refusing::Handler) => {
                self.refused_by_handlers.fetch_add(1, Relaxed);
            }
            None => {}
        }
    }

    pub(super) fn repeat(&self, repeat: Repeat) {
        self.repeats[repeat as usize].fetch_add(1, Relaxed);
    }

    /// One more of what `of` tells, for as long as the guard lives.
    pub(super) fn hold(self: &Arc<Self>, of: fn(&Self) -> &AtomicU64) -> Held {
        of(self).fetch_add(1, Relaxed);
        Held {
            metrics: Arc::clone(self),
            of,
        }
    }
}

impl Histogram {
    fn add(&self, took: Duration) {
        let millis = took.as_millis();
        let over = |bound: &u64| {
            millis > u128::from(*bound)
                || (millis == u128::from(*bound) && !took.subsec_micros().is_multiple_of(1_000))
        };
        let n = BOUNDS_MS.iter().take_while(|bound| over(bound)).count();
        self.counts[n].fetch_add(1, Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.sum_micros.fetch_add(micros, Relaxed);
    }
}

/// One of something that is counted while it lasts.
#[derive(Debug)]
pub(super) struct Held {
    metrics: Arc<Metrics>,
    of: fn(&Metrics) -> &AtomicU64,
}

impl Drop for Held {
    fn drop(&mut self) {
        (self.of)(&self.metrics).fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_up_to_the_bound_that_it_reaches() {
        let histogram = Histogram::default();
        for (micros, bucket) in [
            (0, 0),
            (5_000, 0),
            (5_001, 1),
            (10_000_000, 13),
            (10_000_001, 14),
        ] {
            let before = histogram.counts[bucket].load(Relaxed);
            histogram.add(Duration::from_micros(micros));
            assert_eq!(
                histogram.counts[bucket].load(Relaxed),
                before + 1,
                "{micros}"
            );
        }
        assert_eq!(histogram.sum_micros.load(Relaxed), 20_010_002);
    }

    #[test]
    fn each_repeat_has_a_place_and_a_name_of_its_own() {
        for (n, repeat) in Repeat::ALL.into_iter().enumerate() {
            assert_eq!(repeat as usize, n);
            let same = Repeat::ALL
                .iter()
                .filter(|other| other.as_str() == repeat.as_str());
            assert_eq!(same.count(), 1);
        }
    }
}
