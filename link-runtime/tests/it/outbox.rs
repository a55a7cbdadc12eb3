//! The outbox over real files: what stands in it when, what is sent on, and what damage leaves.

use std::{
    fs,
    future::IntoFuture as _,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use link_runtime::{
    Api, CallError, Cause, CommandCall, Outbox, OutboxLimits, Resolved,
    outbox::{OwedState, SettledHow},
};
use tokio::{sync::Notify, time::timeout};

use crate::{
    fixture::{CLAIM, LIMITS, api, soon, until},
    server::{BUILD, Seen, Server, Step, no, reply, yes},
};

const SOON: Duration = Duration::from_millis(150);

/// An API with an outbox in this directory, as a process of its own would open it.
fn boxed(base: &str, dir: &Path) -> Api {
    api(base).with_outbox(&Outbox::open(dir).unwrap())
}

fn say(api: &Api, text: &str) -> CommandCall<u64> {
    api.request(&CLAIM).path("item", &7).body(&text).command()
}

fn ids(seen: &[Seen]) -> Vec<&str> {
    seen.iter().map(|seen| seen.header("riff-call")).collect()
}

fn bodies(seen: &[Seen]) -> Vec<String> {
    let text = |seen: &Seen| String::from_utf8(seen.body.clone()).unwrap();
    seen.iter().map(text).collect()
}

/// Runs `within` as a process would, and kills it: no future of it ends, and no lock stays.
fn process<T>(within: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let done = runtime.block_on(within);
    runtime.shutdown_background();
    done
}

/// A server that gives no reply until it is told to.
async fn down_until(up: &Arc<AtomicBool>) -> Server {
    let up = Arc::clone(up);
    Server::new(move |_| {
        if up.load(Ordering::SeqCst) {
            yes("7")
        } else {
            vec![Step::Close]
        }
    })
    .await
}

fn files(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap();
    names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[tokio::test]
async fn a_command_stands_in_the_outbox_before_its_first_try_and_leaves_at_its_reply() {
    let dir = tempfile::tempdir().unwrap();
    let stood = Arc::new(Mutex::new(Vec::new()));
    let server = {
        let (outbox, stood) = (Outbox::open(dir.path()).unwrap(), Arc::clone(&stood));
        Server::new(move |_| {
            *stood.lock().unwrap() = outbox.owed().unwrap();
            yes("7")
        })
        .await
    };
    let api = boxed(&server.base(), dir.path());
    let call = say(&api, "one");
    let id = call.id().clone();
    assert_eq!(soon(call.into_future()).await, Ok(7));
    let owed = stood.lock().unwrap().clone();
    assert_eq!(owed.len(), 1);
    assert_eq!((&owed[0].call, owed[0].route.as_str()), (&id, "claim"));
    assert_eq!(owed[0].path, "/v1/items/7/claim");
    assert_eq!(owed[0].state, OwedState::Held);
    assert_eq!(api.outbox().unwrap().owed().unwrap(), []);
    assert_eq!(
        api.outbox().unwrap().settled().unwrap(),
        [],
        "the call was told"
    );
    drop(api);
    assert_eq!(files(dir.path()), Vec::<String>::new());
}

#[cfg(unix)]
#[tokio::test]
async fn what_stands_in_it_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let top = tempfile::tempdir().unwrap();
    let dir = top.path().join("state/outbox");
    let server = Server::new(|_| vec![Step::Hang]).await;
    let api = boxed(&server.base(), &dir);
    let _ = timeout(SOON, say(&api, "one").into_future()).await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    let names = files(&dir);
    assert_eq!(names.len(), 1);
    assert_eq!(mode(&dir.join(&names[0])), 0o600);
    let text = fs::read_to_string(dir.join(&names[0])).unwrap();
    assert!(text.contains("claim") && !text.contains("token"), "{text}");
}

#[tokio::test]
async fn a_command_whose_budget_ends_is_sent_on_under_its_id_and_its_end_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let up = Arc::new(AtomicBool::new(false));
    let server = down_until(&up).await;
    let api = boxed(&server.base(), dir.path());
    let outbox = api.outbox().unwrap().clone();
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    outbox.on_settled(move |settled| tell.lock().unwrap().push(settled.clone()));
    let error = soon(say(&api, "one").within(SOON).into_future()).await;
    let Err(CallError::Unknown {
        call: Some(call),
        queued: true,
        ..
    }) = &error
    else {
        panic!("{error:?}")
    };
    let text = error.as_ref().unwrap_err().to_string();
    assert!(
        text.ends_with("it is sent again until it has a reply"),
        "{text}"
    );
    assert_eq!(outbox.owed().unwrap().len(), 1);
    up.store(true, Ordering::SeqCst);
    until(|| outbox.owed().unwrap().is_empty()).await;
    let settled = outbox.settled().unwrap();
    assert_eq!(settled.len(), 1);
    assert_eq!(
        (&settled[0].call, &settled[0].how),
        (&call.id, &SettledHow::Replied)
    );
    assert_eq!(*told.lock().unwrap(), settled);
    let seen = server.seen();
    assert!(ids(&seen).iter().all(|id| *id == call.id.as_str()));
    assert!(bodies(&seen).iter().all(|body| body == "\"one\""));
    assert_eq!(seen[0].header("riff-try"), "1");
    assert_ne!(seen.last().unwrap().header("riff-try"), "1");
}

