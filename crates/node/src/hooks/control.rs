//! What the hook thread and the node share: when to end, and what was counted.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Backlog, HookName};
use crate::mailbox::Bell;
use crate::metrics::Metric;

/// Calls in a batch before it is known how long one takes.
const BATCH_CALLS_FIRST: usize = 64;

/// Counters of the hook thread, and the switch that ends it.
pub(crate) struct HookControl {
    bell: Bell,
    stop: AtomicBool,
    asking: Arc<Backlog>,
    telling: Arc<Backlog>,
    /// By hook: calls made.
    calls: [AtomicU64; HookName::COUNT],
    /// By hook: calls that raised, panicked, or answered what cannot be.
    failed: [AtomicU64; HookName::COUNT],
    /// Calls that the hooks have done with well before the time limit, as far as is known.
    batch_calls: AtomicUsize,
    batches: AtomicU64,
    busy_us: AtomicU64,
    /// The first failure of a whole batch that nobody was told of.
    failure: Mutex<Option<String>>,
}

impl HookControl {
    pub(crate) fn new(bell: Bell, asking: Arc<Backlog>, telling: Arc<Backlog>) -> Self {
        HookControl {
            bell,
            stop: AtomicBool::new(false),
            asking,
            telling,
            calls: Default::default(),
            failed: Default::default(),
            batch_calls: AtomicUsize::new(BATCH_CALLS_FIRST),
            batches: AtomicU64::new(0),
            busy_us: AtomicU64::new(0),
            failure: Mutex::new(None),
        }
    }

    /// Asks the thread to end once the lanes are empty; called after the shards have ended.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.bell.ring();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// A question with `calls` was answered or given up.
    pub(crate) fn done(&self, calls: usize, bytes: u64) {
        self.asking.release(calls as u64, bytes);
    }

    /// An observation was told or given up.
    pub(crate) fn told(&self, bytes: u64) {
        self.telling.release(1, bytes);
    }

    /// Calls in a batch: as many as the hooks have done with well before the time limit.
    pub(crate) fn batch_calls(&self) -> usize {
        self.batch_calls.load(Ordering::Relaxed)
    }

    /// Called by the hook thread alone.
    pub(crate) fn set_batch_calls(&self, calls: usize) {
        self.batch_calls.store(calls, Ordering::Relaxed);
    }

    pub(crate) fn count_batch(&self, took_us: u64) {
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.busy_us.fetch_add(took_us, Ordering::Relaxed);
    }

    pub(crate) fn count_call(&self, hook: HookName) {
        self.calls[hook as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_failed(&self, hook: HookName) {
        self.failed[hook as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Notes why a batch failed, for the operator; the first reason counts until it was told.
    pub(crate) fn note(&self, what: String) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
    }

    /// What the operator should hear.
    pub(crate) fn take_notice(&self) -> Option<String> {
        let what = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(format!("hooks failed and [hooks] on_failure decided in their place: {what}"))
    }

    /// The thread's own numbers.
    pub(crate) fn collect(&self) -> Vec<Metric> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let waiting = "Calls that wait for the hook thread, by kind.";
        let mut metrics = vec![
            Metric::gauge("lapwing_hook_waiting", waiting, self.asking.calls()).with("kind", "decisions"),
            Metric::gauge("lapwing_hook_waiting", waiting, self.telling.calls()).with("kind", "observations"),
            Metric::counter("lapwing_hook_batches_total", "Batches of hook calls.", get(&self.batches)),
            Metric::counter("lapwing_hook_busy_microseconds_total", "Time spent in hooks.", get(&self.busy_us)),
        ];
        metrics.extend(HookName::ALL.into_iter().map(|hook| {
            let calls = get(&self.calls[hook as usize]);
            Metric::counter("lapwing_hook_calls_total", "Calls of a hook.", calls).with("hook", hook.as_str())
        }));
        metrics
    }

    /// By hook, how many calls failed.
    pub(crate) fn failed(&self, hook: HookName) -> u64 {
        self.failed[hook as usize].load(Ordering::Relaxed)
    }
}
