//! A caller that sends, repeats, gives up and settles, and notes all that it is told.

use std::{net::SocketAddr, time::Duration};

use tokio::{sync::watch, time::sleep};

use crate::{
    chance::Chance,
    wire::{Reply, Request},
};

/// How many tries a command has before the run is given up: the server is away for moments only.
const TRIES: u32 = 2_000;
/// The wait between two tries.
const WAIT: Duration = Duration::from_millis(10);
/// The items that all callers fight for.
const ITEMS: u64 = 5;
/// Of so many commands the server has kept the replies: it keeps 200 for a caller.
const KEPT: usize = 150;
/// The newest of so many are sent again: older ones have been forgotten, replies and IDs.
const NEWEST: usize = 500;

/// What a caller was told in the end.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A whole reply, to which try.
    Reply(Reply, u32),
    /// It gave up and settled the call: the fate that the server told.
    Settled(String),
}

/// One command and what became of it.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) caller: String,
    pub(crate) call: String,
    /// The path and the body: no two commands of a run have the same post.
    pub(crate) path: String,
    pub(crate) body: String,
    pub(crate) answer: Answer,
}

/// One caller at work.
#[derive(Debug)]
pub(crate) struct Writer {
    name: String,
    token: String,
    chance: Chance,
    /// Where the server listens now.
    server: watch::Receiver<SocketAddr>,
    stop: watch::Receiver<bool>,
    sabotage: bool,
    seen: Option<String>,
    told: Vec<(Request, Told)>,
    /// What is not true, for a person.
    wrong: Vec<String>,
    repeats: u64,
    forgotten: u64,
    tries: u64,
}

/// All that a caller noted.
#[derive(Debug)]
pub(crate) struct Notes {
    pub(crate) told: Vec<Told>,
    pub(crate) wrong: Vec<String>,
    pub(crate) repeats: u64,
    /// How many of the repeats were told that the call was forgotten.
    pub(crate) forgotten: u64,
    pub(crate) tries: u64,
}

impl Writer {
    pub(crate) fn new(
        name: String,
        token: String,
        chance: Chance,
        server: watch::Receiver<SocketAddr>,
        stop: watch::Receiver<bool>,
        sabotage: bool,
    ) -> Self {
        Self {
            name,
            token,
            chance,
            server,
            stop,
            sabotage,
            seen: None,
            told: Vec::new(),
            wrong: Vec::new(),
            repeats: 0,
            forgotten: 0,
            tries: 0,
        }
    }

    /// Works until it is told to stop. What it has begun comes to an end.
    pub(crate) async fn run(mut self) -> Result<Notes, String> {
        let mut number = 0;
        while !*self.stop.borrow() {
            number += 1;
            if !self.told.is_empty() && self.chance.percent(25) {
                self.repeat().await?;
            } else {
                let request = self.command(number);
                if self.chance.percent(10) {
                    self.give_up(request).await?;
                } else {
                    self.send(request).await?;
                }
            }
        }
        Ok(Notes {
            told: self.told.into_iter().map(|(_, told)| told).collect(),
            wrong: self.wrong,
            repeats: self.repeats,
            forgotten: self.forgotten,
            tries: self.tries,
        })
    }

