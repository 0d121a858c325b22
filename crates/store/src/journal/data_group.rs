//! The data groups, fixed when a cluster is made.

use crate::error::StoreError;

/// A data group, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DataGroupId(pub u16);

impl DataGroupId {
    /// How many there are.
    pub const COUNT: u16 = 16;

    /// Every group, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// As an index of lists with one entry per group.
    ///
    /// # Errors
    /// `NoDataGroup`.
    pub(crate) fn place(self) -> Result<usize, StoreError> {
        match self.0 < Self::COUNT {
            true => Ok(usize::from(self.0)),
            false => Err(StoreError::NoDataGroup { group: self.0, groups: Self::COUNT }),
        }
    }
}

/// How many groups, for lists.
pub(crate) const GROUPS: usize = DataGroupId::COUNT as usize;
/// The partition of records that belong to no group but to the journal itself.
pub(crate) const OWN: u32 = DataGroupId::COUNT as u32;
/// Runs of a commit are of partitions below this.
pub(crate) const PARTITIONS: u32 = OWN + 1;
