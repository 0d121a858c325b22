//! Everything that can go wrong in the log, with the evidence in it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::journal::RaftError;
use crate::remedy::{holder, remedy};
use lapwing_files::WrongKind;

/// Why the log could not do what it was asked.
///
/// [`StoreError::is_retryable`]: nothing changed, the same call may succeed later. [`StoreError::is_fatal`]: what is on
/// disk can no longer be vouched for, the node stops. Every other error is the answer to one request and harms nothing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file system has no space left. The writer keeps its batch; `commit` may be called again.
    #[error("no space left to {operation} {}: free space or lower retain_bytes; nothing was lost, the write is retried", .file.display())]
    Full {
        /// What was being done.
        operation: &'static str,
        /// The file it was done to.
        file: PathBuf,
    },
    /// No file descriptor, or no memory for one, was left to make a file with. Nothing was written; as `Full` otherwise.
    #[error("cannot {operation} {}: {source}; raise the limit of open files; nothing was lost, the write is retried", .file.display())]
    Exhausted {
        /// What was being done.
        operation: &'static str,
        /// The file it was done to.
        file: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// More bytes wait for a commit than `LogConfig::pending_bytes_max` allows. Commit, then append again.
    #[error("{pending_bytes} bytes wait for a commit and the limit is {pending_bytes_max}")]
    Pending {
        /// Bytes that wait.
        pending_bytes: usize,
        /// The limit.
        pending_bytes_max: usize,
    },
    /// A body is larger than `LogConfig::body_bytes_max`.
    #[error("a record of {body_bytes} bytes is larger than the limit of {body_bytes_max}")]
    BodyTooLarge {
        /// Bytes of the body.
        body_bytes: usize,
        /// The limit.
        body_bytes_max: usize,
    },
    /// A file holds bytes that were synced once and are damaged now.
    #[error("{} is damaged at byte {at}: {what}; {}", .file.display(), remedy(.file, *.at))]
    Corrupt {
        /// The damaged file.
        file: PathBuf,
        /// The byte at which the first damaged record starts.
        at: u64,
        /// What was found there.
        what: String,
    },
    /// Segments are gone, all of them, and what lies beside them says that there were some.
    #[error("{} has no segment any more, and {beside} is from when it had: what it kept is gone; restore the data folder from a backup, or remove {remove} to begin without that", .dir.display())]
    Emptied {
        /// The folder of a stream, or of the journal.
        dir: PathBuf,
        /// The name of what says so.
        beside: String,
        /// What has to go so that a new one begins.
        remove: String,
    },
    /// Something else lies where a file, or a folder, is expected.
    #[error("cannot use {}: {found}; move it away, and put back from a backup what belongs there", .file.display())]
    WrongKind {
        /// Where.
        file: PathBuf,
        /// What lies there.
        found: WrongKind,
    },
    /// `fdatasync` or `fsync` failed: the kernel may have dropped what it held, so no retry can be believed.
    #[error("{operation} of {} failed: {source}; the node must stop and recover from what is on disk", .file.display())]
    SyncFailed {
        /// What was being done.
        operation: &'static str,
        /// The file it was done to.
        file: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A write failed for another reason than space: the device is not to be trusted.
    #[error("cannot {operation} {}: {source}; the node must stop", .file.display())]
    WriteFailed {
        /// What was being done.
        operation: &'static str,
        /// The file it was done to.
        file: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The writer met a fatal error before and does nothing any more.
    #[error("the log stopped after an earlier error: {reason}")]
    Stopped {
        /// The first fatal error, in words.
        reason: String,
    },
    /// A read, or a step of opening, failed.
    #[error("cannot {operation} {}: {source}", .file.display())]
    Io {
        /// What was being done.
        operation: &'static str,
        /// The file it was done to.
        file: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The data folder cannot be written to.
    #[error("the data folder {} cannot be written ({source}): give this user write permission, or name another folder", .dir.display())]
    NotWritable {
        /// The data folder.
        dir: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Another broker holds the data folder.
    #[error("the data folder {} is in use by {}: stop that broker, or name another folder", .dir.display(), holder(.pid))]
    Locked {
        /// The data folder.
        dir: PathBuf,
        /// The holder, when it could be read.
        pid: Option<u32>,
    },
    /// A tool looks at the data folder, and nobody changes it meanwhile.
    #[error("a tool is looking at the data folder {} (lapwing store check, dump, repair or restore): wait until it has ended, or name another folder", .dir.display())]
    LookedAt {
        /// The data folder.
        dir: PathBuf,
    },
    /// Nothing of ours lies in the folder.
    #[error("{} is no data folder: there is no file \"format\" in it; name the folder that the broker was given with --data", .dir.display())]
    NoData {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder is somebody else's: there are files, and none says that it is a data folder.
    #[error("{} is no data folder of Lapwing: it has {found}; name an empty folder, or a new one", .dir.display())]
    Foreign {
        /// The folder.
        dir: PathBuf,
        /// Some of what lies there.
        found: String,
    },
    /// What is damaged cannot be given up by itself.
    #[error("{} cannot be given up: {why}; restore the data folder from a backup", .file.display())]
    NotMendable {
        /// The damaged file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// The data folder was written by a version that this one does not read.
    #[error("{} says format version {found}, this program reads version {supported}: use the version that wrote it, or another folder", .file.display())]
    FormatVersion {
        /// The file that names the version.
        file: PathBuf,
        /// What it says.
        found: String,
        /// What this program reads.
        supported: u32,
    },
    /// A setting is out of range.
    #[error("{key} = {value} of stream {stream:?}: {why}")]
    Setting {
        /// The stream it belongs to.
        stream: String,
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// Why it is refused, and what is allowed.
        why: &'static str,
    },
    /// A setting differs from the one that the stream was made with and cannot change.
    #[error("{key} of stream {stream:?} was {old} when it was made and is {new} now: {remedy}")]
    SettingChanged {
        /// The stream it belongs to.
        stream: String,
        /// The key.
        key: &'static str,
        /// The value that the stream was made with.
        old: String,
        /// The value asked for.
        new: String,
        /// What to do.
        remedy: String,
    },
    /// No stream has this name.
    #[error("no stream {name:?}; there are: {}", .known.join(", "))]
    NoStream {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The stream has fewer partitions.
    #[error("stream {stream:?} has {partitions} partitions, counted from 0; there is no {partition}")]
    NoPartition {
        /// The stream.
        stream: String,
        /// The partition asked for.
        partition: u32,
        /// How many there are.
        partitions: u32,
    },
    /// The offset was trimmed away by retention.
    #[error("offset {from} of {stream:?}/{partition} was trimmed away; the first one kept is {first_offset}")]
    Trimmed {
        /// The stream.
        stream: String,
        /// The partition.
        partition: u32,
        /// The offset asked for.
        from: u64,
        /// The first offset kept.
        first_offset: u64,
        /// The first offset not synced yet.
        next_offset: u64,
    },
    /// The offset lies beyond the end.
    #[error("offset {from} of {stream:?}/{partition} does not exist yet; the next one is {next_offset}")]
    BeyondEnd {
        /// The stream.
        stream: String,
        /// The partition.
        partition: u32,
        /// The offset asked for.
        from: u64,
        /// The first offset not synced yet.
        next_offset: u64,
    },
    /// The name of a reader is empty, too long or has other characters than letters, digits, `.`, `_`, `-`.
    #[error("reader name {name:?}: use 1 to 64 of letters, digits, '.', '_', '-'")]
    ReaderName {
        /// The name given.
        name: String,
    },
    /// The stream remembers as many named readers as it may.
    #[error(
        "stream {stream:?} already remembers {readers_max} named readers: read without a name, or forget one (lapwing stream forget)"
    )]
    TooManyReaders {
        /// The stream.
        stream: String,
        /// The limit.
        readers_max: usize,
    },
    /// The name of a reader that somebody else began.
    #[error("the reader {name:?} of stream {stream:?} is somebody else's: read under another name, or without one")]
    ReaderTaken {
        /// The stream.
        stream: String,
        /// The name.
        name: String,
    },
    /// There is no such data group.
    #[error("there is no data group {group}: there are {groups}, counted from 0")]
    NoDataGroup {
        /// The group asked for.
        group: u16,
        /// How many there are.
        groups: u16,
    },
    /// An entry is not the one that follows in its data group. Nothing was taken.
    #[error("entry {index} does not follow in data group {group}: the next one is {next}")]
    NotNext {
        /// The data group.
        group: u16,
        /// The entry's index.
        index: u64,
        /// The index that follows.
        next: u64,
    },
    /// A data group or a partition has come to the end of its numbers. Nothing was taken.
    #[error("number {number} is the end: a log comes to no other one")]
    NumbersEnd {
        /// The index or offset that it would have.
        number: u64,
    },
    /// An entry has an older term than the one before it. Nothing was taken.
    #[error("entry {index} of data group {group} has term {term}, and the one before it has {last_term}")]
    TermFell {
        /// The data group.
        group: u16,
        /// The entry's index.
        index: u64,
        /// The entry's term.
        term: u64,
        /// The term before it.
        last_term: u64,
    },
    /// What is asked of a data group by Raft index does not fit it. Nothing was taken.
    #[error(transparent)]
    Raft(#[from] RaftError),
    /// What a snapshot covers cannot be truncated.
    #[error("data group {group} cannot be truncated from {from_index} on: it is purged through {purged_index}")]
    BelowPurged {
        /// The data group.
        group: u16,
        /// Where it was to be cut.
        from_index: u64,
        /// How far it is purged.
        purged_index: u64,
    },
    /// A vote is larger than the journal keeps.
    #[error("a vote of {vote_bytes} bytes is larger than the limit of {vote_bytes_max}")]
    VoteTooLarge {
        /// Bytes of the vote.
        vote_bytes: usize,
        /// The limit.
        vote_bytes_max: usize,
    },
    /// A setting of the journal is out of range.
    #[error("{key} = {value} of the journal: {why}")]
    JournalSetting {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// Why it is refused, and what is allowed.
        why: &'static str,
    },
}

impl StoreError {
    /// Nothing changed; the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::Exhausted { .. } | Self::Pending { .. })
    }

    /// The node must stop: the state on disk is unknown.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::SyncFailed { .. } | Self::WriteFailed { .. } | Self::Stopped { .. })
    }

    pub(crate) fn corrupt(file: &Path, at: u64, what: impl Into<String>) -> Self {
        Self::Corrupt { file: file.to_path_buf(), at, what: what.into() }
    }
}
