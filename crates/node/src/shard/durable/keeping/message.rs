//! One message that sessions, consumer groups or the retained table keep: one entry for each data group.

use std::num::NonZeroU64;

use lapwing_codec::{PacketId, Publish};
use lapwing_ledger::{Entry, List, Published};

use super::{DATA_GROUP_COUNT, Keepers, Keeping, Kept};
use crate::holder::Holder;
use crate::log::LogFeed;
use crate::mail::encode_frame;
use crate::shard::publish::delivery::DeliveryContext;
use crate::shard::retained::table::Retained;
use crate::slot::{DATA_GROUPS, Slot};

/// Whose a QoS 2 message is, so that none of its receivers has it twice after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The session that published it; the group, where a session has it as its own that the group had bound to it.
    pub(crate) publisher: Kept,
    /// Which of its QoS 2 messages it is, and which of them are settled; see [`lapwing_session::Origin`].
    pub(crate) of: lapwing_session::Origin,
    /// It was in the log when the node started, for some of its receivers.
    pub(crate) is_resent: bool,
}

impl Origin {
    /// Of a message that a session takes over from a consumer group, which has it as `entry` and nothing unfinished with QoS 2
    /// before `settled`.
    pub(crate) fn of_group(group: Kept, entry: NonZeroU64, settled: u64) -> Self {
        // Only sessions that publish have packet ids.
        let of = lapwing_session::Origin { packet_id: PacketId::MIN, use_number: entry.get(), settled };
        Origin { publisher: group, of, is_resent: false }
    }

    /// As the log has it: its publisher is a session's or group's number in a data group.
    pub(crate) fn logged(self) -> lapwing_ledger::Origin {
        let Origin { publisher, of, .. } = self;
        lapwing_ledger::Origin {
            data_group: publisher.slot.data_group(),
            session: publisher.id,
            packet_id: of.packet_id.get(),
            use_number: of.use_number,
            settled: of.settled,
        }
    }
}

impl Keeping {
    /// A message goes to the log, if anything keeps it; `retained`: what the retained table has made of it, where that is on
    /// this shard. Returns whether it does.
    ///
    /// A QoS 2 message that leaves its topic without a retained message (it is empty, say) is logged in the topic's data group
    /// all the same, until its publisher has settled it. Else its publisher's repeat after a crash would count as new there, and
    /// take away the retained message that somebody has published meanwhile.
    pub(crate) fn keep(
        &mut self,
        log: &mut LogFeed,
        context: &mut DeliveryContext<'_>,
        retained: Option<Retained>,
    ) -> bool {
        let keepers = context.take_keepers();
        let publish = context.routed.publish();
        let is_retained = retained == Some(Retained::Kept);
        let is_noted = is_retained || (retained.is_some() && context.origin.is_some());
        let noted_in = is_noted.then(|| usize::from(Slot::of(publish.topic.as_bytes()).data_group()));
        let kept_in = keepers.as_ref().map_or(0, |keepers| keepers.data_groups());
        let open = kept_in | noted_in.map_or(0, |data_group| 1 << data_group);
        if open != 0 {
            let mut keepers = keepers.unwrap_or_else(|| self.lend_keepers());
            self.encode_frame(publish);
            for data_group in (0..DATA_GROUP_COUNT).filter(|data_group| open & 1 << data_group != 0) {
                let retained = (is_retained && noted_in == Some(data_group)).then_some(publish.topic);
                self.publish(log, data_group, context, &keepers, retained);
            }
            keepers.clear();
            self.spare_keepers = Some(keepers);
        } else if keepers.is_some() {
            self.spare_keepers = keepers;
        }
        open != 0
    }

    fn encode_frame(&mut self, publish: &Publish<'_>) {
        self.frame.clear();
        encode_frame(publish, &mut self.frame);
    }

    fn publish(
        &mut self,
        log: &mut LogFeed,
        data_group: usize,
        context: &DeliveryContext<'_>,
        keepers: &Keepers,
        retained: Option<&str>,
    ) {
        let frame = std::mem::take(&mut self.frame);
        let slot = slot_in(data_group);
        let of_group = keepers.in_entry(data_group, self.next_index(slot));
        let entry = Entry::Published(Published {
            frame: &frame,
            published_at_ms: self.now_ms,
            expires_at_ms: context.routed.expires_at_ms().unwrap_or(0),
            publisher: context.publisher.get(),
            origin: context.origin.map(Origin::logged),
            keepers: of_group.sessions.as_list(),
            groups: List::from_slice(&of_group.groups),
            retained,
            holder: context.holder.filter(|_| retained.is_some()).map(Holder::logged),
        });
        self.append(log, slot, context.routed.publish().qos.is_acknowledged(), &entry);
        self.frame = frame;
    }
}

/// The first slot of a data group: what an entry for several sessions of it is filed under.
pub(super) fn slot_in(data_group: usize) -> Slot {
    Slot::first_of(data_group as u16 % DATA_GROUPS)
}
