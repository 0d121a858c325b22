//! How much waits for one thread, counted and bounded over all shards.

use std::sync::atomic::{AtomicU64, Ordering};

/// Work that waits for one thread. Shards add, before they hand over; the thread takes off what it has done with, so that
/// a thread that hangs is never handed more than this.
#[derive(Debug)]
pub(crate) struct Backlog {
    calls: AtomicU64,
    bytes: AtomicU64,
    calls_max: u64,
    bytes_max: u64,
}

impl Backlog {
    pub(crate) fn new(calls_max: u64, bytes_max: u64) -> Self {
        Backlog { calls: AtomicU64::new(0), bytes: AtomicU64::new(0), calls_max, bytes_max }
    }

    /// Takes `calls` with their `bytes` up, if there is room; whatever its size, something fits when nothing waits.
    pub(crate) fn admit(&self, calls: u64, bytes: u64) -> bool {
        let before = self.calls.fetch_add(calls, Ordering::Relaxed);
        let bytes_before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before == 0 || (before + calls <= self.calls_max && bytes_before + bytes <= self.bytes_max) {
            return true;
        }
        self.release(calls, bytes);
        false
    }

    /// Whether half of the calls are there that may be: what strangers ask for is not taken up any more.
    pub(crate) fn is_half_full(&self) -> bool {
        self.calls() * 2 >= self.calls_max
    }

    /// Takes them off again.
    pub(crate) fn release(&self, calls: u64, bytes: u64) {
        self.calls.fetch_sub(calls, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Calls that wait now.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Do both bounds hold, and does one large thing still pass when nothing else waits?
    #[test]
    fn both_bounds_hold() {
        let backlog = Backlog::new(3, 100);
        assert!(backlog.admit(1, 1000));
        assert!(!backlog.admit(1, 1));
        backlog.release(1, 1000);
        assert!(backlog.admit(2, 50) && backlog.admit(1, 50));
        assert!(!backlog.admit(1, 0));
        assert_eq!(backlog.calls(), 3);
        backlog.release(2, 50);
        assert!(!backlog.is_half_full(), "one of three");
        assert!(!backlog.admit(1, 51) && backlog.admit(1, 50));
        assert!(backlog.is_half_full(), "two of three");
    }
}
