//! One node's replicas of all groups, as one value: 17 Raft engines, what their newest entries weigh, what goes to each of the
//! other nodes, and who of them serves.
//!
//! Rules of the room:
//! - No I/O, no clock, no thread: frames, ticks and words of the disk go in; writes, frames and what is committed come out. The
//!   same calls give the same answers.
//! - Who belongs to the groups is decided anew each time, from what the metadata and the engines say.
//! - It composes three rooms that do not know each other: the engines (`raft`), the frames (`peer`), and who serves (`cluster`).
//! - What a turn gives to be stored is one [`Write`] for all groups; what waits for it waits here.
//! - An entry is handed out as committed when a quorum has it, whether this node's disk has it or not: the state changes then.
//! - Bodies are in memory from when they come until they are stored and applied here, and beyond that as long as there is
//!   room; for who lags further the caller reads the journal ([`Lacking`]).
//! - Any frame of a peer gives a change or a [`FrameFault`]; a message in it that an engine refuses is counted.
//!
//! # How it is driven
//!
//! ```text
//! a frame has come      frame(peer, frame)
//! a turn of the owner   propose(group, batch)
//! the disk has come     persisted(number of the write)
//! time passes           tick(), decide(now)
//! then                  turn(): store the write, apply what is committed
//!                       fill(peer): bytes for each connection that takes some
//! ```

#![forbid(unsafe_code)]

mod codec;
mod config;
mod group;
mod lag;
mod link;
mod membership;
mod receiver;
mod replica;
mod sender;
mod start;
mod tail;
mod translate;
mod turn;
mod write;

pub use codec::{
    membership_bytes, read_membership, read_vote, read_whole_membership, vote_bytes, whole_membership_bytes,
};
pub use config::{Config, GroupStart};
pub use lag::{Lacking, NamedBatch};
pub use link::Counters;
pub use membership::check_removal;
pub use receiver::FrameFault;
pub use replica::Replica;
pub use start::NotStarted;
pub use turn::{Committed, Stop, Turn};
pub use write::{Body, GroupWrite, LogEntry, Write};
