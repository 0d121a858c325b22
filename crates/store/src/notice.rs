//! What the log did on its own and an operator should hear of, and the counters of it.

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Retention took messages away that a named reader had not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrimmedUnread {
    /// The stream.
    pub stream: String,
    /// The partition.
    pub partition: u32,
    /// The reader.
    pub reader: String,
    /// The first offset lost to it.
    pub from_offset: u64,
    /// The first offset still there.
    pub until_offset: u64,
}

/// One thing worth a line in the node's log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// A crash left half a write behind the last synced position; it was cut off.
    TornTail {
        /// The segment.
        file: PathBuf,
        /// Where it was cut.
        at: u64,
        /// Bytes up to the last one that was not zero.
        bytes: u64,
    },
    /// The index of a sealed segment was missing or damaged and was made again from the segment.
    IndexRebuilt {
        /// The index file.
        file: PathBuf,
        /// What was wrong with it.
        why: String,
    },
    /// The positions of named readers could not be read or written; alarms may repeat or come early.
    ReadersFile {
        /// The file.
        file: PathBuf,
        /// What was wrong with it.
        why: String,
    },
    /// The data folder holds a stream that the configuration does not name; it is left alone.
    Unconfigured {
        /// Its folder.
        dir: PathBuf,
    },
    /// A segment of the journal that was given up before a crash was still there; it was removed.
    LeftOver {
        /// The segment.
        file: PathBuf,
    },
    /// A step that only saves space or time failed and is tried again later.
    Postponed {
        /// The file.
        file: PathBuf,
        /// What was wrong.
        why: String,
    },
    /// The alarm of retention.
    Unread(TrimmedUnread),
    /// A reader has met damage, the first one at this place.
    Damaged {
        /// The stream.
        stream: String,
        /// The partition.
        partition: u32,
        /// The first offset that cannot be read.
        offset: u64,
        /// The file, and what is wrong with it.
        what: String,
    },
    /// A reader has passed over messages whose loss somebody has accepted, the first one at this place.
    GivenUp {
        /// The stream.
        stream: String,
        /// The partition.
        partition: u32,
        /// The first offset that is lost.
        offset: u64,
        /// How many there were in what was read.
        messages: u64,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TornTail { file, at, bytes } => {
                write!(f, "cut a torn tail of {bytes} bytes off {} at byte {at}; it was never synced", file.display())
            }
            Self::IndexRebuilt { file, why } => write!(f, "rebuilt the index {}: {why}", file.display()),
            Self::ReadersFile { file, why } => write!(f, "positions of named readers {}: {why}", file.display()),
            Self::Unconfigured { dir } => write!(f, "{} is not configured and is left alone", dir.display()),
            Self::LeftOver { file } => write!(f, "removed {}, which was given up before a crash", file.display()),
            Self::Postponed { file, why } => write!(f, "postponed on {}: {why}", file.display()),
            Self::Unread(unread) => write!(
                f,
                "retention trimmed offsets {}..{} of {}/{} that reader {} had not read",
                unread.from_offset, unread.until_offset, unread.stream, unread.partition, unread.reader
            ),
            Self::Damaged { stream, partition, offset, what } => {
                write!(f, "stream {stream}/{partition} cannot be read from offset {offset} on: {what}")
            }
            Self::GivenUp { stream, partition, offset, messages } => write!(
                f,
                "a reader of {stream}/{partition} has passed over {messages} messages from offset {offset} on, whose loss \
                 somebody has accepted (lapwing store repair)"
            ),
        }
    }
}

/// Counters of one log since it was opened. Written by the writer and by readers, read by anyone.
#[derive(Debug, Default)]
pub struct StoreCounters {
    pub(crate) records: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) commits: AtomicU64,
    pub(crate) syncs: AtomicU64,
    pub(crate) sync_us: AtomicU64,
    pub(crate) full: AtomicU64,
    pub(crate) torn_tails: AtomicU64,
    pub(crate) torn_bytes: AtomicU64,
    pub(crate) indexes_rebuilt: AtomicU64,
    pub(crate) trimmed_segments: AtomicU64,
    pub(crate) trimmed_bytes: AtomicU64,
    pub(crate) trimmed_unread: AtomicU64,
    pub(crate) corrupt_reads: AtomicU64,
    pub(crate) read_records: AtomicU64,
    pub(crate) notices_dropped: AtomicU64,
}

impl StoreCounters {
    /// Every counter with its name and its meaning, for a metrics page.
    pub fn list(&self) -> Vec<(&'static str, &'static str, u64)> {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            ("appended_records", "Records committed to streams", of(&self.records)),
            ("appended_bytes", "Bytes committed to streams, headers included", of(&self.bytes)),
            ("commits", "Group commits", of(&self.commits)),
            ("syncs", "Calls of fdatasync", of(&self.syncs)),
            ("sync_us", "Microseconds spent in fdatasync", of(&self.sync_us)),
            ("full", "Commits put off because no space was left", of(&self.full)),
            ("torn_tails", "Torn tails cut at recovery", of(&self.torn_tails)),
            ("torn_bytes", "Bytes of torn tails cut at recovery", of(&self.torn_bytes)),
            ("indexes_rebuilt", "Segment indexes rebuilt", of(&self.indexes_rebuilt)),
            ("trimmed_segments", "Segments deleted by retention", of(&self.trimmed_segments)),
            ("trimmed_bytes", "Bytes deleted by retention", of(&self.trimmed_bytes)),
            ("trimmed_unread", "Messages deleted before a named reader read them", of(&self.trimmed_unread)),
            ("corrupt_reads", "Reads that met damage", of(&self.corrupt_reads)),
            ("read_records", "Records handed to readers", of(&self.read_records)),
            ("notices_dropped", "Notices dropped because nobody took them", of(&self.notices_dropped)),
        ]
    }

    /// Segments that retention has deleted.
    pub fn trimmed_segments(&self) -> u64 {
        self.trimmed_segments.load(Ordering::Relaxed)
    }

    /// Calls of fdatasync, and the microseconds spent in them.
    pub fn syncs(&self) -> (u64, u64) {
        (self.syncs.load(Ordering::Relaxed), self.sync_us.load(Ordering::Relaxed))
    }

    pub(crate) fn add(counter: &AtomicU64, value: u64) {
        counter.fetch_add(value, Ordering::Relaxed);
    }

    /// Keeps a notice for the node; one that it displaces is counted.
    pub(crate) fn keep(&self, notices: &Notices, notice: Notice) {
        if notices.push(notice) {
            Self::add(&self.notices_dropped, 1);
        }
    }
}

/// Notices that wait for the node to take them; bounded, the oldest goes first and is counted.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    waiting: Mutex<VecDeque<Notice>>,
}

impl Notices {
    const WAITING_MAX: usize = 256;

    /// Adds a notice; true when the oldest one had to go for it.
    #[must_use]
    pub(crate) fn push(&self, notice: Notice) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = waiting.len() == Self::WAITING_MAX;
        if is_full {
            waiting.pop_front();
        }
        waiting.push_back(notice);
        is_full
    }

    pub(crate) fn take(&self) -> Vec<Notice> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}
