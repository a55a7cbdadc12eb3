//! So many commands in flight, for a while: how many a second, and the longest wait between two.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// What a load came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    /// Commands a second.
    pub(crate) rate: f64,
    /// The longest time between two replies, of all together.
    pub(crate) longest: Duration,
}

/// Keeps `in_flight` calls of `one` running for this long. `one` gets the number of its worker and
/// a number of its own.
pub(crate) async fn run<F, T>(in_flight: usize, within: Duration, one: F) -> Result<Load, String>
where
    F: Fn(usize, u64) -> T + Send + Sync + 'static,
    T: Future<Output = Result<(), String>> + Send,
{
    let one = Arc::new(one);
    let stop = Arc::new(AtomicBool::new(false));
    let next = Arc::new(AtomicU64::new(0));
    let began = Instant::now();
    let last = Arc::new(AtomicU64::new(0));
    let longest = Arc::new(AtomicU64::new(0));
    let workers: Vec<_> = (0..in_flight)
        .map(|worker| {
            let (one, stop, next) = (Arc::clone(&one), Arc::clone(&stop), Arc::clone(&next));
            let (last, longest) = (Arc::clone(&last), Arc::clone(&longest));
            tokio::spawn(async move {
                let mut done = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    one(worker, next.fetch_add(1, Ordering::Relaxed)).await?;
                    // What answers at once would else never let the clock of this load run.
                    tokio::task::consume_budget().await;
                    done += 1;
                    let now = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
                    let before = last.swap(now, Ordering::Relaxed);
                    longest.fetch_max(now.saturating_sub(before), Ordering::Relaxed);
                }
                Ok::<u64, String>(done)
            })
        })
        .collect();
    tokio::time::sleep(within).await;
    stop.store(true, Ordering::Relaxed);
    let mut done = 0;
    for worker in workers {
        done += worker.await.map_err(|error| error.to_string())??;
    }
    Ok(Load {
        rate: done as f64 / began.elapsed().as_secs_f64(),
        longest: Duration::from_nanos(longest.load(Ordering::Relaxed)),
    })
}
