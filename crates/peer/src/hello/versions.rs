//! Versions of the protocol that a node speaks.

use std::fmt;

use crate::wire::{Input, Pack};
use crate::{EncodeError, Fault};

/// From the oldest to the newest, both spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    oldest: u16,
    newest: u16,
}

impl Versions {
    /// What this program speaks. Version 2 has [`Told`](crate::Told).
    pub const OURS: Versions = Versions { oldest: 1, newest: 2 };

    /// `None` where the oldest is newer than the newest, or 0, which no program speaks.
    pub const fn new(oldest: u16, newest: u16) -> Option<Self> {
        if 0 < oldest && oldest <= newest { Some(Versions { oldest, newest }) } else { None }
    }

    /// The oldest.
    pub const fn oldest(self) -> u16 {
        self.oldest
    }

    /// The newest.
    pub const fn newest(self) -> u16 {
        self.newest
    }

    /// The newest that both speak.
    pub fn common(self, other: Self) -> Option<u16> {
        let newest = self.newest.min(other.newest);
        (newest >= self.oldest.max(other.oldest)).then_some(newest)
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.oldest == self.newest {
            true => self.newest.fmt(f),
            false => write!(f, "{} to {}", self.oldest, self.newest),
        }
    }
}

impl Pack<'_> for Versions {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(&self.oldest.to_le_bytes());
        out.extend_from_slice(&self.newest.to_le_bytes());
        Ok(())
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let here = *input;
        let (oldest, newest) = (input.u16("the oldest version")?, input.u16("the newest version")?);
        Versions::new(oldest, newest).ok_or(here.malformed("a range of versions that has none"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(mine: (u16, u16), theirs: (u16, u16)) -> Option<u16> {
        let [mine, theirs] = [mine, theirs].map(|(oldest, newest)| Versions::new(oldest, newest).unwrap());
        assert_eq!(mine.common(theirs), theirs.common(mine), "both come to the same");
        mine.common(theirs)
    }

    #[test]
    fn the_newest_that_both_speak_is_taken() {
        assert_eq!(common((1, 1), (1, 1)), Some(1));
        assert_eq!(common((1, 3), (2, 5)), Some(3));
        assert_eq!(common((1, 9), (2, 5)), Some(5));
        assert_eq!(common((1, 2), (2, 2)), Some(2));
        assert_eq!(common((1, 2), (3, 4)), None);
    }

    #[test]
    fn ranges_without_a_version_are_none() {
        assert_eq!((Versions::new(0, 1), Versions::new(2, 1)), (None, None));
        assert_eq!(Versions::new(2, 2).unwrap().to_string(), "2");
        assert_eq!(Versions::new(2, 3).unwrap().to_string(), "2 to 3");
    }
}
