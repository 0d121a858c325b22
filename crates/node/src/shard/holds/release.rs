//! A hold offers what waits in it.

use std::sync::Arc;

use lapwing_session::Routed;

use super::owned::{HeldMessage, Offer, OfferBatch};
use super::queue::Waiting;
use super::{Holds, Shard};
use crate::mail::{HoldRoute, Offered, OfferedList, RouteFlags, RouteHeader};
use crate::shard::Due;
use crate::shard::publish::route::{EVERYBODY, RoutePlan, Target};

/// What other shards are told of a message that a rule keeps in memory alone.
const HELD_IN_MEMORY: RouteFlags = RouteFlags::HELD.with(RouteFlags::IN_MEMORY);
/// Messages offered by one hold in one turn.
const OFFERED_PER_TURN: usize = 4096;
/// Messages of one batch; their places are 16 bits.
const BATCH_MESSAGES: usize = 4096;
/// Bytes of one batch, roughly.
const BATCH_BYTES: u64 = 4 << 20;
/// Nodes of the tree of topics that a search looks at in one turn.
const NODES_PER_TURN: usize = 512;
/// Messages that expire in one turn.
const EXPIRED_PER_TURN: usize = 1024;
/// When what had a receiver without room is tried again.
const AGAIN_MS: u64 = 20;

/// Who wants a topic.
#[derive(Clone, Copy, Debug, Default)]
struct Targets {
    /// Somebody here.
    own: bool,
    /// The other shards.
    plan: RoutePlan,
}

impl Targets {
    fn count(self) -> u32 {
        self.plan.count() + u32::from(self.own)
    }
}

impl Shard {
    /// One step of a hold.
    pub(super) fn run_hold(&mut self, place: usize) {
        self.expire_held(place);
        let Some(hold) = self.holds.owned.get_mut(place) else { return };
        if hold.batch.is_none() {
            if hold.queue.is_searching() {
                hold.queue.search(NODES_PER_TURN);
            }
            self.offer_held(place);
        }
        self.tell_if_losing(place);
        self.set_hold_timer(place);
    }

    fn expire_held(&mut self, place: usize) {
        let now_ms = self.now_ms;
        let Some(hold) = self.holds.owned.get_mut(place) else { return };
        let mut gone = Vec::new();
        hold.queue.expire(now_ms, EXPIRED_PER_TURN, |waiting| gone.push(waiting.item.entry));
        hold.counters.expired.add(gone.len() as u64);
        gone.into_iter().for_each(|entry| self.finish_held(place, entry));
    }

    /// Offers what is ready, in order, until a batch is full or the turn's share is used up.
    fn offer_held(&mut self, place: usize) {
        let mut batch = OfferBatch::default();
        let mut bytes = 0;
        for _ in 0..OFFERED_PER_TURN {
            if batch.items.len() >= BATCH_MESSAGES || bytes >= BATCH_BYTES || !self.mail.post.has_credit() {
                break;
            }
            let Some(topic) = self.holds.owned[place].queue.next_ready().cloned() else { break };
            let targets = self.targets_of(&topic);
            if targets.count() == 0 {
                self.pass_over_held(place);
                continue;
            }
            let Some((number, waiting)) = self.holds.owned[place].queue.take_ready() else { break };
            if waiting.deadline_ms.is_some_and(|at_ms| at_ms <= self.now_ms) {
                self.holds.owned[place].counters.expired.add(1);
                self.finish_held(place, waiting.item.entry);
                continue;
            }
            if batch.number == 0 {
                let hold = &mut self.holds.owned[place];
                hold.batches = hold.batches.wrapping_add(1).max(1);
                batch.number = hold.batches;
            }
            bytes += waiting.bytes;
            self.offer_one(place, (number, waiting), targets, &mut batch);
        }
        if batch.outstanding > 0 {
            self.holds.owned[place].batch = Some(batch);
        }
    }

