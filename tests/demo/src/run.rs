//! One run from start to end: the world is built, broken, stopped, and asked what is true.

use std::time::Duration;

use demo::world::{Server, World};
use faults::{Counts, Plan, Proxy, new_seed};
use riff_api::{RiffApi, Who};
use riff_link::{
    Limits,
    client::{Credentials, link},
};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};

use crate::{
    audit::Ledger,
    load::{Caller, Told},
    options::Options,
    reader::Reader,
    show::{Report, Talk},
    work::{self, Names},
};

/// Short, so that a run that meets a hundred faults takes seconds. The defaults are for people.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(1),
    attempt: Duration::from_millis(400),
    first_wait: Duration::from_millis(20),
    most_wait: Duration::from_millis(200),
    stream_retry: Duration::from_millis(50),
    stream_idle: Duration::from_secs(2),
    ..Limits::DEFAULT
};
/// How long the reader may take to come to the end of the log.
const CATCH_UP: Duration = Duration::from_secs(15);
/// How often the line of the progress is redrawn.
const TICK: Duration = Duration::from_millis(100);
const KILLS: u64 = 2;

/// Runs the demo.
///
/// # Errors
/// Something failed that the demo is not about: nothing was counted.
pub(crate) async fn run(options: Options, talk: Talk) -> Result<Report, String> {
    let started = Instant::now();
    let seed = options.seed.unwrap_or_else(new_seed);
    talk.line(&format!(
        "seed {seed}: {} commands by {} callers; the server is killed {KILLS} times",
        options.commands, options.callers
    ));
    let names = Names::new()?;
    let work = work::deal(seed, options.commands, options.callers, &names)?;
    let world = World::new(options.server)?;
    let server = world.start().await?;
    let plan = Plan {
        sabotage: options.sabotage.map(Into::into),
        ..Plan::new(seed)
    };
    let proxy = Proxy::start(server.address(), plan)
        .map_err(|error| format!("the proxy does not start: {error}"))?;

    let link = link::with(&format!("http://{}", proxy.address()), LIMITS)
        .map_err(|error| error.to_string())?;
    let mut apis = Vec::new();
    for number in 0..options.callers {
        let token = world.token(&work::caller(number)).await?;
        apis.push(RiffApi::new(link.clone(), Credentials::bearer(token)));
    }
    let first = apis.first().ok_or("no callers")?.clone();
    first
        .who(&Who::default())
        .await
        .map_err(|error| format!("no first reply: {error}"))?;

    let reader = Reader::start(first, names.tailed.clone());
    let done = watch::Sender::new(0);
    let callers = (0..)
        .zip(apis.into_iter().zip(work))
        .map(|(number, (api, steps))| Caller {
            name: work::caller(number),
            api,
            steps,
            done: done.clone(),
        });
    let mut at_work: JoinSet<Vec<Told>> = callers.map(Caller::run).collect();
    let mut told = Vec::new();
    let kills = Kills {
        commands: options.commands,
        done: done.subscribe(),
        talk,
    };
    let (server, ()) = tokio::try_join!(kills.run(&world, &proxy, server), async {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                ended = at_work.join_next() => match ended {
                    Some(Ok(mine)) => told.extend(mine),
                    Some(Err(error)) => return Err(format!("a caller failed: {error}")),
                    None => return Ok(()),
                },
                _ = tick.tick() => {
                    talk.progress(&progress(*done.borrow(), options.commands, &proxy.counts()));
                }
            }
        }
    })?;

    talk.progress("the reader catches up");
    let newest = Ledger::read(&world.dir())?.newest(&names.tailed);
    let read = reader.finish(newest, CATCH_UP).await;
    talk.progress("the server stops");
    let status = server.stop().await?;
    let counts = proxy
        .stop()
        .await
        .map_err(|error| format!("the proxy lost its port: {error}"))?;

    let ledger = Ledger::read(&world.dir())?;
    let findings = ledger.compare(&told, &read, &names.tailed);
    let mut wrong = findings.complaints();
    if !status.success() {
        wrong.push(format!("the server did not stop in order ({status})"));
    }
    if counts.refused > 0 {
        wrong.push(format!(
            "the proxy did not understand {} requests",
            counts.refused
        ));
    }
    if options.sabotage.is_some() && !counts.sabotaged {
        wrong.push("the sabotage found no chance: give it more --commands".to_owned());
    }
    Ok(Report {
        seed,
        commands: options.commands,
        callers: options.callers,
        link: link.stats(),
        proxy: counts,
        kills: KILLS,
        messages: ledger.count(&names.tailed),
        findings,
        wrong,
        took: started.elapsed(),
    })
}

/// Kills the server when a third of the commands has come to an end, and again after two thirds.
struct Kills {
    commands: u64,
    done: watch::Receiver<u64>,
    talk: Talk,
}

impl Kills {
    async fn run(
        mut self,
        world: &World,
        proxy: &Proxy,
        mut server: Server,
    ) -> Result<Server, String> {
        for kill in 1..=KILLS {
            let after = (self.commands * kill / (KILLS + 1)).max(1);
            if self.done.wait_for(|done| *done >= after).await.is_err() {
                return Err("all callers are gone".to_owned());
            }
            server.kill().await?;
            server = world.start().await?;
            proxy.set_upstream(server.address());
            self.talk.line(&format!(
                "killed the server after {after} commands, and started it on its log"
            ));
        }
        Ok(server)
    }
}

fn progress(done: u64, commands: u64, counts: &Counts) -> String {
    format!(
        "{done}/{commands} commands, {} faults, {} repeats",
        counts.total(),
        counts.repeats
    )
}
