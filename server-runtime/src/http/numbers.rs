//! The numbers of the engine, its log and its table of calls, on the page of the metrics.

use super::{Inner, metrics::Page};
use crate::State;

/// Writes them.
pub(super) fn write<S: State>(server: &Inner<S>, page: &mut Page) {
    let stats = server.engine.stats();
    let up = u8::from(server.engine.is_ready());
    page.gauge("link_ready", "1 when a command is worth a try.", up);
    page.gauge(
        "link_engine_failed",
        "1 when the engine has stopped for good.",
        u8::from(stats.failed),
    );
    page.gauge(
        "link_journal_full",
        "1 when the journal had no room at the last try.",
        u8::from(stats.full),
    );
    page.gauge(
        "link_log_position",
        "The newest written record.",
        stats.written.position,
    );
    page.gauge(
        "link_checkpoint_position",
        "The record at which the newest checkpoint stands; 0 for none.",
        stats.checkpoint.map_or(0, |position| position.0),
    );
    page.gauge(
        "link_queue_commands",
        "Commands that wait for the writer.",
        stats.queued,
    );
    page.gauge(
        "link_queue_bytes",
        "The bytes of their records, at most.",
        stats.queued_bytes,
    );
    page.counter(
        "link_journal_chunks_total",
        "Chunks that were written: one sync each.",
        stats.chunks,
    );
    page.counter(
        "link_journal_records_total",
        "Records that were written.",
        stats.records,
    );
    if let Some(journal) = &stats.journal {
        page.gauge("link_journal_bytes", "The bytes of the log.", journal.bytes);
        page.gauge(
            "link_journal_segments",
            "The segments of the log.",
            journal.segments,
        );
        page.counter(
            "link_journal_syncs_total",
            "Syncs of the log.",
            journal.syncs,
        );
    }
    let calls = &stats.calls;
    for (name, help, value) in [
        (
            "link_callers",
            "Callers of whom a call is known.",
            calls.callers,
        ),
        ("link_calls_kept", "Calls whose reply is kept.", calls.kept),
        (
            "link_calls_thin",
            "Calls of which the ID is left.",
            calls.thin,
        ),
        (
            "link_calls_foreign",
            "Calls with an Idempotency-Key.",
            calls.foreign,
        ),
        (
            "link_calls_pending",
            "Calls that are queued.",
            calls.pending,
        ),
        (
            "link_calls_bytes",
            "The bytes of the table of calls, estimated.",
            calls.bytes,
        ),
    ] {
        page.gauge(name, help, value);
    }
    page.counter(
        "link_calls_replies_dropped_total",
        "Replies that went before their call ID did.",
        calls.dropped_replies,
    );
    page.counter(
        "link_calls_dropped_total",
        "Call IDs that went.",
        calls.dropped_ids,
    );
}
