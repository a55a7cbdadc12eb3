//! How many requests a caller may send: one bucket of tokens a caller, in memory.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use link_wire::Caller;
use tokio::time::Instant;

/// Of how many callers the rate is known. Further ones share one bucket until there is room.
const MOST_CALLERS: usize = 65_536;
/// How often buckets that are full again are dropped, at most: it costs a walk over all.
const PURGE_EVERY: Duration = Duration::from_secs(10);

/// The rate of one caller.
#[derive(Debug)]
pub(super) struct Rate {
    per_second: f64,
    burst: f64,
    buckets: Mutex<Buckets>,
}

#[derive(Debug)]
struct Buckets {
    callers: HashMap<Caller, Bucket>,
    shared: Bucket,
    purged: Instant,
}

/// Tokens as they were at one moment.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Rate {
    /// So many requests a second, and so many at once after a silence. At least one of both.
    pub(super) fn new(per_second: u32, burst: u32) -> Self {
        let now = Instant::now();
        let burst = f64::from(burst.max(1));
        Self {
            per_second: f64::from(per_second.max(1)),
            burst,
            buckets: Mutex::new(Buckets {
                callers: HashMap::new(),
                shared: Bucket {
                    tokens: burst,
                    at: now,
                },
                purged: now,
            }),
        }
    }

    /// Takes one request of the caller.
    ///
    /// # Errors
    /// It is one too many; the time after which it is not.
    pub(super) fn take(&self, caller: &Caller, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let Buckets {
            callers,
            shared,
            purged,
        } = &mut *buckets;
        if callers.len() >= MOST_CALLERS
            && !callers.contains_key(caller)
            && now.duration_since(*purged) >= PURGE_EVERY
        {
            *purged = now;
            callers.retain(|_, bucket| self.filled(bucket, now) < self.burst);
        }
        let full = callers.len() >= MOST_CALLERS;
        let bucket = if let Some(bucket) = callers.get_mut(caller) {
            bucket
        } else if full {
            shared
        } else {
            callers.entry(caller.clone()).or_insert(Bucket {
                tokens: self.burst,
                at: now,
            })
        };
        bucket.tokens = self.filled(bucket, now);
        bucket.at = now;
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64(
            (1.0 - bucket.tokens) / self.per_second,
        ))
    }

    fn filled(&self, bucket: &Bucket, now: Instant) -> f64 {
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        (bucket.tokens + since * self.per_second).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(name: &str) -> Caller {
        name.parse().unwrap()
    }

    #[test]
    fn a_burst_is_taken_at_once_and_then_the_rate() {
        let rate = Rate::new(2, 3);
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let (ann, ben) = (caller("ann"), caller("ben"));
        for _ in 0..3 {
            assert_eq!(rate.take(&ann, start), Ok(()));
        }
        assert_eq!(rate.take(&ann, start), Err(Duration::from_millis(500)));
        assert_eq!(rate.take(&ben, start), Ok(()), "another caller has its own");
        assert!(rate.take(&ann, after(499)).is_err());
        assert_eq!(rate.take(&ann, after(500)), Ok(()));
        assert!(rate.take(&ann, after(500)).is_err());
        for _ in 0..3 {
            assert_eq!(rate.take(&ann, after(60_000)), Ok(()));
        }
        assert!(
            rate.take(&ann, after(60_000)).is_err(),
            "no more than a burst"
        );
    }

    #[test]
    fn callers_beyond_the_most_share_one_bucket_until_others_are_full_again() {
        let rate = Rate::new(1, 1);
        let start = Instant::now();
        for n in 0..MOST_CALLERS {
            rate.take(&caller(&format!("c{n}")), start).unwrap();
        }
        assert_eq!(rate.take(&caller("one"), start), Ok(()));
        assert!(rate.take(&caller("two"), start).is_err());
        let later = start + PURGE_EVERY;
        assert_eq!(rate.take(&caller("two"), later), Ok(()));
        assert_eq!(rate.buckets.lock().unwrap().callers.len(), 1);
    }
}
