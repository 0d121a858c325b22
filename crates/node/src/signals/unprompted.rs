//! What a client publishes to `$lapwing/report`: its load, the answer to a probe, and (3.1.1) what it declares.

use lapwing_dispatch::Report;
use serde::Deserialize;
use thiserror::Error;

use super::declaration::{Declared, acknowledges_of, batch_of, probe_ms_of, workers_of};
use super::report::is_paused;

/// Where clients publish what they say of themselves; such a message is never routed and never retained.
pub(crate) const REPORT_TOPIC: &str = "$lapwing/report";
/// Longest payload that is looked at.
pub(crate) const REPORT_BYTES_MAX: usize = 1024;

/// What one message on [`REPORT_TOPIC`] said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unprompted {
    /// Its load; `None` where nothing was said of it.
    pub(crate) report: Option<Report>,
    /// The probe that it answers.
    pub(crate) probe: Option<u16>,
    /// What it declares.
    pub(crate) declared: Declared,
}

/// A message on [`REPORT_TOPIC`] of which nothing is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum BadReport {
    /// It was not even parsed.
    #[error("a report of {got} bytes, at most {REPORT_BYTES_MAX} are read")]
    TooLong {
        /// Bytes.
        got: usize,
    },
    /// No JSON object, or a value of the wrong kind.
    #[error("a report that is no JSON object of the known kinds, at line {line}, column {column}")]
    Json {
        /// From 1; 0 where no place can be named.
        line: usize,
        /// In bytes, from 1.
        column: usize,
    },
    /// A value outside of what may be said.
    #[error("a report with a wrong {name}")]
    Value {
        /// The key.
        name: &'static str,
    },
}

/// The JSON object. Keys that are not known are passed over, so that clients may say more to later brokers. Words are read
/// where they lie, without escapes: none of ours needs any.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Text<'a> {
    queue: Option<u64>,
    service_us: Option<u64>,
    rate_per_s: Option<u64>,
    #[serde(borrow)]
    watermark: Option<&'a str>,
    probe: Option<u64>,
    #[serde(borrow)]
    ack: Option<&'a str>,
    workers: Option<u64>,
    batch: Option<u64>,
    probe_ms: Option<u64>,
}

impl Unprompted {
    /// Reads the payload of a message on [`REPORT_TOPIC`].
    ///
    /// # Errors
    /// Nothing of it is to be used. Whether the figures of the load are believable is not asked here.
    pub(crate) fn parse(payload: &[u8]) -> Result<Unprompted, BadReport> {
        if payload.len() > REPORT_BYTES_MAX {
            return Err(BadReport::TooLong { got: payload.len() });
        }
        // The parser would take an array as the values of our keys, in our order.
        if payload.trim_ascii_start().first() != Some(&b'{') {
            return Err(BadReport::Json { line: 0, column: 0 });
        }
        let text: Text<'_> = serde_json::from_slice(payload)
            .map_err(|error| BadReport::Json { line: error.line(), column: error.column() })?;
        let probe = text.probe.map(|id| u16::try_from(id).map_err(|_| BadReport::Value { name: "probe" }));
        Ok(Unprompted { report: text.report()?, probe: probe.transpose()?, declared: text.declared()? })
    }
}

impl Text<'_> {
    fn report(&self) -> Result<Option<Report>, BadReport> {
        let report = Report {
            queue: self.queue,
            service_us: self.service_us,
            rate_per_s: self.rate_per_s,
            is_paused: checked("watermark", self.watermark, is_paused)?,
        };
        Ok((report != Report::default()).then_some(report))
    }

    fn declared(&self) -> Result<Declared, BadReport> {
        Ok(Declared {
            acknowledges: checked("ack", self.ack, acknowledges_of)?,
            workers: checked("workers", self.workers, |number| workers_of(Some(number)))?,
            batch: checked("batch", self.batch, |number| batch_of(Some(number)))?,
            probe_ms: checked("probe_ms", self.probe_ms, |number| probe_ms_of(Some(number)))?,
        })
    }
}

/// What `read` makes of a value that is there.
fn checked<T, U>(
    name: &'static str,
    value: Option<T>,
    read: impl FnOnce(T) -> Option<U>,
) -> Result<Option<U>, BadReport> {
    match value {
        None => Ok(None),
        Some(value) => read(value).map(Some).ok_or(BadReport::Value { name }),
    }
}

#[cfg(test)]
mod tests {
    use lapwing_dispatch::Acknowledges;

    use super::*;

    fn parse(text: &str) -> Result<Unprompted, BadReport> {
        Unprompted::parse(text.as_bytes())
    }

