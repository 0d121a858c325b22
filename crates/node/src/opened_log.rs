//! The log of a data folder, opened and not being written: what a node serves from, and gives back when it has served.
//!
//! A node serves on one log after another, or on the same one again within a process: whoever ends serving has all that was
//! acknowledged on disk, and hands on the writers as they are.

mod member_log;
mod not_served;
mod opened_by;
mod writing;

use std::fmt;
use std::path::Path;

use lapwing_store::journal::{JournalConfig, JournalReader};
use lapwing_store::{Log, LogConfig, LogReader, LogWriter, StoreError, StreamConfig};

use crate::config::Config;
use crate::data_groups::DataGroups;
use crate::error::NodeError;
use crate::log::{Keeper, LogWriters};
use crate::replica::is_of_cluster;
use crate::shard::Recovered;
use crate::start_progress::StartProgress;

pub(crate) use member_log::MemberLog;
pub use not_served::NotServed;
pub(crate) use opened_by::OpenedBy;
pub(crate) use writing::Writing;

/// Opens a log; tests pass one with a faulty disk under it.
pub type OpenLog =
    Box<dyn FnOnce(&Path, &LogConfig, &[StreamConfig]) -> Result<(LogWriter, LogReader), StoreError> + Send>;

/// Bytes that an envelope may have beyond its packet: the client id, and the encoding's own fields.
const ENVELOPE_EXTRA_BYTES: usize = 128 << 10;
/// Bytes that an entry may have beyond its packet: who keeps it, at least 4 bytes for each session.
const KEEPERS_BYTES_MAX: usize = 128 << 20;

/// The log on disk. It holds the folder's lock.
pub struct OpenedLog {
    pub(crate) writers: Writing,
    pub(crate) readers: LogReaders,
    pub(crate) opened_by: OpenedBy,
}

/// What reads it, for whoever wants; as good while somebody writes.
#[derive(Clone)]
pub(crate) struct LogReaders {
    pub(crate) streams: LogReader,
    /// Those of the data groups, unless nothing of them is kept.
    pub(crate) kept: Option<KeptReader>,
}

/// What reads the data groups: their entries, and the states that these add up to.
#[derive(Clone)]
pub(crate) struct KeptReader {
    pub(crate) reader: JournalReader,
    pub(crate) data_groups: DataGroups,
}

/// The log as it is opened outside of tests.
pub(crate) fn open_log() -> OpenLog {
    Box::new(Log::open)
}

impl OpenedLog {
    /// Opens the log of the configuration's data folder and finds out how its data groups stand; `None`: nothing is kept.
    ///
    /// # Errors
    /// `Store`, `Entry`, `System`.
    pub fn open(config: &Config) -> Result<Option<Self>, NodeError> {
        Self::open_by(config, open_log(), &StartProgress::default())
    }

    pub(crate) fn open_by(config: &Config, open: OpenLog, progress: &StartProgress) -> Result<Option<Self>, NodeError> {
        let Some(dir) = opened_by::folder_of(config) else { return Ok(None) };
        let (streams, reader) = open(dir, &log_config(config), &streams_of(config))?;
        let (keeper, kept) = match config.keeps_sessions() {
            true => open_groups(&streams, config, progress).map(|(keeper, kept)| (Some(keeper), Some(kept)))?,
            false => (None, None),
        };
        let (writers, readers) =
            (Writing::Local(Box::new(LogWriters { streams, keeper })), LogReaders { streams: reader, kept });
        Ok(Some(OpenedLog { writers, readers, opened_by: OpenedBy::new(config) }))
    }

    /// Commits what waits, names the log's end and gives the folder back.
    ///
    /// # Errors
    /// `Store`.
    pub fn close(self) -> Result<(), NodeError> {
        Ok(self.writers.close()?)
    }
}

impl fmt::Debug for OpenedLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedLog").field("opened_by", &self.opened_by).finish_non_exhaustive()
    }
}

impl LogReaders {
    /// What shards make their clients of, as it is on disk now; nobody writes meanwhile.
    pub(crate) fn recovered(&self) -> Option<Recovered> {
        let KeptReader { reader, data_groups } = self.kept.clone()?;
        let next_index = data_groups.next_indexes();
        let shares = data_groups.shares().into();
        Some(Recovered { next_index, data_groups, shares, reader })
    }
}

fn streams_of(config: &Config) -> Vec<StreamConfig> {
    let stream = |(name, stream): (&String, &crate::config::StreamConfig)| StreamConfig {
        name: name.clone(),
        partitions: stream.partitions,
        retain_bytes: stream.retain_bytes,
        retain_age_ms: stream.retain_age_ms,
        segment_bytes: stream.segment_bytes,
    };
    config.streams.iter().map(stream).collect()
}

/// The journal as this configuration has it.
fn journal_config(config: &Config) -> JournalConfig {
    let body_bytes_max = config.packet_bytes_max() as usize + KEEPERS_BYTES_MAX;
    let (segment_bytes, init_zero) = (config.limits.log_segment_bytes, config.log_init_zero);
    JournalConfig { segment_bytes, body_bytes_max, init_zero, ..JournalConfig::default() }
}

/// The log as this configuration has it.
fn log_config(config: &Config) -> LogConfig {
    LogConfig { body_bytes_max: config.packet_bytes_max() as usize + ENVELOPE_EXTRA_BYTES, ..LogConfig::default() }
}

fn open_groups(
    writer: &LogWriter,
    config: &Config,
    progress: &StartProgress,
) -> Result<(Keeper, KeptReader), NodeError> {
    let (journal, reader) = writer.open_journal(&journal_config(config))?;
    if is_of_cluster(&reader)? {
        return Err(NodeError::OfCluster { dir: config.data_dir.clone().unwrap_or_default() });
    }
    let (data_groups, extents) = DataGroups::recover(&reader, progress)?;
    let recovered = (data_groups.clone(), extents);
    let keeper = Keeper::new(journal, reader.clone(), recovered, config.limits.log_snapshot_bytes)?;
    Ok((keeper, KeptReader { reader, data_groups }))
}
