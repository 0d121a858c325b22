//! A segmented, partitioned, offset-addressed log. It sees bytes only.
//!
//! Rules of the room:
//! - One writer ([`LogWriter`], owned by one thread), any number of readers ([`LogReader`]). One process per data
//!   folder, kept by a lock file.
//! - `append` gathers, `commit` writes one batch per dirty stream and syncs it; only then do readers see it.
//! - What was synced is never lost and never skipped: a torn tail behind the last synced position is cut and reported,
//!   damage before it is an error that names file and byte.
//! - Retention deletes whole segments. A named reader that had not read them raises an alarm.
//! - No space left is a state, not a failure: the batch is kept and written when space returns. A failed sync is fatal.

mod batch;
mod beside;
mod clock;
mod config;
pub mod disk;
mod error;
mod format;
mod hop;
mod identity;
mod index;
mod info;
pub mod inspect;
pub mod journal;
mod lock;
mod log;
mod met;
mod meta_file;
mod notice;
mod os_error;
mod random;
mod reader;
mod recent;
mod record;
mod recovery;
mod remedy;
mod scan;
mod segment_file;
mod shared;
mod stream;
mod varint;
mod window;
mod writer;

pub use config::{LogConfig, StreamConfig};
pub use error::StoreError;
pub use format::note_own_clock;
pub use info::{
    Committed, PartitionInfo, ReadLimits, ReadOutcome, ReaderInfo, RecordView, StreamIndex, StreamInfo, StreamUuid,
    Trimmed,
};
pub use lock::{LockedFile, lock_alone, lock_to_look};
pub use log::Log;
pub use notice::{Notice, StoreCounters, TrimmedUnread};
pub use random::random_bytes;
pub use reader::LogReader;
pub use stream::named_readers::ReadBy;
pub use writer::{Append, LogWriter};
