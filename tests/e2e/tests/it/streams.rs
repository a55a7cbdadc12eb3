//! Streams through cuts: every message once, in order, and a gap told.

use std::time::Duration;

use faults::{Kind, Plan, new_seed};
use riff_api::{Event, Post, Thread};
use riff_link::client::StreamItem;

use crate::world::{Running, at, through};

#[tokio::test]
async fn a_tail_through_cuts_gives_each_message_once_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(dir.path()).await;
    let seed = new_seed();
    println!("seed {seed}");
    let plan = Plan {
        stream_rate: 0.9,
        // The first stream at least, whatever the seed.
        each_once: true,
        ..Plan::only(seed, &[Kind::CutStream])
    };
    let (proxy, api) = through(&running, plan, "ann");
    let thread: Thread = "general".parse().unwrap();
    let mut tail = api.tail(&thread).after(0);
    let posts = {
        let (api, thread) = (at(running.address, "ben"), thread.clone());
        tokio::spawn(async move {
            for n in 1..=60 {
                let text = format!("message {n}");
                api.post(&thread, &Post { text }).await.unwrap();
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
    };
    for n in 1..=60 {
        match tail.next().await {
            Some(Ok(StreamItem::Event(message))) => {
                assert_eq!(message.seq, n);
                assert_eq!(message.text, format!("message {n}"));
            }
            other => unreachable!("{other:?}"),
        }
    }
    posts.await.unwrap();
    drop(tail);
    let counts = proxy.stop().await.unwrap();
    assert!(counts.of(Kind::CutStream) > 0, "{counts:?}");
    running.stop().await;
}

#[tokio::test]
async fn a_stream_from_now_on_loses_nothing_of_a_break_before_its_first_event() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(dir.path()).await;
    let thread: Thread = "general".parse().unwrap();
    let poster = at(running.address, "ben");
    poster
        .post(
            &thread,
            &Post {
                text: "before".into(),
            },
        )
        .await
        .unwrap();
    let (proxy, api) = through(&running, Plan::clean(1), "ann");
    let mut tail = api.tail(&thread);
    // Opens the stream; there is nothing to come yet.
    assert!(
        tokio::time::timeout(Duration::from_millis(500), tail.next())
            .await
            .is_err()
    );
    let address = proxy.address();
    proxy.stop().await.unwrap();
    poster
        .post(
            &thread,
            &Post {
                text: "meanwhile".into(),
            },
        )
        .await
        .unwrap();
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    let upstream = running.address;
    let relay = tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut server = tokio::net::TcpStream::connect(upstream).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    match tail.next().await {
        Some(Ok(StreamItem::Event(message))) => assert_eq!(message.text, "meanwhile"),
        other => unreachable!("{other:?}"),
    }
    drop(tail);
    relay.abort();
    running.stop().await;
}

#[tokio::test]
async fn a_reader_that_was_away_too_long_is_told_what_it_lost() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(dir.path()).await;
    let api = at(running.address, "ann");
    let thread: Thread = "general".parse().unwrap();
    let posts = (0..riff::board::KEPT + 3).map(|n| {
        let (api, thread) = (api.clone(), thread.clone());
        async move {
            api.post(
                &thread,
                &Post {
                    text: n.to_string(),
                },
            )
            .await
        }
    });
    // Some at a time: the server takes a bounded number of connections.
    let mut posts = posts;
    loop {
        let some: Vec<_> = posts.by_ref().take(64).map(tokio::spawn).collect();
        if some.is_empty() {
            break;
        }
        for one in some {
            one.await.unwrap().unwrap();
        }
    }
    let mut tail = api.tail(&thread).after(0);
    match tail.next().await {
        Some(Ok(StreamItem::Gap { lost })) => assert_eq!(lost, Some(3)),
        other => unreachable!("{other:?}"),
    }
    match tail.next().await {
        Some(Ok(StreamItem::Event(message))) => assert_eq!(message.seq, 4),
        other => unreachable!("{other:?}"),
    }
    drop(tail);
    running.stop().await;
}

#[tokio::test]
async fn a_watch_gives_each_change_of_the_board() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(dir.path()).await;
    let api = at(running.address, "ann");
    let item: riff_api::ItemId = "i1".parse().unwrap();
    let mut watch = api.watch().after(0);
    api.claim(&item, &riff_api::Claim {}).await.unwrap();
    // The caller holds it already: nothing changes, so nothing is seen.
    api.claim(&item, &riff_api::Claim {}).await.unwrap();
    api.release(&item, &riff_api::Release {}).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 2 {
        match watch.next().await {
            Some(Ok(StreamItem::Event(changed))) => seen.push((changed.number, changed.event)),
            other => unreachable!("{other:?}"),
        }
    }
    let wanted = [
        (1, Event::Claimed { item: item.clone() }),
        (2, Event::Released { item }),
    ];
    assert_eq!(seen, wanted);
    drop(watch);
    running.stop().await;
}
