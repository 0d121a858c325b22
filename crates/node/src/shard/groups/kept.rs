//! Groups that are kept on disk: which are, what is told of their messages, and how they come back.
//!
//! A declared group is kept, and any group while it has a member whose session is. It lives in the data group of its slot,
//! which its owner owns too. Each message that it does not end at once is an entry with the group as a keeper; the end of
//! each is a fact.

use std::num::NonZeroU64;

use lapwing_codec::QoS;
use lapwing_session::{CommitToken, Fact, Routed};

use super::Shard;
use super::publish::Common;
use super::table::Beginning;
use crate::mail::Interest;
use crate::metrics::DropReason;
use crate::shard::durable::DurableRoom;
use crate::shard::durable::awaited_entries::Awaited;
use crate::shard::durable::keeping::restore::RestoredGroup;
use crate::shard::groups::GroupRoom;
use crate::shard::holds::HOLD_NAME;
use crate::shard::mail::MailRoom;
use crate::shard::subscribe::SubscribeRoom;
use crate::words::{JoinRequest, share_name};

impl Shard {
    /// Begins to keep a group on disk, or ends it, as is right for it now. Returns the announcement that whoever joins waits
    /// for: before it is in force others do not wait for this disk.
    pub(super) fn keep_group(&mut self, place: usize) -> Option<u64> {
        let Shard {
            groups: GroupRoom { table: groups, .. },
            clients,
            durable: DurableRoom { log, .. },
            subscriptions: SubscribeRoom { announcer, .. },
            mail: MailRoom { post, .. },
            ..
        } = self;
        let (owned, keeping, log) = (groups.get(place)?, clients.keeping.as_mut()?, log.as_mut()?);
        if !owned.is_to_be_kept() {
            if let Some(kept) = owned.kept.take() {
                owned.unsettled.clear();
                owned.group.forget(clients.now_us);
                keeping.group_ended(kept);
                announcer.unwant(Interest::Kept, &owned.filter, post);
                // What waited for a commit may be bound.
                groups.touch(place);
            }
            return None;
        }
        let is_new = owned.kept.is_none();
        let kept = *owned.kept.get_or_insert_with(|| keeping.begin_group(log, &owned.name, &owned.filter));
        if is_new {
            owned.declared = Some(None);
        }
        if let Some(declared) = owned.new_declaration() {
            let json = declared.as_ref().map(|table| serde_json::to_vec(&**table).unwrap_or_default());
            keeping.declare_group(log, kept, json.as_deref());
            owned.declared = Some(declared);
        }
        announcer.want(Interest::Kept, &owned.filter, is_new, post)
    }

    /// Keeps all groups that are to be.
    pub(in crate::shard) fn keep_groups(&mut self) {
        for place in self.groups.table.places() {
            let _ = self.keep_group(place);
        }
    }

    /// Tells the log which messages of a group have ended.
    pub(super) fn tell_ends(&mut self, place: usize) {
        let Shard { groups: GroupRoom { table: groups, .. }, clients, durable, .. } = self;
        let awaited_entries = &mut durable.awaited_entries;
        let (Some(owned), Some(keeping)) = (groups.get(place), &mut clients.keeping) else { return };
        let Some(kept) = owned.kept else { return };
        let (unsettled, tag) = (&owned.unsettled, owned.tag);
        for entry in owned.group.take_ended() {
            if unsettled.contains(&entry) {
                awaited_entries.push(Awaited::GroupEnd { tag, entry });
            }
            keeping.note(kept, Fact::Finished { entry });
        }
    }

    /// One message of a group has ended, which the group itself does not tell.
    pub(super) fn finish_message(&mut self, place: usize, entry: NonZeroU64) {
        let Shard { groups: GroupRoom { table: groups, .. }, clients, durable, .. } = self;
        let awaited_entries = &mut durable.awaited_entries;
        let (Some(owned), Some(keeping)) = (groups.get(place), &mut clients.keeping) else { return };
        if let Some(kept) = owned.kept {
            if owned.unsettled.contains(&entry) {
                awaited_entries.push(Awaited::GroupEnd { tag: owned.tag, entry });
            }
            keeping.note(kept, Fact::Finished { entry });
        }
    }

    /// The entries of a group up to `through` are committed: QoS 2 among them may be bound.
    pub(in crate::shard) fn group_committed(&mut self, tag: NonZeroU64, through: NonZeroU64) {
        let now_us = self.clients.now_us;
        let Some(place) = self.groups.table.of_tag(tag) else { return };
        if let Some(owned) = self.groups.table.get(place) {
            owned.group.committed(through, now_us);
        }
        self.groups.table.touch(place);
    }

