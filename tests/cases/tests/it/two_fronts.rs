//! HTTP/2 front ends that end connections in good order, and streams of events over HTTP/2.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use faults::{Seen, Step2};
use tokio::task::JoinSet;

use crate::{
    fixture::{PATIENT, after, message, ms, next, post, soon, thread, who},
    two::{BUILD, CANCEL, NO_ERROR, way, yes},
};

/// How many calls a connection has before it is retired.
const CALLS: usize = 10;

#[tokio::test]
async fn a_front_end_that_retires_its_connections_shows_no_caller_an_error() {
    let test = "a_front_end_that_retires_its_connections_shows_no_caller_an_error";
    let way = way("two_fronts", test);
    // Of each connection: how many calls it had, and the last stream that it takes.
    let known = Mutex::new(HashMap::<usize, (usize, u32)>::new());
    let server = way.server(move |seen| {
        let mut known = known.lock().unwrap();
        let (calls, last) = known.entry(seen.connection).or_insert((0, u32::MAX));
        if seen.stream > *last {
            return vec![Step2::Hang];
        }
        *calls += 1;
        if *calls != CALLS {
            return yes(seen);
        }
        *last = seen.stream;
        let go = Step2::GoAway(seen.stream, NO_ERROR);
        [
            &[go],
            &yes(seen)[..],
            &[Step2::Pause(ms(300)), Step2::Close],
        ]
        .concat()
    });
    let api = way.api(&server, PATIENT);
    let mut callers = JoinSet::new();
    for caller in 0..8 {
        let api = api.clone();
        callers.spawn(async move {
            for n in 0..40 {
                if n % 2 == 0 {
                    assert!(soon(who(&api)).await.is_ok(), "caller {caller}, call {n}");
                } else {
                    assert!(soon(post(&api)).await.is_ok(), "caller {caller}, call {n}");
                }
            }
        });
    }
    callers.join_all().await;
    let stats = api.link().stats();
    assert_eq!((stats.calls, stats.faults), (320, 0));
    assert!(server.connections() >= 320 / CALLS - 1);
}

/// The answer to the open of a stream, as far as these events.
fn events(at: u64, events: &[u64]) -> Vec<Step2> {
    let kind = ("content-type", "text/event-stream");
    let mut steps = Step2::reply(200, &[BUILD, kind], format!(": ready {at}\n").as_bytes());
    // It has no end.
    steps.pop();
    let event = |seq: &u64| format!("id: {seq}\ndata: {}\n\n", message(*seq)).into_bytes();
    steps.extend(events.iter().map(event).map(Step2::Data));
    steps
}

fn page(seen: &Seen, newest: u64) -> Vec<Step2> {
    let items: Vec<_> = (after(seen) + 1..=newest).map(message).collect();
    let body = format!(r#"{{"items":[{}],"lost":0,"more":false}}"#, items.join(","));
    Step2::reply(200, &[BUILD], body.as_bytes())
}

#[tokio::test]
async fn a_stream_over_http2_that_is_refused_reset_or_sent_away_loses_nothing() {
    let test = "a_stream_over_http2_that_is_refused_reset_or_sent_away_loses_nothing";
    let way = way("two_fronts", test);
    let opens = AtomicUsize::new(0);
    let server = way.server(move |seen| {
        if !seen.asks_for_events() {
            return page(seen, 6);
        }
        let pause = [Step2::Pause(ms(30))];
        match opens.fetch_add(1, Ordering::SeqCst) {
            0 => vec![Step2::Refuse],
            1 => vec![Step2::GoAway(0, NO_ERROR), Step2::Hang],
            2 => [&events(3, &[4])[..], &pause, &[Step2::Reset(CANCEL)]].concat(),
            3 => [&events(5, &[])[..], &pause, &[Step2::Close]].concat(),
            4 => [&events(6, &[7])[..], &pause, &[Step2::End]].concat(),
            _ => {
                let go = Step2::GoAway(seen.stream, NO_ERROR);
                [&[go][..], &events(7, &[8, 9]), &[Step2::Hang]].concat()
            }
        }
    });
    let api = way.api(&server, PATIENT);
    let mut tail = api.tail(&thread());
    for seq in 4..=9 {
        assert_eq!(next(&mut tail).await, seq);
    }
    let opened: HashSet<_> = server
        .calls()
        .iter()
        .filter(|seen| seen.asks_for_events())
        .map(|seen| seen.connection)
        .collect();
    // Each open is on a connection of its own.
    assert_eq!(opened.len(), 6);
}
