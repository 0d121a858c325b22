//! What is to be on disk: of all groups together, with one write and one sync.

use std::sync::Arc;

use lapwing_peer::{Batch, GroupNumber};
use lapwing_raft::{Change, Snapshot, Vote};

/// What one turn gives to be stored. Groups are independent of each other; of one group the order is: the snapshot, the
/// truncation, the entries, the vote. A crash may cut that off at any place, but leave nothing out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Write {
    /// Counts up by one with each write that is handed out.
    pub number: u64,
    /// Whether somebody waits for the disk. If not, what is in it may be written with what comes next.
    pub must_sync: bool,
    /// By group; those that store nothing are left out.
    pub groups: Vec<GroupWrite>,
}

/// What one group gives to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupWrite {
    /// Whose.
    pub group: GroupNumber,
    /// The log begins anew behind this snapshot, whose bytes the caller has.
    pub install: Option<Snapshot>,
    /// What the log has from this Raft index on is void.
    pub truncate_from: Option<u64>,
    /// To append behind what is left.
    pub entries: Vec<LogEntry>,
    /// The vote record, where it changed.
    pub vote: Option<Vote>,
}

/// One entry of a group's log, with what it weighs.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// Its Raft index.
    pub raft_index: u64,
    /// The term in which it was proposed.
    pub term: u64,
    /// What it is.
    pub body: Body,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A new leader's first: nothing.
    Blank,
    /// Who belongs to the group.
    Membership(Vec<Change>),
    /// What an owner has handed over in one turn.
    Batch(Arc<Batch>),
}

impl Body {
    /// The batch, if it is one.
    pub fn batch(&self) -> Option<&Arc<Batch>> {
        match self {
            Body::Batch(batch) => Some(batch),
            Body::Blank | Body::Membership(_) => None,
        }
    }
}
