//! How each entry changes the state.

use std::sync::Arc;

use super::{DataGroupState, ExactlyOnce, KeptGroup, KeptSession, NO_OPTIONS, WillRef};
use crate::queue::Reference;
use crate::{
    Changed, Entry, Fact, Fault, GroupDeclared, GroupOpened, KeeperId, List, Opened, Published, SettledPublisher,
    Subscribed, Unsubscribed,
};

impl DataGroupState {
    /// Applies an entry that is in the log for good, as all those before it are. Indexes ascend; there may be gaps where the log
    /// was compacted.
    /// # Errors
    /// The bytes are no entry, or the index is not behind the last one; nothing has changed then.
    pub fn apply(&mut self, index: u64, entry: &[u8]) -> Result<(), Fault> {
        self.check_index(index)?;
        let entry = Entry::decode(entry)?;
        self.applied = index;
        match entry {
            Entry::Published(published) => self.publish(index, &published),
            Entry::Progress(progress) => progress.facts.iter().for_each(|(keeper, fact)| self.note(keeper, fact)),
            Entry::Opened(opened) => self.open(KeeperId(index), &opened),
            Entry::Changed(changed) => self.change(index, &changed),
            Entry::Ended(ended) => ended.sessions.iter().for_each(|id| self.end(id)),
            Entry::Subscribed(subscribed) => self.subscribe(&subscribed),
            Entry::Unsubscribed(unsubscribed) => self.unsubscribe(&unsubscribed),
            Entry::Cleared(cleared) => self.clear(cleared.topics),
            Entry::GroupOpened(opened) => self.open_group(KeeperId(index), &opened),
            Entry::GroupDeclared(declared) => self.declare_group(&declared),
            Entry::GroupEnded(ended) => ended.groups.iter().for_each(|id| self.end_group(id)),
            Entry::Settled(settled) => settled.publishers.iter().for_each(|one| self.settle(&one)),
            Entry::Lost(_) => self.lost += 1,
        }
        self.lazy_free.free_some(&mut self.live);
        Ok(())
    }

    fn publish(&mut self, index: u64, published: &Published<'_>) {
        let mut references = 0;
        for keeper in published.keepers.iter() {
            match Self::session_mut(&mut self.sessions, keeper.id) {
                Some(session) => {
                    let reference = Reference::new(index, keeper.options, published.frame.len());
                    references += u64::from(session.queue.push(&reference));
                }
                None => self.strays += 1,
            }
        }
        for id in published.groups.iter() {
            match Self::group_mut(&mut self.groups, id) {
                Some(group) => {
                    let reference = Reference::new(index, NO_OPTIONS, published.frame.len());
                    references += u64::from(group.queue.push(&reference));
                }
                None => self.strays += 1,
            }
        }
        self.queued += references;
        self.live.add(index, references);
        if let Some(topic) = published.retained {
            self.retain(topic, index);
        }
        if let Some(origin) = &published.origin {
            self.origins.note(origin, index);
        }
    }

    fn retain(&mut self, topic: &str, index: u64) {
        self.live.add(index, 1);
        let before = match self.retained.get_mut(topic) {
            Some(entry) => Some(std::mem::replace(entry, index)),
            None => self.retained.insert(topic.into(), index),
        };
        if let Some(before) = before {
            self.live.remove(before);
        }
    }

    fn clear(&mut self, topics: List<'_, &str>) {
        for topic in topics.iter() {
            match self.retained.remove(topic) {
                Some(entry) => self.live.remove(entry),
                None => self.strays += 1,
            }
        }
    }

    fn settle(&mut self, one: &SettledPublisher) {
        let is_known = self.origins.settle((one.data_group, one.session), one.below);
        self.strays += u64::from(!is_known);
    }

    /// A fact of a session or of a group.
    #[inline]
    fn note(&mut self, keeper: KeeperId, fact: Fact) {
        let is_known = match Self::session_mut(&mut self.sessions, keeper) {
            Some(session) => note_in_session(session, fact),
            None => self.note_in_group(keeper, fact),
        };
        match is_known {
            Some(Left::Queue(entry)) => {
                self.live.remove(entry);
                self.queued -= 1;
            }
            Some(Left::Nothing) => {}
            None => self.strays += 1,
        }
    }

    fn note_in_group(&mut self, keeper: KeeperId, fact: Fact) -> Option<Left> {
        let group = Self::group_mut(&mut self.groups, keeper)?;
        let Fact::Finished { entry } = fact else { return None };
        group.queue.remove(entry).then_some(Left::Queue(entry))
    }

    fn open(&mut self, id: KeeperId, opened: &Opened<'_>) {
        if let Some(before) = self.client_ids.get(opened.client_id).copied() {
            self.end(before);
        }
        let session = KeptSession::new(id, opened);
        self.live.add(id.0, u64::from(session.will.is_some()));
        self.client_ids.insert(session.client_id.clone(), id);
        self.sessions.insert(id, Arc::new(session));
    }

