//! Which Raft group.

use std::fmt;

use crate::wire::{Input, Pack};
use crate::{EncodeError, Fault};

/// A Raft group: 0 to 15 are the data groups, 17 is the group of the cluster's metadata.
///
/// 16 is the journal's own partition on disk, and no group: nobody sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupNumber(u8);

impl GroupNumber {
    /// How many data groups there are.
    pub const DATA_GROUPS: u8 = 16;
    /// The group of the cluster's metadata.
    pub const METADATA: GroupNumber = GroupNumber(17);
    /// Every group is below.
    pub const END: usize = 18;

    /// `None` where there is no such group.
    pub const fn new(number: u8) -> Option<Self> {
        if number < Self::DATA_GROUPS || number == Self::METADATA.0 { Some(GroupNumber(number)) } else { None }
    }

    /// The number.
    pub const fn value(self) -> u8 {
        self.0
    }

    /// Every group, by number.
    pub fn all() -> impl Iterator<Item = GroupNumber> {
        (0..Self::END as u8).filter_map(GroupNumber::new)
    }
}

impl fmt::Display for GroupNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Pack<'_> for GroupNumber {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.push(self.0);
        Ok(())
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let here = *input;
        let number = input.u8("the number of a group")?;
        GroupNumber::new(number).ok_or(here.malformed("a group that there is not").with(number.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_sixteen_data_groups_and_one_of_metadata() {
        assert_eq!(GroupNumber::all().count(), 17);
        assert_eq!(GroupNumber::new(16), None, "the journal's own");
        assert!((18..=255).all(|number| GroupNumber::new(number).is_none()));
    }
}
