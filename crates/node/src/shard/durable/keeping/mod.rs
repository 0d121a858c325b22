//! What this shard keeps on disk: sessions that outlive their connections, consumer groups that outlive their members, what
//! waits for both, retained messages.
//!
//! Each of them lives in the data group of its slot, and this shard owns that group: it gives every entry its index, so a
//! message can be delivered under the index that its entry will have. One message is one entry per data group, however many
//! keep it ([`Keeping::keep`]); what becomes of it, and each step of QoS 2, are facts that go into one entry per group and
//! turn ([`progress`]). Whoever must not go on before something is durable takes this turn's commit token
//! ([`super::commits`]); bytes wait behind an output fence ([`super::fences`]).

mod groups;
mod identity;
mod keepers;
mod logged_as;
mod message;
mod progress;
pub(crate) mod restore;
mod sessions;
mod stored;

use std::num::NonZeroU64;

use lapwing_ledger::{Entry, KeeperId, ProgressBuf};

use super::owed_wills::LoggedWill;
use crate::log::LogFeed;
use crate::slot::{DATA_GROUPS, Slot};

pub(crate) use identity::{NAME_BYTES_MAX as IDENTITY_BYTES_MAX, encode as encode_identity};
pub(crate) use keepers::Keepers;
pub(crate) use logged_as::LoggedAs;
pub(crate) use message::Origin;
pub(crate) use restore::Recovered;
pub(crate) use sessions::Beginning;

const DATA_GROUP_COUNT: usize = DATA_GROUPS as usize;

/// When a message of the log expires; there 0 stands for never.
pub(crate) fn deadline(expires_at_ms: u64) -> Option<u64> {
    (expires_at_ms > 0).then_some(expires_at_ms)
}

/// A session or consumer group, as the log knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) id: KeeperId,
    /// Of its client id, or of its name and filter.
    pub(crate) slot: Slot,
}

impl Kept {
    pub(super) fn data_group(self) -> usize {
        usize::from(self.slot.data_group())
    }

    /// The bit of its data group.
    pub(crate) fn bit(self) -> u16 {
        1 << self.slot.data_group()
    }
}

/// What the log knows of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptAs {
    /// None: nothing but its will, if that.
    pub(crate) kept: Option<Kept>,
    /// It ends with its connection, and the log has its will for the case that the node goes first.
    pub(crate) will_alone: Option<Kept>,
    pub(crate) expiry_s: u32,
    /// Its will, while that has not gone out.
    pub(crate) will: Option<LoggedWill>,
    /// The other shards know its subscriptions as those of a kept session; stays when it is kept no more.
    pub(crate) is_keeper: bool,
    /// The version of the rules about topics that hold for it.
    pub(crate) rules_version: u64,
}

impl KeptAs {
    /// What the log has of it, be it the will alone.
    pub(crate) fn logged(self) -> Option<Kept> {
        self.kept.or(self.will_alone)
    }
}

/// What of this shard goes to the disk.
#[derive(Debug)]
pub(crate) struct Keeping {
    /// By data group: the index of the next entry. Of groups that other shards own it means nothing.
    next_index: [u64; DATA_GROUP_COUNT],
    /// Empty ones, for the next message that is kept.
    spare_keepers: Option<Box<Keepers>>,
    /// Facts of this turn, by data group.
    progress: [ProgressBuf; DATA_GROUP_COUNT],
    /// Data groups with facts: a bit each.
    told: u16,
    /// Of these, those that somebody waits for.
    urgent: u16,
    /// Sessions that are over since the last entry that said so, by data group.
    ended: Vec<Kept>,
    /// Consumer groups that are.
    ended_groups: Vec<Kept>,
    /// The version of the rules about topics.
    pub(crate) rules_version: u64,
    /// The node's clock at the beginning of the turn.
    pub(super) now_ms: u64,
    /// Room to encode in.
    frame: Vec<u8>,
    bytes: Vec<u8>,
}

impl Keeping {
    /// `next_index`: by data group, behind what the log has.
    pub(crate) fn new(next_index: [u64; DATA_GROUP_COUNT]) -> Self {
        Keeping {
            next_index,
            spare_keepers: None,
            progress: std::array::from_fn(|_| ProgressBuf::new()),
            told: 0,
            urgent: 0,
            ended: Vec::new(),
            ended_groups: Vec::new(),
            rules_version: 0,
            now_ms: 0,
            frame: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Room for who keeps a message; it comes back with [`Keeping::keep`].
    pub(crate) fn lend_keepers(&mut self) -> Box<Keepers> {
        self.spare_keepers.take().unwrap_or_default()
    }

    /// A new turn begins, at this time on the node's clock.
    pub(crate) fn set_clock(&mut self, now_ms: u64) {
        self.now_ms = now_ms;
    }

    /// Under which index an entry for `slot` would go now.
    pub(crate) fn next_index(&self, slot: Slot) -> u64 {
        self.next_index[usize::from(slot.data_group())]
    }

    /// The same, where something of this session or group would go.
    pub(crate) fn entry_of(&self, kept: Kept) -> Option<NonZeroU64> {
        NonZeroU64::new(self.next_index(kept.slot))
    }

    /// Hands an entry to the log; returns its index. `awaited`: somebody waits for it.
    fn append(&mut self, log: &mut LogFeed, slot: Slot, awaited: bool, entry: &Entry<'_>) -> u64 {
        self.bytes.clear();
        let index = self.next_index(slot);
        if let Err(fault) = entry.encode(&mut self.bytes) {
            // Every field is bounded below what an entry takes where it comes in, from a client or from the configuration.
            panic!("an entry of the node's own could not be encoded: {fault}");
        }
        self.next_index[usize::from(slot.data_group())] += 1;
        log.entry((slot.data_group(), index), slot, awaited, |out| out.extend_from_slice(&self.bytes));
        index
    }
}
