//! Why a peer's message is not taken. The engine is as it was before.

use thiserror::Error;

use crate::verdict::Verdict;

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is to somebody else.
    #[error("a message to node {to} came to node {own}")]
    NotForUs {
        /// Whom it is to.
        to: u64,
        /// Who got it.
        own: u64,
    },
    /// It says that it comes from this node, or from nobody.
    #[error("a message cannot come from node {from}")]
    From {
        /// Whom it says it is from.
        from: u64,
    },
    /// An answer of somebody who does not belong to the group.
    #[error("an answer of node {from}, who does not belong to the group")]
    UnknownPeer {
        /// Whom it is from.
        from: u64,
    },
    /// A number is above what can be, or two do not go together.
    #[error("impossible {what}: {found}")]
    Number {
        /// The number.
        what: &'static str,
        /// Its value.
        found: u64,
    },
    /// Entries that do not follow each other, say nothing that can be, or come where none belong.
    #[error("malformed entries: {what}")]
    Entries {
        /// What is wrong.
        what: &'static str,
    },
    /// A membership that no group can have, or that is missing.
    #[error("malformed membership: {what}")]
    Membership {
        /// What is wrong.
        what: &'static str,
    },
    /// A leader's word from somebody who does not lead in that term.
    #[error("node {from} speaks as leader of term {term}, whose leader is node {leader}")]
    SecondLeader {
        /// Whom it is from.
        from: u64,
        /// The term of both.
        term: u64,
        /// Who leads.
        leader: u64,
    },
    /// An acknowledgement of entries that were never sent.
    #[error("node {from} acknowledges through {acknowledged}, the log ends at {last}")]
    BeyondLog {
        /// Whom it is from.
        from: u64,
        /// What it acknowledges.
        acknowledged: u64,
        /// The last index that is there.
        last: u64,
    },
    /// A vote that was not asked for, or a call to lead from somebody who does not lead.
    #[error("node {from} answers what it was not asked, or calls without leading")]
    Unasked {
        /// Whom it is from.
        from: u64,
    },
    /// A call to lead, to a node that may not now.
    #[error("this node may not lead now")]
    NotElectable,
}

/// What came of a message that was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The peer's fault: drop the message and count it.
    #[error("refused: {0}")]
    Refused(#[from] Refusal),
    /// The replica stops, here and for ever.
    #[error("the replica stops: {0}")]
    Stopped(#[from] Verdict),
}
