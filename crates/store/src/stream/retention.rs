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

    /// How many of the sealed segments go, oldest first.
    pub(crate) fn sealed_to_delete(
        &self,
        sealed: impl ExactSizeIterator<Item = Candidate> + Clone,
        active_bytes: u64,
        now_us: i64,
    ) -> usize {
        let mut bytes: u64 = active_bytes + sealed.clone().map(|segment| segment.bytes).sum::<u64>();
        let mut count = 0;
        for segment in sealed {
            let too_many = self.bytes > 0 && bytes > self.bytes;
            if !too_many && !self.is_old(segment.last_at_us, now_us) {
                break;
            }
            bytes -= segment.bytes;
            count += 1;
        }
        count
    }

    /// Whether the active segment is to be sealed so that it can be deleted in time. Without this a quiet stream would
    /// keep its first message until the segment is full. An eighth of the age is how much longer a message may stay.
    pub(crate) fn rolls(&self, first_at_us: i64, now_us: i64) -> bool {
        self.age_us > 0 && now_us.saturating_sub(first_at_us) > self.age_us / 8
    }

    fn is_old(&self, last_at_us: i64, now_us: i64) -> bool {
        self.age_us > 0 && now_us.saturating_sub(last_at_us) > self.age_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(limits: Limits, segments: &[(u64, i64)], active_bytes: u64, now_us: i64) -> usize {
        let sealed = segments.iter().map(|(bytes, last_at_us)| Candidate { bytes: *bytes, last_at_us: *last_at_us });
        limits.sealed_to_delete(sealed, active_bytes, now_us)
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
    fn no_limits_keep_everything() {
        assert_eq!(count(Limits::new(0, 0), &[(u64::MAX / 2, 0)], 0, i64::MAX), 0);
        assert!(!Limits::new(0, 0).rolls(0, i64::MAX));
    }
}
