//! Retained messages for new subscriptions: asked of the shards that own them, sent in small steps.

use std::collections::VecDeque;
use std::sync::Arc;

use lapwing_session::{Grant, Message, Routed, SessionKey};

use super::Shard;
use super::clients::shard_of;
use super::post::Post;
use crate::mail::{Control, Direct};
use crate::slot::ShardId;

/// Messages that one replay may send in one turn.
const STEP: usize = 256;

/// One replay under way. It shares the retained messages; a new value that comes meanwhile is sent as a live one.
struct Replay {
    to: SessionKey,
    grant: Grant,
    messages: VecDeque<Arc<Message>>,
}

/// All replays of a shard, served in turn.
#[derive(Default)]
pub(crate) struct Replays {
    list: VecDeque<Replay>,
    /// The last round moved nothing, because every receiver's buffer is full.
    stuck: bool,
}

impl Replays {
    /// True when a turn would get something done.
    pub(crate) fn can_move(&self, post: &Post) -> bool {
        !self.list.is_empty() && !self.stuck && post.has_all_direct_credit()
    }

    fn add(&mut self, to: SessionKey, grant: Grant, messages: VecDeque<Arc<Message>>) {
        if !messages.is_empty() {
            self.stuck = false;
            self.list.push_back(Replay { to, grant, messages });
        }
    }
}

impl Shard {
    /// Asks for what is retained under `filter`: its one owner, or every shard when it has wildcards.
    pub(super) fn ask_replay(&mut self, filter: &str, to: SessionKey, grant: Grant) {
        let owners: Vec<ShardId> = match filter.contains(['+', '#']) {
            true => (0..self.post.shards()).map(|shard| ShardId(shard as u8)).collect(),
            false => vec![self.owner_of_topic(filter)],
        };
        for owner in owners {
            if owner == self.id {
                self.start_replay(filter, to, grant);
            } else {
                self.post.control(owner, Control::Replay { filter: filter.into(), to, grant });
            }
        }
    }

    /// Begins to send what is retained here under `filter` to a session on any shard.
    pub(super) fn start_replay(&mut self, filter: &str, to: SessionKey, grant: Grant) {
        let messages = self.retained.matching(filter, self.now_ms).into();
        self.replays.add(to, grant, messages);
    }

    /// One step of every replay.
    pub(super) fn run_replays(&mut self) {
        let mut moved = false;
        for _ in 0..self.replays.list.len() {
            let Some(mut replay) = self.replays.list.pop_front() else { break };
            let before = replay.messages.len();
            let goes_on = match shard_of(replay.to) {
                shard if shard == self.id => self.replay_here(&mut replay),
                shard => self.replay_there(&mut replay, shard),
            };
            moved |= replay.messages.len() < before;
            if goes_on && !replay.messages.is_empty() {
                self.replays.list.push_back(replay);
            }
        }
        self.replays.stuck = !moved;
    }

    /// Sends to a session of this shard, as long as its output buffer has room; false when it is gone.
    fn replay_here(&mut self, replay: &mut Replay) -> bool {
        let high = self.shared.config.limits.output_high_bytes as usize;
        for _ in 0..STEP {
            let Some(entry) = self.clients.entry(replay.to) else { return false };
            let Some(index) = entry.connection else { return false };
            let full = self.clients.connection(index).is_some_and(|c| c.output_bytes() > high / 2);
            if full {
                return true;
            }
            let Some(message) = replay.messages.pop_front() else { return true };
            self.counters.deliveries.add(1);
            let routed = Routed::retained(&message);
            self.clients.deliver(replay.to, &routed, std::iter::once(&replay.grant), self.now_ms);
        }
        true
    }

    /// Sends to a session of another shard, as long as its lane has room.
    fn replay_there(&mut self, replay: &mut Replay, shard: ShardId) -> bool {
        for _ in 0..STEP {
            if !self.post.has_direct_credit(shard) {
                return true;
            }
            let Some(message) = replay.messages.pop_front() else { return true };
            let expires_at_ms = message.expires_at_ms();
            let direct = Direct { to: replay.to, grant: replay.grant, retained: true, expires_at_ms };
            self.post.direct(shard, direct, &message.publish());
        }
        true
    }

    /// A retained message from another shard: behind what is being replayed to this session already, if anything is.
    pub(super) fn replay_one(&mut self, to: SessionKey, grant: Grant, message: Arc<Message>) {
        match self.replays.list.iter_mut().find(|replay| replay.to == to && replay.grant == grant) {
            Some(replay) => replay.messages.push_back(message),
            None => self.replays.add(to, grant, VecDeque::from([message])),
        }
    }
}