#[tokio::test]
async fn a_call_that_is_dropped_is_sent_on() {
    let dir = tempfile::tempdir().unwrap();
    let up = Arc::new(AtomicBool::new(false));
    let server = down_until(&up).await;
    let api = boxed(&server.base(), dir.path());
    let dropped = timeout(SOON, say(&api, "one").into_future()).await;
    assert!(dropped.is_err());
    up.store(true, Ordering::SeqCst);
    let outbox = api.outbox().unwrap();
    until(|| outbox.owed().unwrap().is_empty()).await;
    assert_eq!(outbox.settled().unwrap()[0].how, SettledHow::Replied);
}

#[test]
fn what_a_killed_process_owes_is_sent_by_the_next_one_first_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let up = Arc::new(AtomicBool::new(false));
    let servers = tokio::runtime::Runtime::new().unwrap();
    let server = servers.block_on(down_until(&up));
    let base = server.base();
    // By two processes, whose files have names at random.
    leave(&base, dir.path(), &["one"]);
    leave_other(&base, dir.path(), &["two", "three"]);
    let before = server.seen().len();
    up.store(true, Ordering::SeqCst);
    process(async {
        let api = boxed(&base, dir.path());
        assert_eq!(soon(say(&api, "four").into_future()).await, Ok(7));
        let outbox = api.outbox().unwrap();
        assert_eq!(outbox.owed().unwrap(), []);
        let ends = outbox.settled().unwrap();
        assert_eq!(ends.len(), 3, "{ends:?}");
    });
    let seen = server.seen();
    let after = bodies(&seen[before..]);
    assert_eq!(after, ["\"one\"", "\"two\"", "\"three\"", "\"four\""]);
    for text in ["\"one\"", "\"two\"", "\"three\""] {
        let of = seen.iter().filter(|seen| seen.body == text.as_bytes());
        let of: Vec<Seen> = of.cloned().collect();
        let all = ids(&of);
        assert!(all.iter().all(|id| *id == all[0]), "{all:?}");
    }
}

/// Leaves these commands behind, as a process that is killed.
fn leave(base: &str, dir: &Path, texts: &[&str]) {
    let all = async {
        let api = boxed(base, dir);
        for text in texts {
            let mut call = Box::pin(say(&api, text).into_future());
            assert!(timeout(SOON, &mut call).await.is_err());
            // A process that is killed drops nothing in order.
            std::mem::forget(call);
        }
        std::mem::forget(api);
    };
    std::thread::scope(|scope| scope.spawn(|| process(all)).join().unwrap());
    // The memory that was leaked holds the lock, as no process can.
    release(dir);
}

/// The same, by a process that ran at the same time and took nothing over.
fn leave_other(base: &str, dir: &Path, texts: &[&str]) {
    let other = tempfile::tempdir().unwrap();
    leave(base, other.path(), texts);
    for name in files(other.path()) {
        fs::copy(other.path().join(&name), dir.join(&name)).unwrap();
    }
}

