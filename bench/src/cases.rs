//! What is compared with what.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use link_wire::Position;
use server_runtime::{
    Engine, EngineOptions, FileJournal, Journal as _, bench, bench::Floor, journal::Chunk,
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{
    Asked,
    app::{self, Board, SAY},
    fresh, http,
    load::{self, Load},
    row::{self, Rounds},
};

/// The names of the cases.
pub(crate) const NAMES: &[&str] = &[
    "command",
    "repeat",
    "query",
    "start",
    "memory",
    "checkpoint",
    "http",
];
/// The records of a large log.
pub(crate) const MILLION: u64 = 1_000_000;

/// Runs what was asked for.
pub(crate) fn run(asked: &Asked) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let cases = Cases {
        runtime,
        rounds: if asked.quick { 2 } else { 7 },
        within: Duration::from_millis(if asked.quick { 150 } else { 1_500 }),
    };
    if !asked.json {
        row::head();
    }
    let wants = |name: &str| asked.only.as_deref().is_none_or(|only| only == name);
    let say = |rounds: Rounds| rounds.row().say(asked.json);
    if wants("command") {
        for in_flight in [1, 16, 64, 256] {
            say(cases.command(in_flight)?);
        }
    }
    if wants("repeat") {
        say(cases.repeat()?);
    }
    if wants("query") {
        say(cases.query()?);
    }
    if wants("checkpoint") {
        say(cases.checkpoint()?);
    }
    if wants("http") {
        http::run(asked.quick, say)?;
    }
    if wants("start") || wants("memory") {
        let large = TempDir::new().map_err(|error| error.to_string())?;
        write_log(large.path())?;
        if wants("memory") {
            let mib = kept(large.path())?;
            say(one("a million kept calls", "MiB", (mib, 250.0)));
        }
        if wants("start") {
            for rounds in cases.start(large.path())? {
                say(rounds);
            }
        }
    }
    Ok(())
}

struct Cases {
    runtime: Runtime,
    rounds: usize,
    within: Duration,
}

impl Cases {
    fn load<T: Future<Output = Result<(), String>> + Send>(
        &self,
        in_flight: usize,
        one: impl Fn(usize, u64) -> T + Send + Sync + 'static,
    ) -> Result<Load, String> {
        self.runtime
            .block_on(load::run(in_flight, self.within, one))
    }

    /// A durable command through the engine, and the same record appended by a group commit that
    /// has no table, no state and no handler.
    fn command(&self, in_flight: usize) -> Result<Rounds, String> {
        let mut rounds = Vec::new();
        for _ in 0..self.rounds {
            let dir = TempDir::new().map_err(|error| error.to_string())?;
            let ours = {
                let engine = app::engine(&dir.path().join("ours"), EngineOptions::default())?;
                self.load(in_flight, commands(&engine)?)?.rate
            };
            let journal = FileJournal::open(dir.path().join("floor"));
            let floor = Floor::open(journal.map_err(|error| error.to_string())?);
            let floor = Arc::new(floor.map_err(|error| error.to_string())?);
            let record = Arc::new(app::record());
            let append = move |_, _| {
                let (floor, record) = (Arc::clone(&floor), Arc::clone(&record));
                async move {
                    let durable = floor.append(&record).await;
                    durable.then_some(()).ok_or_else(|| "not appended".into())
                }
            };
            rounds.push((ours, self.load(in_flight, append)?.rate));
        }
        Ok(Rounds {
            case: "durable command / bare append".into(),
            in_flight,
            unit: "1/s",
            rounds,
            more_is_better: true,
            goal: 1.10,
        })
    }

