//! A message for a hold: from its publisher's shard to the owner, and there into the queue.

use std::num::NonZeroU64;

use lapwing_codec::QoS;
use lapwing_session::{Accepted, Routed};

use super::book::HOLD_NAME;
use super::owned::HeldMessage;
use super::{Holds, Shard};
use crate::mail::{HoldRoute, RouteFlags, RouteHeader};
use crate::shard::durable::DurableRoom;
use crate::shard::durable::awaited_entries::Awaited;
use crate::shard::publish::delivery::DeliveryContext;
use crate::slot::ShardId;

impl Holds {
    /// The hold that a message goes through. Retained ones are kept already, and QoS 0 waits for nobody.
    #[inline]
    pub(in crate::shard) fn of(&mut self, routed: &Routed<'_>) -> Option<u32> {
        let publish = routed.publish();
        if !self.any() || publish.retain || !publish.qos.is_acknowledged() {
            return None;
        }
        self.book.find(publish.topic)
    }
}

impl Shard {
    /// Routes a message that goes through a hold: streams have it here, everybody else from the owner.
    pub(in crate::shard) fn route_through(
        &mut self,
        hold: u32,
        context: &mut DeliveryContext<'_>,
        client_id: &str,
    ) -> Accepted {
        let in_stream = self.append_to_streams(context.routed, client_id);
        let owner = self.holds.book.owner(hold);
        let is_kept =
            if owner == self.id { self.hold_message(hold, context) } else { self.post_to_hold((owner, hold), context) };
        if in_stream || is_kept { Accepted::Later(self.clients.commit_tokens.take()) } else { Accepted::Now }
    }

    /// Sends a message to the shard of its hold; true when that has to keep it.
    fn post_to_hold(&mut self, (owner, hold): (ShardId, u32), context: &DeliveryContext<'_>) -> bool {
        let (routed, header) = (context.routed, context.header());
        let is_durable = self.holds.book.is_durable(hold) && !context.in_memory;
        let flags = header.flags.with(RouteFlags::HOLD);
        let flags = if is_durable { flags.with(RouteFlags::KEEP) } else { flags };
        let held = Some(HoldRoute { hold, batch: 0, index: 0, may_wait: false, publisher: routed.publisher() });
        self.post_message(owner, RouteHeader { flags, held, ..header }, routed.publish());
        is_durable
    }

    /// Puts a message into a hold here; true when the log has it and somebody waits for that.
    pub(in crate::shard) fn hold_message(&mut self, hold: u32, context: &mut DeliveryContext<'_>) -> bool {
        let place = self.holds.places.get(hold as usize).copied().flatten();
        let Some(place) = place.filter(|place| self.may_hold(*place, context)) else { return false };
        let Shard { holds, clients, durable: DurableRoom { log, awaited_entries, .. }, now_ms, .. } = self;
        let hold = &mut holds.owned[place];
        let (routed, mut entry) = (context.routed, None);
        let publish = routed.publish();
        let is_exact = publish.qos == QoS::ExactlyOnce;
        if let (Some(keeping), Some(log), true) = (&mut clients.keeping, log, hold.logs && !context.in_memory) {
            let kept = *hold.kept.get_or_insert_with(|| keeping.begin_group(log, HOLD_NAME, &hold.filter));
            if let Some((index, keepers)) = context.entry_for(kept, Some(keeping)) {
                keepers.add_group(kept, index);
                hold.unsettled.extend(Some(index).filter(|_| is_exact));
                entry = Some(index);
            }
        }
        let deadline_ms = hold.deadline_ms(*now_ms, routed.expires_at_ms());
        let DeliveryContext { publisher, ingress_us, in_memory, .. } = *context;
        let message = routed.keep().clone();
        let publisher = publisher.get();
        let held = HeldMessage { message, publisher, ingress_us, entry, in_memory, is_resent: false };
        let through = hold.queue.add(publish.topic, routed.footprint() as u64, deadline_ms, held);
        if is_exact && entry.is_some() {
            hold.queue.await_commit(through);
            awaited_entries.push(Awaited::Offer { place, through });
        }
        self.keep(context, None)
    }

    /// Whether a hold takes a message: it has not got it from before the node started, and has room.
    fn may_hold(&mut self, place: usize, context: &DeliveryContext<'_>) -> bool {
        let Shard { holds, clients, .. } = self;
        let hold = &mut holds.owned[place];
        hold.counters.received.add(1);
        if hold.kept.is_some_and(|kept| context.is_repeat(kept.slot)) {
            return false;
        }
        if clients.keeps_no_more && hold.queue.len() > 0 {
            hold.counters.memory_full.add(1);
            return false;
        }
        let mut gone = Vec::new();
        let has_room = hold.queue.make_room(context.routed.footprint() as u64, |waiting| gone.push(waiting.item.entry));
        hold.counters.overflowed.add(gone.len() as u64 + u64::from(!has_room));
        gone.into_iter().for_each(|entry| self.finish_held(place, entry));
        has_room
    }

    /// A message of a hold has ended: the log need not have it any more.
    pub(super) fn finish_held(&mut self, place: usize, entry: Option<NonZeroU64>) {
        let Shard { holds, clients, durable: DurableRoom { awaited_entries, .. }, .. } = self;
        let (Some(hold), Some(entry)) = (holds.owned.get_mut(place), entry) else { return };
        if hold.unsettled.contains(&entry) {
            awaited_entries.push(Awaited::HoldEnd { place, entry });
        }
        if let (Some(kept), Some(keeping)) = (hold.kept, &mut clients.keeping) {
            keeping.note(kept, lapwing_session::Fact::Finished { entry });
        }
    }

    /// The entries of a hold up to this number of its queue are committed: QoS 2 among them may be offered.
    pub(in crate::shard) fn hold_committed(&mut self, place: usize, through: u64) {
        if let Some(hold) = self.holds.owned.get_mut(place) {
            hold.queue.committed(through);
        }
    }

    /// That a QoS 2 message of a hold has ended is committed: its name may be forgotten by whoever knows it.
    pub(in crate::shard) fn hold_settled(&mut self, place: usize, entry: NonZeroU64) {
        if let Some(hold) = self.holds.owned.get_mut(place) {
            hold.unsettled.remove(&entry);
        }
    }
}