    fn command(&mut self, number: u64) -> Request {
        let item = self.chance.below(ITEMS);
        let (path, body) = match self.chance.below(4) {
            0 => (format!("/v1/items/item-{item}/claim"), "{}".to_owned()),
            1 => (format!("/v1/items/item-{item}/release"), "{}".to_owned()),
            _ => (
                "/v1/threads/general/messages".to_owned(),
                format!(r#"{{"text":"{} {number}"}}"#, self.name),
            ),
        };
        self.request(path, body, Some(format!("{}-{number}", self.name)))
    }

    fn request(&self, path: String, body: String, call: Option<String>) -> Request {
        Request {
            path,
            body,
            token: self.token.clone(),
            call,
            seen: self.seen.clone(),
        }
    }

    /// Sends until there is a reply.
    async fn send(&mut self, request: Request) -> Result<(), String> {
        let (reply, attempt) = self.until_replied(&request).await?;
        self.note(request, Answer::Reply(reply, attempt));
        Ok(())
    }

    async fn until_replied(&mut self, request: &Request) -> Result<(Reply, u32), String> {
        let mut request = request.clone();
        for attempt in 1..=TRIES {
            self.tries += 1;
            let server = *self.server.borrow();
            match request.send(server, attempt).await {
                Ok(reply) if reply.status == 503 => {}
                Ok(reply) => {
                    if reply.log.is_some() {
                        self.seen.clone_from(&reply.log);
                    }
                    return Ok((reply, attempt));
                }
                Err(_) if self.sabotage => {
                    request.call = request.call.map(|call| format!("{call}x"));
                }
                Err(_) => {}
            }
            sleep(WAIT).await;
        }
        Err(format!("{} got no reply in {TRIES} tries", self.name))
    }

    /// Sends a command that came to an end once more: it must say the same, and run no more.
    async fn repeat(&mut self) -> Result<(), String> {
        let newest = self.told.len().min(NEWEST) as u64;
        let back = usize::try_from(self.chance.below(newest)).unwrap_or(0);
        let (request, told) = self.told[self.told.len() - 1 - back].clone();
        // A refusal of a first try changed nothing and is not kept.
        let Answer::Reply(first, attempt) = &told.answer else {
            return Ok(());
        };
        if self.sabotage || (first.status != 200 && *attempt == 1) {
            return Ok(());
        }
        let (again, _) = self.until_replied(&request).await?;
        self.repeats += 1;
        let is_same = (again.status, &again.body) == (first.status, &first.body) && again.repeat;
        let codes = ["reply_forgotten", "call_forgotten", "no longer kept"];
        let forgotten = again.status == 410 || (again.refused && again.status == first.status);
        let forgotten = forgotten && codes.iter().any(|code| again.body.contains(code));
        if forgotten {
            self.forgotten += 1;
        }
        if !(is_same || (forgotten && back >= KEPT)) {
            self.wrong.push(format!(
                "the call {} of {} was answered {first:?} and then {again:?}",
                told.call, told.caller
            ));
        }
        Ok(())
    }

    /// Hangs up in the middle, settles the call, and lets a late try arrive.
    async fn give_up(&mut self, request: Request) -> Result<(), String> {
        let bytes = self.chance.percent(50).then(|| self.chance.below(400));
        let bytes = bytes.map(|bytes| usize::try_from(bytes).unwrap_or(0));
        let server = *self.server.borrow();
        // That it fails is one of the cases.
        let _ = request.hang_up(server, bytes).await;
        let Some(call) = request.call.clone() else {
            return Ok(());
        };
        let path = format!("/v1/calls/{call}/settle");
        let mut settle = self.request(path, String::new(), None);
        settle.seen.clone_from(&request.seen);
        let (reply, _) = self.until_replied(&settle).await?;
        let fate = fate(&reply.body);
        if reply.status != 200 || fate.is_none() {
            self.wrong
                .push(format!("settling {call} was answered {reply:?}"));
            return Ok(());
        }
        let fate = fate.unwrap_or_default();
        let (late, _) = self.until_replied(&request).await?;
        let fits = match fate.as_str() {
            "ran" => late.status == 200 && late.repeat,
            "refused" => late.refused,
            "cancelled" => late.status == 410 && late.body.contains("call_cancelled"),
            _ => false,
        };
        if !fits {
            self.wrong.push(format!(
                "the call {call} was settled as {fate}, and a late try was answered {late:?}"
            ));
        }
        self.note(request, Answer::Settled(fate));
        Ok(())
    }

    fn note(&mut self, request: Request, answer: Answer) {
        let told = Told {
            caller: self.name.clone(),
            call: request.call.clone().unwrap_or_default(),
            path: request.path.clone(),
            body: request.body.clone(),
            answer,
        };
        self.told.push((request, told));
    }
}

fn fate(body: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(body).ok()?;
    Some(value.get("fate")?.as_str()?.to_owned())
}