    /// Offers one message: here at once, and with the batch to other shards.
    fn offer_one(
        &mut self,
        place: usize,
        (number, waiting): (u64, Waiting<HeldMessage>),
        targets: Targets,
        batch: &mut OfferBatch,
    ) {
        let hold = &self.holds.owned[place];
        // Of several places those with room would have it twice.
        let may_wait = targets.count() == 1 && hold.is_patient(&waiting, self.now_ms);
        let message = Arc::clone(&waiting.item.message);
        let origin = hold.origin(&waiting.item);
        debug_assert!(self.durable.has_committed(origin), "offered before its entry is committed");
        let header = RouteHeader {
            flags: if waiting.item.in_memory { HELD_IN_MEMORY } else { RouteFlags::HELD },
            publisher: waiting.item.publisher,
            ingress_us: waiting.item.ingress_us,
            expires_at_ms: message.expires_at_ms(),
            origin,
            ..RouteHeader::default()
        };
        let (mut offered, mut is_kept) = (Offered::Nobody, false);
        if targets.own {
            let routed = Routed::of(&message);
            let mut context = self.context_of_mail(&routed, &header);
            (offered, is_kept) = self.offer_here(&mut context, EVERYBODY, may_wait);
            self.flush_large();
        }
        let shards = targets.plan.count();
        if shards == 0 {
            return self.settle_held(place, Offer { number, waiting, offered, is_kept, may_wait });
        }
        let hold_route = HoldRoute {
            hold: place as u32,
            batch: batch.number,
            index: batch.items.len() as u16,
            may_wait,
            publisher: message.publisher(),
        };
        let header = RouteHeader { held: Some(hold_route), ..header };
        is_kept |= self.post_route(targets.plan, &header, &message.publish());
        batch.outstanding += shards as usize;
        batch.items.push(Offer { number, waiting, offered, is_kept, may_wait });
    }

    /// Another shard says what became of messages that it was offered.
    pub(in crate::shard) fn hear_offered(&mut self, list: &OfferedList) {
        let place = list.hold as usize;
        let Some(hold) = self.holds.owned.get_mut(place) else { return };
        let Some(mut batch) = hold.batch.take_if(|batch| batch.number == list.batch) else {
            debug_assert!(false, "an answer to no batch");
            return;
        };
        for (index, offered) in &list.answers {
            batch.outstanding = batch.outstanding.saturating_sub(1);
            if let Some(offer) = batch.items.get_mut(usize::from(*index)) {
                offer.offered = offer.offered.max(*offered);
            }
        }
        if batch.outstanding > 0 {
            hold.batch = Some(batch);
            return;
        }
        // The last first, so that each comes to stand before those behind it.
        batch.items.into_iter().rev().for_each(|offer| self.settle_held(place, offer));
    }

    /// What becomes of a message that was offered to everybody.
    fn settle_held(&mut self, place: usize, offer: Offer) {
        let Offer { number, waiting, offered, is_kept, may_wait } = offer;
        let now_ms = self.now_ms;
        let Shard { holds, clients, .. } = self;
        let Holds { owned, finishing, .. } = holds;
        let hold = &mut owned[place];
        match offered {
            Offered::Taken => {
                hold.counters.released.add(1);
                if may_wait {
                    hold.taken_ms = now_ms;
                }
                match waiting.item.entry {
                    // When everybody who keeps it has it on disk: a crash before makes it twice, and loses none.
                    Some(entry) if is_kept => finishing.push_back((clients.commit_tokens.take(), place, entry)),
                    entry => self.finish_held(place, entry),
                }
            }
            Offered::Full => hold.queue.park(number, waiting, now_ms),
            Offered::Nobody => {
                let mut gone = Vec::new();
                hold.queue.put_back(number, waiting, |waiting| gone.push(waiting.item.entry));
                self.overflowed(place, gone);
            }
        }
    }

    fn pass_over_held(&mut self, place: usize) {
        let mut gone = Vec::new();
        self.holds.owned[place].queue.pass_over(|waiting| gone.push(waiting.item.entry));
        self.overflowed(place, gone);
    }

    fn overflowed(&mut self, place: usize, gone: Vec<Option<std::num::NonZeroU64>>) {
        self.holds.owned[place].counters.overflowed.add(gone.len() as u64);
        gone.into_iter().for_each(|entry| self.finish_held(place, entry));
    }

    fn tell_if_losing(&mut self, place: usize) {
        let hold = &mut self.holds.owned[place];
        if hold.begins_to_lose() {
            let (filter, waits) = (hold.filter.clone(), (hold.queue.len(), hold.queue.bytes()));
            self.tell_hold_loss(&filter, waits);
        }
    }

    fn targets_of(&mut self, topic: &str) -> Targets {
        let mut targets =
            Targets { own: !self.groups.table.is_empty() && self.groups.table.wants(topic), ..Targets::default() };
        self.subscriptions.tree.matches(topic, |entries| match entries[0].subscriber {
            Target::Session(_) => targets.own = true,
            other => _ = targets.plan.add(other),
        });
        targets
    }

    /// Shows what waits, and lets the next deadline wake this shard.
    fn set_hold_timer(&mut self, place: usize) {
        let again_ms = self.now_ms + AGAIN_MS;
        let hold = &mut self.holds.owned[place];
        hold.show();
        let again = hold.queue.has_parked().then_some(again_ms);
        let Some(at_ms) = hold.queue.next_deadline_ms().into_iter().chain(again).min() else { return };
        if hold.timer_ms.is_none_or(|timer_ms| at_ms < timer_ms) {
            hold.timer_ms = Some(at_ms);
            self.timers.add(at_ms, Due::Hold(place));
        }
    }
}
