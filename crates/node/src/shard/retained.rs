//! Retained messages whose topics hash to this shard.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::Arc;

use lapwing_access::is_reserved;
use lapwing_router::{Cursor, TopicTree};
use lapwing_session::{Message, Routed};

use crate::mail::PageRequest;
use crate::slot::stable_hash;
use crate::sys::OURSELVES;

/// The newest message of one topic.
struct Kept {
    message: Arc<Message>,
    /// The hash of the publisher's client id, for No Local.
    publisher: u64,
    /// It is nowhere else.
    in_memory: bool,
}

/// What became of a message that was to be retained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retained {
    /// It is its topic's message now.
    Kept,
    /// The same, and nobody keeps it beyond the node's life: its topic is the node's own, or a rule says so.
    InMemory,
    /// Its topic has no message any more, as it asked.
    Cleared,
    /// There is no room for it, and its topic has no message any more.
    Refused,
}

/// The table, with its bounds.
pub(crate) struct RetainedTable {
    topics: TopicTree<Kept>,
    /// Topics of the `$SYS` tree; they and their bytes are beside the bounds, or the broker's own numbers would be the
    /// first to be missing when it is full.
    sys: u64,
    bytes: u64,
    messages_max: u64,
    bytes_max: u64,
    /// When messages expire, the first one on top. A topic that got another value leaves its entry behind; it is told by
    /// its time.
    expiries: BinaryHeap<Reverse<(u64, Box<str>)>>,
    /// Topics that have lost the message that is on disk and not got another one there, since somebody asked.
    cleared: Vec<Box<str>>,
}

/// Messages, each with the place behind it, and where to go on.
type Found = (Vec<(Arc<Message>, Cursor)>, Option<Cursor>);

/// Expired messages that are given up with each one that comes, so that none lies for long where there is traffic.
const EXPIRED_PER_SET: usize = 4;
/// Entries of `expiries` that may be stale, beside as many as there are messages.
const EXPIRIES_SPARE: usize = 1024;

impl RetainedTable {
    pub(crate) fn new(messages_max: u64, bytes_max: u64) -> Self {
        RetainedTable {
            topics: TopicTree::new(),
            sys: 0,
            bytes: 0,
            messages_max,
            bytes_max,
            expiries: BinaryHeap::new(),
            cleared: Vec::new(),
        }
    }

    /// Keeps the message, or forgets its topic when the payload is empty.
    ///
    /// Without room the message before it is forgotten too: an older value must not pose as the newest.
    pub(crate) fn set(&mut self, routed: &Routed<'_>, publisher: u64, now_ms: u64) -> Retained {
        self.put(routed, publisher, false, now_ms)
    }

    /// The same for a message that is not to outlive the node: what is on disk of its topic from before has to go.
    pub(crate) fn set_in_memory(&mut self, routed: &Routed<'_>, publisher: u64, now_ms: u64) -> Retained {
        self.put(routed, publisher, true, now_ms)
    }

    fn put(&mut self, routed: &Routed<'_>, publisher: u64, in_memory: bool, now_ms: u64) -> Retained {
        let publish = routed.publish();
        (0..EXPIRED_PER_SET).take_while(|_| self.give_up_expired(now_ms)).for_each(drop);
        if publish.payload.is_empty() {
            self.remove(publish.topic);
            return Retained::Cleared;
        }
        let message = routed.keep();
        if is_reserved(publish.topic) {
            if publisher != stable_hash(OURSELVES.as_bytes()) {
                return Retained::Refused;
            }
            let kept = Kept { message: message.clone(), publisher, in_memory: true };
            let before = self.topics.insert(publish.topic, kept);
            self.sys += u64::from(before.is_none());
            return Retained::InMemory;
        }
        let bytes = message.footprint() as u64;
        if !self.has_room(publish.topic, bytes, now_ms) {
            self.remove(publish.topic);
            return Retained::Refused;
        }
        self.bytes += bytes;
        // In its place: a topic that was taken out and put in again would move behind the places of replays under way.
        let kept = Kept { message: message.clone(), publisher, in_memory };
        if let Some(before) = self.topics.insert(publish.topic, kept) {
            self.bytes -= before.message.footprint() as u64;
            if in_memory && !before.in_memory {
                self.cleared.push(publish.topic.into());
            }
        }
        self.note_expiry(message);
        if in_memory { Retained::InMemory } else { Retained::Kept }
    }

    /// Forgets a topic because its newest value cannot be kept: an older one must not pose as the newest.
    pub(crate) fn forget(&mut self, topic: &str) -> Retained {
        self.remove(topic);
        Retained::Cleared
    }

    fn remove(&mut self, topic: &str) {
        if let Some(before) = self.topics.remove(topic) {
            self.bytes -= before.message.footprint() as u64;
            if !before.in_memory {
                self.cleared.push(topic.into());
            }
        }
    }

    /// Takes the topics that have lost the message that is on disk since the last call, and have got no other one there.
    pub(crate) fn take_cleared(&mut self) -> Vec<Box<str>> {
        let mut cleared = std::mem::take(&mut self.cleared);
        cleared.retain(|topic| self.topics.get(topic).is_none_or(|kept| kept.in_memory));
        cleared
    }

