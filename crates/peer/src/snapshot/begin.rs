//! What a snapshot is of.
//!
//! ```text
//!  0 group u8      1 zero [u8; 3]       4 state chunks u32
//!  8 snapshot u64 16 leader's term u64 24 Raft index u64  32 term u64  40 last sequence u64  48 entries u64  56 bytes u64
//! 64 membership: length u16, bytes
//! ```

use crate::bounds::MEMBERSHIP_BYTES_MAX;
use crate::wire::{Input, Pack, check_len, check_number, put_zeros};
use crate::{EncodeError, Fault, GroupNumber};

/// A leader has a snapshot for a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotBegin<'a> {
    /// Whose snapshot it is.
    pub group: GroupNumber,
    /// Drawn at random when it was frozen: chunks of another one do not fit behind those that are there.
    pub snapshot: u64,
    /// The term of the leader that sends it.
    pub leader_term: u64,
    /// The Raft index of the last entry in it.
    pub raft_index: u64,
    /// The term of that entry.
    pub term: u64,
    /// The sequence of the last record in it.
    pub last_sequence: u64,
    /// How many chunks the state has: these come first, as they were frozen. Behind them come the records that the state
    /// still refers to ([`KeptRecord`](crate::KeptRecord)), some in each chunk.
    pub state_chunks: u32,
    /// How many records that are.
    pub entries: u64,
    /// Bytes of all chunks, at most: the receiver asks its disk.
    pub bytes: u64,
    /// Who the members of the group are; at most [`MEMBERSHIP_BYTES_MAX`] bytes.
    pub membership: &'a [u8],
}

impl SnapshotBegin<'_> {
    fn numbers(&self) -> [u64; 6] {
        [self.leader_term, self.raft_index, self.term, self.last_sequence, self.entries, self.bytes]
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.term > self.leader_term { Err("a snapshot of a term that is still to come") } else { Ok(()) }
    }
}

impl<'a> Pack<'a> for SnapshotBegin<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        check_number(&self.numbers())?;
        self.check().map_err(EncodeError::Impossible)?;
        check_len(self.membership.len(), MEMBERSHIP_BYTES_MAX, "bytes of a membership")?;
        self.group.put(out)?;
        put_zeros::<3>(out);
        out.extend_from_slice(&self.state_chunks.to_le_bytes());
        out.extend_from_slice(&self.snapshot.to_le_bytes());
        for number in self.numbers() {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&(self.membership.len() as u16).to_le_bytes());
        out.extend_from_slice(self.membership);
        Ok(())
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let here = *input;
        let group = GroupNumber::take(input)?;
        input.zeros::<3>()?;
        let begin = SnapshotBegin {
            group,
            state_chunks: input.u32("the chunks of a state")?,
            snapshot: input.u64("the number of a snapshot")?,
            leader_term: input.number("the leader's term")?,
            raft_index: input.number("the index of a snapshot")?,
            term: input.number("the term of a snapshot")?,
            last_sequence: input.number("the last sequence of a snapshot")?,
            entries: input.number("the entries of a snapshot")?,
            bytes: input.number("the bytes of a snapshot")?,
            membership: take_membership(input)?,
        };
        begin.check().map_err(|what| here.malformed(what))?;
        Ok(begin)
    }
}

fn take_membership<'a>(input: &mut Input<'a>) -> Result<&'a [u8], Fault> {
    let len = input.len(MEMBERSHIP_BYTES_MAX, "the length of a membership")?;
    input.bytes(len, "a membership")
}
