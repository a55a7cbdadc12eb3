//! What goes on while a handler runs.

use std::{
    sync::{
        Mutex,
        atomic::AtomicBool,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use super::*;

#[tokio::test]
async fn while_a_query_runs_others_come_and_decide() {
    let engine = open(&MemoryJournal::new());
    let ann: Caller = "ann".parse().unwrap();
    engine.touch(&ann);
    let (ended, end) = sync_channel(1);
    let other = engine.clone();
    let seen = engine.read(&ROUTE, &ann, |_, cx| {
        let before = cx.presence().callers().count();
        thread::spawn(move || {
            other.touch(&"ben".parse().unwrap());
            let known = start(&other, ("ben", "1", 1), &Ask::Nothing).unwrap();
            ended.send(queued(known)).unwrap();
        });
        // A deadlock would end here, not hang.
        let ran = end.recv_timeout(SOON).ok();
        Ok((ran, before, cx.presence().callers().count()))
    });
    let (ran, before, after) = seen.unwrap();
    let written = ran.expect("nothing waits for the query").written(SOON);
    written.await.unwrap();
    assert_eq!((before, after), (1, 1), "a handler sees one moment");
}

static ENTERED: Mutex<Option<SyncSender<()>>> = Mutex::new(None);
static LEAVE: Mutex<Option<Receiver<()>>> = Mutex::new(None);
static LEFT: AtomicBool = AtomicBool::new(false);

fn hangs(_: &Board, _: &Cx<'_>, _: &Input<'_>) -> Result<Decision<Change>, No> {
    if let Some(entered) = ENTERED.lock().unwrap().take() {
        entered.send(()).unwrap();
    }
    if let Some(leave) = LEAVE.lock().unwrap().take() {
        // A close that waits for it fails below, and does not hang.
        let _ = leave.recv_timeout(SOON);
        LEFT.store(true, Ordering::SeqCst);
    }
    decision(Ok(Accepted::unchanged(())))
}

#[tokio::test]
async fn a_close_does_not_block_its_thread_while_a_command_hangs() {
    let engine = open(&MemoryJournal::new());
    let ((entered, enter), (leave, left)) = (sync_channel(1), sync_channel(1));
    *ENTERED.lock().unwrap() = Some(entered);
    *LEAVE.lock().unwrap() = Some(left);
    let other = engine.clone();
    let command = thread::spawn(move || {
        let id = |body: &[u8]| call("ann", "1", 1, body);
        start_with(&other, hangs, id, &Ask::Nothing).map(queued)
    });
    enter.recv().unwrap();
    let mut close = Box::pin(engine.close());
    assert!(close.as_mut().now_or_never().is_none());
    assert!(!LEFT.load(Ordering::SeqCst), "it waited for the handler");
    leave.send(()).unwrap();
    close.await.unwrap();
    let queued = command.join().unwrap().unwrap();
    queued.written(SOON).await.unwrap();
}
