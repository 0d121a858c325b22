//! What retention does to a stream: decided here, done by the writer.

/// A segment as retention sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub bytes: u64,
    pub last_at_us: i64,
}

/// The limits of one stream; 0 means none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub bytes: u64,
    pub age_us: i64,
}

impl Limits {
    pub(crate) fn new(retain_bytes: u64, retain_age_ms: u64) -> Self {
        let age_us = i64::try_from(retain_age_ms).unwrap_or(i64::MAX).saturating_mul(1000);
        Self { bytes: retain_bytes, age_us }
    }

    /// How many of the sealed segments go, oldest first. `active`: its bytes, and when it began.
    ///
    /// A segment may have been written while the clock was ahead, so that its times are still to come. It is at least as old as
    /// the next one behind it whose time is not: else that one time would keep everything behind it for years.
    pub(crate) fn sealed_to_delete(
        &self,
        sealed: impl ExactSizeIterator<Item = Candidate> + Clone,
        active: Candidate,
        now_us: i64,
    ) -> usize {
        let mut bytes: u64 = active.bytes + sealed.clone().map(|segment| segment.bytes).sum::<u64>();
        let mut left = sealed;
        let mut count = 0;
        while let Some(segment) = left.next() {
            let too_many = self.bytes > 0 && bytes > self.bytes;
            if !too_many && !self.is_old(segment, left.clone().chain([active]), now_us) {
                break;
            }
            bytes -= segment.bytes;
            count += 1;
        }
        count
    }

    /// Whether the active segment is to be sealed so that it can be deleted in time. Without this a quiet stream would
    /// keep its first message until the segment is full. An eighth of the age is how much longer a message may stay. So with a
    /// first message of a time as far ahead: the clock was set back, and by that message the segment would never be old enough.
    pub(crate) fn rolls(&self, first_at_us: i64, now_us: i64) -> bool {
        self.age_us > 0 && now_us.abs_diff(first_at_us) > self.age_us.unsigned_abs() / 8
    }

    fn is_old(&self, segment: Candidate, mut behind: impl Iterator<Item = Candidate>, now_us: i64) -> bool {
        let is_known = |at_us: i64| at_us <= now_us;
        let at_us = match is_known(segment.last_at_us) {
            true => Some(segment.last_at_us),
            false => behind.find(|later| is_known(later.last_at_us)).map(|later| later.last_at_us),
        };
        self.age_us > 0 && at_us.is_some_and(|at_us| now_us.saturating_sub(at_us) > self.age_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(limits: Limits, segments: &[(u64, i64)], active_bytes: u64, now_us: i64) -> usize {
        count_before(limits, segments, (active_bytes, i64::MAX), now_us)
    }

    fn count_before(limits: Limits, segments: &[(u64, i64)], active: (u64, i64), now_us: i64) -> usize {
        let candidate = |(bytes, last_at_us): (u64, i64)| Candidate { bytes, last_at_us };
        limits.sealed_to_delete(segments.iter().copied().map(candidate), candidate(active), now_us)
    }

    #[test]
    fn the_oldest_go_until_the_bytes_fit() {
        let limits = Limits { bytes: 100, age_us: 0 };
        let segments = [(50, 1), (50, 2), (50, 3)];
        assert_eq!(count(limits, &segments, 0, i64::MAX), 1);
        assert_eq!(count(limits, &segments, 1, i64::MAX), 2);
        assert_eq!(count(limits, &segments, 500, i64::MAX), 3, "the active one stays whatever its size");
    }

    #[test]
    fn what_is_older_than_the_age_goes_and_a_clock_set_back_deletes_nothing() {
        let limits = Limits::new(0, 1);
        let segments = [(1, 1000), (1, 2000), (1, 9000)];
        assert_eq!(count(limits, &segments, 0, 3001), 2);
        assert_eq!(count(limits, &segments, 0, 3000), 1);
        assert_eq!(count(limits, &segments, 0, -5000), 0);
        assert!(limits.rolls(0, 126) && !limits.rolls(0, 125) && !limits.rolls(0, -1));
    }

    #[test]
    fn a_time_to_come_keeps_nothing_longer_than_what_is_behind_it() {
        let limits = Limits::new(0, 1);
        // The clock was ahead for the second one, and was then set right.
        let segments = [(1, 1000), (1, 900_000), (1, 2000), (1, 9000)];
        assert_eq!(count(limits, &segments, 0, 2500), 1);
        assert_eq!(count(limits, &segments, 0, 3001), 3, "as old as the one behind it");
        let ahead = [(1, 900_000), (1, 800_000)];
        assert_eq!(count_before(limits, &ahead, (1, 2000), 3000), 0);
        assert_eq!(count_before(limits, &ahead, (1, 2000), 3001), 2, "as old as the active one's first");
        assert_eq!(count_before(limits, &ahead, (1, 700_000), 3001), 0, "nobody knows how old any of them is");
        assert!(limits.rolls(900_000, 3000), "the active one is not left waiting for its time");
    }

    #[test]
    fn no_limits_keep_everything() {
        assert_eq!(count(Limits::new(0, 0), &[(u64::MAX / 2, 0)], 0, i64::MAX), 0);
        assert!(!Limits::new(0, 0).rolls(0, i64::MAX));
    }
}
