//! The life of a node: the phase it is in, who has drained, and why it failed.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::NodeError;

/// Where a node is in its life. Only moves forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Accepts and serves.
    Running = 0,
    /// Accepts no more, lets clients go in order.
    Draining = 1,
    /// Threads end.
    Stopping = 2,
}

/// Why a node stopped by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// As [`NodeError::code`].
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

/// One per node.
pub(crate) struct Life {
    phase: AtomicU8,
    /// Per shard: everything is flushed and settled, nothing is left to drain. Written by that shard.
    drained: Vec<AtomicBool>,
    /// Written by the first thread that fails.
    failure: Mutex<Option<Failure>>,
}

impl Life {
    pub(crate) fn new(shards: usize) -> Self {
        Life {
            phase: AtomicU8::new(Phase::Running as u8),
            drained: (0..shards).map(|_| AtomicBool::new(false)).collect(),
            failure: Mutex::new(None),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Running,
            1 => Phase::Draining,
            _ => Phase::Stopping,
        }
    }

    /// Moves on to `phase`, never back.
    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
    }

    pub(crate) fn set_drained(&self, shard: usize, drained: bool) {
        self.drained[shard].store(drained, Ordering::Release);
    }

    pub(crate) fn is_drained(&self) -> bool {
        self.drained.iter().all(|shard| shard.load(Ordering::Acquire))
    }

    /// Notes why the node fails; the first reason counts.
    pub(crate) fn fail(&self, error: &NodeError) {
        let failure = Failure { code: error.code(), message: error.to_string(), remedy: error.remedy() };
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a node only move forward, and is it drained when each of its shards is?
    #[test]
    fn life_moves_forward() {
        let life = Life::new(2);
        life.enter(Phase::Stopping);
        life.enter(Phase::Draining);
        assert_eq!(life.phase(), Phase::Stopping);
        life.set_drained(0, true);
        assert!(!life.is_drained());
        life.set_drained(1, true);
        assert!(life.is_drained());
    }
}
