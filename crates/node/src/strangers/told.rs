//! One line a minute of each kind, however often it happens.

/// Between two lines of one kind.
const EVERY_MS: u64 = 60_000;

/// One kind of line.
#[derive(Debug, Default)]
pub(super) struct Told {
    next_at_ms: u64,
    /// Since the last line.
    times: u64,
}

impl Told {
    /// It has happened once more; how often since the last line, if one is due.
    pub(super) fn happened(&mut self, now_ms: u64) -> Option<u64> {
        self.times += 1;
        if now_ms < self.next_at_ms {
            return None;
        }
        self.next_at_ms = now_ms + EVERY_MS;
        Some(std::mem::take(&mut self.times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is the first time told at once, and what follows once a minute, with how often it was?
    #[test]
    fn a_minute_has_one_line() {
        let mut told = Told::default();
        assert_eq!(told.happened(5), Some(1));
        assert!((0..1000).all(|n| told.happened(5 + n).is_none()));
        assert_eq!(told.happened(5 + EVERY_MS), Some(1001));
        assert_eq!(told.happened(6 + EVERY_MS), None);
    }
}
