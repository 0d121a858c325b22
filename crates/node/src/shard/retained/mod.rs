//! What this shard has to do with retained messages: those that it owns, and those that its sessions are to get.

mod delivered;
mod expiry;
mod pages;
pub(super) mod replay;
pub(super) mod sequence;
pub(super) mod table;

use std::sync::Arc;

use self::replay::Replays;
use self::sequence::Sequences;
use self::table::RetainedTable;
use super::Shard;
use super::room::Room;
use crate::identity_shares::IdentityShares;
use crate::mail::{PageRequest, RoomQuestion};
use crate::retained_share::RetainedShare;
use crate::slot::ShardId;

/// The retained messages of one shard, and what is under way with them.
pub(super) struct RetainedRoom {
    /// Those that this shard owns.
    pub(super) table: RetainedTable,
    /// How often room was wanted among them when this shard looked last.
    pub(super) wanted: u64,
    /// When those are looked at that have expired, if a timer is set for that.
    pub(super) timer_ms: Option<u64>,
    /// Questions for room before which mail must come.
    pub(super) early_rooms: Vec<(ShardId, Box<RoomQuestion>)>,
    /// Questions for pages of them that wait for mail.
    pub(super) questions: Vec<(ShardId, Box<PageRequest>)>,
    /// What sessions here that have subscribed are to get.
    pub(super) replays: Replays,
    /// Which of what came live a page may have in it too.
    pub(super) sequences: Sequences,
}

impl RetainedRoom {
    pub(super) fn new(own: ShardId, shards: u32, share: &Arc<RetainedShare>, shares: &Arc<IdentityShares>) -> Self {
        RetainedRoom {
            table: RetainedTable::new(share.clone(), shares.clone()),
            wanted: 0,
            timer_ms: None,
            early_rooms: Vec::new(),
            questions: Vec::new(),
            replays: Replays::default(),
            sequences: Sequences::new(own, shards),
        }
    }
}

impl Room for RetainedRoom {
    fn has_work(shard: &mut Shard) -> bool {
        shard.retained.replays.can_move()
    }
}
