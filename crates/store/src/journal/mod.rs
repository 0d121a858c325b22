//! The journal: the log of the data groups, in the folder `log/` beside `streams/`.
//!
//! Rules of the room:
//! - The groups share one sequence of segments. An entry is (group, index); indexes of a group are consecutive from 1.
//!   References to entries are logical, so that compaction may move what they name.
//! - `append` gathers, `commit` writes everything that waits with one write and one `fdatasync`; only then is it seen.
//!   Votes, truncations and purges are records like any other.
//! - A commit record names what was synced before it: a torn tail is cut and told, damage before it is an error that
//!   names file and byte.
//! - Each segment begins with a checkpoint: how every group stands and which segments there are. So opening reads one
//!   segment, and of the others one small index each, which can be made again from its segment.
//! - An entry above its group's purged index is needed for replay and never touched. At or below it, compaction keeps what
//!   the caller calls live: segments without any are deleted, those under half live are rewritten into segments of kept
//!   entries. What has been decided is recorded in the journal before a file goes.
//! - In a cluster an entry has the Raft index of its batch beside its index, a marker has one and is no entry, and there is a
//!   seventeenth group. A node on its own has Raft index 0 and writes nothing of all that.
//! - What a leader sends of a group, its snapshot and the entries that this refers to, counts by one commit, or not at all.
//! - No space left is a state, not a failure; a failed sync is fatal. What gives space back has a reserve of its own.
//!
//! A seam is left for an index from keys to entries: it may be built from `replay` and looked up with `get`.

mod active;
mod ahead;
mod checkpoint;
mod compact;
mod config;
mod counters;
mod data_group;
mod entry;
mod files;
mod fill;
mod growing;
mod image;
mod index;
mod info;
mod inspect;
mod kept_draft;
mod manifest;
mod map;
mod marker;
mod op;
mod open;
mod opening;
mod pending;
mod publish;
mod raft_codec;
mod raft_error;
mod raft_log;
mod raft_reader;
mod raft_writer;
mod reader;
mod received;
mod replay;
mod restore;
mod room;
mod room_order;
mod room_thread;
mod sealed;
mod segment_writer;
mod sidecar;
mod snapshot;
mod state;
mod tail;
mod terms;
mod visitor;
mod walk;
mod writer;

pub use compact::Compacted;
pub use config::JournalConfig;
pub use counters::JournalCounters;
pub use data_group::DataGroupId;
pub use entry::{Entry, EntryView, OwnedEntry};
pub(crate) use image::Image;
pub(crate) use index::DataGroupIndex;
pub use info::{DataGroupLog, JournalCommitted, JournalInfo, JournalRead, RaftRead, Replayed};
pub(crate) use inspect::JournalView;
pub(crate) use manifest::Listed;
pub use marker::{Marker, RaftEntry};
pub use open::Journal;
pub(crate) use open::open;
pub use raft_error::RaftError;
pub use raft_writer::Covered;
pub use reader::JournalReader;
pub use received::{Received, ReceivedDraft};
pub use room_order::{RoomMade, RoomOrder};
pub use room_thread::RoomThread;
pub use snapshot::{Snapshot, SnapshotDraft};
pub(crate) use snapshot::{name_of as snapshot_name, received_name_of as received_name};
pub(crate) use state::segment_path;
pub(crate) use visitor::JournalVisitor;
pub use writer::JournalWriter;
