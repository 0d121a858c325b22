//! Retained messages whose topics hash to this shard.

use std::sync::Arc;

use lapwing_router::TopicTree;
use lapwing_session::{Message, Routed};

/// The table, with its bounds.
pub(crate) struct RetainedTable {
    topics: TopicTree<Arc<Message>>,
    bytes: u64,
    messages_max: u64,
    bytes_max: u64,
    swept_at_ms: u64,
}

/// How often a full table is searched for expired messages, at most.
const SWEEP_EVERY_MS: u64 = 1000;

impl RetainedTable {
    pub(crate) fn new(messages_max: u64, bytes_max: u64) -> Self {
        RetainedTable { topics: TopicTree::new(), bytes: 0, messages_max, bytes_max, swept_at_ms: 0 }
    }

    /// Keeps the message, or forgets its topic when the payload is empty; false when there is no room for it.
    ///
    /// Without room the message before it is forgotten too: an older value must not pose as the newest.
    pub(crate) fn set(&mut self, routed: &Routed<'_>, now_ms: u64) -> bool {
        let publish = routed.publish();
        self.remove(publish.topic);
        if publish.payload.is_empty() {
            return true;
        }
        let message = routed.keep();
        if !self.has_room(message.footprint() as u64, now_ms) {
            return false;
        }
        self.bytes += message.footprint() as u64;
        self.topics.insert(publish.topic, message.clone());
        true
    }

    fn remove(&mut self, topic: &str) {
        if let Some(before) = self.topics.remove(topic) {
            self.bytes -= before.footprint() as u64;
        }
    }

    fn has_room(&mut self, bytes: u64, now_ms: u64) -> bool {
        if self.fits(bytes) {
            return true;
        }
        if now_ms < self.swept_at_ms + SWEEP_EVERY_MS {
            return false;
        }
        self.swept_at_ms = now_ms;
        self.sweep(now_ms);
        self.fits(bytes)
    }

    fn fits(&self, bytes: u64) -> bool {
        self.messages() < self.messages_max && self.bytes + bytes <= self.bytes_max
    }

    fn sweep(&mut self, now_ms: u64) {
        let mut expired = Vec::new();
        self.topics.matching("#", |message| {
            if message.is_expired(now_ms) {
                expired.push(message.clone());
            }
        });
        for message in expired {
            self.remove(message.topic());
        }
    }

    /// The messages that `filter` matches and that have not expired.
    pub(crate) fn matching(&self, filter: &str, now_ms: u64) -> Vec<Arc<Message>> {
        let mut found = Vec::new();
        self.topics.matching(filter, |message| {
            if !message.is_expired(now_ms) {
                found.push(message.clone());
            }
        });
        found
    }

    pub(crate) fn messages(&self) -> u64 {
        self.topics.len() as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_codec::{Publish, PublishProperties, QoS};
    use lapwing_session::SessionKey;

    fn set(table: &mut RetainedTable, topic: &str, payload: &[u8], expiry_s: Option<u32>, now_ms: u64) -> bool {
        let properties = PublishProperties { message_expiry_s: expiry_s, ..Default::default() };
        let publish =
            Publish { dup: false, qos: QoS::AtMostOnce, retain: true, topic, packet_id: None, properties, payload };
        table.set(&Routed::new(publish, SessionKey(0), now_ms), now_ms)
    }

    /// Is the newest kept, an empty one a deletion, and an expired one not shown?
    #[test]
    fn the_newest_is_kept_until_it_expires() {
        let mut table = RetainedTable::new(10, 10_000);
        assert!(set(&mut table, "a/b", b"1", None, 0) && set(&mut table, "a/b", b"2", Some(5), 0));
        assert!(set(&mut table, "a/c", b"3", None, 0));
        assert_eq!(table.matching("a/+", 4_999).len(), 2);
        assert_eq!(table.matching("a/b", 2_000)[0].payload(), b"2");
        assert_eq!(table.matching("a/b", 5_000).len(), 0);
        assert!(set(&mut table, "a/c", b"", None, 0));
        assert_eq!((table.matching("#", 0).len(), table.messages()), (1, 1));
    }

    /// Is a full table a refusal, without the older value staying, and are expired ones given up first?
    #[test]
    fn a_full_table_refuses_and_forgets() {
        let mut table = RetainedTable::new(2, 10_000);
        assert!(set(&mut table, "a", b"1", Some(1), 0) && set(&mut table, "b", b"1", None, 0));
        assert!(!set(&mut table, "c", b"1", None, 500));
        assert!(set(&mut table, "c", b"1", None, 2_000));
        assert_eq!((table.messages(), table.matching("#", 2_000).len()), (2, 2));
        assert!(!set(&mut table, "b", &[0; 20_000], None, 4_000));
        assert_eq!(table.matching("b", 4_000).len(), 0);
    }
}
