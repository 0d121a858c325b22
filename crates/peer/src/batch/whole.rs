//! A batch that has come and was looked through.

use super::{Record, read_records, write_records};
use crate::bounds::NUMBER_MAX;
use crate::wire::List;
use crate::{BatchHead, EncodeError, Fault, FaultKind};

/// A batch, whole, and as the entry that names it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    head: BatchHead,
    bytes: Vec<u8>,
}

impl Batch {
    /// Of records that are here: what an owner hands over, or what lies in the journal. They are encoded once, here.
    ///
    /// `first_sequence`: of the first record; the others follow it.
    /// # Errors
    /// No records, more bytes of them than [`BATCH_BYTES_MAX`](crate::bounds::BATCH_BYTES_MAX), or a sequence that no log
    /// comes to.
    pub fn of(first_sequence: u64, records: &List<'_, Record<'_>>) -> Result<Self, EncodeError> {
        if records.is_empty() {
            return Err(EncodeError::Impossible("a batch without records"));
        }
        let count = records.len() as u64;
        if first_sequence > NUMBER_MAX.saturating_sub(count) {
            return Err(EncodeError::Impossible("a number that no log comes to"));
        }
        let mut encoded = vec![];
        let bytes = write_records(records, &mut encoded)?;
        // Each record has a head of its own, so what fits into the bytes fits into the count.
        Ok(Batch { head: BatchHead { first_sequence, count: count as u32, bytes }, bytes: encoded })
    }

    pub(super) fn new(head: BatchHead, bytes: Vec<u8>) -> Result<Self, Fault> {
        if bytes.len() as u64 != u64::from(head.bytes) {
            let what = "a batch of another size than its entry says";
            return Err(Fault::new(FaultKind::Malformed, what, 0).with(bytes.len() as u64));
        }
        let count = read_records(&bytes)?.len() as u64;
        if count != u64::from(head.count) {
            let what = "a batch of other records than its entry says";
            return Err(Fault::new(FaultKind::Malformed, what, 0).with(count));
        }
        Ok(Batch { head, bytes })
    }

    /// What its entry says of it.
    pub const fn head(&self) -> BatchHead {
        self.head
    }

    /// Its bytes, for whoever sends it on.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its records, the first with the sequence [`BatchHead::first_sequence`], the others following it.
    pub fn records(&self) -> List<'_, Record<'_>> {
        read_records(&self.bytes).unwrap_or_default()
    }
}
