//! The state of one data group, and what may be asked of it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::lazy_free::LazyFree;
use super::{KeptGroup, KeptSession, Origins, Unsettled, Uses};
use crate::live::Live;
use crate::{Fault, KeeperId, Origin};

/// Sessions by their ids.
pub(crate) type Sessions = FxHashMap<KeeperId, Arc<KeptSession>>;
/// Consumer groups by their ids.
pub(crate) type Groups = FxHashMap<KeeperId, Arc<KeptGroup>>;

/// What the entries of one data group add up to: a function of them and of nothing else.
///
/// Bodies of messages are not in it: a queue, the retained table and a will name the entry that
/// has them.
#[derive(Debug, Default)]
pub struct DataGroupState {
    pub(crate) applied: u64,
    pub(crate) covered: u64,
    pub(crate) sessions: Sessions,
    pub(crate) client_ids: BTreeMap<Arc<str>, KeeperId>,
    pub(crate) groups: Groups,
    pub(crate) group_names: BTreeMap<(Box<str>, Box<str>), KeeperId>,
    /// Topic -> the entry of its retained message.
    pub(crate) retained: BTreeMap<Arc<str>, u64>,
    pub(crate) origins: Origins,
    pub(crate) live: Live,
    pub(crate) lazy_free: LazyFree,
    pub(crate) queued: u64,
    pub(crate) strays: u64,
    /// Of the entries that were applied here; a snapshot does not have it.
    pub(crate) lost: u64,
}

impl DataGroupState {
    /// Of a data group without entries.
    pub fn new() -> Self {
        DataGroupState::default()
    }

    /// The index of the last entry that was applied; 0 at first.
    pub const fn applied(&self) -> u64 {
        self.applied
    }

    /// How much it holds: sessions, consumer groups, messages that wait for each of them, retained messages. A measure of what
    /// its snapshot takes.
    pub fn holds(&self) -> u64 {
        (self.sessions.len() + self.groups.len() + self.retained.len()) as u64 + self.queued
    }

    /// The session of a client.
    pub fn session(&self, client_id: &str) -> Option<&KeptSession> {
        self.session_of(*self.client_ids.get(client_id)?)
    }

    /// The session with this id.
    pub fn session_of(&self, id: KeeperId) -> Option<&KeptSession> {
        self.sessions.get(&id).map(|session| &**session)
    }

    /// All sessions, by client id.
    pub fn sessions(&self) -> impl Iterator<Item = &KeptSession> {
        self.client_ids.values().filter_map(|id| self.session_of(*id))
    }

    /// Topics with a retained message, in order, each with the entry that brought it.
    pub fn retained(&self) -> impl Iterator<Item = (&str, u64)> {
        self.retained.iter().map(|(topic, entry)| (&**topic, *entry))
    }

    /// The entry that brought the retained message of `topic`.
    pub fn retained_of(&self, topic: &str) -> Option<u64> {
        self.retained.get(topic).copied()
    }

    /// All durable consumer groups, by name and filter.
    pub fn groups(&self) -> impl Iterator<Item = &KeptGroup> {
        self.group_names.values().filter_map(|id| self.group_of(*id))
    }

    /// The consumer group with this id.
    pub fn group_of(&self, id: KeeperId) -> Option<&KeptGroup> {
        self.groups.get(&id).map(|group| &**group)
    }

    /// The same, to be changed: who has frozen it keeps what it was.
    #[inline]
    pub(crate) fn session_mut(sessions: &mut Sessions, id: KeeperId) -> Option<&mut KeptSession> {
        sessions.get_mut(&id).map(Arc::make_mut)
    }

    /// As `session_mut`.
    #[inline]
    pub(crate) fn group_mut(groups: &mut Groups, id: KeeperId) -> Option<&mut KeptGroup> {
        groups.get_mut(&id).map(Arc::make_mut)
    }

    /// Whether this use of this publisher has been applied here, or is settled; as far as that is remembered. `apply` does not
    /// judge: whoever writes the entries asks, when a message that a crash has cut comes again.
    pub fn is_repeat(&self, origin: &Origin) -> bool {
        self.origins.is_repeat(origin)
    }

    /// Uses of a publisher below this one are settled, as far as anybody has said so here; 0: nobody has.
    pub fn settled(&self, data_group: u16, session: KeeperId) -> u64 {
        self.origins.settled(data_group, session)
    }

    /// QoS 2 messages that came here and that their publishers have not called settled: with data group and session of the
    /// publisher, each publisher's by use number.
    pub fn unsettled(&self) -> impl Iterator<Item = (u16, KeeperId, Unsettled)> {
        let each = |((data_group, session), uses): ((u16, KeeperId), &'_ Uses)| {
            uses.list.clone().into_iter().map(move |unsettled| (data_group, session, unsettled))
        };
        self.origins.iter().flat_map(each)
    }

    /// Publishers of QoS 2 messages here that are not settled and that were last named in one of these entries, in their order:
    /// the entry, data group and session of the publisher, and the use number of its first such message.
    pub fn publishers_named_in(&self, entries: Range<u64>) -> impl Iterator<Item = (u64, u16, KeeperId, u64)> {
        self.origins.named_in(entries).map(|(entry, (data_group, session), first)| (entry, data_group, session, first))
    }

    /// Below which use number all QoS 2 messages of one of this group's sessions or consumer groups are settled: nobody sends them
    /// again. Of a consumer group these are the entries that it has finished, of wills those before the one that the session has
    /// now, and what has ended sends nothing. `None`: not known, it has not been applied yet.
    pub fn settled_below(&self, publisher: KeeperId) -> Option<u64> {
        if let Some(session) = publisher.mourned() {
            let will = self.session_of(session).and_then(KeptSession::will);
            return (session.0 <= self.applied).then(|| will.map_or(u64::MAX, |will| will.entry));
        }
        if publisher.0 > self.applied {
            return None;
        }
        if let Some(session) = self.session_of(publisher) {
            let (received, doubted) = (session.received(), session.doubted());
            let firsts = received.first().into_iter().chain(doubted.first());
            return Some(firsts.map(|(_, use_number)| *use_number).min().unwrap_or(session.next_use()));
        }
        let group = self.group_of(publisher);
        Some(group.map_or(u64::MAX, |group| group.queue().next().unwrap_or(self.applied + 1)))
    }

    /// Whether the log must keep this entry: it is newer than what a snapshot covers, or a queue, the retained table or a
    /// will refers to it. An entry whose keepers have just ended may count for a while longer.
    #[inline]
    pub fn is_live(&self, entry: u64) -> bool {
        entry > self.covered || self.live.has(entry)
    }

    /// A snapshot of everything up to `through` is durable: entries up to there live only while something refers to
    /// them. Never goes back.
    pub fn covered(&mut self, through: u64) {
        self.covered = self.covered.max(through.min(self.applied));
    }

    /// Entries that something refers to.
    pub const fn live_entries(&self) -> u64 {
        self.live.entries()
    }

    /// References in all queues.
    pub const fn queued(&self) -> u64 {
        self.queued
    }

    /// How often an entry spoke of a session, group, message or packet id that was not there. Such words change nothing;
    /// many of them mean that whoever writes the entries and this state disagree.
    pub const fn strays(&self) -> u64 {
        self.strays
    }

    /// Entries that stand in the place of damaged ones, since the snapshot that the state was made of.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Checks that an entry may follow.
    pub(crate) const fn check_index(&self, index: u64) -> Result<(), Fault> {
        if index <= self.applied || index > crate::bounds::INDEX_MAX {
            return Err(Fault::OutOfOrder { index, applied: self.applied });
        }
        Ok(())
    }
}
