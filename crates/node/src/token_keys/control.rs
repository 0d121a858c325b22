//! What others ask of the thread that fetches keys, and what it counts.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::assemble::Unpark;
use crate::mailbox::Wake;
use crate::metrics::Metric;

/// Shared by the handle, the threads that check tokens, and the one that fetches.
#[derive(Default)]
pub(crate) struct KeyControl {
    pub(super) unpark: Unpark,
    stop: AtomicBool,
    wanted: AtomicBool,
    pub(super) fetches: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) fetched_keys: AtomicU64,
    pub(super) age_ms: AtomicU64,
}

impl KeyControl {
    /// A token names a key that is not known.
    pub(crate) fn want(&self) {
        if !self.wanted.swap(true, Ordering::AcqRel) {
            self.unpark.wake();
        }
    }

    /// Whether one did since this was asked last.
    pub(super) fn take_wanted(&self) -> bool {
        self.wanted.swap(false, Ordering::AcqRel)
    }

    /// Settings may be others.
    pub(crate) fn look(&self) {
        self.unpark.wake();
    }

    /// Asks the thread to end; a request that is under way is not waited for.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.unpark.wake();
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    pub(crate) fn collect(&self) -> Vec<Metric> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            Metric::counter(
                "lapwing_jwks_fetches_total",
                "Times that keys of tokens were asked for.",
                get(&self.fetches),
            ),
            Metric::counter(
                "lapwing_jwks_failures_total",
                "Of them, those that brought no set of keys; the keys there were stayed.",
                get(&self.failures),
            ),
            Metric::gauge("lapwing_jwks_keys", "Keys that were fetched and are in use.", get(&self.fetched_keys)),
            Metric::gauge(
                "lapwing_jwks_age_seconds",
                "Time since keys were fetched last; beyond auth.jwt.jwks_stale_max they are given up.",
                get(&self.age_ms) / 1000,
            ),
        ]
    }
}
