//! Which fault the n-th request meets: a pure function of the seed.

use std::{fmt, time::Duration};

use crate::Chance;

/// A way in which a connection breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The port is closed for a while: a connect is refused, and open connections are dropped.
    Refuse,
    /// The server has replied, and the client gets the end of the connection and no byte.
    CutBeforeReply,
    /// The client gets a part of the reply, then the end of the connection.
    CutInsideReply,
    /// The connection is reset (RST) before or after the server has replied.
    Reset,
    /// The server has replied, and the client gets nothing, not even an end.
    Freeze,
    /// A page of a front end with 502 and no header of the server, whether the request was
    /// passed on or not.
    FrontEnd502,
    /// An event stream ends after some pieces, also inside an event.
    CutStream,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Refuse,
        Self::CutBeforeReply,
        Self::CutInsideReply,
        Self::Reset,
        Self::Freeze,
        Self::FrontEnd502,
        Self::CutStream,
    ];

    /// The name for people and for JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::CutBeforeReply => "cut_before_reply",
            Self::CutInsideReply => "cut_inside_reply",
            Self::Reset => "reset",
            Self::Freeze => "freeze",
            Self::FrontEnd502 => "front_end_502",
            Self::CutStream => "cut_stream",
        }
    }

    /// Whether an ordinary call can meet it.
    const fn is_of_calls(self) -> bool {
        !matches!(self, Self::CutStream)
    }

    /// Whether an event stream can meet it.
    const fn is_of_streams(self) -> bool {
        !matches!(self, Self::CutInsideReply)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A protection that the proxy takes away, so that a count that is always zero can be seen to
/// fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sabotage {
    /// Each try of a command gets a call ID of its own: the server cannot know a repeat.
    OtherCallId,
    /// One command is answered with the kept reply to another one, and never reaches the server.
    FakeReply,
    /// One event is taken out of a live stream, and a later one follows: no catch-up asks for it.
    DropEvent,
}

/// What a proxy does to the connections that go through it.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// The part of the ordinary calls that meet a fault, 0.0 to 1.0.
    pub rate: f64,
    /// The part of the event streams that meet a fault, 0.0 to 1.0. Half of them are
    /// [`Kind::CutStream`], if that is one of the kinds.
    pub stream_rate: f64,
    /// The faults to draw from. None of them can be met when it is empty.
    pub kinds: Vec<Kind>,
    /// How many ordinary calls at the start meet no fault.
    pub clean_first: u64,
    /// Whether each of the kinds is met once before the rates decide.
    pub each_once: bool,
    /// How long [`Kind::Refuse`] keeps the port closed.
    pub refuse_for: Duration,
    /// The most whole pieces that [`Kind::CutStream`] lets through.
    pub most_pieces: u64,
    /// How the names of the server's headers begin: `riff` for `riff-call` and `riff-repeat`.
    pub header_prefix: &'static str,
    /// A protection that is taken away.
    pub sabotage: Option<Sabotage>,
}

impl Plan {
    /// All kinds of faults: each of them once, then one for each fifth call and for each stream.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            rate: 0.2,
            stream_rate: 1.0,
            kinds: Kind::ALL.to_vec(),
            clean_first: 1,
            each_once: true,
            refuse_for: Duration::from_millis(100),
            most_pieces: 30,
            header_prefix: "riff",
            sabotage: None,
        }
    }

    /// No fault at all.
    pub fn clean(seed: u64) -> Self {
        Self {
            rate: 0.0,
            stream_rate: 0.0,
            kinds: Vec::new(),
            ..Self::new(seed)
        }
    }

    /// These faults only, for each call and each stream from the first one on.
    pub fn only(seed: u64, kinds: &[Kind]) -> Self {
        Self {
            rate: 1.0,
            kinds: kinds.to_vec(),
            clean_first: 0,
            each_once: false,
            ..Self::new(seed)
        }
    }

    /// What the ordinary call with this number, from 0, meets.
    pub fn of_call(&self, number: u64) -> Option<Kind> {
        let number = number.checked_sub(self.clean_first)?;
        let kinds: Vec<Kind> = self
            .kinds
            .iter()
            .copied()
            .filter(|k| k.is_of_calls())
            .collect();
        if self.each_once
            && let Some(kind) = usize::try_from(number).ok().and_then(|n| kinds.get(n))
        {
            return Some(*kind);
        }
        let mut chance = Chance::row(self.seed, CALLS, number);
        if !chance.hit(self.rate) {
            return None;
        }
        kinds.get(chance.index(kinds.len())).copied()
    }

    /// What the event stream with this number, from 0, meets.
    pub fn of_stream(&self, number: u64) -> Option<Kind> {
        let cut = self.kinds.contains(&Kind::CutStream);
        if self.each_once && cut && number == 0 {
            return Some(Kind::CutStream);
        }
        let mut chance = Chance::row(self.seed, STREAMS, number);
        if !chance.hit(self.stream_rate) {
            return None;
        }
        if cut && chance.hit(0.5) {
            return Some(Kind::CutStream);
        }
        let kinds: Vec<Kind> = self
            .kinds
            .iter()
            .copied()
            .filter(|k| k.is_of_streams())
            .collect();
        kinds.get(chance.index(kinds.len())).copied()
    }

    /// The chance of the details of the fault that the request with this number meets: how many
    /// bytes, before or after.
    pub(crate) fn details(&self, request: u64) -> Chance {
        Chance::row(self.seed, DETAILS, request)
    }
}

const CALLS: u64 = 1;
const STREAMS: u64 = 2;
const DETAILS: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(plan: &Plan) -> Vec<Option<Kind>> {
        (0..500).map(|n| plan.of_call(n)).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_plan() {
        assert_eq!(calls(&Plan::new(7)), calls(&Plan::new(7)));
        assert_ne!(calls(&Plan::new(7)), calls(&Plan::new(8)));
        let streams = |seed| {
            (0..50)
                .map(|n| Plan::new(seed).of_stream(n))
                .collect::<Vec<_>>()
        };
        assert_eq!(streams(7), streams(7));
        assert_ne!(streams(7), streams(8));
    }

    #[test]
    fn each_kind_comes_once_before_the_rates_decide() {
        for seed in 0..100 {
            let plan = Plan {
                rate: 0.0,
                stream_rate: 0.0,
                ..Plan::new(seed)
            };
            let met: Vec<Kind> = calls(&plan).into_iter().flatten().collect();
            assert_eq!(
                met,
                Kind::ALL
                    .into_iter()
                    .filter(|k| k.is_of_calls())
                    .collect::<Vec<_>>()
            );
            assert_eq!(plan.of_call(0), None);
            assert_eq!(plan.of_stream(0), Some(Kind::CutStream));
        }
    }

    #[test]
    fn a_rate_of_one_spares_nothing_and_none_spares_all() {
        let all = Plan::only(3, &[Kind::Reset]);
        assert!(calls(&all).into_iter().all(|met| met == Some(Kind::Reset)));
        assert!(calls(&Plan::clean(3)).into_iter().all(|met| met.is_none()));
        assert!((0..50).all(|n| Plan::clean(3).of_stream(n).is_none()));
    }

    #[test]
    fn a_call_is_never_cut_as_a_stream() {
        assert!(
            calls(&Plan::only(3, &[Kind::CutStream]))
                .into_iter()
                .all(|met| met.is_none())
        );
    }
}
