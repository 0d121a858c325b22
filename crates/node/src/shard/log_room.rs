//! Messages for which the log has no room: they stay in the input of their connection, and nothing of them has happened.
//!
//! A connection that has brought such a message is not read on anyway. But there may be a hundred thousand of them with one
//! message each, and those that give up and come back bring theirs again: on a disk that is full not one is taken.

use lapwing_codec::{Packet, Publish, QoS};

use super::Shard;
use super::connection::Hold;
use super::route::Target;
use super::serve::Client;

impl Shard {
    /// Whether a packet must wait for room in the log; then its connection is not read on.
    pub(super) fn must_wait_for_log(&mut self, index: usize, client: &Client, packet: &Packet<'_>) -> bool {
        let Packet::Publish(publish) = packet else { return false };
        let is_closed = self.log.as_ref().is_some_and(|log| log.takes_nothing());
        if !is_closed || publish.qos == QoS::AtMostOnce {
            return false;
        }
        let alias = publish.properties.topic_alias;
        let of_alias = match (publish.topic, alias) {
            ("", Some(alias)) => {
                let session = self.clients.entry(client.session).map(|entry| &entry.session);
                session.and_then(|session| session.topic_of(alias)).map(Box::<str>::from)
            }
            _ => None,
        };
        // An unknown alias is for the session to find.
        let topic = of_alias.as_deref().unwrap_or(publish.topic);
        let in_memory = self.is_in_memory(&Publish { topic, ..*publish });
        let is_retained = publish.retain && self.clients.keeping.is_some() && !in_memory;
        if !is_retained && !self.would_keep(topic, in_memory) {
            return false;
        }
        self.hold(index, Hold::Log);
        true
    }

    /// Whether a message on `topic` would go to the log of this shard or of another one; `in_memory`: of all that keeps it, a
    /// stream alone has it there.
    fn would_keep(&mut self, topic: &str, in_memory: bool) -> bool {
        let Shard { tree, clients, .. } = self;
        let mut would_keep = false;
        tree.matches(topic, |entries| {
            would_keep |= match entries[0].subscriber {
                Target::Stream(_) => true,
                _ if in_memory => false,
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
