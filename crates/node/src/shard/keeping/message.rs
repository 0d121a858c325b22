//! One message that sessions, consumer groups or the retained table keep: one entry for each data group.

use std::num::NonZeroU64;

use lapwing_codec::{PacketId, Publish};
use lapwing_ledger::{Entry, List, Published};
use lapwing_session::{KeptOptions, Routed};

use super::{DATA_GROUP_COUNT, Keeping, Kept};
use crate::holder::Holder;
use crate::log::LogFeed;
use crate::mail::encode_frame;
use crate::shard::retained::Retained;
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

/// What an entry says of a message beside its frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    /// Hash of its publisher's client id.
    pub(crate) publisher: u64,
    /// Of a QoS 2 message: whose, and which use of its packet id.
    pub(crate) origin: Option<Origin>,
    /// Of a retained one: whose it is, where identities have shares.
    pub(crate) holder: Option<Holder>,
}

impl Keeping {
    /// A session keeps the message in hand, under [`Keeping::next_index`].
    pub(crate) fn keeper(&mut self, kept: Kept, options: &KeptOptions<'_>) {
        self.ids.clear();
        // More than that would not fit into the packet that it came in either.
        self.ids.extend(options.ids.iter().map(|id| id.get()).take(usize::from(u16::MAX)));
        let ids = lapwing_ledger::SubscriptionIds::from_slice(&self.ids);
        let options = lapwing_ledger::DeliveryOptions { qos: options.qos as u8, retain: options.retain, ids };
        self.keepers[kept.data_group()].push(kept.id, options).expect("the identifiers are bounded");
        self.open |= kept.bit();
    }

    /// A consumer group keeps the message in hand, under [`Keeping::next_index`].
    pub(crate) fn group_keeper(&mut self, kept: Kept) {
        self.group_keepers[kept.data_group()].push(kept.id);
        self.open |= kept.bit();
    }

    /// True when somebody keeps a message in hand.
    pub(crate) fn is_open(&self) -> bool {
        self.open != 0
    }

    /// The message in hand goes to the log, if anything keeps it; `retained`: what the retained table has made of it, where
    /// that is on this shard. Returns whether it does.
    ///
    /// A QoS 2 message that leaves its topic without a retained message (it is empty, say) is logged in the topic's data group
    /// all the same, until its publisher has settled it. Else its publisher's repeat after a crash would count as new there, and
    /// take away the retained message that somebody has published meanwhile.
    pub(crate) fn keep(
        &mut self,
        log: &mut LogFeed,
        routed: &Routed<'_>,
        retained: Option<Retained>,
        about: About,
    ) -> bool {
        let publish = routed.publish();
        let topic_slot = Slot::of(publish.topic.as_bytes());
        let is_retained = retained == Some(Retained::Kept);
        let is_noted = is_retained || (retained.is_some() && about.origin.is_some());
        let noted_in = is_noted.then(|| usize::from(topic_slot.data_group()));
        let open = std::mem::take(&mut self.open) | noted_in.map_or(0, |data_group| 1 << data_group);
        if open == 0 {
            return false;
        }
        self.encode_frame(publish);
        for data_group in (0..DATA_GROUP_COUNT).filter(|data_group| open & 1 << data_group != 0) {
            let retained = (is_retained && noted_in == Some(data_group)).then_some(publish.topic);
            self.publish(log, data_group, publish, retained, routed.expires_at_ms(), about);
        }
        true
    }

    fn encode_frame(&mut self, publish: &Publish<'_>) {
        self.frame.clear();
        encode_frame(publish, &mut self.frame);
    }

    fn publish(
        &mut self,
        log: &mut LogFeed,
        data_group: usize,
        publish: &Publish<'_>,
        retained: Option<&str>,
        expires_at_ms: Option<u64>,
        about: About,
    ) {
        let frame = std::mem::take(&mut self.frame);
        let mut keepers = std::mem::take(&mut self.keepers[data_group]);
        let mut groups = std::mem::take(&mut self.group_keepers[data_group]);
        let entry = Entry::Published(Published {
            frame: &frame,
            published_at_ms: self.now_ms,
            expires_at_ms: expires_at_ms.unwrap_or(0),
            publisher: about.publisher,
            origin: about.origin.map(Origin::logged),
            keepers: keepers.as_list(),
            groups: List::from_slice(&groups),
            retained,
            holder: about.holder.filter(|_| retained.is_some()).map(Holder::logged),
        });
        let awaited = publish.qos.is_acknowledged();
        self.append(log, slot_in(data_group), awaited, &entry);
        keepers.clear();
        groups.clear();
        (self.keepers[data_group], self.group_keepers[data_group]) = (keepers, groups);
        self.frame = frame;
    }
}

/// The first slot of a data group: what an entry for several sessions of it is filed under.
pub(super) fn slot_in(data_group: usize) -> Slot {
    Slot::first_of(data_group as u16 % DATA_GROUPS)
}
