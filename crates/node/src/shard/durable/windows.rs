//! How much of what waits for kept sessions may be in memory: a share of the node's bound for each shard.

/// A page is never asked to be larger: a client at line rate takes it in a few milliseconds.
const PAGE_BYTES_MAX: u64 = 256 << 10;
/// Nor smaller: whatever others hold, everybody gets on.
const PAGE_BYTES_MIN: u64 = 4 << 10;
/// A page takes this part of what is left at most, so that pages become smaller before there is no room.
const PART: u64 = 8;

/// A shard's share of `limits.queue_memory_bytes`.
#[derive(Debug)]
pub(crate) struct Windows {
    bytes_max: u64,
    /// Bytes of pages that are being read.
    asked: u64,
}

impl Windows {
    pub(crate) const fn new(bytes_max: u64) -> Self {
        Windows { bytes_max, asked: 0 }
    }

    /// What one session may have at hand, with so many bytes taken in all.
    pub(crate) fn share(&self, taken: u64) -> u64 {
        let left = self.bytes_max.saturating_sub(taken.saturating_add(self.asked));
        (left / PART).clamp(PAGE_BYTES_MIN, PAGE_BYTES_MAX)
    }

    /// A page of so many bytes is being read.
    pub(crate) fn asked(&mut self, bytes: u64) {
        self.asked += bytes;
    }

    /// It has come.
    pub(crate) fn answered(&mut self, bytes: u64) {
        self.asked = self.asked.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Do pages become smaller as the room goes, and is it never given out twice but for the smallest ones?
    #[test]
    fn shares_follow_what_is_left() {
        let mut windows = Windows::new(1 << 20);
        let mut pages = vec![];
        for _ in 0..64 {
            let share = windows.share(0);
            windows.asked(share);
            pages.push(share);
        }
        assert_eq!((pages[0], pages[63]), (128 << 10, PAGE_BYTES_MIN));
        assert!(pages.is_sorted_by(|a, b| a >= b));
        let within: u64 = pages.iter().filter(|page| **page > PAGE_BYTES_MIN).sum();
        assert!(within <= 1 << 20, "{within}");
        pages.iter().for_each(|page| windows.answered(*page));
        assert_eq!((windows.share(0), windows.share(u64::MAX)), (128 << 10, PAGE_BYTES_MIN));
        assert_eq!(Windows::new(1 << 30).share(0), PAGE_BYTES_MAX);
    }
}
