//! The log of a member of a cluster: opened by whoever writes it, and lent to one serving after another.

use lapwing_store::journal::{JournalReader, JournalWriter};
use lapwing_store::{Log, LogReader, LogWriter};

use super::opened_by::{OpenedBy, folder_of};
use super::{LogReaders, OpenedLog, Writing, journal_config, log_config};
use crate::config::Config;
use crate::error::NodeError;
use crate::member::Door;

/// The log, opened and not being written. It holds the folder's lock.
pub(crate) struct MemberLog {
    pub(crate) log: LogWriter,
    pub(crate) journal: JournalWriter,
    pub(crate) reader: JournalReader,
    /// Of streams, of which a member has none.
    pub(crate) readers: LogReader,
}

impl MemberLog {
    /// Opens the log of the configuration's data folder.
    ///
    /// # Errors
    /// `Config`: there is no folder. `Store`.
    pub(crate) fn open(config: &Config) -> Result<Self, NodeError> {
        let Some(dir) = folder_of(config) else {
            let what = "is not set, and a member of a cluster keeps its log there".to_owned();
            return Err(NodeError::config("data_dir", what, "Name the folder of this node's data."));
        };
        let (log, readers) = Log::open(dir, &log_config(config), &[])?;
        let (journal, reader) = log.open_journal(&journal_config(config))?;
        Ok(MemberLog { log, journal, reader, readers })
    }
}

impl OpenedLog {
    /// A member's log, for one serving: its raft thread writes.
    pub(crate) fn replicated(door: Door, readers: LogReaders, config: &Config) -> Self {
        OpenedLog { writers: Writing::Replicated(door), readers, opened_by: OpenedBy::new(config) }
    }
}
