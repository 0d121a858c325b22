//! What groups want done, carried out.

use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_groups::{Action, Delivery, Epoch, Notice};
use lapwing_session::{Bound, Message, Routed, SessionKey};

use super::Shard;
use crate::mail::{Assigned, Interest};
use crate::metrics::DropReason;
use crate::notices::NoticeKind;
use crate::shard::Due;
use crate::shard::connections::session_table::shard_of;

/// What one action may lead to (a message that cannot be encoded, and so goes to the next one) is done at once so many
/// times; the rest waits for the next turn.
const ROUNDS: usize = 8;

impl Shard {
    /// Hears what members here have to say and does what groups here want, until there is no more of either.
    ///
    /// Before the node listens groups only listen: what they would publish (letters of what has expired while the node was down)
    /// would miss subscribers that other shards have not told of yet.
    pub(in crate::shard) fn run_groups(&mut self) {
        self.clients.now_us = self.shared.now_us();
        self.hand_over_waiting();
        for _ in 0..ROUNDS {
            self.tell_outcomes();
            self.hear_words();
            self.take_choices();
            if !self.has_group_to_run() {
                break;
            }
            while let Some(place) = self.groups.table.next_dirty() {
                self.run_group(place);
            }
        }
    }

    /// Whether a turn would bring a group on.
    pub(in crate::shard) fn has_group_work(&mut self) -> bool {
        self.has_choices()
            || !self.groups.words.is_empty()
            || self.has_group_to_run()
            || !self.clients.outcomes.is_empty()
    }

    fn has_group_to_run(&self) -> bool {
        self.connections.is_listening && self.groups.table.has_dirty()
    }

    fn hear_words(&mut self) {
        // Only as many as there are now.
        for _ in 0..self.groups.words.len() {
            let Some(word) = self.groups.words.pop_front() else { break };
            self.take_word(self.id, word);
        }
    }

    fn run_group(&mut self, place: usize) {
        let Some(owned) = self.groups.table.get(place) else { return };
        let actions: Vec<_> = owned.group.take_actions().collect();
        for action in actions {
            match action {
                Action::Send(delivery) => self.send(place, &delivery),
                Action::Kick { member, epoch } => self.kick(member, epoch),
                Action::DeadLetter { message, facts, reason } => {
                    let kept_by = self.dead_letter(place, &message, &facts, reason);
                    self.letter_is_out(place, facts.entry, kept_by);
                }
                Action::Missed { member, message, facts, took_us } => {
                    self.missed(place, member, &message, &facts, took_us);
                }
                Action::Notice(notice) => self.note(place, &notice),
            }
        }
        let Some(owned) = self.groups.table.get(place) else { return };
        self.counters.group_drops.add(owned.newly_dropped());
        if owned.group.is_over() {
            self.forget_group(place);
        } else {
            self.tell_ends(place);
            self.tell_group_loss(place);
            self.set_group_timer(place);
        }
    }

    fn send(&mut self, place: usize, delivery: &Delivery<SessionKey, Arc<Message>>) {
        let Some(owned) = self.groups.table.get(place) else { return };
        let Some(person) = owned.people.get(&delivery.to) else {
            // Its session has ended since: what was bound is back in the queue, what was not has nowhere to go.
            return self.counters.dropped(DropReason::SessionGone, u64::from(delivery.assignment.is_none()));
        };
        let origin = owned.origin(delivery.entry, delivery.qos);
        debug_assert!(self.durable.has_committed(origin), "bound before its entry is committed");
        let bound = delivery.assignment.map(|id| Bound { group: owned.tag, assignment: id.0 });
        let assigned = Assigned {
            to: delivery.to,
            epoch: delivery.epoch.0,
            grant: person.grant,
            share: owned.share,
            bound,
            qos: delivery.qos,
            expires_at_ms: delivery.message.expires_at_ms(),
            origin,
        };
        let shard = shard_of(delivery.to);
        if shard == self.id {
            self.deliver_assigned(&assigned, &Routed::of(&delivery.message));
        } else {
            self.counters.forwarded.add(1);
            self.mail.post.assigned(shard, assigned, &delivery.message.publish(), &mut self.durable.log);
        }
    }