    /// True when [`RetainedTable::take_cleared`] may have some.
    pub(crate) fn has_cleared(&self) -> bool {
        !self.cleared.is_empty()
    }

    /// Whether so many bytes more, or one topic more, might not fit.
    pub(crate) fn is_tight(&self, bytes: u64) -> bool {
        self.messages() >= self.messages_max || self.bytes + bytes > self.bytes_max
    }

    /// Whether a message of so many bytes may be kept for `topic`; what has expired gives way.
    pub(crate) fn has_room(&mut self, topic: &str, bytes: u64, now_ms: u64) -> bool {
        while !self.fits(topic, bytes) {
            if !self.give_up_expired(now_ms) {
                return false;
            }
        }
        true
    }

    /// Takes the entry that is due first off the heap, and its message out if it has expired; false when none is due.
    fn give_up_expired(&mut self, now_ms: u64) -> bool {
        let Some(Reverse((at_ms, _))) = self.expiries.peek() else { return false };
        if *at_ms > now_ms {
            return false;
        }
        if let Some(Reverse((_, topic))) = self.expiries.pop()
            && self.topics.get(&topic).is_some_and(|kept| kept.message.is_expired(now_ms))
        {
            self.remove(&topic);
        }
        true
    }

    fn note_expiry(&mut self, message: &Message) {
        let Some(at_ms) = message.expires_at_ms() else { return };
        self.expiries.push(Reverse((at_ms, message.topic().into())));
        if self.expiries.len() > 2 * self.topics.len() + EXPIRIES_SPARE {
            let topics = &self.topics;
            self.expiries.retain(|Reverse((at_ms, topic))| {
                topics.get(topic).is_some_and(|kept| kept.message.expires_at_ms() == Some(*at_ms))
            });
        }
    }

    /// Whether a message of so many bytes fits in the place of the one that `topic` has, if any.
    fn fits(&self, topic: &str, bytes: u64) -> bool {
        let before = self.topics.get(topic).map(|kept| kept.message.footprint() as u64);
        self.messages() - u64::from(before.is_some()) < self.messages_max
            && self.bytes - before.unwrap_or(0) + bytes <= self.bytes_max
    }

