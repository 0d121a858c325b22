//! Messages for which the log has no room: they stay in the input of their connection, and nothing of them has happened.
//!
//! A connection that has brought such a message is not read on anyway. But there may be a hundred thousand of them with one
//! message each, and those that give up and come back bring theirs again: on a disk that is full not one is taken, and where so
//! much waits already that all of these would be a flood, neither. Who waits is not sent away: it would come back with the same.

use lapwing_codec::{Publish, QoS};

use crate::shard::Shard;
use crate::shard::connections::connection::Pause;
use crate::shard::publish::route::Target;
use crate::shard::subscribe::SubscribeRoom;

impl Shard {
    /// Whether the log has no room for a message, should it be one to keep.
    #[inline]
    pub(in crate::shard) fn needs_log(&self, publish: &Publish<'_>) -> bool {
        let Some(log) = &self.durable.log else { return false };
        // On a full disk what is not acknowledged is dropped by its streams, and waits for nothing.
        log.is_overfull() || (publish.qos != QoS::AtMostOnce && log.takes_nothing())
    }

    /// Whether a message that [`needs_log`](Self::needs_log), with its `topic`, must wait for room there; then its connection is
    /// not read on.
    pub(in crate::shard) fn must_wait_for_log(&mut self, index: usize, publish: &Publish<'_>, topic: &str) -> bool {
        let in_memory = self.is_in_memory(&Publish { topic, ..*publish });
        let is_retained = publish.retain && self.clients.keeping.is_some() && !in_memory;
        // Of what is not acknowledged only streams and the retained table keep anything.
        let in_streams_only = in_memory || publish.qos == QoS::AtMostOnce;
        if !is_retained && !self.would_keep(topic, in_streams_only) {
            return false;
        }
        self.pause(index, Pause::Log);
        true
    }

    /// Whether a message on `topic` would go to the log of this shard or of another one; `in_streams_only`: of all that wants
    /// it, streams alone have it there.
    fn would_keep(&mut self, topic: &str, in_streams_only: bool) -> bool {
        let Shard { subscriptions: SubscribeRoom { tree, .. }, clients, .. } = self;
        let mut would_keep = false;
        tree.matches(topic, |entries| {
            would_keep |= match entries[0].subscriber {
                Target::Stream(_) => true,
                _ if in_streams_only => false,
                Target::Session(key) => clients.kept(key).is_some(),
                Target::Keeper(_) => true,
                // Those that are kept are announced as keepers, but for those of this shard.
                Target::Groups(_) => clients.keeping.is_some(),
                Target::Shard(_) => false,
            };
        });
        would_keep
    }
}
