//! Kills the server and starts it again, while the callers are at work.

use std::time::Duration;

use demo::world::World;
use tokio::{sync::watch, task::JoinSet, time::sleep};

use crate::{
    audit::{self, Counts},
    chance::{Chance, new_seed},
    options::Options,
    say,
    writer::Writer,
};

/// How long the server lives, at most, in milliseconds from the moment at which it listens.
const LIFE_MS: u64 = 300;
/// Many checkpoints, so that a kill meets each moment of them, and a memory that is soon full, so
/// that calls are forgotten.
const SERVE: [&str; 6] = [
    "--checkpoint-bytes",
    "16KiB",
    "--keep-replies",
    "200",
    "--keep-ids",
    "100",
];

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) kills: u64,
    pub(crate) tries: u64,
    pub(crate) repeats: u64,
    pub(crate) forgotten: u64,
    pub(crate) counts: Counts,
    /// What is not true; empty in a good run.
    pub(crate) wrong: Vec<String>,
}

/// One run.
///
/// # Errors
/// Something failed that the run is not about.
pub(crate) async fn run(options: &Options) -> Result<Report, String> {
    let seed = options.seed.unwrap_or_else(new_seed);
    say::line(&format!(
        "seed {seed}: {} callers, the server is killed {} times",
        options.callers, options.kills
    ));
    let world = World::new(options.server.clone())?.serve_with(&SERVE);
    let mut server = world.start().await?;
    let (address, server_at) = watch::channel(server.address());
    let (end, stop) = watch::channel(false);
    let mut at_work = JoinSet::new();
    for number in 0..options.callers {
        let name = format!("c{number}");
        let token = world.token(&name).await?;
        let chance = Chance::of(seed, number + 1);
        let (server_at, stop) = (server_at.clone(), stop.clone());
        let writer = Writer::new(name, token, chance, server_at, stop, options.sabotage);
        at_work.spawn(writer.run());
    }
    let mut chance = Chance::of(seed, 0);
    for _ in 0..options.kills {
        sleep(Duration::from_millis(chance.below(LIFE_MS))).await;
        server.kill().await?;
        server = world.start().await?;
        address.send_replace(server.address());
    }
    end.send_replace(true);
    let (mut told, mut wrong, mut tries) = (Vec::new(), Vec::new(), 0);
    let (mut repeats, mut forgotten) = (0, 0);
    while let Some(ended) = at_work.join_next().await {
        let notes = ended.map_err(|error| format!("a caller failed: {error}"))??;
        told.extend(notes.told);
        wrong.extend(notes.wrong);
        tries += notes.tries;
        repeats += notes.repeats;
        forgotten += notes.forgotten;
    }
    let status = server.stop().await?;
    if !status.success() {
        wrong.push(format!("the server did not stop in order ({status})"));
    }
    let counts = audit::audit(&world.dir(), &told, &mut wrong)?;
    Ok(Report {
        seed,
        kills: options.kills,
        tries,
        repeats,
        forgotten,
        counts,
        wrong,
    })
}
