//! The `peer` room: bytes to frames and frames to bytes, between the nodes of a cluster.
//!
//! Rules of this room:
//! - No I/O, no clock, no thread, no TLS. One file per frame. It knows neither the journal nor the Raft engine: an entry is
//!   numbers, a record a run of bytes, and the node makes of them what those rooms have.
//! - [`parse`] borrows from the read buffer and allocates nothing. What repeats stays packed behind a [`List`] that iterates.
//! - Any bytes give a [`Frame`] or a [`Fault`], never a panic. No length is believed before it was compared with its bound and
//!   with what is there; what a frame may have at most is the caller's to say, and what a field may have is in [`bounds`].
//! - A frame that was parsed is legal in itself. Whether it comes in order is for those that keep books: [`judge`] for the
//!   hellos, [`BatchIntake`] and [`Window`] for batches, [`SnapshotIntake`] for snapshots. These are pure, too.
//! - There is one encoding of each frame, and only what can be parsed is written. On an error nothing was written.
//! - Who joins is nobody yet: its frames have stages and bounds of their own, and `Debug` shows no secret and no key.
//! - No checksum: the wire is TLS, which lets nothing through that was changed. What lies on a disk in between has one.
//! - Kinds, codes and the layout of each version are for ever. Every frame has a version; one that is not known is a fault,
//!   but for those that are said before a version is agreed on: their first fields never change.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use lapwing_peer::*;
//!
//! let answer = Frame::Raft(Raft { done_bytes: 0, messages: List::EMPTY });
//! let mut sent = Vec::new();
//! answer.encode(1 << 20, &mut sent)?;
//! assert_eq!(parse(&sent[..5], Stage::Raft, 1 << 20)?, Parsed::Need(3));
//! assert_eq!(parse(&sent, Stage::Raft, 1 << 20)?, Parsed::Frame(answer, sent.len()));
//! assert_eq!(parse(&sent, Stage::Hello, 1 << 20).map_err(|fault| fault.kind), Err(FaultKind::OutOfPlace));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod batch;
pub mod bounds;
mod encode_error;
mod fault;
mod frame;
mod group_number;
mod header;
mod hello;
mod join;
mod kind;
mod node_id;
mod raft;
mod refused;
mod snapshot;
mod stage;
mod told;
mod wire;

pub use batch::{Batch, BatchIntake, BatchPart, Record, Window, read_records, write_records};
pub use encode_error::EncodeError;
pub use fault::{Fault, FaultKind};
pub use frame::{Frame, Parsed, parse};
pub use group_number::GroupNumber;
pub use header::{FRAME_VERSION, HEADER_BYTES};
pub use hello::{Agreed, Hello, Known, Levels, Link, Refusal, Table, TableHashes, Versions, judge};
pub use join::{JoinAsk, JoinCode, JoinMember, JoinRefused, JoinWelcome};
pub use kind::Kind;
pub use node_id::NodeId;
pub use raft::{BatchHead, Content, EntryHeader, Message, MessageKind, Raft};
pub use refused::Refused;
pub use snapshot::{
    KeptRecord, SnapshotBegin, SnapshotChunk, SnapshotEnd, SnapshotIntake, SnapshotLimits, SnapshotProgress,
    SnapshotRefusal, SnapshotReply, Verdict, read_kept_records, write_kept_records,
};
pub use stage::Stage;
pub use told::{Answered, DiskRoom, Told};
pub use wire::List;