    /// Is everything that a report may say understood?
    #[test]
    fn everything_is_understood() {
        let text = r#" {"queue": 12, "service_us": 20000, "rate_per_s": 48, "watermark": "high", "probe": 17,
            "ack": "processed", "workers": 1024, "batch": 65535, "probe_ms": 50} "#;
        let report = Report { queue: Some(12), service_us: Some(20_000), rate_per_s: Some(48), is_paused: Some(true) };
        let declared = Declared {
            acknowledges: Some(Acknowledges::Processed),
            workers: Some(1024),
            batch: Some(65_535),
            probe_ms: Some(50),
        };
        assert_eq!(parse(text), Ok(Unprompted { report: Some(report), probe: Some(17), declared }));
    }

    /// Is what was not said not there, whatever else was, and is an answer to a probe alone no report?
    #[test]
    fn what_is_not_said_is_not_there() {
        let nothing = Unprompted::default();
        for text in ["{}", r#"{"queue": null}"#, r#"{"later": [{"queue": 1}], "queues": 3, "Queue": 4}"#] {
            assert_eq!(parse(text), Ok(nothing), "{text}");
        }
        assert_eq!(parse(r#"{"probe": 0}"#), Ok(Unprompted { probe: Some(0), ..nothing }));
        assert_eq!(parse(r#"{"probe": 65535}"#), Ok(Unprompted { probe: Some(u16::MAX), ..nothing }));
        let low = Report { is_paused: Some(false), ..Report::default() };
        assert_eq!(parse(r#"{"watermark": "low"}"#), Ok(Unprompted { report: Some(low), ..nothing }));
        // Whether a number is believable is dispatch's question.
        let long = Report { queue: Some(u64::MAX), ..Report::default() };
        assert_eq!(parse(r#"{"queue": 18446744073709551615}"#), Ok(Unprompted { report: Some(long), ..nothing }));
    }

    /// Is each value that nobody may say named?
    #[test]
    fn wrong_values_are_named() {
        for (text, name) in [
            (r#"{"probe": 65536}"#, "probe"),
            (r#"{"watermark": "middle"}"#, "watermark"),
            (r#"{"ack": "undeclared"}"#, "ack"),
            (r#"{"workers": 0}"#, "workers"),
            (r#"{"workers": 1025, "queue": 1}"#, "workers"),
            (r#"{"batch": 65536}"#, "batch"),
            (r#"{"batch": 0}"#, "batch"),
            (r#"{"probe_ms": 49}"#, "probe_ms"),
            (r#"{"probe_ms": 60001}"#, "probe_ms"),
        ] {
            assert_eq!(parse(text), Err(BadReport::Value { name }), "{text}");
        }
    }

    /// Is all refused that is no JSON object of numbers and words, and a key that stands twice?
    #[test]
    fn what_is_no_report_is_refused() {
        for text in [
            "",
            "12",
            "null",
            r#""high""#,
            "[12, 20000]",
            r#"[{"queue": 1}]"#,
            r#"{"queue": 1"#,
            r#"{"queue": 1} {}"#,
            r#"{"queue": 1, "queue": 2}"#,
            r#"{"queue": -1}"#,
            r#"{"queue": 1.0}"#,
            r#"{"queue": "1"}"#,
            r#"{"queue": 18446744073709551616}"#,
            r#"{"watermark": true}"#,
            r#"{"watermark": ["high"]}"#,
            r#"{"ack": "proces\u0073ed"}"#,
            "{\"queue\": 1, \"x\": \"\u{1}\"}",
        ] {
            assert!(matches!(parse(text), Err(BadReport::Json { .. })), "{text}: {:?}", parse(text));
        }
        assert!(matches!(Unprompted::parse(b"{\"ack\": \"\xff\"}"), Err(BadReport::Json { .. })));
        assert_eq!(parse("{\"queue\": 1,\n \"probe\": x}"), Err(BadReport::Json { line: 2, column: 11 }));
    }

    /// Is a long one refused whatever it says, and the longest one read?
    #[test]
    fn a_long_one_is_not_looked_at() {
        let padded = |bytes: usize| format!("{{\"queue\":7,\"x\":\"{}\"}}", " ".repeat(bytes - 18));
        assert_eq!(padded(REPORT_BYTES_MAX).len(), REPORT_BYTES_MAX);
        assert!(parse(&padded(REPORT_BYTES_MAX)).is_ok());
        assert_eq!(parse(&padded(REPORT_BYTES_MAX + 1)), Err(BadReport::TooLong { got: 1025 }));
        assert_eq!(parse(&"[".repeat(100_000)), Err(BadReport::TooLong { got: 100_000 }));
        assert!(matches!(parse(&format!("{{\"x\":{}", "[".repeat(1000))), Err(BadReport::Json { .. })));
    }
}
