//! A chunk of a snapshot.
//!
//! ```text
//! 0 number u32   4 bytes
//! ```

use crate::wire::{Input, Pack};
use crate::{EncodeError, Fault};

/// Some bytes of the snapshot that has begun on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotChunk<'a> {
    /// Its number, from 0.
    pub number: u32,
    /// Its bytes, at least one.
    pub bytes: &'a [u8],
}

impl<'a> Pack<'a> for SnapshotChunk<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if self.bytes.is_empty() {
            return Err(EncodeError::Impossible("a chunk without bytes"));
        }
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(self.bytes);
        Ok(())
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let number = input.u32("the number of a chunk")?;
        let here = *input;
        match input.all() {
            [] => Err(here.malformed("a chunk without bytes")),
            bytes => Ok(SnapshotChunk { number, bytes }),
        }
    }
}