    /// A repeat of a kept call, and a first run.
    fn repeat(&self) -> Result<Rounds, String> {
        let mut rounds = Vec::new();
        for _ in 0..self.rounds {
            let dir = TempDir::new().map_err(|error| error.to_string())?;
            let engine = app::engine(dir.path(), EngineOptions::default())?;
            let first = self.load(16, commands(&engine)?)?.rate;
            let newest = u64::MAX / 2;
            let body = Arc::new(app::body());
            for worker in 0..16 {
                let sent = send(
                    engine.clone(),
                    worker,
                    newest + worker as u64,
                    Arc::clone(&body),
                );
                self.runtime.block_on(sent)?;
            }
            let again = move |worker: usize, _| {
                send(
                    engine.clone(),
                    worker,
                    newest + worker as u64,
                    Arc::clone(&body),
                )
            };
            rounds.push((self.load(16, again)?.rate, first));
        }
        Ok(Rounds {
            case: "kept repeat / first run".into(),
            in_flight: 16,
            unit: "1/s",
            rounds,
            more_is_better: true,
            goal: 1.0,
        })
    }

    /// What a query waits for while 64 commands are in flight, and while the same two cores are
    /// as busy with something that has no engine: the floor's appends.
    fn query(&self) -> Result<Rounds, String> {
        let mut rounds = Vec::new();
        for _ in 0..self.rounds {
            let dir = TempDir::new().map_err(|error| error.to_string())?;
            let engine = app::engine(&dir.path().join("ours"), EngineOptions::default())?;
            let ours = {
                let asking = Asking::start(engine.clone())?;
                self.load(64, commands(&engine)?)?;
                asking.median()
            };
            let journal = FileJournal::open(dir.path().join("floor"));
            let floor = Floor::open(journal.map_err(|error| error.to_string())?);
            let floor = Arc::new(floor.map_err(|error| error.to_string())?);
            let record = Arc::new(app::record());
            let asking = Asking::start(engine)?;
            let append = move |_, _| {
                let (floor, record) = (Arc::clone(&floor), Arc::clone(&record));
                async move {
                    floor.append(&record).await;
                    Ok(())
                }
            };
            self.load(64, append)?;
            rounds.push((ours, asking.median()));
        }
        Ok(Rounds {
            case: "query under commands / under bare appends, p50".into(),
            in_flight: 64,
            unit: "µs",
            rounds,
            more_is_better: false,
            goal: 1.10,
        })
    }

    /// The longest time without a reply while checkpoints are made, beyond that without them.
    fn checkpoint(&self) -> Result<Rounds, String> {
        let mut rounds = Vec::new();
        for _ in 0..self.rounds {
            let dir = TempDir::new().map_err(|error| error.to_string())?;
            let engine = app::engine(dir.path(), EngineOptions::default())?;
            let without = self.load(16, commands(&engine)?)?.longest;
            let base = Arc::new(AtomicU64::new(0));
            let checkpoints = {
                let (engine, base) = (engine.clone(), Arc::clone(&base));
                self.runtime.spawn(async move {
                    while base.load(Ordering::Relaxed) == 0 {
                        // One that fails shows as none.
                        let _ = engine.checkpoint().await;
                    }
                })
            };
            let with = self
                .load(16, commands_from(&engine, u64::MAX / 4)?)?
                .longest;
            base.store(1, Ordering::Relaxed);
            let ended = self.runtime.block_on(checkpoints);
            ended.map_err(|error| error.to_string())?;
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            rounds.push((ms(with.saturating_sub(without)), 5.0));
        }
        Ok(Rounds {
            case: "longest pause more during checkpoints / 5 ms".into(),
            in_flight: 16,
            unit: "ms",
            rounds,
            more_is_better: false,
            goal: 1.0,
        })
    }

    /// A start with a million records.
    fn start(&self, dir: &Path) -> Result<[Rounds; 2], String> {
        let mut log = Vec::new();
        for _ in 0..self.rounds {
            let started = fresh::start(dir, false)?;
            if started.checkpoint > 0 {
                return Err("a start made a checkpoint".into());
            }
            log.push((started.seconds, 2.0));
        }
        let engine = app::engine(dir, EngineOptions::default())?;
        let made = self.runtime.block_on(engine.checkpoint());
        made.map_err(|error| error.to_string())?;
        drop(engine);
        let mut checkpoint = Vec::new();
        for _ in 0..self.rounds {
            let started = fresh::start(dir, false)?;
            if started.checkpoint == 0 {
                return Err("the start used no checkpoint".into());
            }
            checkpoint.push((started.seconds, 0.3));
        }
        let rounds = |case: &str, rounds| Rounds {
            case: case.into(),
            in_flight: 0,
            unit: "s",
            rounds,
            more_is_better: false,
            goal: 1.0,
        };
        Ok([
            rounds("start from a log of a million / 2 s", log),
            rounds("start from a checkpoint of it / 0.3 s", checkpoint),
        ])
    }
}

