//! The one writer of the log.

use crate::error::StoreError;
use crate::info::{Committed, StreamIndex, Trimmed};

/// One record to append.
#[derive(Debug, Clone, Copy)]
pub struct Append<'a> {
    /// Counted from 0, below the stream's partitions.
    pub partition: u32,
    /// The slot (0..4096) of the publisher; kept in the header for the cluster.
    pub slot: u16,
    /// The data group (0..16) of that slot.
    pub data_group: u16,
    /// The id that the broker gave the message.
    pub message_id: u64,
    /// Now, microseconds since the epoch.
    pub appended_at_us: i64,
    /// The bytes to keep.
    pub body: &'a [u8],
}

/// The one writer of the log: `append` gathers, `commit` makes durable and visible. `Send`, owned by the log thread.
#[derive(Debug)]
pub struct LogWriter {}

impl LogWriter {
    /// Takes a record into the batch of its stream; returns its offset. Durable and visible after the next `commit`.
    ///
    /// # Errors
    /// `Pending`: too much waits, commit first. `BodyTooLarge`, `NoStream`, `NoPartition`: the record is refused.
    /// `Stopped`: fatal.
    pub fn append(&mut self, _stream: StreamIndex, _record: Append<'_>) -> Result<u64, StoreError> {
        unimplemented!()
    }

    /// Bytes that wait for a commit.
    pub fn pending_bytes(&self) -> usize {
        unimplemented!()
    }

    /// Writes and syncs the batch of each dirty stream, then lets readers see it. Does nothing when nothing waits.
    ///
    /// # Errors
    /// `Full`: the batch is kept, call again when space may have returned (streams already synced in this call stay
    /// synced). Anything else is fatal: the writer does nothing any more.
    pub fn commit(&mut self) -> Result<Committed, StoreError> {
        unimplemented!()
    }

    /// Deletes segments by age and size, rolls segments that grew old, saves named readers' positions. Call it about
    /// once a second. `now_ms`: milliseconds since the epoch.
    ///
    /// # Errors
    /// As `commit`.
    pub fn retain(&mut self, _now_ms: i64) -> Result<Trimmed, StoreError> {
        unimplemented!()
    }

    /// Commits what waits, names the end in a last commit record, and saves readers' positions.
    ///
    /// # Errors
    /// As `commit`.
    pub fn close(self) -> Result<(), StoreError> {
        unimplemented!()
    }
}
