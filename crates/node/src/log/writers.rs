//! What the log thread writes with: the writer of streams, and what keeps the data groups.

use lapwing_store::{Append, LogWriter, StoreError};

use super::batch::{Destination, LogBatch, Record};
use super::keeper::Keeper;

/// The log's one writing end. It goes from one log thread to the next.
pub(crate) struct LogWriters {
    pub(crate) streams: LogWriter,
    /// None: nothing but streams is kept.
    pub(crate) keeper: Option<Keeper>,
}

impl LogWriters {
    /// Appends one record.
    ///
    /// # Errors
    /// `Pending`: too much waits. Anything else is fatal.
    pub(super) fn append(&mut self, record: &Record, appended_at_us: i64, body: &[u8]) -> Result<(), StoreError> {
        let (stream, partition) = match (record.to, &mut self.keeper) {
            (Destination::Stream { stream, partition }, _) => (stream, partition),
            (Destination::DataGroup { data_group, index }, Some(keeper)) => {
                return keeper.append((data_group, index), record, appended_at_us, body);
            }
            (Destination::DataGroup { .. }, None) => panic!("a shard keeps what the node has no log for"),
        };
        let append = Append {
            partition,
            slot: record.slot.get(),
            data_group: record.slot.data_group(),
            message_id: record.message_id,
            appended_at_us,
            body,
        };
        self.streams.append(stream, append).map(|_| ())
    }

    /// All records of this batch are appended.
    pub(super) fn appended(&mut self, batch: LogBatch) {
        if let Some(keeper) = &mut self.keeper {
            keeper.appended(batch);
        }
    }

    /// Bytes appended that wait for a commit.
    pub(super) fn pending_bytes(&self) -> usize {
        self.streams.pending_bytes() + self.keeper.as_ref().map_or(0, Keeper::pending_bytes)
    }

    /// Makes durable what waits.
    ///
    /// # Errors
    /// `Full`: later. Anything else is fatal.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        self.keeper.as_mut().map_or(Ok(()), Keeper::commit)?;
        self.streams.commit().map(|_| ()).inspect_err(|_| {
            // A stream has no reserve of its own.
            self.keeper.iter_mut().for_each(Keeper::give_up_reserve);
        })
    }

    /// What counts as a segment of the data groups' log, if they have one.
    pub(crate) fn scale_bytes(&self) -> Option<u64> {
        self.keeper.as_ref().map(Keeper::scale_bytes)
    }

    /// Commits what waits and closes the log.
    ///
    /// # Errors
    /// As the log's.
    pub(crate) fn close(self) -> Result<(), StoreError> {
        self.keeper.map_or(Ok(()), Keeper::close)?;
        self.streams.close()
    }
}