/// The MiB of a process that keeps the replies of a million calls.
fn kept(dir: &Path) -> Result<f64, String> {
    let started = fresh::start(dir, true)?;
    if started.kept < MILLION {
        return Err(format!("only {} calls are kept", started.kept));
    }
    Ok(started.bytes / f64::from(1 << 20))
}

fn one(case: &str, unit: &'static str, round: (f64, f64)) -> Rounds {
    Rounds {
        case: format!("{case} / {} {unit}", round.1),
        in_flight: 0,
        unit,
        rounds: vec![round],
        more_is_better: false,
        goal: 1.0,
    }
}

type Sent = std::pin::Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// Each call a new command.
fn commands(engine: &Engine<Board>) -> Result<impl Fn(usize, u64) -> Sent + use<>, String> {
    commands_from(engine, 0)
}

fn commands_from(
    engine: &Engine<Board>,
    base: u64,
) -> Result<impl Fn(usize, u64) -> Sent + use<>, String> {
    let (engine, body) = (engine.clone(), Arc::new(app::body()));
    Ok(move |worker, number| {
        Box::pin(send(
            engine.clone(),
            worker,
            base + number,
            Arc::clone(&body),
        )) as Sent
    })
}

async fn send(
    engine: Engine<Board>,
    worker: usize,
    number: u64,
    body: Arc<Vec<u8>>,
) -> Result<(), String> {
    let caller = app::caller(worker)?;
    let id = app::id(number);
    bench::command(&engine, &SAY, app::say, &caller, id, &body).await?;
    Ok(())
}

/// One who asks all the time, on a thread of its own.
struct Asking {
    stop: Arc<AtomicU64>,
    thread: std::thread::JoinHandle<Vec<u64>>,
}

impl Asking {
    fn start(engine: Engine<Board>) -> Result<Self, String> {
        let caller = app::caller(0)?;
        let stop = Arc::new(AtomicU64::new(0));
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut nanos = Vec::new();
            while told.load(Ordering::Relaxed) == 0 {
                let began = Instant::now();
                std::hint::black_box(bench::query(&engine, &SAY, &caller, Board::threads));
                nanos.push(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
                // A thousand a second at most: it measures, and is no load.
                std::thread::sleep(Duration::from_micros(500));
            }
            nanos
        });
        Ok(Self { stop, thread })
    }

    /// The median time of an answer, in microseconds.
    fn median(self) -> f64 {
        self.stop.store(1, Ordering::Relaxed);
        let mut nanos = self.thread.join().unwrap_or_default();
        nanos.sort_unstable();
        nanos
            .get(nanos.len() / 2)
            .map_or(f64::NAN, |n| *n as f64 / 1e3)
    }
}

/// A log of a million commands by sixteen callers.
fn write_log(dir: &Path) -> Result<(), String> {
    let journal = FileJournal::open(dir).map_err(|error| error.to_string())?;
    let writer = journal.acquire().map_err(|error| error.to_string())?;
    let record = String::from_utf8(app::record()).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let mut first = 1;
    for position in 1..=MILLION {
        // The fields in the order in which the engine writes them: a start reads those faster.
        let line = record
            .replacen("1000000", &position.to_string(), 1)
            .replacen("caller-7", &format!("caller-{}", position % 16), 1)
            .replacen("AAAAAAAAAAAAAAAAAAAAAA", &app::id(position).to_string(), 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        if position % 1000 == 0 {
            let chunk = Chunk {
                first: Position(first),
                records: 1000,
                bytes: &bytes,
            };
            let appended = journal.append(writer.epoch, chunk);
            appended.map_err(|error| error.to_string())?;
            bytes.clear();
            first = position + 1;
        }
    }
    Ok(())
}
