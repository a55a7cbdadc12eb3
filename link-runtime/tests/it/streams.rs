//! Streams that go on: resumed without loss, without repetition, and in silence where nothing
//! was lost.

use std::time::Duration;

use link_runtime::{State, StreamItem};
use tokio::time::sleep;

use crate::{
    fixture::{Message, api, soon, tail, tail_unordered, until},
    server::{Step, chunk, end, stream},
    threads::{after, afters, events, nothing_more, numbers, opens, page, server},
};

#[tokio::test]
async fn a_stream_gives_events_as_they_come_and_sets_the_link_up() {
    let server = server(
        |_| {
            vec![
                stream(": ready 0\n\n"),
                chunk(&events([1, 2])),
                Step::Pause(30),
                chunk(&events([3])),
                Step::Hang,
            ]
        },
        |_| page([], 0, false),
    )
    .await;
    let api = api(&server.base());
    let mut tail = tail(&api);
    sleep(Duration::from_millis(30)).await;
    assert_eq!(server.connections(), 0, "it opens at the first next");
    assert_eq!(numbers(&mut tail, 3).await, [1, 2, 3]);
    assert_eq!(*api.link().state().borrow(), State::Up);
    let seen = server.seen();
    assert_eq!(seen.len(), 1, "nothing to catch up with");
    assert_eq!(seen[0].path, "/v1/threads/t/tail");
    assert_eq!(seen[0].header("accept"), "text/event-stream");
    assert_eq!(seen[0].header("authorization"), "Bearer token");
    drop(tail);
    until(|| server.left() == 1).await;
}

#[tokio::test]
async fn a_stream_after_a_cursor_opens_first_then_catches_up_by_pages_and_drops_what_it_has() {
    let server = server(
        |_| {
            vec![
                stream(": ready 9\n\n"),
                chunk(&events([7, 9, 10, 10, 11])),
                Step::Hang,
            ]
        },
        |after| match after {
            4 => page([4, 5, 6], 0, true),
            6 => page([7, 8], 0, true),
            _ => page([9], 0, false),
        },
    )
    .await;
    let mut tail = tail(&api(&server.base())).after(4);
    assert_eq!(numbers(&mut tail, 7).await, [5, 6, 7, 8, 9, 10, 11]);
    nothing_more(&mut tail).await;
    assert_eq!(after(&server.seen()[0]), None, "the stream is opened first");
    assert_eq!(afters(&server), [4, 6, 8]);
}

#[tokio::test]
async fn streams_that_are_cut_again_and_again_lose_nothing_and_say_nothing() {
    const LAST: u64 = 60;
    // The n-th connection begins at 3n+1, shows three events of which two are new, and ends by
    // turns properly, in the middle of an event, and with a reset.
    let open = |opened: usize| {
        let from = 2 * u64::try_from(opened).unwrap();
        let mut steps = vec![
            stream(&format!(": ready {from}\n\n")),
            Step::Pause(15),
            chunk(&events((from + 1..=LAST).take(2))),
            Step::Pause(5),
        ];
        match opened % 3 {
            0 => steps.extend([end(), Step::Close]),
            1 => steps.extend([chunk("data: {\"se"), Step::Close]),
            _ => steps.push(Step::Reset),
        }
        steps
    };
    // A reset may take with it what was sent before: the catch-up has it.
    let server = server(open, |after| {
        page(after + 1..=(after + 1).min(LAST), 0, false)
    })
    .await;
    let api = api(&server.base());
    let mut state = api.link().state();
    let states = tokio::spawn(async move {
        let mut states = vec![state.borrow().clone()];
        while state.changed().await.is_ok() {
            states.push(state.borrow_and_update().clone());
        }
        states
    });
    let mut tail = tail(&api).after(0);
    let got = numbers(&mut tail, usize::try_from(LAST).unwrap()).await;
    assert_eq!(got, (1..=LAST).collect::<Vec<_>>());
    assert!(opens(&server) >= 10);
    drop((tail, api));
    assert_eq!(soon(states).await.unwrap(), [State::New, State::Up]);
}

#[tokio::test]
async fn a_stream_that_breaks_before_its_first_event_resumes_from_ready() {
    let server = server(
        |opened| match opened {
            0 => vec![stream(": ready 5\n\n"), Step::Pause(20), Step::Close],
            _ => vec![stream(": ready 7\n\n"), Step::Hang],
        },
        |after| page(after + 1..=7, 0, false),
    )
    .await;
    let mut tail = tail(&api(&server.base()));
    assert_eq!(numbers(&mut tail, 2).await, [6, 7]);
    assert_eq!(afters(&server), [5]);
}

