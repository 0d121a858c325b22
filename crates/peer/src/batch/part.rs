//! A part of a batch.
//!
//! ```text
//! 0 group u8   1 zero [u8; 3]   4 total bytes u32   8 term u64   16 Raft index u64   24 first byte u32   28 bytes
//! ```

use super::RECORD_HEAD_BYTES;
use crate::bounds::BATCH_BYTES_MAX;
use crate::wire::{Input, Pack, check_number, put_zeros};
use crate::{EncodeError, Fault, GroupNumber};

/// Some bytes of a batch. The parts of a batch come in order, and those of the batches of one group in the order of their
/// entries; between them there may be any frame of another group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchPart<'a> {
    /// Whose batch it is.
    pub group: GroupNumber,
    /// The term of the entry that names it.
    pub term: u64,
    /// The Raft index of the entry that names it.
    pub raft_index: u64,
    /// Bytes of the whole batch, at most [`BATCH_BYTES_MAX`].
    pub total_bytes: u32,
    /// How many of them came before these.
    pub first_byte: u32,
    /// These bytes, at least one.
    pub bytes: &'a [u8],
}

impl BatchPart<'_> {
    fn check(&self) -> Result<(), &'static str> {
        if self.total_bytes > BATCH_BYTES_MAX || (self.total_bytes as usize) < RECORD_HEAD_BYTES {
            return Err("a batch of a size that none has");
        }
        if self.bytes.is_empty() {
            return Err("a part without bytes");
        }
        if self.bytes.len() as u64 + u64::from(self.first_byte) > u64::from(self.total_bytes) {
            return Err("a part that goes beyond its batch");
        }
        Ok(())
    }
}

impl<'a> Pack<'a> for BatchPart<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        check_number(&[self.term, self.raft_index])?;
        self.check().map_err(EncodeError::Impossible)?;
        self.group.put(out)?;
        put_zeros::<3>(out);
        out.extend_from_slice(&self.total_bytes.to_le_bytes());
        out.extend_from_slice(&self.term.to_le_bytes());
        out.extend_from_slice(&self.raft_index.to_le_bytes());
        out.extend_from_slice(&self.first_byte.to_le_bytes());
        out.extend_from_slice(self.bytes);
        Ok(())
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let here = *input;
        let group = GroupNumber::take(input)?;
        input.zeros::<3>()?;
        let part = BatchPart {
            group,
            total_bytes: input.u32("the bytes of a batch")?,
            term: input.number("the term of a batch")?,
            raft_index: input.number("the index of a batch")?,
            first_byte: input.u32("the place of a part")?,
            bytes: input.all(),
        };
        part.check().map_err(|what| here.malformed(what))?;
        Ok(part)
    }
}
