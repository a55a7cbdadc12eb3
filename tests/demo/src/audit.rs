//! What the log says, against what the callers and the reader were told.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
};

use riff_api::{Event, ItemId, Thread};
use riff_link::server::log;
use serde::Deserialize;

use crate::{
    load::{Answer, Mark, Told},
    reader::Read,
};

/// What a log holds, as far as the demo is concerned.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ledger {
    /// How often each command ran.
    ran: HashMap<Mark, u64>,
    /// The messages of each thread, in their order in the log.
    threads: HashMap<Thread, Vec<(u64, String)>>,
    /// Who holds each item.
    holders: HashMap<ItemId, String>,
    /// Claims of an item that somebody held, and releases of one that the caller did not hold.
    clashes: Vec<String>,
}

/// A change as it stands in the log, without what the server adds for itself.
#[derive(Debug, Deserialize)]
struct Change {
    #[serde(flatten)]
    event: Event,
}

/// What was counted. All of it is zero in a good run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Commands that ran once too often, once for each time.
    pub(crate) twice: Vec<String>,
    /// Commands that were acknowledged and did not run.
    pub(crate) lost: Vec<String>,
    /// Commands that were refused and ran all the same, or that nobody had a reason to refuse.
    pub(crate) refused: Vec<String>,
    /// Commands that did not come to a reply, and may have run.
    pub(crate) unknown: Vec<String>,
    /// Commands that did not come to a reply, and cannot have run.
    pub(crate) not_sent: Vec<String>,
    /// Two holders of an item at one time.
    pub(crate) clashes: Vec<String>,
    /// Messages that the reader never saw.
    pub(crate) stream_lost: Vec<String>,
    /// Messages that the reader saw again.
    pub(crate) stream_twice: Vec<String>,
    /// Messages that came after a later one, and gaps that were told where none can be.
    pub(crate) stream_wrong: Vec<String>,
}

impl Ledger {
    /// Reads the log in a directory, with no help of the server that wrote it.
    pub(crate) fn read(dir: &Path) -> Result<Self, String> {
        let mut ledger = Self::default();
        let unreadable = |error: log::LogError| format!("the log cannot be read: {error}");
        for record in log::read(dir).map_err(unreadable)? {
            let record = record.map_err(unreadable)?;
            let (position, log::LoggedEntry::Call(call)) = (record.position, record.entry) else {
                continue;
            };
            if let Some(change) = call.change {
                let change: Change = serde_json::from_value(change).map_err(|error| {
                    format!("the change at {position} is no change of riff: {error}")
                })?;
                ledger.take(call.by.to_string(), change.event);
            }
        }
        Ok(ledger)
    }

    fn take(&mut self, by: String, event: Event) {
        let mark = match event {
            Event::Posted { thread, seq, text } => {
                self.threads
                    .entry(thread)
                    .or_default()
                    .push((seq, text.clone()));
                Mark::Posted(text)
            }
            Event::Claimed { item } => {
                if let Some(holder) = self.holders.insert(item.clone(), by.clone()) {
                    self.clashes
                        .push(format!("{by} got {item} while {holder} held it"));
                }
                Mark::Claimed(item, by)
            }
            Event::Released { item } => {
                let holder = self.holders.remove(&item);
                if holder.as_ref() != Some(&by) {
                    self.clashes
                        .push(format!("{by} gave back {item} without holding it"));
                }
                Mark::Released(item, by)
            }
            Event::Acked { .. } => return,
        };
        *self.ran.entry(mark).or_default() += 1;
    }

    /// The number of the newest message of a thread; 0 for none.
    pub(crate) fn newest(&self, thread: &Thread) -> u64 {
        self.messages(thread)
            .iter()
            .map(|(seq, _)| *seq)
            .max()
            .unwrap_or(0)
    }

    /// How many messages a thread has.
    pub(crate) fn count(&self, thread: &Thread) -> usize {
        self.messages(thread).len()
    }

