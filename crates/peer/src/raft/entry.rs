//! The header of an entry of a Raft log.
//!
//! ```text
//! 0 term u64   8 Raft index u64   16 content u8
//!    1 blank: nothing
//!    2 membership: length u16, bytes
//!    3 batch: first sequence u64, count u32, bytes u32
//! ```

use crate::batch::RECORD_HEAD_BYTES;
use crate::bounds::{BATCH_BYTES_MAX, MEMBERSHIP_BYTES_MAX};
use crate::wire::{Input, Pack, check_len, check_number};
use crate::{EncodeError, Fault};

/// An entry without what it weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryHeader<'a> {
    /// The term in which it was proposed.
    pub term: u64,
    /// Its Raft index.
    pub raft_index: u64,
    /// What it is.
    pub content: Content<'a>,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Nothing: a leader's first.
    Blank,
    /// Who the members of the group are from here on; at most [`MEMBERSHIP_BYTES_MAX`] bytes, which are the cluster's to read.
    Membership(&'a [u8]),
    /// What an owner has handed over in one turn.
    Batch(BatchHead),
}

/// What an entry says of its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHead {
    /// The sequence of the first record; the others follow it without holes.
    pub first_sequence: u64,
    /// How many records there are, at least 1.
    pub count: u32,
    /// Bytes of all of them, as [`write_records`](crate::write_records) writes them; at most [`BATCH_BYTES_MAX`].
    pub bytes: u32,
}

const BLANK: u8 = 1;
const MEMBERSHIP: u8 = 2;
const BATCH: u8 = 3;

/// Bytes of an entry of which nothing more is to be said.
const HEAD_BYTES: usize = 17;

impl EntryHeader<'_> {
    pub(super) fn encoded_bytes(&self) -> usize {
        HEAD_BYTES
            + match self.content {
                Content::Blank => 0,
                Content::Membership(bytes) => 2 + bytes.len(),
                Content::Batch(_) => 16,
            }
    }
}

impl BatchHead {
    fn check(&self) -> Result<(), &'static str> {
        if self.count == 0 {
            return Err("a batch without records");
        }
        if u64::from(self.bytes) < u64::from(self.count) * RECORD_HEAD_BYTES as u64 {
            return Err("a batch of more records than its bytes can be");
        }
        if self.bytes > BATCH_BYTES_MAX {
            return Err("a batch that is larger than any may be");
        }
        Ok(())
    }
}

impl Pack<'_> for BatchHead {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        check_number(&[self.first_sequence])?;
        self.check().map_err(EncodeError::Impossible)?;
        out.extend_from_slice(&self.first_sequence.to_le_bytes());
        out.extend_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(&self.bytes.to_le_bytes());
        Ok(())
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let here = *input;
        let head = BatchHead {
            first_sequence: input.number("a sequence")?,
            count: input.u32("the records of a batch")?,
            bytes: input.u32("the bytes of a batch")?,
        };
        head.check().map_err(|what| here.malformed(what))?;
        Ok(head)
    }
}

impl<'a> Pack<'a> for Content<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Content::Blank => out.push(BLANK),
            Content::Membership(bytes) => {
                check_len(bytes.len(), MEMBERSHIP_BYTES_MAX, "bytes of a membership")?;
                out.push(MEMBERSHIP);
                out.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
                out.extend_from_slice(bytes);
            }
            Content::Batch(head) => {
                out.push(BATCH);
                head.put(out)?;
            }
        }
        Ok(())
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let here = *input;
        match input.u8("what an entry is")? {
            BLANK => Ok(Content::Blank),
            MEMBERSHIP => {
                let len = input.len(MEMBERSHIP_BYTES_MAX, "the length of a membership")?;
                Ok(Content::Membership(input.bytes(len, "a membership")?))
            }
            BATCH => Ok(Content::Batch(BatchHead::take(input)?)),
            other => Err(here.malformed("an entry that is nothing we know").with(other.into())),
        }
    }
}

impl<'a> Pack<'a> for EntryHeader<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        check_number(&[self.term, self.raft_index])?;
        out.extend_from_slice(&self.term.to_le_bytes());
        out.extend_from_slice(&self.raft_index.to_le_bytes());
        self.content.put(out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        Ok(EntryHeader {
            term: input.number("the term of an entry")?,
            raft_index: input.number("the index of an entry")?,
            content: Content::take(input)?,
        })
    }
}
