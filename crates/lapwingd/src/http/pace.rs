//! How fast an answer is taken: so much in each time, or all there is; and of a stream the whole of it in its own.
//!
//! What the kernel has, and the peer has not, counts as not taken: its queue is refilled a third at a time, and a fair but slow
//! peer would seem to take nothing between.

use std::time::{Duration, Instant};

/// What a peer takes at least in each time.
const PROGRESS_BYTES: u64 = 256 << 10;

/// The clock of one answer.
#[derive(Debug)]
pub(super) struct Pace {
    every: Duration,
    look_at: Instant,
    unsent_before: u64,
    /// Then all of it is taken, or it is cut off.
    whole_by: Option<Instant>,
}

/// The peer takes less.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooSlow;

impl Pace {
    pub(super) fn begin(now: Instant, unsent: u64, every: Duration, whole_within: Option<Duration>) -> Self {
        let whole_by = whole_within.and_then(|within| now.checked_add(within));
        Pace { every, look_at: now + every, unsent_before: unsent, whole_by }
    }

    /// How long a write may wait.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        let next = self.whole_by.map_or(self.look_at, |end| end.min(self.look_at));
        next.saturating_duration_since(now).max(Duration::from_millis(1))
    }

    /// Between two writes; `unsent` says how many bytes the peer has not acknowledged, those in the kernel included.
    pub(super) fn look(&mut self, now: Instant, unsent: impl FnOnce() -> u64) -> Result<(), TooSlow> {
        if self.whole_by.is_some_and(|end| now >= end) {
            return Err(TooSlow);
        }
        if now < self.look_at {
            return Ok(());
        }
        let (before, unsent) = (self.unsent_before, unsent());
        if before.saturating_sub(unsent) < PROGRESS_BYTES.min(before) {
            return Err(TooSlow);
        }
        (self.unsent_before, self.look_at) = (unsent, now + self.every);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Duration = Duration::from_secs(30);

    /// Is who takes a byte now and then cut off, and who takes enough not?
    #[test]
    fn a_peer_takes_enough_in_each_time() {
        let begun = Instant::now();
        let mut pace = Pace::begin(begun, 1 << 20, EVERY, None);
        assert_eq!(pace.wait(begun), EVERY);
        assert_eq!(pace.look(begun + EVERY / 2, || panic!("nobody looks yet")), Ok(()));
        assert_eq!(pace.look(begun + EVERY, || (1 << 20) - PROGRESS_BYTES), Ok(()));
        assert_eq!(pace.look(begun + EVERY * 2, || (1 << 20) - PROGRESS_BYTES * 2 + 1), Err(TooSlow));
    }

    #[test]
    fn what_is_less_is_taken_whole() {
        let begun = Instant::now();
        assert_eq!(Pace::begin(begun, 1_000, EVERY, None).look(begun + EVERY, || 0), Ok(()));
        assert_eq!(Pace::begin(begun, 1_000, EVERY, None).look(begun + EVERY, || 1), Err(TooSlow));
    }

    /// Does a read end in its time, however steadily it is taken?
    #[test]
    fn a_read_is_whole_in_its_time() {
        let begun = Instant::now();
        let mut pace = Pace::begin(begun, 1 << 30, EVERY, Some(EVERY / 3));
        assert_eq!(pace.wait(begun), EVERY / 3);
        assert_eq!(pace.look(begun + EVERY / 4, || 0), Ok(()));
        assert_eq!(pace.look(begun + EVERY / 3, || 0), Err(TooSlow));
        assert_eq!(pace.wait(begun + EVERY), Duration::from_millis(1), "a write without a clock would wait for ever");
    }
}