    fn messages(&self, thread: &Thread) -> &[(u64, String)] {
        self.threads.get(thread).map_or(&[], Vec::as_slice)
    }

    /// Compares all that was told with what the log has.
    pub(crate) fn compare(&self, told: &[Told], read: &Read, thread: &Thread) -> Findings {
        let mut findings = Findings {
            clashes: self.clashes.clone(),
            ..Findings::default()
        };
        for (mark, &times) in &self.ran {
            let again = usize::try_from(times - 1).unwrap_or(usize::MAX);
            findings
                .twice
                .extend(std::iter::repeat_n(name(mark), again));
        }
        findings.twice.sort_unstable();
        for Told { mark, answer } in told {
            let ran = self.ran.contains_key(mark);
            let name = name(mark);
            match answer {
                Answer::Ran if ran => {}
                Answer::Ran => findings.lost.push(name),
                Answer::Held if ran => findings.refused.push(format!("{name}: held, and it ran")),
                Answer::Held => {}
                Answer::Refused(why) => findings.refused.push(format!("{name}: {why}")),
                Answer::Unknown(why) => findings.unknown.push(format!("{name}: {why}")),
                Answer::NotSent(why) if ran => {
                    findings
                        .refused
                        .push(format!("{name}: not sent, and it ran: {why}"));
                }
                Answer::NotSent(why) => findings.not_sent.push(format!("{name}: {why}")),
            }
        }
        findings.stream(self.messages(thread), read);
        findings
    }
}

impl Findings {
    fn stream(&mut self, logged: &[(u64, String)], read: &Read) {
        let show = |(seq, text): &(u64, String)| format!("message {seq} ({text})");
        let mut seen: BTreeMap<&(u64, String), u64> = BTreeMap::new();
        let mut newest = 0;
        for message in &read.messages {
            let times = seen.entry(message).or_default();
            *times += 1;
            if *times > 1 {
                self.stream_twice.push(show(message));
            } else if message.0 <= newest {
                self.stream_wrong
                    .push(format!("{} came after message {newest}", show(message)));
            }
            newest = newest.max(message.0);
        }
        self.stream_lost = logged
            .iter()
            .filter(|one| !seen.contains_key(one))
            .map(show)
            .collect();
        let logged: HashSet<&(u64, String)> = logged.iter().collect();
        let invented = seen.keys().filter(|one| !logged.contains(*one));
        self.stream_wrong
            .extend(invented.map(|one| format!("{} is not in the log", show(one))));
        if read.gaps > 0 {
            self.stream_wrong
                .push(format!("{} gaps were told, and none can be", read.gaps));
        }
        if let Some(why) = &read.ended {
            self.stream_wrong.push(format!("the stream ended: {why}"));
        }
    }

    /// What is wrong, one line a kind, with some of the cases.
    pub(crate) fn complaints(&self) -> Vec<String> {
        [
            ("commands that ran twice", &self.twice),
            ("commands lost", &self.lost),
            ("commands refused wrongly", &self.refused),
            ("commands that may have run, nobody knows", &self.unknown),
            ("commands not sent", &self.not_sent),
            ("items with two holders", &self.clashes),
            ("stream messages lost", &self.stream_lost),
            ("stream messages twice", &self.stream_twice),
            ("faults of the stream", &self.stream_wrong),
        ]
        .into_iter()
        .filter(|(_, cases)| !cases.is_empty())
        .map(|(what, cases)| {
            let some = cases
                .iter()
                .take(3)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join("; ");
            let more = if cases.len() > 3 { "; …" } else { "" };
            format!("{what}: {} ({some}{more})", cases.len())
        })
        .collect()
    }
}

