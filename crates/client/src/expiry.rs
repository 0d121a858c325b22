//! What is left of a message's expiry when it has waited here.

use std::time::Duration;

/// Waiting that does not count: what goes at once goes as its publisher said.
const AT_ONCE: Duration = Duration::from_millis(100);

/// Why a message was not sent.
pub(crate) const EXPIRED: &str = "its message_expiry_s was over before it could be sent";

/// The same of what had been sent and was not answered.
pub(crate) const EXPIRED_MEANWHILE: &str = "its message_expiry_s was over before it could be sent again";

/// The seconds of `expiry_s` that are left after `waited`, in whole ones and rather less than more: by its waiting here no
/// message lives longer than its publisher said, but for a tenth of a second. None: it has expired. Never 0 for what was
/// given more, which some brokers take for no expiry at all.
pub(crate) fn left_s(expiry_s: u32, waited: Duration) -> Option<u32> {
    let waited = waited.saturating_sub(AT_ONCE);
    let passed_s = waited.as_secs().saturating_add(u64::from(waited.subsec_nanos() > 0));
    if passed_s == 0 {
        return Some(expiry_s);
    }
    expiry_s.checked_sub(u32::try_from(passed_s).ok()?).filter(|left_s| *left_s > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is what goes at once not changed, a second begun one that has passed, and nothing sent that has none left?
    #[test]
    fn seconds_that_are_left() {
        for (expiry_s, waited_ms, left) in [
            (1, 0, Some(1)),
            (1, 100, Some(1)),
            (1, 101, None),
            (0, 100, Some(0)),
            (0, 101, None),
            (10, 101, Some(9)),
            (10, 1100, Some(9)),
            (10, 1101, Some(8)),
            (10, 9000, Some(1)),
            (10, 9101, None),
            (10, u64::MAX, None),
            (u32::MAX, 5000, Some(u32::MAX - 5)),
        ] {
            assert_eq!(left_s(expiry_s, Duration::from_millis(waited_ms)), left, "{expiry_s} s, {waited_ms} ms");
        }
    }
}
