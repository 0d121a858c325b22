//! The one writer of the log.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::LogConfig;
use crate::error::StoreError;
use crate::info::{Committed, StreamIndex, Trimmed};
use crate::journal::{self, JournalConfig, JournalReader, JournalWriter};
use crate::lock::FolderLock;
use crate::log::blame_folder;
use crate::notice::StoreCounters;
use crate::record::{BODY_BYTES_MAX, record_bytes};
use crate::shared::Shared;
use crate::stream::writer::StreamWriter;

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
pub struct LogWriter {
    shared: Arc<Shared>,
    dir: PathBuf,
    streams: Vec<StreamWriter>,
    config: LogConfig,
    pending_bytes: usize,
    /// The first fatal error; nothing is done after it.
    stopped: Option<String>,
    /// Held until this and the journal's writer go.
    lock: Option<Arc<FolderLock>>,
}

impl LogWriter {
    pub(crate) fn new(
        shared: Arc<Shared>,
        dir: &Path,
        streams: Vec<StreamWriter>,
        config: LogConfig,
        lock: Option<Arc<FolderLock>>,
    ) -> Self {
        let dir = dir.to_path_buf();
        Self { shared, dir, streams, config, pending_bytes: 0, stopped: None, lock }
    }

    /// Opens or makes the journal of the data groups in the same data folder; recovers what a crash left. Its writer may
    /// go to another thread; the folder stays locked until both writers are gone.
    ///
    /// # Errors
    /// `NotWritable`, `JournalSetting`, `Corrupt`, `Full`, `Io`; `SyncFailed`.
    pub fn open_journal(&self, config: &JournalConfig) -> Result<(JournalWriter, JournalReader), StoreError> {
        let opened = journal::open(self.shared.disk.clone(), &self.dir, config, self.lock.clone());
        opened.map_err(|error| blame_folder(error, &self.dir))
    }

    /// Takes a record into the batch of its stream; returns its offset. Durable and visible after the next `commit`.
    ///
    /// # Errors
    /// `Pending`: too much waits, commit first. `BodyTooLarge`, `NoStream`, `NoPartition`, `NumbersEnd`: the record is refused.
    /// `Stopped`: fatal.
    pub fn append(&mut self, stream: StreamIndex, record: Append<'_>) -> Result<u64, StoreError> {
        self.check_running()?;
        let body_bytes = record.body.len();
        let body_bytes_max = self.config.body_bytes_max.min(BODY_BYTES_MAX);
        if body_bytes > body_bytes_max {
            return Err(StoreError::BodyTooLarge { body_bytes, body_bytes_max });
        }
        let bytes = record_bytes(body_bytes);
        let (pending_bytes, pending_bytes_max) = (self.pending_bytes, self.config.pending_bytes_max);
        // One record always fits, so that a limit below the largest body cannot block for ever.
        if pending_bytes > 0 && pending_bytes + bytes > pending_bytes_max {
            return Err(StoreError::Pending { pending_bytes, pending_bytes_max });
        }
        let Some(writer) = self.streams.get_mut(stream.0 as usize) else {
            return Err(self.shared.no_stream(&format!("#{}", stream.0)));
        };
        match writer.append(&record)? {
            Some(offset) => {
                self.pending_bytes += bytes;
                Ok(offset)
            }
            None => Err(self.shared.streams[stream.0 as usize].no_partition(record.partition)),
        }
    }

    /// Bytes that wait for a commit.
    pub fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    /// Writes and syncs the batch of each dirty stream, then lets readers see it. Does nothing when nothing waits.
    ///
    /// # Errors
    /// `Full`: the batch is kept, call again when space may have returned (streams already synced in this call stay
    /// synced). Anything else is fatal: the writer does nothing any more.
    pub fn commit(&mut self) -> Result<Committed, StoreError> {
        self.check_running()?;
        let mut all = Committed::default();
        let mut first_error = None;
        for place in 0..self.streams.len() {
            if !self.streams[place].is_dirty() {
                continue;
            }
            let result = self.streams[place].commit(&self.shared);
            match self.note(result) {
                Ok(one) => all = all.and(one),
                // The other streams are still tried: one that is full elsewhere does not hold them up.
                Err(error) if error.is_retryable() => first_error = first_error.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        self.count(&all);
        self.pending_bytes = self.streams.iter().map(StreamWriter::pending_bytes).sum();
        first_error.map_or(Ok(all), Err)
    }

    /// Deletes segments by age and size, rolls segments that grew old, saves named readers' positions, and names the
    /// end of the last commit in the file. Call it about once a second. `now_ms`: milliseconds since the epoch.
    ///
    /// # Errors
    /// As `commit`.
    pub fn retain(&mut self, now_ms: i64) -> Result<Trimmed, StoreError> {
        self.check_running()?;
        let mut trimmed = Trimmed::default();
        for place in 0..self.streams.len() {
            let named = self.streams[place].name_end(&self.shared);
            let result = named.and_then(|()| self.streams[place].retain(&self.shared, now_ms, &mut trimmed));
            self.note(result)?;
        }
        StoreCounters::add(&self.shared.counters.trimmed_segments, trimmed.segments);
        StoreCounters::add(&self.shared.counters.trimmed_bytes, trimmed.bytes);
        Ok(trimmed)
    }

    /// Commits what waits, names the end in a last commit record, and saves readers' positions.
    ///
    /// # Errors
    /// As `commit`; on `Full` what waited is lost.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.commit()?;
        for writer in &mut self.streams {
            writer.name_end(&self.shared)?;
            writer.save_readers(&self.shared);
        }
        Ok(())
    }

    fn check_running(&self) -> Result<(), StoreError> {
        match &self.stopped {
            Some(reason) => Err(StoreError::Stopped { reason: reason.clone() }),
            None => Ok(()),
        }
    }

    /// Remembers an error that stops the log, counts one that does not.
    fn note<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(error) = &result {
            match error.is_retryable() {
                true => StoreCounters::add(&self.shared.counters.full, 1),
                false => self.stopped = Some(error.to_string()),
            }
        }
        result
    }

    fn count(&self, committed: &Committed) {
        if committed.streams == 0 {
            return;
        }
        let counters = &self.shared.counters;
        StoreCounters::add(&counters.records, committed.records);
        StoreCounters::add(&counters.bytes, committed.bytes);
        StoreCounters::add(&counters.syncs, u64::from(committed.streams));
        StoreCounters::add(&counters.sync_us, committed.sync_us);
        StoreCounters::add(&counters.commits, 1);
    }
}

impl Committed {
    fn and(self, other: Self) -> Self {
        Self {
            records: self.records + other.records,
            bytes: self.bytes + other.bytes,
            streams: self.streams + other.streams,
            sync_us: self.sync_us + other.sync_us,
        }
    }
}
