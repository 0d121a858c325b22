//! One group's Raft engine behind numbers: raft-rs, as this broker needs it.
//!
//! Rules of the room:
//! - No I/O, no clock, no thread, no bodies. An entry is a *batch*: what an owner hands over for one data group in one turn,
//!   of which only the header is here (first sequence, count, bytes); or a new leader's *blank*; or a *membership*.
//! - No type of raft-rs leaves: whoever uses the room does not see which engine is in it. It parses no bytes of anybody.
//! - Chance comes from the seed. raft-rs draws the time of elections from a generator of its thread; here it is set before
//!   every tick. The same calls give the same turns.
//! - What is committed is told as a Raft index, and counts at once: a leader commits by the others' disks while its own
//!   lags. raft-rs would hand out entries only when they are on the own disk too.
//! - Nothing that says "I have it" leaves before the disk has it, and nothing of a term before the term is on disk
//!   ([`Turn::messages_after`]). A heartbeat is answered at once: a disk that stands still is no node that is gone.
//! - Who has something in its log that is not on its disk does not ask for votes.
//! - Any message gives a change or a [`Refusal`], never a panic: it is looked at alone (`shape`) and against the log
//!   (`place`) before raft-rs counts with it. What shows that this replica lost what it acknowledged is a [`Verdict`]: the
//!   replica stops, and says why.
//! - While a leadership is being handed over batches wait, in order and up to a limit; what cannot be proposed comes back.
//! - A snapshot's bytes are the caller's. A leader's word of one is an offer; the log begins anew when the bytes are here.
//!
//! # How it is driven
//!
//! ```text
//! a frame has come      step(message)
//! a turn of the owner   propose(batch)
//! the disk has come     persisted(number of the turn)
//! time passes           tick()
//! then                  turn(): store, in order; send `messages`; apply up to `status.commit`; send `messages_after` when
//!                       the turn `after` is on disk
//! ```
//!
//! ```
//! use lapwing_raft::{BatchHeader, Config, Engine, LogTail, Proposed};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut engine = Engine::new(&Config::new(1, 42), LogTail::founded(&[1]))?;
//! engine.campaign()?;
//! let turn = engine.turn(); // its vote, and the blank entry of its term at index 2
//! engine.persisted(turn.number)?;
//! assert!(engine.turn().status.has_committed_own_term);
//!
//! let batch = BatchHeader { first_sequence: 1, count: 64, bytes: 12_800 };
//! assert_eq!(engine.propose(batch)?, Proposed::At(3));
//! let turn = engine.turn();
//! assert_eq!((turn.entries.len(), turn.status.commit), (1, 2));
//! engine.persisted(turn.number)?;
//! assert_eq!(engine.turn().status.commit, 3);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod bounds;
mod config;
mod engine;
mod entry;
mod error;
mod headers;
mod membership;
mod message;
mod message_bound;
mod outgoing;
mod pending;
mod place;
mod position;
mod random;
mod refusal;
mod shape;
mod silent;
mod status;
mod tail;
mod timeouts;
mod translate;
mod turn;
mod verdict;
mod waiting;

pub use bounds::{CHANGES_MAX, INDEX_MAX, MEMBERS_MAX, MESSAGE_ENTRIES_MAX, READS_MAX, SEQUENCE_MAX, TERM_MAX};
pub use config::Config;
pub use engine::{Engine, Proposed};
pub use entry::{BatchHeader, Entry, EntryKind};
pub use error::{NotDone, NotProposed, StartError};
pub use membership::{Change, Membership, Standing};
pub use message::{Message, MessageKind};
pub use position::Position;
pub use refusal::{Fault, Refusal};
pub use status::{Peer, Role, Status};
pub use tail::{LogTail, Vote};
pub use turn::{ReadGrant, Snapshot, SnapshotOffer, Turn};
pub use verdict::Verdict;
