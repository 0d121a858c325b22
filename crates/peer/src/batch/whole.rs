//! A batch that has come and was looked through.

use super::{Record, read_records};
use crate::wire::List;
use crate::{BatchHead, Fault, FaultKind};

/// A batch, whole, and as the entry that names it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    head: BatchHead,
    bytes: Vec<u8>,
}

impl Batch {
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
