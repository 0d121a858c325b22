//! Retained messages whose topics hash to this shard.

mod expiries;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::sync::Arc;

use lapwing_access::{is_bridge_state, is_reserved};
use lapwing_router::{Cursor, TopicTree};
use lapwing_session::{Message, Routed};

use self::expiries::Expiries;
use crate::config::Durability;
use crate::holder::Holder;
use crate::identity_shares::IdentityShares;
use crate::mail::{NoRoom, PageItem, PageRequest, Source};
use crate::reserved_room::ReservedRoom;
use crate::retained_holders::Before;
use crate::retained_share::RetainedShare;
use crate::slot::stable_hash;
use crate::sys::OURSELVES;

/// The newest message of one topic.
struct Kept {
    message: Arc<Message>,
    source: Source,
    /// In memory: it is nowhere else.
    durability: Durability,
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
    /// The same: its publisher has its share.
    BeyondShare,
}

/// The table, with its bounds.
pub(crate) struct RetainedTable {
    topics: TopicTree<Kept>,
    /// Topics of the `$SYS` tree; they and their bytes are beside the bounds, or the broker's own numbers would be the
    /// first to be missing when it is full.
    sys: u64,
    bytes: u64,
    /// Room for them, of all shards together.
    share: Arc<RetainedShare>,
    /// What holders may have of it.
    shares: Arc<IdentityShares>,
    expiries: Expiries,
    /// Topics that have lost the message that is on disk and not got another one there, since somebody asked.
    cleared: Vec<Box<str>>,
}

/// Messages, and where to go on.
type Found = (Vec<PageItem>, Option<Cursor>);

/// Nodes of the tree that are looked at for whether there is any message under a filter.
const NODES_LOOKED_AT: usize = 256;
/// Expired messages that are given up with each one that comes, so that none lies for long where there is traffic.
const EXPIRED_PER_SET: usize = 4;

impl RetainedTable {
    pub(crate) fn new(share: Arc<RetainedShare>, shares: Arc<IdentityShares>) -> Self {
        RetainedTable {
            topics: TopicTree::new(),
            sys: 0,
            bytes: 0,
            share,
            shares,
            expiries: Expiries::default(),
            cleared: Vec::new(),
        }
    }

    /// Keeps the message, or forgets its topic when the payload is empty.
    ///
    /// Without room the message before it is forgotten too: an older value must not pose as the newest. `durability`: in memory it
    /// is not to outlive the node, and what is on disk of its topic from before has to go. `room`: what was promised to its
    /// publisher.
    pub(crate) fn set(
        &mut self,
        routed: &Routed<'_>,
        source: Source,
        durability: Durability,
        room: Option<ReservedRoom>,
        now_ms: u64,
    ) -> Retained {
        let publish = routed.publish();
        self.give_up_some_expired(EXPIRED_PER_SET, now_ms);
        if publish.payload.is_empty() {
            self.remove(publish.topic);
            return Retained::Cleared;
        }
        let message = routed.keep();
        if is_reserved(publish.topic) && !is_bridge_state(publish.topic) {
            if source.publisher != stable_hash(OURSELVES.as_bytes()) {
                return Retained::Refused;
            }
            let kept = Kept { message: message.clone(), source, durability: Durability::Memory };
            let before = self.topics.insert(publish.topic, kept);
            self.sys += u64::from(before.is_none());
            return Retained::InMemory;
        }
        let bytes = message.footprint() as u64;
        if !self.has_room(publish.topic, bytes, source.holder, room)
            && let Err(missing) = self.take_room(publish.topic, bytes, source.holder, now_ms)
        {
            self.remove(publish.topic);
            return if missing == NoRoom::RetainedShare { Retained::BeyondShare } else { Retained::Refused };
        }
        self.keep(message, source, durability);
        match durability {
            Durability::Memory => Retained::InMemory,
            Durability::Disk => Retained::Kept,
        }
    }

    /// Brings back a message that was promised to be kept: its room is not asked for, whatever the bounds are now.
    pub(crate) fn restore(&mut self, message: &Arc<Message>, source: Source) {
        let (bytes, before) = (message.footprint() as u64, self.before(message.topic()));
        if let Some((_, before)) = before {
            self.share.give_back(before);
        }
        self.share.take_anyway(bytes);
        self.shares.retained.take_anyway(source.holder, bytes, before);
        self.keep(message, source, Durability::Disk);
    }

    /// Its room is taken.
    fn keep(&mut self, message: &Arc<Message>, source: Source, durability: Durability) {
        self.bytes += message.footprint() as u64;
        // In its place: a topic that was taken out and put in again would move behind the places of replays under way.
        let kept = Kept { message: message.clone(), source, durability };
        if let Some(before) = self.topics.insert(message.topic(), kept) {
            let bytes = before.message.footprint() as u64;
            self.bytes -= bytes;
            // Its own was given back as the room was taken.
            self.shares.retained.give_back_others(source.holder, (before.source.holder, bytes));
            if durability == Durability::Memory && before.durability == Durability::Disk {
                self.cleared.push(message.topic().into());
            }
        }
        self.note_expiry(message);
    }

    /// Forgets a topic because its newest value cannot be kept: an older one must not pose as the newest.
    pub(crate) fn forget(&mut self, topic: &str) -> Retained {
        self.remove(topic);
        Retained::Cleared
    }

    fn remove(&mut self, topic: &str) {
        if let Some(before) = self.topics.remove(topic) {
            let bytes = before.message.footprint() as u64;
            self.bytes -= bytes;
            self.share.give_back(bytes);
            self.shares.retained.give_back(before.source.holder, bytes);
            if before.durability == Durability::Disk {
                self.cleared.push(topic.into());
            }
        }
    }

