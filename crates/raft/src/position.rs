//! A place in the log.

/// A Raft index with the term of the entry that lies there. Two logs that have the same position are equal up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Counts entries from 1; 0 is the place before the first.
    pub index: u64,
    /// The term in which the entry was proposed; 0 at index 0 only.
    pub term: u64,
}