    /// The next page for a replay, each message with the place behind it, and where the page after it begins; `None`: that
    /// was all. Expired messages are left out. A page has at least one message if it has looked at one; it looks at no
    /// more than `nodes_max` nodes of the tree.
    pub(crate) fn page(&self, request: &PageRequest, nodes_max: usize, now_ms: u64) -> Found {
        let mut messages: Vec<(Arc<Message>, Cursor)> = Vec::new();
        let mut bytes = 0;
        let next = self.topics.page(&request.filter, request.after.as_ref(), nodes_max, |kept, place| {
            if kept.message.is_expired(now_ms) || request.not_from == Some(kept.publisher) {
                return ControlFlow::Continue(());
            }
            bytes += kept.message.footprint();
            messages.push((kept.message.clone(), place.cursor()));
            if bytes >= request.bytes_max || messages.len() >= request.messages_max {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        (messages, next)
    }

    pub(crate) fn messages(&self) -> u64 {
        self.topics.len() as u64 - self.sys
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

    /// Whether there was room for it.
    fn set(table: &mut RetainedTable, topic: &str, payload: &[u8], expiry_s: Option<u32>, now_ms: u64) -> bool {
        let properties = PublishProperties { message_expiry_s: expiry_s, ..Default::default() };
        let publish =
            Publish { dup: false, qos: QoS::AtMostOnce, retain: true, topic, packet_id: None, properties, payload };
        table.set(&Routed::new(publish, SessionKey(0), now_ms), PUBLISHER, now_ms) != Retained::Refused
    }

    const PUBLISHER: u64 = 7;

    fn request(filter: &str) -> PageRequest {
        let (filter, need) = (filter.into(), Box::default());
        PageRequest {
            to: SessionKey(0),
            id: 1,
            filter,
            after: None,
            messages_max: usize::MAX,
            bytes_max: usize::MAX,
            not_from: None,
            need,
        }
    }

    fn matching(table: &RetainedTable, filter: &str, now_ms: u64) -> Vec<Arc<Message>> {
        let (messages, next) = table.page(&request(filter), usize::MAX, now_ms);
        assert_eq!(next, None);
        messages.into_iter().map(|(message, _)| message).collect()
    }

    /// Is the newest kept, an empty one a deletion, and an expired one not shown?
    #[test]
    fn the_newest_is_kept_until_it_expires() {
        let mut table = RetainedTable::new(10, 10_000);
        assert!(set(&mut table, "a/b", b"1", None, 0) && set(&mut table, "a/b", b"2", Some(5), 0));
        assert!(set(&mut table, "a/c", b"3", None, 0));
        assert_eq!(matching(&table, "a/+", 4_999).len(), 2);
        assert_eq!(matching(&table, "a/b", 2_000)[0].payload(), b"2");
        assert_eq!(matching(&table, "a/b", 5_000).len(), 0);
        assert!(set(&mut table, "a/c", b"", None, 0));
        assert_eq!((matching(&table, "#", 0).len(), table.messages()), (1, 1));
    }

    /// A value in memory alone: is the one on disk forgotten there once, and nothing when the topic is cleared or comes back
    /// to the disk?
    #[test]
    fn what_is_on_disk_goes_when_memory_has_the_newest() {
        let mut table = RetainedTable::new(10, 10_000);
        let (value, none) =
            (Publish { retain: true, ..Publish::qos0("a", b"1") }, Publish { retain: true, ..Publish::qos0("a", b"") });
        let routed = |publish| Routed::new(publish, SessionKey(0), 0);
        assert_eq!(table.set(&routed(value), PUBLISHER, 0), Retained::Kept);
        assert_eq!(table.set_in_memory(&routed(value), PUBLISHER, 0), Retained::InMemory);
        assert_eq!(table.take_cleared(), ["a".into()]);
        assert_eq!(table.set_in_memory(&routed(value), PUBLISHER, 0), Retained::InMemory);
        assert_eq!(table.set_in_memory(&routed(none), PUBLISHER, 0), Retained::Cleared);
        assert!(!table.has_cleared(), "the disk has nothing of it");
        table.set_in_memory(&routed(value), PUBLISHER, 0);
        assert_eq!(table.set(&routed(value), PUBLISHER, 0), Retained::Kept);
        assert!(table.set(&routed(none), PUBLISHER, 0) == Retained::Cleared && table.has_cleared());
    }

    /// Is a full table a refusal, without the older value staying, and are expired ones given up first?
    #[test]
    fn a_full_table_refuses_and_forgets() {
        let mut table = RetainedTable::new(2, 10_000);
        assert!(set(&mut table, "a", b"1", Some(1), 0) && set(&mut table, "b", b"1", None, 0));
        assert!(!set(&mut table, "c", b"1", None, 500));
        assert!(set(&mut table, "c", b"1", None, 2_000));
        assert_eq!((table.messages(), matching(&table, "#", 2_000).len()), (2, 2));
        assert!(!set(&mut table, "b", &[0; 20_000], None, 4_000));
        assert_eq!(matching(&table, "b", 4_000).len(), 0);
    }

    /// Are expired messages given up as others come, each under its own time although its topic had others, and does the
    /// list of times stay in proportion?
    #[test]
    fn expired_messages_are_given_up_as_others_come() {
        let mut table = RetainedTable::new(100_000, 100_000_000);
        for n in 0..10_000 {
            assert!(set(&mut table, "often", b"x", Some(1 + n), 0));
        }
        assert!(table.expiries.len() <= 2 + EXPIRIES_SPARE);
        for n in 0..50 {
            assert!(set(&mut table, &format!("short/{n}"), b"x", Some(1), 0));
        }
        assert!(set(&mut table, "long", b"x", None, 500));
        assert_eq!(table.messages(), 52);
        for n in 0..400 {
            assert!(set(&mut table, &format!("later/{}", n % 2), b"x", None, 9_000_000));
        }
        assert_eq!(table.messages(), 4, "often, long and both of later");
    }

    /// Are the node's own topics beside the bounds, and nobody else's?
    #[test]
    fn sys_topics_are_beside_the_bounds() {
        let mut table = RetainedTable::new(0, 0);
        let properties = PublishProperties::default();
        let publish = Publish {
            dup: false,
            qos: QoS::AtMostOnce,
            retain: true,
            topic: "$SYS/broker/uptime",
            packet_id: None,
            properties,
            payload: b"1",
        };
        let routed = Routed::new(publish, SessionKey(0), 0);
        assert_eq!(table.set(&routed, PUBLISHER, 0), Retained::Refused);
        assert_eq!(table.set(&routed, stable_hash(OURSELVES.as_bytes()), 0), Retained::InMemory);
        assert_eq!((table.messages(), table.bytes(), matching(&table, "$SYS/#", 0).len()), (0, 0, 1));
    }

    /// Do pages give each message once, with the value it has by then, and does No Local leave out the publisher's own?
    #[test]
    fn a_page_shows_the_table_as_it_is() {
        let mut table = RetainedTable::new(10, 10_000);
        for topic in ["r/1", "r/2", "r/3"] {
            assert!(set(&mut table, topic, b"old", None, 0));
        }
        let mut ask = PageRequest { messages_max: 2, ..request("r/#") };
        let (first, next) = table.page(&ask, usize::MAX, 0);
        assert_eq!(first.len(), 2);
        for topic in ["r/1", "r/2", "r/3"] {
            assert!(set(&mut table, topic, b"new", None, 0));
        }
        ask.after = next;
        let (second, next) = table.page(&ask, usize::MAX, 0);
        assert_eq!((second.len(), second[0].0.payload(), next), (1, &b"new"[..], None));
        // A page that was taken in part goes on behind what was taken.
        ask.after = Some(first[0].1.clone());
        assert_eq!(table.page(&ask, usize::MAX, 0).0.len(), 2);
        let own = PageRequest { not_from: Some(PUBLISHER), ..request("#") };
        assert!(table.page(&own, usize::MAX, 0).0.is_empty());
    }
}
