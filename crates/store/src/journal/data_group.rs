//! The data groups, fixed when a cluster is made, and what a segment says of them.

use crate::error::StoreError;
use crate::record::RecordHeader;

/// A data group, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DataGroupId(pub u16);

impl DataGroupId {
    /// How many there are, the one of a cluster's metadata aside.
    pub const COUNT: u16 = 16;
    /// The group of a cluster's metadata. Not the number behind the others: that is the journal's own partition on disk.
    pub const METADATA: Self = Self(17);

    /// Every group but that of the metadata, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// As an index of lists with one entry per partition.
    ///
    /// # Errors
    /// `NoDataGroup`.
    pub(crate) fn place(self) -> Result<usize, StoreError> {
        match self.0 < Self::COUNT || self == Self::METADATA {
            true => Ok(usize::from(self.0)),
            false => Err(StoreError::NoDataGroup { group: self.0, groups: Self::COUNT }),
        }
    }
}

/// How many groups one node has, for lists.
pub(crate) const GROUPS: usize = DataGroupId::COUNT as usize;
/// The partition of records that belong to no group but to the journal itself.
pub(crate) const OWN: u32 = DataGroupId::COUNT as u32;
/// Partitions are below this: a group's has its number.
pub(crate) const PARTITIONS: u32 = DataGroupId::METADATA.0 as u32 + 1;
/// Lists by group go by partition; the place of [`OWN`] stays empty.
pub(crate) const PLACES: usize = PARTITIONS as usize;

/// What a segment may hold. A node on its own writes, to the byte, what it wrote before there were clusters; the first thing
/// of a cluster begins a segment that says at its head that such may be in it. So a program that does not know of it refuses
/// the folder, and never takes the end of a segment for torn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layout {
    /// The sixteen groups, without Raft indexes.
    #[default]
    OneNode,
    /// And that of the metadata; Raft indexes, markers.
    Cluster,
}

impl Layout {
    /// That of a segment whose opening record tells of so many partitions.
    pub(crate) fn of(partitions: usize) -> Option<Self> {
        [Self::OneNode, Self::Cluster].into_iter().find(|layout| layout.started() == partitions)
    }

    /// The least that this record may lie in.
    pub(crate) fn needed_by(header: &RecordHeader) -> Self {
        if header.offset == 0 && header.partition <= OWN { Self::OneNode } else { Self::Cluster }
    }

    /// Of how many partitions the opening record of a segment tells.
    pub(crate) fn started(self) -> usize {
        match self {
            Self::OneNode => GROUPS,
            Self::Cluster => PLACES,
        }
    }

    /// Runs of its commits are of partitions below this.
    pub(crate) fn partitions(self) -> usize {
        self.started().max(OWN as usize + 1)
    }
}
