//! What members' shards tell the owner.

use std::collections::HashMap;
use std::num::NonZeroU64;

use lapwing_access::Identity;
use lapwing_dispatch::Stamps;
use lapwing_groups::{AssignmentId, Epoch, MemberOptions, Written};
use lapwing_session::{Bound, Fate, Outcome, SessionKey};

use super::Shard;
use super::owned::Person;
use crate::audit::told;
use crate::holder::Holder;
use crate::identity_shares::Beyond;
use crate::mail::{Control, Interest};
use crate::notices::NoticeKind;
use crate::shard::rights::shares::share_facts;
use crate::shard::subscribe::Waiter;
use crate::slot::ShardId;
use crate::words::{Join, JoinRequest, Told, Word, share_name};

/// By group, what of it may have reached a member.
type Sent = HashMap<NonZeroU64, Vec<AssignmentId>>;

impl Shard {
    /// Handles a word from shard `from`, which may be this one.
    pub(in crate::shard) fn take_word(&mut self, from: ShardId, word: Word) {
        match word {
            Word::Join(join) => self.join(from, *join),
            Word::Unsubscribe { share, member, epoch } => self.unsubscribed(&share, member, Epoch(epoch)),
            Word::Lost { member, epoch, sent } => self.lost(member, Epoch(epoch), &sent),
            Word::Back { member, epoch, profile } => {
                self.in_groups_of(member, |owned, now_us| {
                    let declaration = profile.declaration(&owned.config);
                    owned.group.back(member, Epoch(epoch), declaration, now_us);
                    owned.knows(member, profile);
                });
            }
            Word::End { member, epoch, sent } => self.ended(member, Epoch(epoch), &sent),
            Word::Outcomes(outcomes) => outcomes.iter().for_each(|told| self.told(told)),
            Word::Declare { member, epoch, profile } => self.in_groups_of(member, |owned, now_us| {
                owned.group.redeclare(member, Epoch(epoch), profile.declaration(&owned.config), now_us);
                owned.knows(member, profile);
            }),
            Word::Report { member, epoch, report } => self.in_groups_of(member, |owned, now_us| {
                // What is not believed is counted in the group.
                let _ = owned.group.report(member, Epoch(epoch), &report, now_us);
            }),
            Word::Sample { member, epoch, rtt, unsent_bytes } => self.in_groups_of(member, |owned, now_us| {
                if let Some((source, rtt_us)) = rtt {
                    owned.group.rtt_sample(member, Epoch(epoch), source, rtt_us, now_us);
                }
                owned.group.unsent(member, Epoch(epoch), unsent_bytes);
            }),
        }
    }

    fn join(&mut self, from: ShardId, join: Join) {
        let Join { request, group, filter, member, client_id, epoch, grant, profile, is_kept, identity } = join;
        let known = self.groups.table.find(&share_name(&group, &filter));
        let whose = (&identity, &*client_id);
        if !self.has_room_for(known, member, whose, request) {
            known.into_iter().for_each(|place| self.note_return(place, request));
            let filter: Box<str> = ["$share/", &group, "/", &filter].concat().into();
            if from == self.id {
                self.refused_join(request, &filter);
            } else {
                self.mail.post.control(from, Control::Joined { request, refused: Some(filter) });
            }
            return;
        }
        let place = match known {
            Some(place) => place,
            None => {
                let place = self.groups.table.insert(&group, &filter, self.beginning(&group, &filter));
                self.equip(place);
                place
            }
        };
        self.charge_group(place, known, whose, request);
        let announced =
            self.subscriptions.announcer.want(Interest::Groups, &filter, known.is_none(), &mut self.mail.post);
        let now_us = self.clients.now_us;
        if let Some(owned) = self.groups.table.get(place) {
            let options = MemberOptions { declaration: profile.declaration(&owned.config), qos_max: grant.options.qos };
            owned.group.join(member, Epoch(epoch), options, now_us);
        }
        self.groups.table.enrol(place, member, Person { grant, client_id, profile, is_kept });
        self.note_return(place, request);
        let announced = announced.max(self.keep_group(place));
        self.groups.table.touch(place);
        match announced {
            Some(seq) if from == self.id => self.subscriptions.announcer.wait(seq, Waiter::Reply(request.place)),
            Some(seq) => self.subscriptions.announcer.wait(seq, Waiter::Join(from, request)),
            None if from == self.id => self.confirmed(request.place),
            None => self.mail.post.control(from, Control::Joined { request, refused: None }),
        }
    }

    /// Whether a member more, and perhaps a group more, is within bounds; the group is counted then.
    fn has_room_for(
        &mut self,
        known: Option<usize>,
        member: SessionKey,
        whose: (&Identity, &str),
        request: JoinRequest,
    ) -> bool {
        match known.and_then(|place| self.groups.table.get(place)) {
            Some(owned) => owned.group.can_join(member),
            None => self.may_begin_group(whose, request),
        }
    }

    /// Counts a group that is to begin, for its holder too; false when one of them has enough. Who was a member when the
    /// node went down is one in any case.
    fn may_begin_group(&mut self, (identity, client_id): (&Identity, &str), request: JoinRequest) -> bool {
        let (shares, holder) = (&self.shared.shares.groups, Holder::of_client(identity.name(), client_id));
        let groups_max = self.shared.config.dispatch.groups_max;
        if request == JoinRequest::NOBODY_WAITS {
            return self.shared.groups.begins(groups_max);
        }
        if let Err(beyond) = shares.take(holder, self.shared.groups.free(groups_max)) {
            self.refused_group((identity.name(), client_id), beyond);
            return false;
        }
        let begins = self.shared.groups.begins(groups_max);
        if !begins {
            shares.give_back(holder);
        }
        begins
    }

