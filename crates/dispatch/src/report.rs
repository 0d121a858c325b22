//! What a member says of its own load.

use thiserror::Error;

/// Longest queue that is believed, in messages.
pub const REPORT_QUEUE_MAX: u64 = 1_000_000;
/// Longest work on one message that is believed, in microseconds: one hour.
pub const REPORT_SERVICE_US_MAX: u64 = 3_600_000_000;
/// Shortest work on one message that is believed, in microseconds.
pub const REPORT_SERVICE_US_MIN: u64 = 1;
/// Highest rate that is believed, in messages per second.
pub const REPORT_RATE_MAX: u64 = 10_000_000;

/// What a member says of its own load, in the properties of a PUBACK or unprompted on `$lapwing/report`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Messages that wait in the member, those at work included.
    pub queue: Option<u64>,
    /// Its work on one message, in microseconds; with several workers: of one of them.
    pub service_us: Option<u64>,
    /// Messages that it finishes in a second.
    pub rate_per_s: Option<u64>,
    /// True when its buffer has crossed the high watermark, false when it has fallen below the low one.
    pub is_paused: Option<bool>,
}

/// A report that is not believed. Nothing of it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReportError {
    /// Longer than any queue.
    #[error("a queue of {got} messages, at most {REPORT_QUEUE_MAX} are believed")]
    Queue {
        /// Messages.
        got: u64,
    },
    /// Longer or shorter than any work.
    #[error("work of {got} us per message, {REPORT_SERVICE_US_MIN}..={REPORT_SERVICE_US_MAX} are believed")]
    Service {
        /// Microseconds.
        got: u64,
    },
    /// Faster than anybody.
    #[error("{got} messages per second, at most {REPORT_RATE_MAX} are believed")]
    Rate {
        /// Messages per second.
        got: u64,
    },
    /// There is no such member now.
    #[error("the member has left")]
    Gone,
}

impl Report {
    /// # Errors
    /// The first number that is out of its range.
    pub(crate) fn check(&self) -> Result<(), ReportError> {
        let service = REPORT_SERVICE_US_MIN..=REPORT_SERVICE_US_MAX;
        match *self {
            Report { queue: Some(got), .. } if got > REPORT_QUEUE_MAX => Err(ReportError::Queue { got }),
            Report { service_us: Some(got), .. } if !service.contains(&got) => Err(ReportError::Service { got }),
            Report { rate_per_s: Some(got), .. } if got > REPORT_RATE_MAX => Err(ReportError::Rate { got }),
            _ => Ok(()),
        }
    }

    /// Work on one message in milliseconds: as reported, else what the rate of `workers` comes to.
    pub(crate) fn service_ms(&self, workers: u32) -> Option<f64> {
        let of_rate = self.rate_per_s.filter(|&rate| rate > 0).map(|rate| 1e3 * f64::from(workers) / rate as f64);
        self.service_us.map(|us| us as f64 / 1e3).or(of_rate)
    }
}