/// Gives each file another inode, which nobody has locked.
fn release(dir: &Path) {
    for name in files(dir) {
        let (path, copy) = (dir.join(&name), dir.join("copy"));
        fs::copy(&path, &copy).unwrap();
        fs::rename(copy, path).unwrap();
    }
}

#[tokio::test]
async fn an_equal_command_takes_over_the_id_of_one_whose_call_ended_unless_it_is_another() {
    let dir = tempfile::tempdir().unwrap();
    let up = Arc::new(AtomicBool::new(false));
    let server = down_until(&up).await;
    let api = boxed(&server.base(), dir.path());
    let lost = soon(say(&api, "one").within(SOON).into_future()).await;
    let Err(CallError::Unknown {
        call: Some(lost), ..
    }) = lost
    else {
        panic!("{lost:?}")
    };
    let before = server.seen().len();
    up.store(true, Ordering::SeqCst);
    assert_eq!(soon(say(&api, "one").into_future()).await, Ok(7));
    assert_eq!(soon(say(&api, "one").again().into_future()).await, Ok(7));
    assert_eq!(soon(say(&api, "two").into_future()).await, Ok(7));
    let seen = server.seen();
    let seen = &seen[before..];
    let of = |text: &str| {
        let of = seen.iter().filter(|seen| seen.body == text.as_bytes());
        let mut of: Vec<&str> = of.map(|seen| seen.header("riff-call")).collect();
        of.sort_unstable();
        of.dedup();
        of
    };
    assert_eq!(of("\"one\"").len(), 2, "the old one, and another");
    assert!(of("\"one\"").contains(&lost.id.as_str()));
    assert_eq!(of("\"two\"").len(), 1);
    assert!(!of("\"two\"").contains(&lost.id.as_str()));
}

#[tokio::test]
async fn two_calls_that_say_the_same_at_once_are_two_commands() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Arc::new(Notify::new());
    let server = {
        let gate = Arc::clone(&gate);
        Server::new(move |_| {
            let mut steps = vec![Step::Wait(Arc::clone(&gate))];
            steps.extend(yes("7"));
            steps
        })
        .await
    };
    let api = boxed(&server.base(), dir.path());
    let both = tokio::spawn({
        let (one, two) = (say(&api, "one"), say(&api, "one"));
        async move { tokio::join!(one.into_future(), two.into_future()) }
    });
    until(|| server.seen().len() == 2).await;
    gate.notify_waiters();
    assert_eq!(soon(both).await.unwrap(), (Ok(7), Ok(7)));
    let seen = server.seen();
    assert_ne!(ids(&seen)[0], ids(&seen)[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_for_ever_is_listed_and_holds_up_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let up = Arc::new(AtomicBool::new(false));
    let server = {
        let up = Arc::clone(&up);
        Server::new(move |seen| {
            if !up.load(Ordering::SeqCst) {
                vec![Step::Close]
            } else if seen.body == b"\"bad\"" {
                no(409, "held", "riff-refused: held\r\n")
            } else {
                yes("7")
            }
        })
        .await
    };
    leave(&server.base(), dir.path(), &["bad", "good", "better"]);
    up.store(true, Ordering::SeqCst);
    let api = boxed(&server.base(), dir.path());
    assert_eq!(api.flush_outbox(Duration::from_secs(20)).await, 0);
    let ends = api.outbox().unwrap().settled().unwrap();
    let hows: Vec<&SettledHow> = ends.iter().map(|settled| &settled.how).collect();
    assert!(
        matches!(hows[0], SettledHow::Refused { code, .. } if code == "held"),
        "{hows:?}"
    );
    assert_eq!(hows[1..], [&SettledHow::Replied, &SettledHow::Replied]);
}

#[tokio::test]
async fn a_401_pauses_and_deletes_nothing_and_another_callers_command_is_left_alone() {
    for (status, code) in [(401, "unauthenticated"), (403, "other_caller")] {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::new(move |seen| match seen.number {
            0 => vec![Step::Close],
            _ if seen.body == b"\"one\"" => no(status, code, ""),
            _ => yes("7"),
        })
        .await;
        let api = boxed(&server.base(), dir.path());
        let ended = soon(say(&api, "one").into_future()).await;
        assert!(
            matches!(&ended, Err(CallError::Unknown { queued: true, .. })),
            "{ended:?}"
        );
        // Also by the task that sends.
        until(|| server.seen().len() >= 3).await;
        assert_eq!(soon(say(&api, "two").into_future()).await, Ok(7), "{code}");
        let owed = api.outbox().unwrap().owed().unwrap();
        assert_eq!(owed.len(), 1, "{code}");
        assert_eq!(owed[0].state, OwedState::Held);
    }
}

#[tokio::test]
async fn what_may_have_run_and_cannot_be_told_stays_and_is_not_sent() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::new(|seen| match seen.number {
        0 => vec![Step::Close],
        1 => no(410, "call_forgotten", ""),
        _ => yes("7"),
    })
    .await;
    let api = boxed(&server.base(), dir.path());
    let ended = soon(say(&api, "one").into_future()).await;
    assert!(
        matches!(
            &ended,
            Err(CallError::Unknown {
                queued: false,
                cause: Cause::CallForgotten,
                ..
            })
        ),
        "{ended:?}"
    );
    assert_eq!(soon(say(&api, "two").into_future()).await, Ok(7));
    let owed = api.outbox().unwrap().owed().unwrap();
    assert_eq!(owed.len(), 1);
    assert!(matches!(&owed[0].state, OwedState::Stopped { why } if why.contains("forgotten")));
    assert_eq!(server.seen().len(), 3);
    // Whoever has looked and does it again gets a command of its own.
    assert_eq!(soon(say(&api, "one").into_future()).await, Ok(7));
    let seen = server.seen();
    assert_ne!(seen[3].header("riff-call"), owed[0].call.as_str());
    assert_eq!(seen[3].header("riff-try"), "1");
}

