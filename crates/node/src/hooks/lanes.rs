//! The lanes between the shards and the hook thread.

use std::sync::Arc;
use std::time::Instant;

use super::feed::FeedParts;
use super::thread::ThreadParts;
use super::verdict::Verdict;
use super::{Backlog, HookCall, HookControl, HookFeed, HookThread, Hooks};
use crate::assemble::Unpark;
use crate::config::HooksConfig;
use crate::mailbox::{Bell, lane};

/// Calls of one connection that wait for their answers together.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) ticket: u64,
    /// Nobody waits for the answer after that.
    pub(crate) deadline: Instant,
    pub(crate) calls: Vec<HookCall>,
    pub(crate) bytes: u64,
}

/// One verdict per call.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) ticket: u64,
    pub(crate) verdicts: Vec<Verdict>,
}

/// Something that has happened.
#[derive(Debug)]
pub(crate) struct Observation {
    pub(crate) call: HookCall,
    pub(crate) bytes: u64,
}

/// Batches in one lane; a shard sends at most one per turn, and what they hold is bounded by the [`Backlog`].
const LANE_BATCHES: usize = 256;

/// For each shard its feed; the thread that calls the hooks; and what ends it.
pub(crate) fn lay_hooks(
    hooks: Box<dyn Hooks>,
    config: &HooksConfig,
    limits: lapwing_codec::Limits,
    shards: &[Bell],
) -> (Vec<HookFeed>, HookThread, Arc<HookControl>) {
    let interests = hooks.interests();
    let unpark = Unpark::default();
    let bell = Bell::new(unpark.clone());
    let backlog = || Arc::new(Backlog::new(u64::from(config.queue), config.queue_bytes));
    let (asking, telling) = (backlog(), backlog());
    let control = Arc::new(HookControl::new(bell.clone(), asking.clone(), telling.clone()));
    let (mut feeds, mut questions, mut observations, mut replies) = (vec![], vec![], vec![], vec![]);
    for shard in shards {
        let (ask, question_inlet) = lane(LANE_BATCHES, shard.clone(), bell.clone());
        let (tell, observation_inlet) = lane(LANE_BATCHES, shard.clone(), bell.clone());
        let (reply, reply_inlet) = lane(LANE_BATCHES, bell.clone(), shard.clone());
        let (asking, telling, control) = (asking.clone(), telling.clone(), control.clone());
        let parts = FeedParts { ask, tell, replies: reply_inlet, asking, telling, control };
        feeds.push(HookFeed::new(interests, config, parts));
        questions.push(question_inlet);
        observations.push(observation_inlet);
        replies.push(reply);
    }
    let timeout = std::time::Duration::from_millis(config.timeout_ms);
    let parts = ThreadParts { questions, observations, replies, bell, unpark, control: control.clone() };
    (feeds, HookThread::new(hooks, limits, timeout, parts), control)
}
