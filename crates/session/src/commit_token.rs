//! The name of a commit that somebody waits for.

/// One commit: who takes a message from the session gives a token for it, and says later up to which token everything is on disk
/// ([`crate::Session::committed`]). Tokens only grow, so one that is committed has all before it committed.
///
/// A shard of the node gives one token for each turn of its loop. That of turn 7 is committed when the log has every record of
/// turn 7, and each other shard has on disk what it was sent until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitToken(pub u64);

impl CommitToken {
    /// Comes before all others: who has it waits for nothing.
    pub const NOTHING: CommitToken = CommitToken(0);

    /// The one after it.
    #[must_use]
    pub const fn next(self) -> Self {
        CommitToken(self.0 + 1)
    }
}
