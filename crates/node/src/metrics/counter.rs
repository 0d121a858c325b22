//! A number written by one thread and read by any: no locked instruction, one plain store.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows. Only the owning thread calls [`Counter::add`].
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, n: u64) {
        // One writer: load and store need not be one atomic step.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that goes up and down. Only the owning thread changes it.
#[derive(Debug, Default)]
pub(crate) struct Gauge(AtomicU64);

impl Gauge {
    pub(crate) fn set(&self, n: u64) {
        self.0.store(n, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, n: u64) {
        self.set(self.get().wrapping_add(n));
    }

    pub(crate) fn sub(&self, n: u64) {
        self.set(self.get().wrapping_sub(n));
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
