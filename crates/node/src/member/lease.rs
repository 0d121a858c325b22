//! Until when this node may serve: written by the raft thread, looked at by every shard before it answers anybody.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A time on the monotonic clock. It only lets a node serve that a majority has confirmed not long ago.
#[derive(Debug)]
pub(crate) struct Lease {
    origin: Instant,
    until_ms: AtomicU64,
}

impl Lease {
    /// Of a node that does not serve.
    pub(crate) fn new() -> Lease {
        // From 1 on: 0 is never in the future.
        Lease { origin: Instant::now(), until_ms: AtomicU64::new(0) }
    }

    /// Milliseconds on the clock that leases are counted on.
    pub(crate) fn now_ms(&self) -> u64 {
        self.origin.elapsed().as_millis() as u64 + 1
    }

    /// It may serve until then.
    pub(crate) fn set(&self, until_ms: u64) {
        self.until_ms.store(until_ms, Ordering::Release);
    }

    /// Whether nobody may be answered now.
    pub(crate) fn is_over(&self) -> bool {
        self.now_ms() >= self.until_ms.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does it hold until its time, and not at all before it was given?
    #[test]
    fn it_holds_until_its_time() {
        let lease = Lease::new();
        assert!(lease.is_over());
        lease.set(u64::MAX);
        assert!(!lease.is_over());
        lease.set(lease.now_ms());
        assert!(lease.is_over());
    }
}
