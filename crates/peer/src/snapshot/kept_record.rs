//! A record that the state of a snapshot still refers to.
//!
//! ```text
//! 0 sequence u64   8 term u64   16 the record, as in batches
//! ```

use crate::batch::write_run;
use crate::wire::{Input, List, Pack, check_number};
use crate::{EncodeError, Fault, Record};

/// A record with what its batch would say of it: these do not follow each other, so each says it itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptRecord<'a> {
    /// Its sequence.
    pub sequence: u64,
    /// The term in which it was proposed.
    pub term: u64,
    /// The record.
    pub record: Record<'a>,
}

impl<'a> Pack<'a> for KeptRecord<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        check_number(&[self.sequence, self.term])?;
        out.extend_from_slice(&self.sequence.to_le_bytes());
        out.extend_from_slice(&self.term.to_le_bytes());
        self.record.put(out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        Ok(KeptRecord {
            sequence: input.number("a sequence")?,
            term: input.number("the term of a record")?,
            record: Record::take(input)?,
        })
    }
}

/// Reads the records of a chunk; nothing is copied.
/// # Errors
/// `CutShort`, `Malformed`, `Number`: offsets count from the first byte of the chunk.
pub fn read_kept_records(bytes: &[u8]) -> Result<List<'_, KeptRecord<'_>>, Fault> {
    List::take_all(bytes)
}

/// Appends records to `out` as chunks have them, `bytes_max` bytes at most. Returns how many bytes these are.
/// # Errors
/// They are more than that, or have numbers that no log comes to; `out` is as it was.
pub fn write_kept_records(
    records: &List<'_, KeptRecord<'_>>,
    bytes_max: usize,
    out: &mut Vec<u8>,
) -> Result<usize, EncodeError> {
    write_run(records, bytes_max, out)
}
