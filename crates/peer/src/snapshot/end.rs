//! The end of a snapshot.
//!
//! ```text
//! 0 chunks u32   4 crc u32
//! ```

use crate::wire::{Input, Pack};
use crate::{EncodeError, Fault};

/// All chunks were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotEnd {
    /// How many there are, those of earlier connections among them.
    pub chunks: u32,
    /// The CRC-32C of the bytes of all of them, one behind the other.
    pub crc: u32,
}

impl Pack<'_> for SnapshotEnd {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(&self.chunks.to_le_bytes());
        out.extend_from_slice(&self.crc.to_le_bytes());
        Ok(())
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        Ok(SnapshotEnd { chunks: input.u32("the number of chunks")?, crc: input.u32("the checksum of a snapshot")? })
    }
}
