//! Who a client is, what it may do and have, and what becomes of it when that changes.

pub(super) mod audit;
pub(super) mod certificates;
pub(super) mod grants;
pub(super) mod permissions;
pub(super) mod renewal;
pub(super) mod shares;
pub(super) mod standing;
mod taken_back;

use self::certificates::Recheck;
use super::Shard;
use super::room::Room;

/// Which users, rules and certificates hold here.
#[derive(Default)]
pub(super) struct RightsRoom {
    /// The version of users and rules that all permissions were made under; none before the first turn, which compares
    /// what the log had with the users and rules of today.
    pub(super) permissions_version: Option<u64>,
    /// The version of users and rules under which sessions were looked through last: those that may not be there any more
    /// are over.
    pub(super) expelled_version: Option<u64>,
    /// Who has still to be held against certificates that were read again.
    pub(super) recheck: Recheck,
}

impl Room for RightsRoom {
    fn has_work(shard: &mut Shard) -> bool {
        let is_new = Some(shard.shared.authority.version()) != shard.rights.permissions_version;
        is_new || shard.owes_expulsions() || shard.has_rechecks()
    }
}
