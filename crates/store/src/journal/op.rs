//! What a run of records does to its group, gathered so that it can be applied at once when the commit is durable: by the
//! writer after `fdatasync`, by recovery after a whole commit.

use std::sync::Arc;

use super::manifest::Replaced;
use super::marker::MARKER_BYTES_MAX;
use crate::record::{Fault, RecordHeader, RecordKind};
use crate::varint;

/// Bytes of the file between two marks of a group: what a look-up steps over at most, besides the entry itself.
pub(crate) const SPACING_BYTES: u64 = 8 << 10;

/// One thing that records say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    /// Entries, ascending.
    Entries(Piece),
    /// A Raft index without an entry.
    Marker { raft_index: u64, term: u64, body: Arc<[u8]> },
    /// Entries from here on are void, and Raft indexes from `raft_index` on; 0 where there are none.
    Truncate { from: u64, raft_index: u64 },
    /// A snapshot covers everything through here, and through this Raft index; 0 where there are none.
    Purge { through: u64, raft_index: u64, term: u64 },
    /// The vote of the group.
    Vote(Box<[u8]>),
    /// The next entries begin a new stretch, whatever came before.
    Stretch,
    /// Of the journal itself: which segments count.
    Replaced(Replaced),
}

/// Entries of one term and Raft index that lie one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub first: u64,
    pub last: u64,
    pub term: u64,
    pub raft_index: u64,
    pub records: u64,
    /// On disk.
    pub bytes: u64,
    /// Where some of them lie, the first one always; counted from where the run begins.
    pub marks: Vec<Mark>,
    /// Per entry: how many indexes are missing before it, and its bytes on disk divided by 8.
    pub lengths: Vec<u8>,
}

/// Where an entry lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub index: u64,
    pub position: u64,
}

impl Piece {
    fn new(index: u64, (term, raft_index): (u64, u64)) -> Self {
        Self { first: index, last: index, term, raft_index, records: 0, bytes: 0, marks: vec![], lengths: vec![] }
    }

    fn push(&mut self, index: u64, position: u64, bytes: u64) {
        let missing = if self.records == 0 { 0 } else { index - self.last - 1 };
        varint::put(missing, &mut self.lengths);
        varint::put(bytes / 8, &mut self.lengths);
        if self.marks.last().is_none_or(|mark| position - mark.position >= SPACING_BYTES) {
            self.marks.push(Mark { index, position });
        }
        self.last = index;
        self.records += 1;
        self.bytes += bytes;
    }
}

/// What one run does, in order.
#[derive(Debug, Default)]
pub(crate) struct Ops {
    list: Vec<Op>,
}

impl Ops {
    /// An entry of `bytes` on disk at `position`; it follows, or comes behind, the one before it.
    pub(crate) fn entry(&mut self, header: &RecordHeader, position: u64, bytes: u64) {
        let (index, term, raft_index) = (header.index, header.term, header.offset);
        let follows = |piece: &Piece| (piece.term, piece.raft_index) == (term, raft_index) && piece.last < index;
        match self.list.last_mut() {
            Some(Op::Entries(piece)) if follows(piece) => piece.push(index, position, bytes),
            _ => {
                let mut piece = Piece::new(index, (term, raft_index));
                piece.push(index, position, bytes);
                self.list.push(Op::Entries(piece));
            }
        }
    }

    pub(crate) fn push(&mut self, op: Op) {
        self.list.push(op);
    }

    pub(crate) fn list(&self) -> &[Op] {
        &self.list
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }
}

impl Op {
    /// What a verified record says that is not an entry.
    pub(crate) fn of(header: &RecordHeader, body: &[u8]) -> Result<Self, Fault> {
        match header.kind {
            RecordKind::Vote => Ok(Self::Vote(body.into())),
            RecordKind::Marker if body.len() <= MARKER_BYTES_MAX => {
                Ok(Self::Marker { raft_index: header.offset, term: header.term, body: body.into() })
            }
            RecordKind::Truncation => Ok(Self::Truncate { from: header.index, raft_index: header.offset }),
            RecordKind::Purge => {
                Ok(Self::Purge { through: header.index, raft_index: header.offset, term: header.term })
            }
            RecordKind::Stretch => Ok(Self::Stretch),
            RecordKind::Replaced => Replaced::decode(body).map(Self::Replaced),
            _ => Err(Fault::Misplaced("a record of another kind belongs here")),
        }
    }
}
