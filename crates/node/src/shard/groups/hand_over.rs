//! QoS 2 of a kept group for a kept session: the group hands the message over to the session, which has it as its own, on disk,
//! before its client gets it.
//!
//! So its delivery goes on with that client after a crash, as it does after a broken connection. Until the group has heard
//! of it the message is in the log twice; the session's entry names the group's as its origin, and that decides at a start.
//! Only what is sent is handed over: a message that a session cannot send yet is the group's, and goes to others if the
//! connection breaks.

use lapwing_session::{Bound, CommitToken, Delivered, Fate, Outcome, Routed};

use super::Shard;
use super::pending::take_due;
use crate::mail::Assigned;
use crate::shard::durable::keeping::{Kept, Origin};
use crate::shard::groups::GroupRoom;
use crate::shard::publish::delivery::DeliveryContext;

/// So many that wait are looked at to find out whether one of them may go on.
const LOOKED_AT: usize = 64;

impl Shard {
    /// Sends a message as the session's own, or keeps it here until there is room for that. `origin`: of the group.
    pub(super) fn hand_over_message(
        &mut self,
        assigned: &Assigned,
        (kept, bound, origin): (Kept, Bound, Origin),
        routed: &Routed<'_>,
    ) {
        let (to, now_ms) = (assigned.to, self.now_ms);
        if routed.expires_at_ms().is_some_and(|at_ms| at_ms <= now_ms) {
            return self.clients.add_outcome(to, Outcome { bound, fate: Fate::HandedBack });
        }
        if self.groups.pending.hand_overs.has_any_for(to) {
            // There may be room again since those before it found none.
            return self.groups.pending.hand_overs.push(*assigned, routed.keep().clone());
        }
        let mut context = DeliveryContext::new(routed);
        context.origin = Some(origin);
        let entry = context.entry_for(kept, self.clients.keeping.as_deref_mut());
        let delivered = entry.and_then(|(entry, keepers)| {
            self.clients.with(to, |session, io| {
                let delivered = session.hand_over(routed, &assigned.grant, bound, entry, now_ms, io)?;
                if let Some(options) = session.kept_options(entry) {
                    keepers.add_session(kept, entry, &options);
                }
                Some(delivered)
            })?
        });
        let Some(delivered) = delivered else {
            return self.groups.pending.hand_overs.push(*assigned, routed.keep().clone());
        };
        self.counters.deliveries.add(1);
        if delivered == Delivered::Sent && self.keep(&mut context, None) {
            self.groups.pending.handed_over.push_back((self.clients.commit_tokens.take(), to, bound));
        }
    }

    /// Tries again what sessions could not send.
    pub(super) fn hand_over_waiting(&mut self) {
        for (assigned, message) in self.groups.pending.hand_overs.take() {
            self.deliver_assigned(&assigned, &Routed::of(&message));
        }
    }

    /// Whether a session has room now for what waits for it, or is not there any more.
    pub(in crate::shard) fn may_hand_over(&mut self) -> bool {
        let Shard { groups: GroupRoom { pending, .. }, clients, .. } = self;
        let mut first = pending.hand_overs.iter().take(LOOKED_AT);
        first.any(|(assigned, _)| clients.takes_next(assigned.to, assigned.epoch))
    }

    /// Everything up to `through` is committed: groups hear what sessions have as their own, and of dead letters that are where
    /// they belong.
    pub(in crate::shard) fn groups_committed(&mut self, through: CommitToken) {
        while let Some((_, to, bound)) = take_due(&mut self.groups.pending.handed_over, through, |(token, ..)| *token) {
            // Of a session that is over its end has been told.
            self.clients.add_outcome(to, Outcome { bound, fate: Fate::HandedOver });
        }
        while let Some((_, tag, entry)) = take_due(&mut self.groups.pending.letters, through, |(token, ..)| *token) {
            if let Some(place) = self.groups.table.of_tag(tag) {
                self.finish_message(place, entry);
            }
        }
    }
}
