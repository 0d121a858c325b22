//! Where a fleet's owner and one of its lanes meet: tasks in, figures out, start and end.

use super::gate::Gate;
use super::report::FleetCounts;
use super::task::{Action, Task};
use mio::Waker;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What all lanes share.
#[derive(Debug)]
pub(super) struct Shared {
    pub gate: Gate,
    /// Zero of the schedule on the monotonic clock; 0 while it is not decided.
    pub start_ns: AtomicU64,
    pub finishing: AtomicBool,
    pub stopped: AtomicBool,
}

/// One lane's side.
#[derive(Debug)]
pub(super) struct Post {
    shared: Arc<Shared>,
    waker: Waker,
    inbox: Mutex<Vec<Task>>,
    shown: Mutex<(FleetCounts, bool)>,
}

impl Post {
    pub fn new(shared: Arc<Shared>, waker: Waker) -> Self {
        // Until the lane has looked, there is hope.
        Self { shared, waker, inbox: Mutex::default(), shown: Mutex::new((FleetCounts::default(), true)) }
    }

    pub fn put(&self, tasks: Vec<Task>) -> std::io::Result<()> {
        lock(&self.inbox).extend(tasks);
        self.wake()
    }

    pub fn wake(&self) -> std::io::Result<()> {
        self.waker.wake()
    }

    pub fn take(&self) -> Vec<Task> {
        std::mem::take(&mut *lock(&self.inbox))
    }

    /// Messages the lane has not taken.
    pub fn left(&self) -> u64 {
        lock(&self.inbox).iter().filter(|task| matches!(task.action, Action::Publish { .. })).count() as u64
    }

    pub fn gate(&self) -> &Gate {
        &self.shared.gate
    }

    pub fn start_ns(&self) -> Option<u64> {
        Some(self.shared.start_ns.load(Relaxed)).filter(|at| *at > 0)
    }

    pub fn is_finishing(&self) -> bool {
        self.shared.finishing.load(Relaxed)
    }

    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Relaxed)
    }

    /// `hope`: something will still happen without new tasks.
    pub fn show(&self, counts: &FleetCounts, hope: bool) {
        *lock(&self.shown) = (*counts, hope);
    }

    pub fn shown(&self) -> (FleetCounts, bool) {
        *lock(&self.shown)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Plain data, whole after every statement: a panic elsewhere leaves it good.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
