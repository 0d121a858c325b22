//! Where the lanes of a process and their coordinator meet: the start, the stop, and figures for progress.
//!
//! Each lane writes only its own figures; the coordinator adds them up. Nothing here is on a message's path but
//! a few relaxed stores per turn of a lane.

use crate::error::SwarmError;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Clients of this process.
    pub clients: u64,
    /// Of these, connected and subscribed.
    pub ready: u64,
    /// Messages sent.
    pub sent: u64,
    /// Arrivals these should bring about, in this and other processes.
    pub expected: u64,
    /// Different messages that arrived here.
    pub delivered: u64,
    /// Sent messages that the broker has to answer.
    pub owed: u64,
    /// Messages the broker has answered.
    pub answered: u64,
    /// Messages that are due and wait for room.
    pub waiting: u64,
    /// Sleepers that are awake.
    pub awake: u64,
    /// Connections lost and the like.
    pub errors: u64,
    /// Lanes that have not sent all yet.
    pub publishing: u64,
}

/// One lane's figures, on cache lines of their own.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Figures {
    pub ready: AtomicU64,
    pub sent: AtomicU64,
    pub expected: AtomicU64,
    pub delivered: AtomicU64,
    /// Copies that came, or were overtaken by something sent later.
    pub passed: AtomicU64,
    pub owed: AtomicU64,
    pub answered: AtomicU64,
    pub waiting: AtomicU64,
    pub awake: AtomicU64,
    pub errors: AtomicU64,
    pub publishing: AtomicBool,
}

#[derive(Debug)]
pub(crate) struct Board {
    clients: u64,
    lanes: Box<[Figures]>,
    /// When to begin, on the monotonic clock; 0 while it is not decided.
    start_ns: AtomicU64,
    /// Send no more.
    cancelled: AtomicBool,
    /// Wake nobody any more.
    resting: AtomicBool,
    /// End.
    stopped: AtomicBool,
    failure: Mutex<Option<SwarmError>>,
}

impl Board {
    pub fn new(lanes: u32, clients: u64) -> Self {
        let figures = || Figures {
            ready: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            expected: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            passed: AtomicU64::new(0),
            owed: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            awake: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            publishing: AtomicBool::new(true),
        };
        Self {
            clients,
            lanes: (0..lanes).map(|_| figures()).collect(),
            start_ns: AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
            resting: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    pub fn figures(&self, lane: usize) -> &Figures {
        &self.lanes[lane]
    }

    pub fn progress(&self) -> Progress {
        let mut sum = Progress { clients: self.clients, ..Default::default() };
        for lane in &self.lanes {
            // Before the counts: what was published is in the counts read after it.
            sum.publishing += u64::from(lane.publishing.load(std::sync::atomic::Ordering::Acquire));
            sum.ready += lane.ready.load(Relaxed);
            sum.sent += lane.sent.load(Relaxed);
            sum.expected += lane.expected.load(Relaxed);
            sum.delivered += lane.delivered.load(Relaxed);
            sum.owed += lane.owed.load(Relaxed);
            sum.answered += lane.answered.load(Relaxed);
            sum.waiting += lane.waiting.load(Relaxed);
            sum.awake += lane.awake.load(Relaxed);
            sum.errors += lane.errors.load(Relaxed);
        }
        sum
    }

    /// Copies that all lanes expect of what was sent, and of these those that came or were overtaken.
    pub fn copies(&self) -> (u64, u64) {
        let sum = |of: fn(&Figures) -> &AtomicU64| self.lanes.iter().map(|lane| of(lane).load(Relaxed)).sum();
        (sum(|lane| &lane.expected), sum(|lane| &lane.passed))
    }

    pub fn start_at(&self, start_ns: u64) {
        self.start_ns.store(start_ns.max(1), Relaxed);
    }

    /// When to begin; `None` while it is not decided.
    pub fn start_ns(&self) -> Option<u64> {
        Some(self.start_ns.load(Relaxed)).filter(|at| *at > 0)
    }

    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed) || self.is_stopped()
    }

    pub fn let_sleep(&self) {
        self.resting.store(true, Relaxed);
    }

    pub fn is_resting(&self) -> bool {
        self.resting.load(Relaxed)
    }

    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// A lane cannot go on: the first reason is kept, everybody stops.
    pub fn fail(&self, error: SwarmError) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
        drop(failure);
        self.stop();
    }

    pub fn take_failure(&self) -> Option<SwarmError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