    fn kick(&mut self, member: SessionKey, epoch: Epoch) {
        let shard = shard_of(member);
        if shard == self.id {
            self.kicked(member, epoch.0);
        } else {
            self.mail.post.kick(shard, member, epoch.0, &mut self.durable.log);
        }
    }

    fn note(&mut self, place: usize, notice: &Notice<SessionKey>) {
        let Some(owned) = self.groups.table.get(place) else { return };
        let name = &owned.name;
        let filter = &owned.filter;
        let seconds = |backlog_s: Option<f64>| match backlog_s {
            Some(backlog_s) => format!("{backlog_s:.1} s of work wait"),
            None => "nobody is there to do its work".to_owned(),
        };
        let client_id = |member| owned.people.get(member).map_or("?", |person| &*person.client_id);
        let mut kind = NoticeKind::Group;
        let text = match notice {
            Notice::StallsAgain { member } => format!(
                "group {name} on {filter}: member {} has stalled twice in a row and is given more time; if its work takes so \
                 long, let it report (`$lapwing/report`) or raise stall_ms of the group's parameters",
                client_id(member)
            ),
            Notice::Undeliverable { member } => {
                kind = NoticeKind::Lost;
                let last = member.as_ref().map(|member| format!(", {} the last", client_id(member)));
                format!(
                    "group {name} on {filter} begins to lose messages that were acknowledged to their publishers: none of its \
                     members can have them{} (too large for its Maximum Packet Size, say); see \"undeliverable\" in lapwing \
                     groups --json",
                    last.unwrap_or_default()
                )
            }
            Notice::FellBehind { backlog_s } => {
                format!("group {name} on {filter} is behind: {}; add members", seconds(*backlog_s))
            }
            Notice::CaughtUp { .. } => format!("group {name} on {filter} has caught up"),
            Notice::AcknowledgesOnReceipt { member } => {
                let client_id = client_id(member);
                format!(
                    "group {name} on {filter}: member {client_id} acknowledges on receipt, so it gets its turn only; \
                     let it acknowledge when it has finished (lapwing-ack=processed), or report its queue"
                )
            }
        };
        self.shared.tell(kind, text);
    }

    fn forget_group(&mut self, place: usize) {
        if let Some(owned) = self.groups.table.remove(place) {
            self.close_account(&owned);
            self.shared.groups.ends();
            owned.begun_by.into_iter().for_each(|holder| self.shared.shares.groups.give_back(holder));
            self.subscriptions.announcer.unwant(Interest::Groups, &owned.filter, &mut self.mail.post);
            if let (Some(kept), Some(keeping)) = (owned.kept, &mut self.clients.keeping) {
                keeping.group_ended(kept);
                self.subscriptions.announcer.unwant(Interest::Kept, &owned.filter, &mut self.mail.post);
            }
        }
    }

    /// Lets a group's next deadline wake this shard, unless an earlier timer does so anyway.
    fn set_group_timer(&mut self, place: usize) {
        let now_us = self.clients.now_us;
        let Some(owned) = self.groups.table.get(place) else { return };
        let Some(at_us) = owned.group.next_wake_us(now_us) else { return };
        let at_ms = at_us / 1000;
        if owned.timer_ms.is_none_or(|timer_ms| at_ms < timer_ms) {
            owned.timer_ms = Some(at_ms);
            let tag = owned.tag;
            self.timers.add(at_ms, Due::Group(tag));
        }
    }

    /// A group's deadline has come.
    pub(in crate::shard) fn group_due(&mut self, tag: NonZeroU64, at_ms: u64) {
        let now_us = self.shared.now_us();
        let Some(place) = self.groups.table.of_tag(tag) else { return };
        // One timer per group counts, the one that it remembers.
        let Some(owned) = self.groups.table.get(place).filter(|owned| owned.timer_ms == Some(at_ms)) else { return };
        owned.timer_ms = None;
        owned.group.tick(now_us);
        self.groups.table.touch(place);
    }
}
