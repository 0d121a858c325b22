//! From the caller's microseconds to milliseconds.

/// A time that never comes. Finite, so that differences stay numbers; later than any clock of the caller.
pub(crate) const NEVER_MS: f64 = 1e18;

/// `us` microseconds in milliseconds. Exact below 2^53 us (285 years).
pub(crate) fn ms(us: u64) -> f64 {
    us as f64 / 1e3
}

/// Back, rounded up: a timer that fires then is not early. 0 for times before the clock's start.
pub(crate) fn us(ms: f64) -> u64 {
    // The cast saturates; NaN cannot come up, and would be 0.
    (ms * 1e3).ceil() as u64
}
