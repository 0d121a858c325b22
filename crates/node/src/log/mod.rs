//! The log of a node: shards hand over encoded messages, one thread appends and commits them.
//!
//! - A shard counts what it hands over; the number of a record is its *LSN* (log sequence number), the
//!   shard's own. The thread takes the lanes in order and
//!   publishes, per shard, the last LSN that is durable. A shard acknowledges what lies at or below it.
//! - Commits are adaptive: whatever gathered while the last commit ran goes into the next one. Only when nobody waits for
//!   an acknowledgement may a commit wait a moment for company.
//! - A full disk is a state: the thread keeps what it has, stops taking, raises a flag, and tries again. Shards then
//!   drop stream copies of QoS 0 (counted) and do not read on from connections that publish QoS 1 or 2 into a stream.
//!   Before that, while the disk is low, nothing comes but what gives space back: the journal has set space aside for it, and
//!   what all shards have under way is bounded so that it finds room too.
//! - Any other failure of the log stops the node.

mod batch;
#[cfg(test)]
pub(crate) mod crash;
mod feed;
mod growth;
mod keeper;
mod lanes;
mod pulse;
mod shared;
pub(crate) mod snapshot;
mod snapshot_thread;
mod tail;
mod thread;
mod writers;

pub(crate) use batch::LogBatch;
pub(crate) use feed::{LogFeed, StreamRoute};
pub(crate) use keeper::Keeper;
pub(crate) use shared::LogShared;
pub(crate) use thread::{LogThread, now_us};
pub(crate) use writers::LogWriters;
