//! A message for a hold: from its publisher's shard to the owner, and there into the queue.

use std::num::NonZeroU64;

use lapwing_codec::QoS;
use lapwing_session::{Accepted, Routed};

use super::book::HOLD_NAME;
use super::owned::HeldMessage;
use super::{Holds, Shard};
use crate::mail::{HoldRoute, RouteFlags, RouteHeader};
use crate::shard::keeping::{About, Origin};
use crate::slot::{ShardId, stable_hash};

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
        routed: &Routed<'_>,
        client_id: &str,
        origin: Option<Origin>,
    ) -> Accepted {
        let in_stream = self.append_to_streams(routed, client_id);
        let in_memory = self.note_in_memory(routed.publish());
        let owner = self.holds.book.owner(hold);
        let header = RouteHeader {
            flags: if in_memory { RouteFlags::IN_MEMORY } else { RouteFlags::default() },
            publisher: stable_hash(client_id.as_bytes()),
            ingress_us: self.clients.now_us,
            expires_at_ms: routed.expires_at_ms(),
            origin,
            ..RouteHeader::default()
        };
        let is_kept = if owner == self.id {
            self.note_repeats(origin);
            self.hold_message(hold, routed, &header)
        } else {
            self.post_to_hold((owner, hold), routed, header)
        };
        if in_stream || is_kept { Accepted::Later(self.clients.commit_tokens.take()) } else { Accepted::Now }
    }

    /// Sends a message to the shard of its hold; true when that has to keep it.
    fn post_to_hold(&mut self, (owner, hold): (ShardId, u32), routed: &Routed<'_>, header: RouteHeader) -> bool {
        self.clients.in_memory = false;
        let is_durable = self.holds.book.is_durable(hold) && !header.flags.has(RouteFlags::IN_MEMORY);
        let flags = header.flags.with(RouteFlags::HOLD);
        let flags = if is_durable { flags.with(RouteFlags::KEEP) } else { flags };
        let held = Some(HoldRoute { hold, batch: 0, index: 0, may_wait: false, publisher: routed.publisher() });
        self.counters.forwarded.add(1);
        self.sequences.post(owner);
        if is_durable {
            self.clients.commit_tokens.posted(owner.index());
        }
        self.post.publish(owner, RouteHeader { flags, held, ..header }, routed.publish(), &mut self.log);
        is_durable
    }

    /// Puts a message into a hold here; true when the log has it and somebody waits for that.
    pub(in crate::shard) fn hold_message(&mut self, hold: u32, routed: &Routed<'_>, header: &RouteHeader) -> bool {
        let place = self.holds.places.get(hold as usize).copied().flatten();
        let Some(place) = place.filter(|place| self.may_hold(*place, routed)) else {
            (self.clients.repeats, self.clients.in_memory) = (0, false);
            return false;
        };
        let Shard { holds, clients, log, now_ms, .. } = self;
        let hold = &mut holds.owned[place];
        let (publish, mut entry) = (routed.publish(), None);
        let in_memory = header.flags.has(RouteFlags::IN_MEMORY);
        if let (Some(keeping), Some(log), true) = (&mut clients.keeping, log, hold.logs && !in_memory) {
            let kept = *hold.kept.get_or_insert_with(|| keeping.begin_group(log, HOLD_NAME, &hold.filter));
            entry = NonZeroU64::new(keeping.next_index(kept.slot));
            keeping.group_keeper(kept);
            hold.unsettled.extend(entry.filter(|_| publish.qos == QoS::ExactlyOnce));
        }
        let deadline_ms = hold.deadline_ms(*now_ms, routed.expires_at_ms());
        let RouteHeader { publisher, ingress_us, origin, .. } = *header;
        let message = routed.keep().clone();
        let held = HeldMessage { message, publisher, ingress_us, entry, in_memory, is_resent: false };
        hold.queue.add(publish.topic, routed.footprint() as u64, deadline_ms, held);
        self.keep(routed, None, About { publisher, origin, holder: None })
    }

    /// Whether a hold takes a message: it has not got it from before the node started, and has room.
    fn may_hold(&mut self, place: usize, routed: &Routed<'_>) -> bool {
        let Shard { holds, clients, .. } = self;
        let hold = &mut holds.owned[place];
        hold.counters.received.add(1);
        if hold.kept.is_some_and(|kept| clients.repeats & kept.bit() != 0) {
            return false;
        }
        if clients.keeps_no_more && hold.queue.len() > 0 {
            hold.counters.memory_full.add(1);
            return false;
        }
        let mut gone = Vec::new();
        let has_room = hold.queue.make_room(routed.footprint() as u64, |waiting| gone.push(waiting.item.entry));
        hold.counters.overflowed.add(gone.len() as u64 + u64::from(!has_room));
        gone.into_iter().for_each(|entry| self.finish_held(place, entry));
        has_room
    }

    /// A message of a hold has ended: the log need not have it any more.
    pub(super) fn finish_held(&mut self, place: usize, entry: Option<NonZeroU64>) {
        let Shard { holds, clients, .. } = self;
        let (Some(hold), Some(entry)) = (holds.owned.get_mut(place), entry) else { return };
        hold.unsettled.remove(&entry);
        if let (Some(kept), Some(keeping)) = (hold.kept, &mut clients.keeping) {
            keeping.note(kept, lapwing_session::Fact::Finished { entry });
        }
    }
}