    /// Takes the topics that have lost the message that is on disk since the last call, and have got no other one there.
    pub(crate) fn take_cleared(&mut self) -> Vec<Box<str>> {
        let mut cleared = std::mem::take(&mut self.cleared);
        cleared.retain(|topic| self.topics.get(topic).is_none_or(|kept| kept.durability == Durability::Memory));
        cleared
    }

    /// True when [`RetainedTable::take_cleared`] may have some.
    pub(crate) fn has_cleared(&self) -> bool {
        !self.cleared.is_empty()
    }

    /// Takes room for a message that is promised to be kept for `topic`; what has expired gives way.
    ///
    /// # Errors
    /// Where there is none.
    pub(crate) fn reserve(
        &mut self,
        topic: &str,
        bytes: u64,
        holder: Option<Holder>,
        now_ms: u64,
    ) -> Result<ReservedRoom, NoRoom> {
        self.take_room(topic, bytes, holder, now_ms)?;
        // The topic's message stays until the other one is there: both are counted meanwhile.
        let before = self.before(topic);
        if let Some((_, before)) = before {
            self.share.take_anyway(before);
        }
        self.shares.retained.retake(holder, before);
        Ok(self.room_in_mail(holder, bytes))
    }

    /// Room that was taken by the shard that promised it.
    pub(crate) fn room_in_mail(&self, holder: Option<Holder>, bytes: u64) -> ReservedRoom {
        ReservedRoom::taken(&self.share, &self.shares, holder, bytes)
    }

    /// Whether the message has its room already; then what it comes in the place of gives up its own.
    fn has_room(&self, topic: &str, bytes: u64, holder: Option<Holder>, room: Option<ReservedRoom>) -> bool {
        let Some(mut room) = room else { return false };
        if !room.fit(bytes) {
            return false;
        }
        room.into_bytes();
        let before = self.before(topic);
        if let Some((_, before)) = before {
            self.share.give_back(before);
        }
        self.shares.retained.give_back_own(holder, before);
        true
    }

    /// Takes room for a message. What has expired gives way.
    fn take_room(&mut self, topic: &str, bytes: u64, holder: Option<Holder>, now_ms: u64) -> Result<(), NoRoom> {
        // What gives way may be this topic's: so both are asked again.
        loop {
            let before = self.before(topic);
            let missing = if !self.shares.retained.take(holder, bytes, before, self.share.free()) {
                NoRoom::RetainedShare
            } else if self.share.take(bytes, before.map(|(_, bytes)| bytes)) {
                return Ok(());
            } else {
                self.shares.retained.untake(holder, bytes, before);
                NoRoom::Retained
            };
            if !self.give_up_expired(now_ms) {
                return Err(missing);
            }
        }
    }

    /// Gives up what has expired, at most `most`: other shards may need the room.
    pub(crate) fn give_up_some_expired(&mut self, most: usize, now_ms: u64) {
        (0..most).take_while(|_| self.give_up_expired(now_ms)).for_each(drop);
    }

    /// When the next message expires, if any is to; its topic may have another one, or none, by then.
    pub(crate) fn next_expiry_ms(&self) -> Option<u64> {
        self.expiries.next_ms()
    }

    /// Whose the message of `topic` is and what it takes up, if it has one.
    fn before(&self, topic: &str) -> Option<Before> {
        self.topics.get(topic).map(|kept| (kept.source.holder, kept.message.footprint() as u64))
    }

    /// Looks at the message that was to expire first, and gives it up if it has expired; false when none was to.
    fn give_up_expired(&mut self, now_ms: u64) -> bool {
        let Some(topic) = self.expiries.take_due(now_ms) else { return false };
        if self.topics.get(&topic).is_some_and(|kept| kept.message.is_expired(now_ms)) {
            self.remove(&topic);
        }
        true
    }

    fn note_expiry(&mut self, message: &Message) {
        let Some(at_ms) = message.expires_at_ms() else { return };
        self.expiries.note(at_ms, message.topic());
        let topics = &self.topics;
        self.expiries.trim(topics.len(), |topic| topics.get(topic)?.message.expires_at_ms());
    }

    /// The next page for a replay, each message with the place behind it, and where the page after it begins; `None`: that
    /// was all. Expired messages are left out. A page has at least one message if it has looked at one; it looks at no
    /// more than `nodes_max` nodes of the tree.
    pub(crate) fn page(&self, request: &PageRequest, nodes_max: usize, now_ms: u64) -> Found {
        let mut messages: Vec<PageItem> = Vec::new();
        let mut bytes = 0;
        let next = self.topics.page(&request.filter, request.after.as_ref(), nodes_max, |kept, place| {
            if kept.message.is_expired(now_ms) || request.not_from == Some(kept.source.publisher) {
                return ControlFlow::Continue(());
            }
            bytes += kept.message.footprint();
            messages.push(PageItem { message: kept.message.clone(), source: kept.source, place: place.cursor() });
            if bytes >= request.bytes_max || messages.len() >= request.messages_max {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        (messages, next)
    }

    /// Whether a message that has not expired may be retained under `filter`. It looks at a bounded part of the tree, and says yes
    /// where it has not looked at all.
    pub(crate) fn has_any(&self, filter: &str, now_ms: u64) -> bool {
        let mut found = false;
        let next = self.topics.page(filter, None, NODES_LOOKED_AT, |kept, _| {
            found = !kept.message.is_expired(now_ms);
            if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        found || next.is_some()
    }

    /// Topics, what is noted of their expiry, and of those that have lost their message.
    #[cfg(test)]
    pub(crate) fn lengths(&self) -> [usize; 3] {
        [self.topics.len(), self.expiries.len(), self.cleared.len()]
    }

    pub(crate) fn messages(&self) -> u64 {
        self.topics.len() as u64 - self.sys
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}
