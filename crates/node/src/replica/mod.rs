//! A node's copies of the groups of its cluster: what lies between the core that decides (`lapwing_replica`) and the journal
//! that keeps.
//!
//! - [`WriteQueue`] gives the journal what the core wants on disk, in order, and says how far that has come.
//! - [`start`] makes of a journal what the engines begin with, and the groups' states as far as they are known to be committed:
//!   what was appended and not committed is in no state.
//! - A snapshot says where in Raft's counting it lies and who belonged to the group there ([`Preface`]).
//! - [`found_cluster`] makes a member, the first one, of a stopped node's folder.
//! - [`Identity`] is who the folder says that it is.

mod disk;
mod error;
mod found;
mod identity;
mod join;
mod moved;
mod preface;
mod snapshot;
mod start;
#[cfg(test)]
mod tests;
mod together;
mod walk;

use lapwing_peer::GroupNumber;
use lapwing_store::StoreError;
use lapwing_store::journal::{DataGroupId, JournalReader};

pub(crate) use disk::WriteQueue;
pub(crate) use error::{GroupFault, ReplicaError};
pub(crate) use found::{Founding, found_cluster};
pub(crate) use identity::Identity;
pub(crate) use join::EmptyFolder;
pub(crate) use moved::{Moved, common_raft_index, moved_state};
pub(crate) use preface::Preface;
pub(crate) use snapshot::{write_cluster, write_data_group};
pub(crate) use start::{Started, StartedLog, start};
pub use together::found_together;
pub(crate) use walk::GroupState;

/// A group's number in the journal.
pub(crate) fn journal_group(group: GroupNumber) -> DataGroupId {
    DataGroupId(u16::from(group.value()))
}

/// A node's number as engines, frames and certificates have it.
pub(crate) fn raft_id(node: lapwing_cluster::NodeId) -> u64 {
    u64::from(node.0)
}

/// Whether a cluster has written in this journal: a node on its own may not go on with it.
///
/// # Errors
/// None that is not a defect.
pub(crate) fn is_of_cluster(reader: &JournalReader) -> Result<bool, StoreError> {
    for group in GroupNumber::all() {
        let log = reader.group(journal_group(group))?;
        if log.last_raft_index > 0 || !log.vote.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
