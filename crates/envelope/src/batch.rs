//! A run of records becomes one Arrow IPC stream.

use crate::error::EnvelopeError;

/// Gathers records into Arrow columns: fed from the log reader's callback, each byte is copied once into its column.
///
/// Reused: `finish_ipc` empties it and keeps its memory.
#[derive(Debug)]
pub struct RowBatchBuilder {}

impl RowBatchBuilder {
    /// A builder for records of one partition.
    pub fn new(_partition: u32) -> Self {
        unimplemented!()
    }

    /// Adds the record at `offset`, appended at `appended_at_us` (microseconds since the epoch), whose body is an
    /// encoded envelope. On an error the batch is as before.
    ///
    /// # Errors
    /// `Version`, `Malformed`, `BatchFull`.
    pub fn push(&mut self, _offset: u64, _appended_at_us: i64, _body: &[u8]) -> Result<(), EnvelopeError> {
        unimplemented!()
    }

    /// Records gathered.
    pub fn rows(&self) -> usize {
        unimplemented!()
    }

    /// Appends a whole Arrow IPC stream to `out`: schema, one record batch (none when there are no rows), end mark.
    ///
    /// # Errors
    /// `Arrow`.
    pub fn finish_ipc(&mut self, _out: &mut Vec<u8>) -> Result<(), EnvelopeError> {
        unimplemented!()
    }
}