#[tokio::test]
async fn a_full_outbox_sends_nothing_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::new(|_| vec![Step::Hang]).await;
    let limits = OutboxLimits {
        entries: 1,
        bytes: 2_000,
    };
    let outbox = Outbox::open_with(dir.path(), limits).unwrap();
    let api = api(&server.base()).with_outbox(&outbox);
    let large = "x".repeat(2_000);
    let ended = soon(say(&api, &large).into_future()).await.unwrap_err();
    assert!(
        ended.to_string().contains("the outbox is full: 0 commands"),
        "{ended}"
    );
    let held = tokio::spawn(say(&api, "one").into_future());
    until(|| server.seen().len() == 1).await;
    let ended = soon(say(&api, "two").into_future()).await.unwrap_err();
    assert!(matches!(&ended, CallError::NotSent { .. }), "{ended}");
    assert!(
        ended.to_string().contains("the outbox is full: 1 commands"),
        "{ended}"
    );
    held.abort();
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_command_that_was_never_tried_goes_with_its_call() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::new(|_| vec![Step::Close]).await;
    let api = boxed(&server.base(), dir.path());
    let _ = soon(say(&api, "one").within(SOON).into_future()).await;
    let behind = timeout(SOON, say(&api, "two").into_future()).await;
    assert!(behind.is_err());
    let owed = api.outbox().unwrap().owed().unwrap();
    assert_eq!(owed.len(), 1, "{owed:?}");
}

#[tokio::test]
async fn a_new_command_waits_for_those_before_it_and_says_what_it_waits_for() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::new(|_| vec![Step::Close]).await;
    let api = boxed(&server.base(), dir.path());
    let _ = soon(say(&api, "one").within(SOON).into_future()).await;
    let ended = soon(say(&api, "two").within(SOON).into_future()).await;
    assert_eq!(
        ended,
        Err(CallError::NotSent {
            cause: Cause::Behind { ahead: 1 }
        })
    );
    assert!(bodies(&server.seen()).iter().all(|body| body == "\"one\""));
    assert_eq!(
        api.outbox().unwrap().owed().unwrap().len(),
        1,
        "it cannot run"
    );
}

