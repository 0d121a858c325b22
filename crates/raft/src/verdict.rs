//! What ends a replica.

use thiserror::Error;

/// What shows that this replica's log is not what it should be. It stops: nothing it says can be relied on, and going on
/// could lose what was acknowledged. The remedy is to remove the node and let it join anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Verdict {
    /// A leader says that this replica acknowledged more than it has: a disk that lied, an older copy of its folder.
    #[error(
        "node {by} has an acknowledgement of this replica through {acknowledged}, but the log ends at {last}: \
         this replica lost entries; remove it, then join anew"
    )]
    Lost {
        /// Who says so.
        by: u64,
        /// What it says was acknowledged.
        acknowledged: u64,
        /// The last index that is there.
        last: u64,
    },
    /// A leader has another entry where this replica has a committed one.
    #[error(
        "committed entry {index} is of term {ours} here and of term {theirs} at node {by}: \
         one of the two lost entries; compare their folders, remove the one that is wrong, then join it anew"
    )]
    Diverged {
        /// Who says so.
        by: u64,
        /// The index of the entry.
        index: u64,
        /// The term of the entry here.
        ours: u64,
        /// The term of the entry there.
        theirs: u64,
    },
}
