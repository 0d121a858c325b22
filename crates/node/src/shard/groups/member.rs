//! The side of a group's member: what its shard writes, closes, and tells the owner.

use lapwing_codec::ReasonCode;
use lapwing_session::{Bound, Fate, Outcome, Routed, Session, SessionKey, Unfinished};

use super::membership::owner_of;
use super::{Membership, Shard};
use crate::mail::{Assigned, Control};
use crate::metrics::DropReason;
use crate::slot::ShardId;
use crate::words::Word;

impl Shard {
    /// Writes a message that a group has bound to a session here, if it is the same connection still.
    pub(in crate::shard) fn deliver_assigned(&mut self, assigned: &Assigned, routed: &Routed<'_>) {
        let Assigned { to, epoch, grant, share, bound, qos, .. } = *assigned;
        let here = self.clients.row(to).filter(|row| row.connection().is_some() && row.membership.epoch == epoch);
        let Some(row) = here else {
            // The word of its end brings the message back to the group; what is not bound has nowhere to go.
            self.counters.dropped(DropReason::SessionGone, u64::from(bound.is_none()));
            return;
        };
        if !row.membership.has(share) {
            // It has unsubscribed meanwhile.
            match bound {
                Some(bound) => self.clients.add_outcome(to, Outcome { bound, fate: Fate::HandedBack }),
                None => self.counters.dropped(DropReason::SessionGone, 1),
            }
            return;
        }
        if let (Some(kept), Some(bound), Some(origin)) = (row.kept_as.kept, bound, assigned.origin) {
            return self.hand_over_message(assigned, (kept, bound, origin), routed);
        }
        self.counters.deliveries.add(1);
        if bound.is_none() {
            // Nobody acknowledges it: what the kernel says is all there is.
            self.sample(to);
        }
        let now_ms = self.now_ms;
        // What it comes to is told as an outcome, or counted by the session.
        let _ = self.clients.with(to, |session, io| session.deliver_bound(routed, &grant, qos, bound, now_ms, io));
    }

    /// A group has found that the member has stalled.
    pub(in crate::shard) fn kicked(&mut self, member: SessionKey, epoch: u64) {
        let Some(row) = self.clients.row(member).filter(|row| row.membership.epoch == epoch) else { return };
        if let Some(index) = row.connection() {
            self.dismiss(index, ReasonCode::AdministrativeAction, "it has stalled: its oldest message is long overdue");
        }
    }

    /// Tells owners what became of bound messages. Before every other word: it must not be overtaken.
    pub(in crate::shard) fn tell_outcomes(&mut self) {
        if self.clients.outcomes.is_empty() {
            return;
        }
        let outcomes = self.clients.outcomes.take();
        for &told in &outcomes {
            self.sample(told.member);
            let owner = owner_of(told.outcome.bound);
            if owner != self.id {
                self.mail.post.told(owner, told);
            } else if !self.groups.words.back_mut().is_some_and(|word| word.append(told)) {
                self.groups.words.push_back(Word::Outcomes(vec![told]));
            }
        }
        self.clients.outcomes.recycle(outcomes);
    }

    /// Says a word about a session here to the owner of groups, behind what became of messages until now.
    pub(in crate::shard) fn tell(&mut self, owner: ShardId, word: Word) {
        self.tell_outcomes();
        self.say(owner, word);
    }

    /// The same for a word that may go before outcomes.
    pub(super) fn say(&mut self, owner: ShardId, word: Word) {
        if owner == self.id {
            self.groups.words.push_back(word);
        } else {
            self.mail.post.control(owner, Control::Word(word));
        }
    }

    /// The connection of a session is over, and the session lives.
    pub(in crate::shard) fn tell_lost(&mut self, key: SessionKey) {
        let Some(row) = self.clients.row(key) else { return };
        let (owners, epoch) = (row.membership.owners(), row.membership.epoch);
        if !row.membership.has_owners() {
            return;
        }
        let unfinished = self.clients.with(key, |session, _| session.unbind(false)).unwrap_or_default();
        for owner in owners {
            let sent = sent_by(&unfinished, owner);
            self.tell(owner, Word::Lost { member: key, epoch, sent });
        }
    }

    /// A session has a connection again.
    pub(in crate::shard) fn tell_back(&mut self, key: SessionKey) {
        let Some(row) = self.clients.row(key) else { return };
        let (epoch, profile) = (row.membership.epoch, row.membership.profile(row.session.client_id()));
        for owner in row.membership.owners() {
            self.tell(owner, Word::Back { member: key, epoch, profile });
        }
    }

    /// A session is over.
    pub(in crate::shard) fn tell_end(&mut self, session: &mut Session, membership: &Membership) {
        if !membership.has_owners() {
            return;
        }
        let unfinished = session.unbind(true);
        for owner in membership.owners() {
            let sent = sent_by(&unfinished, owner);
            self.tell(owner, Word::End { member: session.key(), epoch: membership.epoch, sent });
        }
    }
}

/// What `owner` had bound and may have reached the client.
fn sent_by(unfinished: &[Unfinished], owner: ShardId) -> Box<[Bound]> {
    let of_owner = unfinished.iter().filter(|one| one.was_sent && owner_of(one.bound) == owner);
    of_owner.map(|one| one.bound).collect()
}
