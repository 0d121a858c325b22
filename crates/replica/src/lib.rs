//! One node's replicas of all groups, as one value: 17 Raft engines, the bodies of what is not done with, and what goes to
//! each of the other nodes.

#![forbid(unsafe_code)]

mod codec;
mod write;

pub use codec::{
    membership_bytes, read_membership, read_vote, read_whole_membership, vote_bytes, whole_membership_bytes,
};
pub use write::{Body, GroupWrite, LogEntry, Write};