#[tokio::test]
async fn a_command_that_is_resolved_leaves_first() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::new(|seen| {
        if seen.path.ends_with("/settle") {
            let fate = r#"{"call":"x","fate":"cancelled"}"#;
            vec![reply(200, BUILD, fate)]
        } else {
            vec![Step::Close]
        }
    })
    .await;
    let api = boxed(&server.base(), dir.path());
    let ended = soon(say(&api, "one").within(SOON).into_future()).await;
    let Err(CallError::Unknown {
        call: Some(call), ..
    }) = ended
    else {
        panic!("{ended:?}")
    };
    let resolved = soon(api.resolve::<u64>(&call).into_future()).await;
    assert_eq!(resolved, Ok(Resolved::NeverRan));
    let outbox = api.outbox().unwrap();
    assert_eq!(outbox.owed().unwrap(), []);
    assert_eq!(outbox.settled().unwrap()[0].how, SettledHow::Dropped);
    let sent = server.seen().len();
    tokio::time::sleep(LIMITS.most_wait * 3).await;
    assert_eq!(server.seen().len(), sent, "no try follows");
}

#[test]
fn damage_costs_what_is_damaged_and_stops_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let up = Arc::new(AtomicBool::new(false));
    let servers = tokio::runtime::Runtime::new().unwrap();
    let server = servers.block_on(down_until(&up));
    let base = server.base();
    leave(&base, dir.path(), &["one", "two"]);
    let name = files(dir.path()).remove(0);
    let path = dir.path().join(&name);
    let mut bytes = fs::read(&path).unwrap();
    let cut = bytes.len() - 20;
    bytes[cut] ^= 1;
    fs::write(&path, bytes).unwrap();
    fs::create_dir(dir.path().join("0000.outbox")).unwrap();
    fs::write(dir.path().join("1111.outbox"), "no outbox at all").unwrap();
    #[cfg(unix)]
    let elsewhere = {
        let elsewhere = dir.path().join("elsewhere");
        fs::write(&elsewhere, "of somebody else").unwrap();
        std::os::unix::fs::symlink(&elsewhere, dir.path().join("2222.outbox")).unwrap();
        elsewhere
    };
    up.store(true, Ordering::SeqCst);
    let before = server.seen().len();
    process(async {
        let api = boxed(&base, dir.path());
        assert_eq!(api.flush_outbox(Duration::from_secs(20)).await, 0);
    });
    assert_eq!(bodies(&server.seen()[before..]), ["\"one\""]);
    let aside = files(dir.path());
    let aside = aside.iter().filter(|name| name.contains(".damaged-"));
    assert_eq!(aside.clone().count(), 2, "what is damaged is set aside");
    #[cfg(unix)]
    for name in aside {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = fs::metadata(dir.path().join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    #[cfg(unix)]
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "of somebody else");
}

#[tokio::test]
async fn what_is_past_its_time_leaves_as_expired() {
    use link_wire::{Limits, OutboxRule, Route};

    static BRIEF: Route = Route {
        outbox: OutboxRule::Within(Duration::from_millis(300)),
        ..CLAIM
    };
    static UNKEPT: Route = Route {
        outbox: OutboxRule::No,
        ..CLAIM
    };
    let dir = tempfile::tempdir().unwrap();
    let server = Server::new(|_| vec![Step::Close]).await;
    let limits = Limits {
        first_wait: Duration::from_millis(50),
        ..LIMITS
    };
    let outbox = Outbox::open(dir.path()).unwrap();
    let api = crate::fixture::api_with(&server.base(), limits).with_outbox(&outbox);
    let brief = |route| api.request(route).path("item", &7).command::<u64>();
    let ended = soon(brief(&UNKEPT).within(SOON).into_future()).await;
    assert!(
        matches!(&ended, Err(CallError::Unknown { queued: false, .. })),
        "{ended:?}"
    );
    assert_eq!(outbox.owed().unwrap(), []);
    let ended = soon(brief(&BRIEF).within(SOON).into_future()).await;
    assert!(
        matches!(&ended, Err(CallError::Unknown { queued: true, .. })),
        "{ended:?}"
    );
    until(|| outbox.owed().unwrap().is_empty()).await;
    assert_eq!(outbox.settled().unwrap()[0].how, SettledHow::Expired);
}
