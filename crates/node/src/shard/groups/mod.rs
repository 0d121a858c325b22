//! Consumer groups. Each lives on one shard, its owner; its members' sessions live on theirs.
//!
//! The owner (`table`, `publish`, `owner`, `act`) has the queue and chooses. A member's shard (`member`) writes what it is
//! given, and says what became of it. Both may be this shard: then words go through `Shard::words` instead of a lane, and
//! everything else is the same.

mod act;
mod choosers;
mod hand_over;
mod kept;
mod letters;
mod member;
mod membership;
mod outcomes;
mod owned;
mod owner;
mod pending;
mod publish;
mod settings;
mod signals;
mod table;
mod views;

pub(super) use membership::Membership;
pub(super) use outcomes::Outcomes;
pub(super) use pending::Pending;
pub(super) use table::GroupTable;

use lapwing_codec::topic::SharedFilter;

use super::Shard;
use crate::slot::{ShardId, Slot};

impl Shard {
    /// The shard on which a group lives.
    pub(super) fn owner_of_group(&self, shared: &SharedFilter<'_>) -> ShardId {
        self.shared.placement.owner_of(Slot::of_group(shared.group, shared.filter)).shard
    }
}
