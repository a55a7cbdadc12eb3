//! The text of `/metrics`, in the exposition format of Prometheus.

use std::{
    fmt::{Display, Write as _},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use link_wire::Code;

use super::{BOUNDS_MS, CLASSES, Metrics, Repeat};

/// The media type of the text.
pub(in super::super) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A text that grows by one metric at a time.
#[derive(Debug, Default)]
pub(in super::super) struct Page {
    text: String,
}

impl Page {
    pub(in super::super) fn into_text(self) -> String {
        self.text
    }

    /// A number that goes up and down.
    pub(in super::super) fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.begin(name, "gauge", help);
        self.sample(name, "", value);
    }

    /// A number that only grows, until the process ends.
    pub(in super::super) fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.begin(name, "counter", help);
        self.sample(name, "", value);
    }

    fn begin(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail, here and below.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = match labels {
            "" => writeln!(self.text, "{name} {value}"),
            labels => writeln!(self.text, "{name}{{{labels}}} {value}"),
        };
    }
}

impl Metrics {
    /// All that is counted here. A series that never counted anything is left out of the
    /// histogram: there are four for each route.
    pub(in super::super) fn write(&self, page: &mut Page) {
        self.write_durations(page);
        let read = |number: &AtomicU64| number.load(Relaxed);
        page.gauge(
            "http_server_active_requests",
            "Requests that are not answered yet.",
            read(&self.in_flight),
        );
        page.gauge(
            "http_server_connections",
            "Connections that are open.",
            read(&self.connections),
        );
        page.counter(
            "http_server_connections_accepted_total",
            "Connections that were accepted.",
            read(&self.connections_accepted),
        );
        page.gauge(
            "http_server_streams",
            "Streams that are open.",
            read(&self.streams),
        );
        page.counter(
            "http_server_request_body_bytes_total",
            "Bytes of the bodies of requests.",
            read(&self.request_bytes),
        );
        page.counter(
            "http_server_response_body_bytes_total",
            "Bytes of the bodies of replies, and of streams.",
            read(&self.response_bytes),
        );
        let name = "link_calls_total";
        page.begin(
            name,
            "counter",
            "Tries of commands, by what was known of the call.",
        );
        for repeat in Repeat::ALL {
            let labels = format!("known=\"{}\"", repeat.as_str());
            page.sample(name, &labels, read(&self.repeats[repeat as usize]));
        }
        let name = "link_refusals_total";
        page.begin(name, "counter", "Replies that say no, by code.");
        for (code, count) in Code::ALL.iter().zip(&self.refusals) {
            page.sample(name, &format!("code=\"{code}\""), read(count));
        }
        page.sample(
            name,
            "code=\"of_a_handler\"",
            read(&self.refused_by_handlers),
        );
    }

    fn write_durations(&self, page: &mut Page) {
        let name = "http_server_request_duration_seconds";
        page.begin(
            name,
            "histogram",
            "Time from the head of a request to that of its reply.",
        );
        for (n, histogram) in self.durations.iter().enumerate() {
            let counts = histogram.counts.each_ref().map(|count| count.load(Relaxed));
            let all: u64 = counts.iter().sum();
            if all == 0 {
                continue;
            }
            let (route, class) = (&self.routes[n / CLASSES], n % CLASSES + 2);
            let labels = format!(
                "http_request_method=\"{}\",http_route=\"{}\",http_response_status_class=\"{class}xx\"",
                route.method,
                escaped(route.path)
            );
            let mut below = 0;
            for (bound, count) in BOUNDS_MS.iter().zip(counts) {
                below += count;
                let labels = format!("{labels},le=\"{}\"", seconds(bound * 1_000));
                page.sample(&format!("{name}_bucket"), &labels, below);
            }
            page.sample(
                &format!("{name}_bucket"),
                &format!("{labels},le=\"+Inf\""),
                all,
            );
            let sum = seconds(histogram.sum_micros.load(Relaxed));
            page.sample(&format!("{name}_sum"), &labels, sum);
            page.sample(&format!("{name}_count"), &labels, all);
        }
    }
}

/// Microseconds as seconds, without the rounding of a float.
pub(in super::super) fn seconds(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The value of a label. What link.toml takes for a path needs none of this.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_no_zeros_that_say_nothing() {
        for (micros, text) in [
            (0, "0"),
            (5_000, "0.005"),
            (1_000_000, "1"),
            (10_000_000, "10"),
            (12_345_678, "12.345678"),
        ] {
            assert_eq!(seconds(micros), text);
        }
    }
}