    fn refused_group(&self, (name, client_id): (Option<&str>, &str), beyond: Beyond) {
        self.counters.limits.refused_share_groups.add(1);
        if !self.shared.shares.groups.may_tell(self.now_ms) {
            return;
        }
        let groups_max = self.shared.config.dispatch.groups_max;
        let times = self.shared.config.limits.held_times_free_max;
        let words = match beyond {
            Beyond::Most(most) => format!("{most} groups (limits.groups_per_identity_max)"),
            Beyond::Free(held) => format!(
                "{held} of all groups (dispatch.groups_max = {groups_max}), more than {times} times what is free \
                 (limits.held_times_free_max)"
            ),
        };
        let text = format!("{} has begun {words}: one more was refused", told(name.unwrap_or(client_id)));
        let mut facts = share_facts("groups", name);
        facts["client_id"] = told(client_id).into();
        self.shared.notices.tell_with(NoticeKind::Refused, self.now_ms, || (text, facts));
    }

    /// Notes to whose share a group counts: who has begun it, or the first of those that were its members before the node
    /// started. What is declared counts to nobody's.
    fn charge_group(
        &mut self,
        place: usize,
        known: Option<usize>,
        (identity, client_id): (&Identity, &str),
        request: JoinRequest,
    ) {
        let holder = Holder::of_client(identity.name(), client_id);
        let Some(owned) = self.groups.table.get(place) else { return };
        let is_declared = owned.config.filters.iter().any(|filter| **filter == *owned.filter);
        if request == JoinRequest::NOBODY_WAITS && owned.begun_by.is_none() && !is_declared {
            owned.begun_by = Some(holder);
            self.shared.shares.groups.take_anyway(holder);
        } else if known.is_none() && request != JoinRequest::NOBODY_WAITS {
            owned.begun_by = Some(holder);
        }
    }

    fn unsubscribed(&mut self, share: &str, member: SessionKey, epoch: Epoch) {
        let now_us = self.clients.now_us;
        let Some(place) = self.groups.table.find(share) else { return };
        let Some(owned) = self.groups.table.get(place) else { return };
        owned.group.unsubscribe(member, epoch, now_us);
        self.groups.table.touch(place);
        self.strike_if_gone(place, member);
    }

    fn lost(&mut self, member: SessionKey, epoch: Epoch, sent: &[Bound]) {
        let sent = by_group(sent);
        self.in_groups_of(member, |owned, now_us| {
            let written = sent.get(&owned.tag).map_or(&[][..], Vec::as_slice);
            owned.group.lost(member, epoch, Written::These(written), now_us);
        });
        for place in self.groups.table.of_member(member) {
            self.strike_if_gone(place, member);
        }
    }

    fn ended(&mut self, member: SessionKey, epoch: Epoch, sent: &[Bound]) {
        let sent = by_group(sent);
        self.in_groups_of(member, |owned, now_us| {
            let written = sent.get(&owned.tag).map_or(&[][..], Vec::as_slice);
            owned.group.end(member, epoch, Written::These(written), now_us);
        });
        for place in self.groups.table.of_member(member) {
            self.strike(place, member);
        }
    }

    fn told(&mut self, told: &Told) {
        let Told { member, epoch, outcome: Outcome { bound, fate } } = *told;
        let now_us = self.clients.now_us;
        let Some(place) = self.groups.table.of_tag(bound.group) else { return };
        let Some(owned) = self.groups.table.get(place) else { return };
        let (epoch, id) = (Epoch(epoch), AssignmentId(bound.assignment));
        let group = &mut owned.group;
        // Whether the member had it: if not, that is counted in the group.
        let _ = match fate {
            Fate::Acknowledged { written_us, read_us } => {
                group.acknowledged(member, epoch, id, Stamps { written_us, read_us }, now_us)
            }
            Fate::Refused => group.refused(member, epoch, id, now_us),
            Fate::Undeliverable => group.undeliverable(member, epoch, id, now_us),
            Fate::HandedBack => group.handed_back(member, epoch, id, now_us),
            Fate::HandedOver => {
                let entry = group.handed_over(member, id);
                return entry.into_iter().for_each(|entry| self.finish_message(place, entry));
            }
        };
        self.groups.table.touch(place);
        self.strike_if_gone(place, member);
    }

    /// Who had unsubscribed and has nothing any more is forgotten.
    fn strike_if_gone(&mut self, place: usize, member: SessionKey) {
        if self.groups.table.get(place).is_some_and(|owned| !owned.group.has_member(member)) {
            self.strike(place, member);
        }
    }

    /// Nothing is known of a member any more.
    fn strike(&mut self, place: usize, member: SessionKey) {
        self.groups.table.strike(place, member);
        let _ = self.keep_group(place);
    }

    fn in_groups_of(&mut self, member: SessionKey, mut work: impl FnMut(&mut super::owned::OwnedGroup, u64)) {
        let now_us = self.clients.now_us;
        for place in self.groups.table.of_member(member) {
            if let Some(owned) = self.groups.table.get(place) {
                work(owned, now_us);
            }
            self.groups.table.touch(place);
        }
    }
}

fn by_group(sent: &[Bound]) -> Sent {
    let mut by_group = Sent::default();
    for bound in sent {
        by_group.entry(bound.group).or_default().push(AssignmentId(bound.assignment));
    }
    by_group
}
