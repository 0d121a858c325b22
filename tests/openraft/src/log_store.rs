//! One data group of the journal behind `openraft`'s traits.
//!
//! Raft counts entries from 0 and the journal from 1, so an index is one more here. A log id is a term and an index: with
//! `single-term-leader` a term has one leader, as in the paper.

use std::fmt::Debug;
use std::ops::{Bound, ControlFlow, RangeBounds};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use lapwing_store::journal::{Entry, DataGroupId, JournalConfig, JournalReader, JournalWriter};
use lapwing_store::{Log, LogConfig, ReadLimits, StoreError};
use openraft::storage::{LogFlushed, LogState, RaftLogStorage};
use openraft::{
    AnyError, CommittedLeaderId, LogId, OptionalSend, RaftLogId, RaftLogReader, StorageError, StorageIOError, Vote,
};

use crate::TypeConfig;

const GROUP: DataGroupId = DataGroupId(9);

#[derive(Debug, Clone)]
pub struct LogStore {
    writer: Arc<Mutex<JournalWriter>>,
    reader: JournalReader,
}

fn read_error(error: StoreError) -> StorageError<u64> {
    StorageIOError::read_logs(AnyError::new(&error)).into()
}

fn write_error(error: StoreError) -> StorageError<u64> {
    StorageIOError::write_logs(AnyError::new(&error)).into()
}

fn log_id(term: u64, journal_index: u64) -> Option<LogId<u64>> {
    Some(LogId::new(CommittedLeaderId::new(term, 0), journal_index.checked_sub(1)?))
}

impl LogStore {
    pub fn open(dir: &Path) -> Self {
        let (log, _) = Log::open(dir, &LogConfig::default(), &[]).expect("a log");
        let config = JournalConfig { segment_bytes: 64 << 10, ..JournalConfig::default() };
        let (writer, reader) = log.open_journal(&config).expect("a journal");
        Self { writer: Arc::new(Mutex::new(writer)), reader }
    }

    fn writer(&self) -> MutexGuard<'_, JournalWriter> {
        self.writer.lock().expect("no test panics under the lock")
    }

    /// Appends and commits.
    fn write(&self, entries: impl IntoIterator<Item = openraft::Entry<TypeConfig>>) -> Result<(), StoreError> {
        let mut writer = self.writer();
        let purged = self.reader.group(GROUP)?.purged_index;
        for entry in entries {
            let id = *entry.get_log_id();
            let term = id.leader_id.term;
            if id.index < purged {
                // Nor does Raft append what a snapshot covers, as the suite does: it is settled.
                continue;
            }
            // The suite leaves holes, which Raft never does: they are filled with nothing, and nothing is not shown.
            while writer.next_index(GROUP)? < id.index + 1 {
                let index = writer.next_index(GROUP)?;
                writer.append(journal_entry(index, term, &[]))?;
            }
            let body = serde_json::to_vec(&entry).expect("an entry as JSON");
            writer.append(journal_entry(id.index + 1, term, &body))?;
        }
        writer.commit().map(drop)
    }
}

fn journal_entry(index: u64, term: u64, body: &[u8]) -> Entry<'_> {
    Entry { group: GROUP, index, term, raft_index: 0, slot: 0, message_id: 0, appended_at_us: 0, body }
}

/// The journal's indexes, both included.
fn bounds(range: &impl RangeBounds<u64>) -> (u64, u64) {
    let from = match range.start_bound() {
        Bound::Included(from) => from + 1,
        Bound::Excluded(from) => from + 2,
        Bound::Unbounded => 1,
    };
    let to = match range.end_bound() {
        Bound::Included(to) => to + 1,
        Bound::Excluded(to) => *to,
        Bound::Unbounded => u64::MAX,
    };
    (from, to)
}

impl RaftLogReader<TypeConfig> for LogStore {
    async fn try_get_log_entries<RB: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: RB,
    ) -> Result<Vec<openraft::Entry<TypeConfig>>, StorageError<u64>> {
        let (from, to) = bounds(&range);
        let first = self.reader.group(GROUP).map_err(read_error)?.first_index;
        let everything = ReadLimits { messages_max: u64::MAX, bytes_max: u64::MAX };
        let mut entries = vec![];
        let read = self.reader.read(GROUP, from.max(first), to, everything, &mut |entry| {
            if !entry.body.is_empty() {
                entries.push(serde_json::from_slice(entry.body).expect("an entry as JSON"));
            }
            ControlFlow::Continue(())
        });
        read.map_err(read_error)?;
        Ok(entries)
    }
}

impl RaftLogStorage<TypeConfig> for LogStore {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> Result<LogState<TypeConfig>, StorageError<u64>> {
        let log = self.reader.group(GROUP).map_err(read_error)?;
        Ok(LogState {
            last_purged_log_id: log_id(log.purged_term, log.purged_index),
            last_log_id: log_id(log.last_term, log.last_index),
        })
    }

    async fn get_log_reader(&mut self) -> Self::LogReader {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote<u64>) -> Result<(), StorageError<u64>> {
        let bytes = serde_json::to_vec(vote).expect("a vote as JSON");
        let mut writer = self.writer();
        writer.vote(GROUP, &bytes).and_then(|()| writer.commit()).map(drop).map_err(write_error)
    }

    async fn read_vote(&mut self) -> Result<Option<Vote<u64>>, StorageError<u64>> {
        let vote = self.reader.group(GROUP).map_err(read_error)?.vote;
        let vote = Some(vote).filter(|vote| !vote.is_empty());
        Ok(vote.map(|vote| serde_json::from_slice(&vote).expect("a vote as JSON")))
    }

    async fn append<I>(&mut self, entries: I, callback: LogFlushed<TypeConfig>) -> Result<(), StorageError<u64>>
    where
        I: IntoIterator<Item = openraft::Entry<TypeConfig>> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        self.write(entries).map_err(write_error)?;
        callback.log_io_completed(Ok(()));
        Ok(())
    }

    async fn truncate(&mut self, log_id: LogId<u64>) -> Result<(), StorageError<u64>> {
        let mut writer = self.writer();
        writer.truncate(GROUP, log_id.index + 1).and_then(|()| writer.commit()).map(drop).map_err(write_error)
    }

    async fn purge(&mut self, log_id: LogId<u64>) -> Result<(), StorageError<u64>> {
        let (through, term) = (log_id.index + 1, log_id.leader_id.term);
        let mut writer = self.writer();
        writer.purge(GROUP, through, term).and_then(|()| writer.commit()).map(drop).map_err(write_error)
    }
}
