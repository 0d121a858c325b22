//! The wall clock, for the few times that the log stamps by itself.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, microseconds since the epoch; 0 when the clock stands before it.
pub(crate) fn now_us() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
