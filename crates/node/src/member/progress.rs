//! Whether the disk gets on with what it was given.

use std::time::{Duration, Instant};

/// A disk that says nothing for so long stands still. Longer than syncs take on a bad day: clients are closed for it.
pub(super) const STANDS_STILL_AFTER: Duration = Duration::from_secs(10);

/// What the raft thread knows of the log thread's writes.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The last write that somebody waits for.
    awaited: u64,
    /// Since when nothing was said, where something is waited for.
    since: Option<Instant>,
}

impl Progress {
    /// A write was given that somebody waits for.
    pub(super) fn ordered(&mut self, write: u64, now: Instant) {
        self.awaited = write;
        self.since.get_or_insert(now);
    }

    /// All writes through this one are on disk.
    pub(super) fn persisted(&mut self, write: u64, now: Instant) {
        self.since = (write < self.awaited).then_some(now);
    }

    /// Whether it has said nothing for long.
    pub(super) fn stands_still(&self, now: Instant) -> bool {
        self.since.is_some_and(|since| now.saturating_duration_since(since) >= STANDS_STILL_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a disk stand still that says nothing for long of what it was given, and only that one?
    #[test]
    fn a_disk_that_says_nothing_stands_still() {
        let (begin, long) = (Instant::now(), STANDS_STILL_AFTER);
        let mut progress = Progress::default();
        assert!(!progress.stands_still(begin + long), "it was given nothing");
        progress.ordered(1, begin);
        progress.ordered(2, begin + long / 2);
        assert!(!progress.stands_still(begin + long / 2));
        assert!(progress.stands_still(begin + long));
        progress.persisted(1, begin + long);
        assert!(!progress.stands_still(begin + long), "it has begun to get on");
        assert!(progress.stands_still(begin + long * 2));
        progress.persisted(2, begin + long * 2);
        assert!(!progress.stands_still(begin + long * 4), "nothing is waited for");
    }
}
