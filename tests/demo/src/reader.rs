//! The one who reads along: the stream of one thread, through all the faults.

use std::time::Duration;

use riff_api::{RiffApi, Thread};
use riff_link::client::StreamItem;
use tokio::{sync::watch, task::JoinHandle, time::timeout};

/// What the reader was given, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Read {
    /// The number and the text of each message.
    pub(crate) messages: Vec<(u64, String)>,
    /// How often the stream said that messages are missing.
    pub(crate) gaps: u64,
    /// Why the stream ended, if it did. It should not.
    pub(crate) ended: Option<String>,
}

/// A reader at work.
#[derive(Debug)]
pub(crate) struct Reader {
    so_far: watch::Receiver<Read>,
    running: JoinHandle<()>,
}

impl Reader {
    /// Reads a thread from its first message on.
    pub(crate) fn start(api: RiffApi, thread: Thread) -> Self {
        let (sender, so_far) = watch::channel(Read::default());
        let running = tokio::spawn(async move {
            let mut tail = api.tail(&thread).after(0);
            while let Some(item) = tail.next().await {
                sender.send_modify(|read| match item {
                    Ok(StreamItem::Event(message)) => {
                        read.messages.push((message.seq, message.text));
                    }
                    Ok(StreamItem::Gap { .. }) => read.gaps += 1,
                    Err(error) => read.ended = Some(error.to_string()),
                });
            }
            sender.send_modify(|read| {
                read.ended
                    .get_or_insert_with(|| "the server ended it".to_owned());
            });
        });
        Self { so_far, running }
    }

    /// Waits until the reader has come to this number, or for so long; then ends it.
    pub(crate) async fn finish(mut self, newest: u64, patience: Duration) -> Read {
        let has_come = |read: &Read| {
            read.ended.is_some() || read.messages.iter().any(|(seq, _)| *seq >= newest)
        };
        if newest > 0 {
            // What is missing after the wait is counted as lost.
            let _ = timeout(patience, self.so_far.wait_for(has_come)).await;
        }
        self.running.abort();
        self.so_far.borrow().clone()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.running.abort();
    }
}
