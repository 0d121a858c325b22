//! Consumer groups. Each lives on one shard, its owner; its members' sessions live on theirs.
//!
//! The owner (`table`, `publish`, `owner`, `act`) has the queue and chooses. A member's shard (`member`) writes what it is
//! given, and says what became of it. Both may be this shard: then words go through `GroupRoom::words` instead of a lane, and
//! everything else is the same.

mod act;
mod choosers;
mod endings;
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

use std::collections::VecDeque;
use std::sync::Arc;

use lapwing_codec::topic::SharedFilter;

use super::Shard;
use super::room::Room;
use crate::group_book::GroupTables;
use crate::slot::{ShardId, Slot};
use crate::words::Word;

/// Groups that live here, and what sessions here have to do with any.
pub(super) struct GroupRoom {
    pub(super) table: GroupTable,
    /// What of groups, and of their messages here, waits for the disk or for room.
    pub(super) pending: Pending,
    /// What sessions here say to groups here.
    pub(super) words: VecDeque<Word>,
    /// The version of the groups' tables that holds here.
    pub(super) version: u64,
    /// The tables of that version.
    pub(super) tables: Arc<GroupTables>,
}

impl GroupRoom {
    pub(super) fn new(own: ShardId) -> Self {
        GroupRoom {
            table: GroupTable::new(own),
            pending: Pending::default(),
            words: VecDeque::new(),
            version: 0,
            tables: Arc::default(),
        }
    }
}

impl Room for GroupRoom {
    fn has_work(shard: &mut Shard) -> bool {
        shard.has_group_work() || shard.may_hand_over() || shard.shared.groups.version() != shard.groups.version
    }

    fn is_settled(shard: &mut Shard) -> bool {
        !shard.has_group_work()
    }
}

impl Shard {
    /// The shard on which a group lives.
    pub(super) fn owner_of_group(&self, shared: &SharedFilter<'_>) -> ShardId {
        self.shared.placement.owner_of(Slot::of_group(shared.group, shared.filter)).shard
    }
}
