//! What nodes of a group say to each other: plain numbers and headers, which somebody else carries.

use crate::entry::Entry;
use crate::membership::Membership;

/// One message. A field that its kind does not name is 0, `None`, `false` or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// What it says.
    pub kind: MessageKind,
    /// Whom it is from; never 0.
    pub from: u64,
    /// Whom it is to; never 0.
    pub to: u64,
    /// The term of who sent it; for [`MessageKind::AskPreVote`] and its consent the term that would follow.
    pub term: u64,
    /// A Raft index: what each kind says.
    pub index: u64,
    /// The term of the entry at `index`, or at `hint`: what each kind says.
    pub index_term: u64,
    /// What the sender knows to be committed, as far as it matters to the receiver.
    pub commit: u64,
    /// The term of the entry at `commit`, in questions for votes and their refusals.
    pub commit_term: u64,
    /// Where a follower's log may agree, in [`MessageKind::Appended`] that refuses.
    pub hint: u64,
    /// Whether the answer is no.
    pub is_refusal: bool,
    /// Whether a question for a vote comes at the old leader's wish: who hears that leader may agree nevertheless.
    pub is_transfer: bool,
    /// The question that a heartbeat carries and its answer brings back.
    pub read: Option<u64>,
    /// Entries behind `index`, in [`MessageKind::Append`].
    pub entries: Vec<Entry>,
    /// Who belongs to the group at `index`, in [`MessageKind::Snapshot`].
    pub membership: Option<Box<Membership>>,
}

/// What a message says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageKind {
    /// A leader's entries behind `index`, `index_term`; committed through `commit`.
    Append,
    /// A follower has the leader's log through `index` on its disk; or refuses: its log does not have what lay before the
    /// entries at `index`, and may agree at `hint`, where its own entry has `index_term`.
    Appended,
    /// A leader is there; what the receiver has acknowledged is committed through `commit`.
    #[default]
    Heartbeat,
    /// A follower heard a heartbeat.
    HeartbeatAnswer,
    /// May I lead in `term`? My log ends at `index`, `index_term`.
    AskVote,
    /// The vote, or its refusal.
    Vote,
    /// Would you vote for me in `term`? Nobody's term changes by it.
    AskPreVote,
    /// The answer to that.
    PreVote,
    /// What you lack is not in my log any more: there is a snapshot at `index`, `index_term`, or behind it. It travels
    /// another way.
    Snapshot,
    /// The leader wishes that the receiver leads, at once.
    Lead,
}
