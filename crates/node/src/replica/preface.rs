//! What the snapshot of a member says in front of the state: where in Raft's counting it lies, and who belonged to the group.
//!
//! ```text
//! 0 mark u32 (all ones)   4 version u8   5 Raft index u64   13 term u64   21 bytes of the membership u16   23 membership
//! ```
//!
//! A node on its own writes none: its snapshots begin with the length of a chunk, and no chunk is as long as the mark says. So
//! neither is taken for the other; a program that knows of no preface refuses it for its length.

use std::io::{self, Read, Write};

use lapwing_ledger::Fault;
use lapwing_raft::{Membership, Position, Snapshot};
use lapwing_replica::{read_whole_membership, whole_membership_bytes};

use crate::log::snapshot::Unreadable;

const MARK: [u8; 4] = [0xFF; 4];
const VERSION: u8 = 1;
/// Behind the mark, up to the membership.
const FIXED_BYTES: usize = 19;
/// All nodes that a group may have take a fraction of it.
const MEMBERSHIP_BYTES_MAX: usize = 1024;

/// Where a snapshot lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Preface {
    /// The last Raft index that is in it.
    pub(crate) at: Position,
    /// Who belonged to the group there.
    pub(crate) membership: Membership,
}

impl Preface {
    /// Where a log begins that no snapshot stands in front of.
    pub(super) fn of_nothing() -> Self {
        Preface { at: Position::default(), membership: Membership::default() }
    }

    /// Whether it is of what an engine calls so.
    pub(super) fn is_of(&self, snapshot: &Snapshot) -> bool {
        (self.at, &self.membership) == (snapshot.at, &snapshot.membership)
    }

    /// Its bytes, in front of the state's.
    ///
    /// # Errors
    /// Those of `out`.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let membership = whole_membership_bytes(&self.membership);
        out.write_all(&MARK)?;
        out.write_all(&[VERSION])?;
        out.write_all(&self.at.index.to_le_bytes())?;
        out.write_all(&self.at.term.to_le_bytes())?;
        out.write_all(&(membership.len() as u16).to_le_bytes())?;
        out.write_all(&membership)
    }

    /// Takes it off the front of a snapshot; nothing, where a node on its own has written that. What is left is the state.
    ///
    /// # Errors
    /// `Fault`: a preface that this program does not know, or none that anybody writes. `Io`.
    pub(crate) fn read<R: Read>(mut snapshot: R) -> Result<(Option<Preface>, impl Read + use<R>), Unreadable> {
        let mut first = Vec::with_capacity(MARK.len());
        (&mut snapshot).take(MARK.len() as u64).read_to_end(&mut first).map_err(Unreadable::Io)?;
        let preface = match first == MARK {
            true => {
                first.clear();
                Some(Preface::read_behind_mark(&mut snapshot)?)
            }
            false => None,
        };
        Ok((preface, io::Cursor::new(first).chain(snapshot)))
    }

    fn read_behind_mark(snapshot: &mut impl Read) -> Result<Preface, Unreadable> {
        let mut fixed = [0; FIXED_BYTES];
        snapshot.read_exact(&mut fixed).map_err(Unreadable::Io)?;
        let [version, rest @ ..] = fixed;
        if version != VERSION {
            let what = "a member's snapshot";
            return Err(Unreadable::Fault(Fault::Version { what, found: version, supported: VERSION }));
        }
        let number = |at: usize| rest[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let bytes = usize::from(u16::from_le_bytes([rest[16], rest[17]]));
        let mut membership = vec![0; bytes.min(MEMBERSHIP_BYTES_MAX)];
        snapshot.read_exact(&mut membership).map_err(Unreadable::Io)?;
        let membership = read_whole_membership(&membership).filter(|_| bytes <= MEMBERSHIP_BYTES_MAX);
        let at = Position { index: number(0), term: number(8) };
        match membership.filter(|_| at.index > 0 && at.term > 0) {
            Some(membership) => Ok(Preface { at, membership }),
            None => Err(Unreadable::Fault(Fault::Snapshot { what: "where it lies is nothing that a member writes" })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preface() -> Preface {
        let membership =
            Membership { learners: vec![4], outgoing: vec![1, 9], demoted: vec![9], ..Membership::of(&[1, 2]) };
        Preface { at: Position { index: 70, term: 3 }, membership }
    }

    fn bytes() -> Vec<u8> {
        let mut bytes = vec![];
        preface().write(&mut bytes).expect("memory takes all");
        bytes
    }

    fn read(bytes: &[u8]) -> Result<(Option<Preface>, Vec<u8>), Unreadable> {
        let (preface, mut rest) = Preface::read(bytes)?;
        let mut state = vec![];
        rest.read_to_end(&mut state).map_err(Unreadable::Io)?;
        Ok((preface, state))
    }

    /// Does it come back with the state behind it, is what has none left whole, and is none taken for one where it is cut?
    #[test]
    fn there_and_back() {
        let whole = [bytes(), b"the state".to_vec()].concat();
        assert_eq!(read(&whole).expect("whole"), (Some(preface()), b"the state".to_vec()));
        for alone in [&b""[..], b"abc", b"\xFF\xFF\xFF", b"\x05\0\0\0chunk", &[0xFF, 0xFF, 0xFF, 0x3F, 7]] {
            assert_eq!(read(alone).expect("one node's"), (None, alone.to_vec()));
        }
        for length in 4..bytes().len() {
            assert!(read(&whole[..length]).is_err(), "cut at {length}");
        }
    }

    /// Are version 1's bytes the same for ever, and is another version named?
    #[test]
    fn the_bytes_of_version_1() {
        let mut bytes = bytes();
        assert_eq!(bytes[..23], [255, 255, 255, 255, 1, 70, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 52, 0]);
        bytes[4] = 2;
        let found = Fault::Version { what: "a member's snapshot", found: 2, supported: 1 };
        assert!(matches!(read(&bytes), Err(Unreadable::Fault(fault)) if fault == found));
        bytes[4] = 1;
        bytes[5] = 0;
        assert!(matches!(read(&bytes), Err(Unreadable::Fault(Fault::Snapshot { .. }))), "no Raft index");
    }
}
