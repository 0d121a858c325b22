//! What the nodes of a cluster agree on, and who of them serves.
//!
//! Rules of the room:
//! - No I/O, no clock, no thread, no random numbers: times and secrets come from outside.
//! - [`ClusterState`] is a function of the entries that were applied. Whoever applies the same entries has the same members,
//!   tokens and tables, and has refused the same words for the same reasons.
//! - An entry, and a snapshot of the state, is a small JSON document with a version. Any bytes give an [`Entry`] or a state, or a [`Fault`]; a version that this program does
//!   not know is a [`Fault::Newer`], upon which its node stops and says what it needs.
//! - [`Failover`] decides who serves out of numbers that the node hands it: one node at a time, and none while nobody can know.
//!
//! ```
//! use lapwing_cluster::*;
//!
//! let founder = Newcomer {
//!     name: "north".into(),
//!     folder: FolderId([1; 16]),
//!     addresses: vec!["10.0.0.1:1890".into()],
//!     zone: String::new(),
//!     release: "0.1.0".into(),
//!     features: Features { least: 1, most: 1 },
//! };
//! let mut state = ClusterState::new();
//! let founded = Entry::Founded { cluster: ClusterId([9; 16]), name: "marsh".into(), founder };
//! let answer = state.apply(1, &Entry::decode(&founded.encode())?).expect("it is the first");
//! assert_eq!(answer, Answer::Member(NodeId(1)));
//! assert_eq!(state.voters().collect::<Vec<_>>(), [NodeId(1)]);
//! # Ok::<(), Fault>(())
//! ```

#![forbid(unsafe_code)]

mod bounds;
mod entry;
mod failover;
mod fault;
mod ids;
mod member;
mod refusal;
mod snapshot;
mod state;
mod tables;
mod token;

pub use bounds::{ENTRY_BYTES_MAX, MEMBERS_MAX, SNAPSHOT_BYTES_MAX, TOKEN_LIFE_MS, VOTERS_MAX};
pub use entry::Entry;
pub use failover::{Ending, Failover, Observed, Role, Step, Timing};
pub use fault::Fault;
pub use ids::{Boot, ClusterId, FolderId, NodeId, SecretHash, TableHash};
pub use member::{Features, Member, Newcomer, Standing};
pub use refusal::Refusal;
pub use state::{Answer, ClusterState};
pub use tables::{TABLES, Tables};
pub use token::{Token, TokenFault};
