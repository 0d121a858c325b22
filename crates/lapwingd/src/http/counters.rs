//! What HTTP counts, under the names that the package has; it stands behind the node's own figures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

const REQUESTS: &str = "lapwing_http_requests_total";
const REFUSED: &str = "lapwing_http_refused_total";
pub(super) const READS_REFUSED: &str = "lapwing_http_reads_refused_total";
pub(super) const SLOW_READERS: &str = "lapwing_http_slow_readers_total";
pub(super) const READERS_IGNORED: &str = "lapwing_http_readers_ignored_total";
pub(super) const CONNECTIONS_REFUSED: &str = "lapwing_http_connections_refused_total";
pub(super) const CONNECTIONS_LATE: &str = "lapwing_http_connections_late_total";
pub(super) const ACCEPT_FAILURES: &str = "lapwing_http_accept_failures_total";
pub(super) const BODY_BYTES: &str = "lapwing_http_body_bytes_total";

const HELP: [(&str, &str); 9] = [
    (REQUESTS, "Requests answered, by route and status."),
    (READS_REFUSED, "Stream reads answered 503: http.reads_max ran, or memory was above its mark."),
    (
        SLOW_READERS,
        "Connections cut off: less than 256 KiB was taken in http.write_timeout, and not all, or a stream read not within \
         http.read_timeout.",
    ),
    (READERS_IGNORED, "Stream reads for a page of another site that named a reader: none moved."),
    (CONNECTIONS_REFUSED, "Connections refused, or closed for another: http.connections_max open."),
    (CONNECTIONS_LATE, "Connections closed: no whole request within http.keep_alive."),
    (ACCEPT_FAILURES, "Connections that could not be accepted."),
    (REFUSED, "Requests refused for who sent them, or what name they call us by, by reason."),
    (BODY_BYTES, "Bytes of stream bodies sent."),
];
/// No valid credentials; no right; too many failed attempts; too many wrong passwords, over MQTT or here; too many verifications at
/// a time; nobody can say who it is; a Host that is not ours; a page of another site.
const REASONS: [&str; 8] =
    ["unauthenticated", "forbidden", "throttled", "barred", "busy", "unavailable", "misdirected", "cross_site"];

/// Counts by name and labels.
#[derive(Debug)]
pub(super) struct Counters(Mutex<BTreeMap<(&'static str, String), u64>>);

impl Counters {
    pub(super) fn new() -> Self {
        let counters = Counters(Mutex::default());
        HELP.iter().filter(|(name, _)| ![REQUESTS, REFUSED].contains(name)).for_each(|(name, _)| counters.add(name, 0));
        REASONS.iter().for_each(|reason| counters.put(REFUSED, label("reason", reason), 0));
        counters
    }

    pub(super) fn add(&self, name: &'static str, amount: u64) {
        self.put(name, String::new(), amount);
    }

    /// `reason`: one of those that there are.
    pub(super) fn refused(&self, reason: &str) {
        self.put(REFUSED, label("reason", reason), 1);
    }

    /// `route`: the form of its path; a peer must not be able to make new series.
    pub(super) fn answered(&self, route: &str, status: u16) {
        self.put(REQUESTS, format!("{},{}", label("route", route), label("status", &status.to_string())), 1);
    }

    fn put(&self, name: &'static str, labels: String, amount: u64) {
        *self.values().entry((name, labels)).or_default() += amount;
    }

    /// In the text format of Prometheus.
    pub(super) fn text(&self) -> String {
        let (values, mut text) = (self.values(), String::new());
        for (name, help) in HELP {
            // Writing to a String cannot fail.
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} counter\n");
            for ((_, labels), value) in values.iter().filter(|((known, _), _)| *known == name) {
                let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        }
        text
    }

    fn values(&self) -> MutexGuard<'_, BTreeMap<(&'static str, String), u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn label(name: &str, value: &str) -> String {
    format!("{name}=\"{value}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is each there from the beginning, and counted under its labels?
    #[test]
    fn what_is_counted_is_shown() {
        let counters = Counters::new();
        counters.answered("/v1/streams", 200);
        counters.answered("/v1/streams", 200);
        counters.refused("busy");
        counters.add(BODY_BYTES, 5);
        let text = counters.text();
        for line in [
            "lapwing_http_requests_total{route=\"/v1/streams\",status=\"200\"} 2",
            "lapwing_http_refused_total{reason=\"busy\"} 1",
            "lapwing_http_refused_total{reason=\"barred\"} 0",
            "lapwing_http_body_bytes_total 5",
            "lapwing_http_slow_readers_total 0",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}: {text}");
        }
    }
}
