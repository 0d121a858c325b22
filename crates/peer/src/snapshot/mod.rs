//! A snapshot of one group, on a connection of its own.
//!
//! The sender says what it has ([`SnapshotBegin`]); the receiver, from which chunk on it wants it ([`SnapshotReply`]); the
//! chunks come in order ([`SnapshotChunk`]), and the end with a checksum over all of them ([`SnapshotEnd`]); the receiver
//! says what became of it. There is no window: what is slow holds back this connection, which nothing else waits for.
//!
//! A snapshot may come over several connections, with a file between them on the receiver's disk: so it has a checksum where
//! other frames have none.

mod begin;
mod chunk;
mod end;
mod intake;
mod kept_record;
mod refusal;
mod reply;

pub use begin::SnapshotBegin;
pub use chunk::SnapshotChunk;
pub use end::SnapshotEnd;
pub use intake::{SnapshotIntake, SnapshotLimits, SnapshotProgress};
pub use kept_record::{KeptRecord, read_kept_records, write_kept_records};
pub use refusal::SnapshotRefusal;
pub use reply::{SnapshotReply, Verdict};
