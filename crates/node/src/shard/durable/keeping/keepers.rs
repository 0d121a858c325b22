//! Who keeps one message on disk: gathered while it is handed out, written into its entries.

use std::num::NonZeroU64;

use lapwing_ledger::{DeliveryOptions, KeeperId, KeepersBuf, SubscriptionIds};
use lapwing_session::KeptOptions;

use super::{DATA_GROUP_COUNT, Kept};

/// Sessions and consumer groups that keep one message, by data group: each data group gets one entry for all of its own. They were told
/// the index of that entry before it is written, so no other entry may come between.
#[derive(Debug, Default)]
pub(crate) struct Keepers {
    of: [OfGroup; DATA_GROUP_COUNT],
    /// Data groups with any: a bit each.
    data_groups: u16,
    /// Room to put subscription identifiers together.
    ids: Vec<u32>,
}

/// Those of one data group.
#[derive(Debug, Default)]
pub(super) struct OfGroup {
    pub(super) sessions: KeepersBuf,
    pub(super) groups: Vec<KeeperId>,
    /// The index that they were told.
    entry: Option<NonZeroU64>,
}

impl Keepers {
    /// A session keeps it, as `entry`.
    pub(crate) fn add_session(&mut self, kept: Kept, entry: NonZeroU64, options: &KeptOptions<'_>) {
        self.ids.clear();
        // More than that would not fit into the packet that it came in either.
        self.ids.extend(options.ids.iter().map(|id| id.get()).take(usize::from(u16::MAX)));
        let ids = SubscriptionIds::from_slice(&self.ids);
        let options = DeliveryOptions { qos: options.qos as u8, retain: options.retain, ids };
        let of = &mut self.of[kept.data_group()];
        of.sessions.push(kept.id, options).expect("the identifiers are bounded");
        of.entry = Some(entry);
        self.data_groups |= kept.bit();
    }

    /// A consumer group keeps it, as `entry`.
    pub(crate) fn add_group(&mut self, kept: Kept, entry: NonZeroU64) {
        let of = &mut self.of[kept.data_group()];
        of.groups.push(kept.id);
        of.entry = Some(entry);
        self.data_groups |= kept.bit();
    }

    /// Data groups that keep it: a bit each.
    pub(super) const fn data_groups(&self) -> u16 {
        self.data_groups
    }

    /// Those of one data group, whose entry gets this index.
    pub(super) fn in_entry(&self, data_group: usize, index: u64) -> &OfGroup {
        let of = &self.of[data_group];
        debug_assert!(
            of.entry.is_none_or(|entry| entry.get() == index),
            "another entry has come before the message's own"
        );
        of
    }

    /// Nobody; the memory stays.
    pub(super) fn clear(&mut self) {
        for data_group in (0..DATA_GROUP_COUNT).filter(|data_group| self.data_groups & 1 << data_group != 0) {
            let of = &mut self.of[data_group];
            of.sessions.clear();
            of.groups.clear();
            of.entry = None;
        }
        self.data_groups = 0;
    }
}

impl Drop for Keepers {
    fn drop(&mut self) {
        debug_assert!(self.data_groups == 0 || std::thread::panicking(), "who keeps a message was not written");
    }
}