    /// That a QoS 2 message of a group has ended is committed: its name may be forgotten by whoever knows it.
    pub(in crate::shard) fn group_settled(&mut self, tag: NonZeroU64, entry: NonZeroU64) {
        if let Some(owned) = self.groups.table.of_tag(tag).and_then(|place| self.groups.table.get(place)) {
            owned.unsettled.remove(&entry);
        }
    }

    /// A message of a group is a dead letter now, which is on disk elsewhere when `kept_by` is committed; None: nobody keeps
    /// it. Only then the group has it no more: a crash before makes the letter twice, and loses none.
    pub(super) fn letter_is_out(&mut self, place: usize, entry: Option<NonZeroU64>, kept_by: Option<CommitToken>) {
        let (Some(entry), Some(owned)) = (entry, self.groups.table.get(place)) else { return };
        match kept_by {
            Some(token) => self.groups.pending.letters.push_back((token, owned.tag, entry)),
            None => self.finish_message(place, entry),
        }
    }

    /// A group that was kept comes back with what it had not finished; one that has nobody any more ends.
    pub(in crate::shard) fn restore_group(&mut self, restored: RestoredGroup) {
        if &*restored.name == HOLD_NAME {
            return self.restore_hold(restored);
        }
        let Some(place) = self.place_for(&restored) else {
            self.counters.dropped(DropReason::GroupEmpty, restored.messages.len() as u64);
            if let Some(keeping) = &mut self.clients.keeping {
                keeping.group_ended(restored.kept);
            }
            return;
        };
        let now_us = self.shared.now_us();
        let Shard {
            groups: GroupRoom { table: groups, .. },
            shared,
            counters,
            subscriptions: SubscribeRoom { announcer, .. },
            mail: MailRoom { post, .. },
            ..
        } = self;
        let Some(owned) = groups.get(place) else { return };
        owned.kept = Some(restored.kept);
        let _ = announcer.want(Interest::Kept, &owned.filter, true, post);
        for (entry, stored) in &restored.messages {
            let routed = Routed::of(&stored.message);
            let ingress_us = stored.published_at_ms * 1000;
            let facts = Common::new(&routed, stored.publisher, &shared.config.dispatch, counters).facts(
                &routed,
                (stored.message.footprint(), Some(*entry)),
                ingress_us,
                &owned.config,
            );
            if facts.qos == QoS::ExactlyOnce {
                owned.unsettled.insert(*entry);
            }
            owned.group.restore(stored.message.clone(), facts, now_us);
        }
        owned.group.tick(now_us);
        self.groups.table.touch(place);
        restored.over.into_iter().for_each(|entry| self.finish_message(place, entry));
    }

    /// Where a group is that comes back: it is declared, or sessions that come back with the node are its members.
    fn place_for(&mut self, restored: &RestoredGroup) -> Option<usize> {
        let share = share_name(&restored.name, &restored.filter);
        if let Some(place) = self.groups.table.find(&share) {
            return Some(place);
        }
        let expected = self.durable.recovered.as_ref()?.shares.get(&share).map(|share| share.members);
        let expected = expected.filter(|members| *members > 0)?;
        let beginning = self.beginning(&restored.name, &restored.filter).until_all_are_back();
        // It counts like others, and begins in any case.
        let _ = self.shared.groups.begins(u32::MAX);
        let place = self.groups.table.insert(&restored.name, &restored.filter, beginning);
        self.groups.table.get(place)?.expected = expected;
        self.equip(place);
        let _ = self.subscriptions.announcer.want(Interest::Groups, &restored.filter, true, &mut self.mail.post);
        Some(place)
    }

    /// A session that came back with the node has asked to be a member again: after the last the group is as others are.
    pub(super) fn note_return(&mut self, place: usize, request: JoinRequest) {
        let now_us = self.clients.now_us;
        let Some(owned) = self.groups.table.get(place).filter(|_| request == JoinRequest::NOBODY_WAITS) else { return };
        if owned.expected == 0 {
            return;
        }
        owned.expected -= 1;
        if owned.expected == 0 {
            let (name, filter) = (owned.name.clone(), owned.filter.clone());
            let settings = self.beginning(&name, &filter).settings;
            if let Some(owned) = self.groups.table.get(place) {
                owned.group.set_settings(settings, now_us);
            }
        }
    }
}

impl Beginning {
    /// It waits for members that are on their way, and must not be thrown away before.
    fn until_all_are_back(mut self) -> Self {
        (self.is_durable, self.settings.is_durable) = (true, true);
        self
    }
}
