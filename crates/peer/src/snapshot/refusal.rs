//! Why a follower does not take a snapshot.

use thiserror::Error;

/// The reason; the value is the byte on the wire, for ever.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum SnapshotRefusal {
    /// The follower has come further meanwhile, or has heard of a newer term: nothing is lacking.
    #[error("the follower is past it")]
    Stale = 1,
    /// The follower is no replica of this group.
    #[error("the follower has no replica of this group")]
    NoReplica = 2,
    /// A snapshot of another group is being taken: once more, later.
    #[error("the follower is taking another snapshot")]
    Busy = 3,
    /// The follower's disk has no room for it.
    #[error("the follower's disk has no room for it")]
    NoRoom = 4,
    /// It is larger than the follower takes.
    #[error("it is larger than the follower takes")]
    TooLarge = 5,
    /// What came is not what was sent: once more, from the first chunk.
    #[error("it came damaged")]
    Damaged = 6,
}

impl SnapshotRefusal {
    /// Every reason, in the order of their values, which begin with 1.
    pub const ALL: [SnapshotRefusal; 6] = [
        SnapshotRefusal::Stale,
        SnapshotRefusal::NoReplica,
        SnapshotRefusal::Busy,
        SnapshotRefusal::NoRoom,
        SnapshotRefusal::TooLarge,
        SnapshotRefusal::Damaged,
    ];

    pub(super) fn from_u8(value: u8) -> Option<Self> {
        Self::ALL.get(usize::from(value).checked_sub(1)?).copied()
    }
}
