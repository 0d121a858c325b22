//! The lanes between the chooser of one group and the thread of its strategy.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use lapwing_dispatch::{Answer, Desk, Question};

use super::ClientNames;
use crate::mailbox::{Bell, Inlet, Lane, lane};

/// Questions in the lane of one group; more than that are not asked. `Deferred` has no more open.
const LANE_QUESTIONS: usize = 256;

/// A question on its way to the thread, and not answered.
pub(super) struct PendingQuestion {
    pub(super) question: Question,
    /// Nobody waits for the answer after that.
    pub(super) deadline: Instant,
}

/// The group's end.
pub struct StrategyDesk {
    asks: Lane<PendingQuestion>,
    answers: Inlet<Answer>,
    timeout: Duration,
    /// While it lives, so does the group's chooser.
    _open: Arc<()>,
}

/// The thread's end.
pub(super) struct Seat {
    pub(super) group: Arc<str>,
    pub(super) names: Arc<ClientNames>,
    pub(super) asks: Inlet<PendingQuestion>,
    pub(super) answers: Lane<Answer>,
    open: Weak<()>,
}

/// Both ends, for a group on the shard with the bell `shard`.
pub(super) fn lay(group: Arc<str>, timeout: Duration, shard: Bell, thread: Bell) -> (StrategyDesk, Seat) {
    let (asks, asks_inlet) = lane(LANE_QUESTIONS, shard.clone(), thread.clone());
    let (answers, answers_inlet) = lane(LANE_QUESTIONS, thread, shard);
    let open = Arc::new(());
    let seat = Seat { group, names: Arc::default(), asks: asks_inlet, answers, open: Arc::downgrade(&open) };
    (StrategyDesk { asks, answers: answers_inlet, timeout, _open: open }, seat)
}

impl Seat {
    /// Whether the group has another chooser now, or is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.open.strong_count() == 0
    }
}

impl Desk for StrategyDesk {
    fn ask(&mut self, question: Question) -> bool {
        self.asks.flush();
        if self.asks.pending() > 0 {
            return false;
        }
        self.asks.send(PendingQuestion { question, deadline: Instant::now() + self.timeout });
        self.asks.flush();
        true
    }

    fn answer(&mut self) -> Option<Answer> {
        self.answers.take()
    }

    fn has_answers(&self) -> bool {
        !self.answers.is_empty()
    }
}