#[tokio::test]
async fn a_resumed_stream_that_dies_before_its_first_event_keeps_its_cursor() {
    let server = server(
        |opened| match opened {
            0 => vec![
                stream(": ready\n\n"),
                chunk(&events([3])),
                end(),
                Step::Close,
            ],
            1 => vec![stream(": ready\n\n"), Step::Close],
            2 => vec![Step::Close],
            _ => vec![stream(": ready\n\n"), chunk(&events([5])), Step::Hang],
        },
        |after| page(if after == 3 { None } else { Some(9) }, 0, false),
    )
    .await;
    let mut tail = tail(&api(&server.base()));
    assert_eq!(numbers(&mut tail, 2).await, [3, 5]);
    assert_eq!(afters(&server), [3, 3]);
}

#[tokio::test]
async fn a_gap_is_given_once_and_in_its_place() {
    let server = server(
        |opened| match opened {
            0 | 1 => vec![
                stream(": ready 20\n\n"),
                Step::Pause(20),
                end(),
                Step::Close,
            ],
            _ => vec![stream(": ready 20\n\n"), chunk(&events([21])), Step::Hang],
        },
        |after| match after {
            4 => page([11, 12], 6, true),
            12 => page([], 8, false),
            20 => page([], 0, false),
            other => panic!("after {other}"),
        },
    )
    .await;
    let mut tail = tail(&api(&server.base())).after(4);
    let mut items = Vec::new();
    for _ in 0..5 {
        items.push(soon(tail.next()).await.unwrap().unwrap());
    }
    let event = |seq| StreamItem::Event(Message { seq });
    let gap = |lost| StreamItem::Gap { lost: Some(lost) };
    assert_eq!(items, [gap(6), event(11), event(12), gap(8), event(21)]);
    nothing_more(&mut tail).await;
}

#[tokio::test]
async fn a_gap_is_not_told_again_when_the_catch_up_breaks_after_it() {
    let server = server(|_| vec![stream(": ready\n\n"), Step::Hang], {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        move |_| match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => page([], 6, true),
            _ => page([11], 6, false),
        }
    })
    .await;
    let mut tail = tail(&api(&server.base())).after(4);
    let gap = soon(tail.next()).await.unwrap().unwrap();
    assert_eq!(gap, StreamItem::Gap { lost: Some(6) });
    assert_eq!(numbers(&mut tail, 1).await, [11]);
    assert_eq!(opens(&server), 2);
}

#[tokio::test]
async fn a_stream_without_a_cursor_says_that_it_may_have_lost_something() {
    let server = server(
        |opened| {
            let number = u64::try_from(opened).unwrap();
            let last = if opened == 0 { end() } else { Step::Hang };
            vec![
                stream(": ready\n\n"),
                chunk(&events([number])),
                last,
                Step::Close,
            ]
        },
        |_| page([], 0, false),
    )
    .await;
    let mut tail = tail_unordered(&api(&server.base()));
    assert_eq!(numbers(&mut tail, 1).await, [0]);
    assert_eq!(
        soon(tail.next()).await,
        Some(Ok(StreamItem::Gap { lost: None }))
    );
    assert_eq!(numbers(&mut tail, 1).await, [1]);
    assert!(afters(&server).is_empty());
}

#[tokio::test]
async fn a_log_that_ends_before_the_cursor_is_a_gap_that_is_told_once() {
    let server = server(
        |opened| match opened {
            0 => vec![
                stream(": ready 20\n\n"),
                chunk(&events([21])),
                end(),
                Step::Close,
            ],
            // Restored from a backup.
            1 => vec![stream(": ready 3\n\n"), Step::Pause(20), end(), Step::Close],
            2 => vec![
                stream(": ready 3\n\n"),
                chunk(&events([4])),
                end(),
                Step::Close,
            ],
            _ => vec![stream(": ready 4\n\n"), chunk(&events([5])), Step::Hang],
        },
        |_| page([], 0, false),
    )
    .await;
    let mut tail = tail(&api(&server.base()));
    assert_eq!(numbers(&mut tail, 1).await, [21]);
    let gap = soon(tail.next()).await;
    assert_eq!(gap, Some(Ok(StreamItem::Gap { lost: None })));
    assert_eq!(numbers(&mut tail, 2).await, [4, 5]);
    nothing_more(&mut tail).await;
    assert_eq!(afters(&server), [3, 4]);
}

#[tokio::test]
async fn a_stream_after_a_cursor_beyond_the_log_says_so_and_goes_on() {
    let server = server(
        |_| vec![stream(": ready 3\n\n"), chunk(&events([4])), Step::Hang],
        |after| panic!("after {after}"),
    )
    .await;
    let mut tail = tail(&api(&server.base())).after(40);
    let gap = soon(tail.next()).await;
    assert_eq!(gap, Some(Ok(StreamItem::Gap { lost: None })));
    assert_eq!(numbers(&mut tail, 1).await, [4]);
}