    fn change(&mut self, index: u64, changed: &Changed<'_>) {
        let Some(session) = Self::session_mut(&mut self.sessions, changed.session) else {
            self.strays += 1;
            return;
        };
        if let Some(expiry_s) = changed.expiry_s {
            session.expiry_s = expiry_s;
        }
        if let Some(identity) = changed.identity {
            session.identity = identity.into();
        }
        if let Some(presence) = changed.presence {
            session.set_presence(index, presence);
        }
        if let Some(will) = changed.will {
            let before = std::mem::replace(&mut session.will, will.map(|will| WillRef::new(index, &will)));
            self.live.add(index, u64::from(will.is_some()));
            self.forget_will(before);
        }
    }

    fn forget_will(&mut self, will: Option<WillRef>) {
        if let Some(will) = will {
            self.live.remove(will.entry);
        }
    }

    fn end(&mut self, id: KeeperId) {
        let Some(session) = self.sessions.remove(&id).map(Arc::unwrap_or_clone) else {
            self.strays += 1;
            return;
        };
        self.client_ids.remove(&session.client_id);
        self.forget_will(session.will);
        self.queued -= session.queue.len();
        self.lazy_free.add(session.queue);
    }

    fn subscribe(&mut self, subscribed: &Subscribed<'_>) {
        let Some(session) = Self::session_mut(&mut self.sessions, subscribed.session) else {
            self.strays += 1;
            return;
        };
        for subscription in subscribed.subscriptions.iter() {
            match session.subscriptions.get_mut(subscription.filter) {
                Some(grant) => *grant = subscription.grant,
                None => drop(session.subscriptions.insert(subscription.filter.into(), subscription.grant)),
            }
        }
    }

    fn unsubscribe(&mut self, unsubscribed: &Unsubscribed<'_>) {
        let Some(session) = Self::session_mut(&mut self.sessions, unsubscribed.session) else {
            self.strays += 1;
            return;
        };
        for filter in unsubscribed.filters.iter() {
            self.strays += u64::from(session.subscriptions.remove(filter).is_none());
        }
    }

    fn open_group(&mut self, id: KeeperId, opened: &GroupOpened<'_>) {
        let key = (Box::from(opened.name), Box::from(opened.filter));
        if let Some(before) = self.group_names.get(&key).copied() {
            self.end_group(before);
        }
        self.groups.insert(id, Arc::new(KeptGroup::new(id, opened.name, opened.filter)));
        self.group_names.insert(key, id);
    }

    fn declare_group(&mut self, declared: &GroupDeclared<'_>) {
        match Self::group_mut(&mut self.groups, declared.group) {
            Some(group) => group.settings = declared.settings.map(Box::from),
            None => self.strays += 1,
        }
    }

    fn end_group(&mut self, id: KeeperId) {
        let Some(group) = self.groups.remove(&id).map(Arc::unwrap_or_clone) else {
            self.strays += 1;
            return;
        };
        self.group_names.remove(&(group.name, group.filter));
        self.queued -= group.queue.len();
        self.lazy_free.add(group.queue);
    }
}

/// What a fact took out.
enum Left {
    /// This reference out of the queue.
    Queue(u64),
    /// At most a packet id.
    Nothing,
}

impl Left {
    fn of(was_queued: bool, entry: u64) -> Self {
        if was_queued { Left::Queue(entry) } else { Left::Nothing }
    }
}

/// `None`: there is nothing here that the fact could be about.
#[inline]
fn note_in_session(session: &mut KeptSession, fact: Fact) -> Option<Left> {
    match fact {
        Fact::Finished { entry } => {
            let was_queued = session.queue.remove(entry);
            let was_sent = session.exactly_once.as_mut().is_some_and(|ids| ids.finish(entry));
            (was_queued || was_sent).then(|| Left::of(was_queued, entry))
        }
        Fact::PublishSent { packet_id, entry } => {
            let is_there = session.queue.contains(entry);
            is_there.then(|| session.exactly_once().publish_sent(packet_id, entry))?;
            Some(Left::Nothing)
        }
        Fact::PubRecReceived { packet_id } => {
            let entry = session.exactly_once.as_mut().and_then(|ids| ids.pubrec_received(packet_id))?;
            Some(Left::of(session.queue.remove(entry), entry))
        }
        Fact::Received { packet_id, use_number } => {
            session.last_use = session.last_use.max(use_number);
            session.exactly_once().receive(packet_id, use_number);
            Some(Left::Nothing)
        }
        Fact::Doubted { packet_id, use_number } => {
            session.last_use = session.last_use.max(use_number);
            session.exactly_once().doubt(packet_id, use_number);
            Some(Left::Nothing)
        }
        Fact::Released { packet_id } => {
            let is_known = |ids: &mut Box<ExactlyOnce>| ids.release(packet_id);
            session.exactly_once.as_mut().is_some_and(is_known).then_some(Left::Nothing)
        }
    }
}