fn name(mark: &Mark) -> String {
    match mark {
        Mark::Posted(text) => format!("post {text:?}"),
        Mark::Claimed(item, by) => format!("{by} claims {item}"),
        Mark::Released(item, by) => format!("{by} releases {item}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread() -> Thread {
        "general".parse().unwrap()
    }

    fn posted(seq: u64) -> Event {
        Event::Posted {
            thread: thread(),
            seq,
            text: format!("text {seq}"),
        }
    }

    fn ledger(events: impl IntoIterator<Item = (&'static str, Event)>) -> Ledger {
        let mut ledger = Ledger::default();
        for (by, event) in events {
            ledger.take(by.to_owned(), event);
        }
        ledger
    }

    fn told(seq: u64, answer: Answer) -> Told {
        Told {
            mark: Mark::Posted(format!("text {seq}")),
            answer,
        }
    }

    fn read(seqs: &[u64]) -> Read {
        let messages = seqs
            .iter()
            .map(|seq| (*seq, format!("text {seq}")))
            .collect();
        Read {
            messages,
            ..Read::default()
        }
    }

    #[test]
    fn a_good_run_has_no_complaint() {
        let ledger = ledger([("a", posted(1)), ("b", posted(2))]);
        let told = [told(1, Answer::Ran), told(2, Answer::Ran)];
        let findings = ledger.compare(&told, &read(&[1, 2]), &thread());
        assert_eq!(findings, Findings::default());
        assert!(findings.complaints().is_empty());
        assert_eq!(ledger.newest(&thread()), 2);
    }

    #[test]
    fn what_ran_again_and_what_did_not_run_is_counted() {
        let again = Event::Posted {
            thread: thread(),
            seq: 2,
            text: "text 1".into(),
        };
        let ledger = ledger([("a", posted(1)), ("a", again)]);
        let told = [
            told(1, Answer::Ran),
            told(3, Answer::Ran),
            told(4, Answer::Unknown("x".into())),
        ];
        let findings = ledger.compare(&told, &Read::default(), &thread());
        assert_eq!(findings.twice, ["post \"text 1\""]);
        assert_eq!(findings.lost, ["post \"text 3\""]);
        assert_eq!(findings.unknown.len(), 1);
        assert_eq!(findings.stream_lost.len(), 2);
    }

    #[test]
    fn a_refusal_of_what_ran_is_wrong() {
        let item: ItemId = "item-1".parse().unwrap();
        let ledger = ledger([("a", Event::Claimed { item: item.clone() })]);
        let claim = |by: &str| Told {
            mark: Mark::Claimed(item.clone(), by.to_owned()),
            answer: Answer::Held,
        };
        let findings = ledger.compare(&[claim("a"), claim("b")], &Read::default(), &thread());
        assert_eq!(findings.refused, ["a claims item-1: held, and it ran"]);
    }

    #[test]
    fn an_item_has_one_holder() {
        let item: ItemId = "item-1".parse().unwrap();
        let claimed = || Event::Claimed { item: item.clone() };
        let released = || Event::Released { item: item.clone() };
        let good = ledger([("a", claimed()), ("a", released()), ("b", claimed())]);
        assert!(good.clashes.is_empty());
        let bad = ledger([("a", claimed()), ("b", claimed()), ("a", released())]);
        assert_eq!(bad.clashes.len(), 2);
    }

    #[test]
    fn a_stream_is_compared_message_by_message() {
        let ledger = ledger((1..=4).map(|seq| ("a", posted(seq))));
        let of = |seqs: &[u64]| ledger.compare(&[], &read(seqs), &thread());
        assert_eq!(of(&[1, 2, 4]).stream_lost, ["message 3 (text 3)"]);
        assert_eq!(of(&[1, 2, 2, 3, 4]).stream_twice, ["message 2 (text 2)"]);
        assert_eq!(
            of(&[1, 3, 2, 4]).stream_wrong,
            ["message 2 (text 2) came after message 3"]
        );
        assert_eq!(
            of(&[1, 2, 3, 4, 5]).stream_wrong,
            ["message 5 (text 5) is not in the log"]
        );
    }
}
