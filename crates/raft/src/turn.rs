//! What an engine gives its caller to do.

use crate::entry::{BatchHeader, Entry};
use crate::membership::Membership;
use crate::message::Message;
use crate::position::Position;
use crate::status::Status;
use crate::tail::Vote;

/// A snapshot: where, and who belonged to the group there. Its bytes lie with the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Everything up to here is in it.
    pub at: Position,
    /// Who belonged to the group there.
    pub membership: Membership,
}

/// A snapshot that a leader has for this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotOffer {
    /// Who has it.
    pub from: u64,
    /// Where it is at least; a newer one is as good.
    pub at: Position,
}

/// The answer to [`read_index`](crate::Engine::read_index): this node led when it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadGrant {
    /// What the caller called the question.
    pub token: u64,
    /// Once all up to this Raft index is applied, what is there may be said.
    pub index: u64,
}

/// What there is to do since the last turn. To be stored, in this order: the snapshot, the truncation, the entries, the
/// vote; a crash may cut that off at any place, but leave nothing out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Its number, for [`persisted`](crate::Engine::persisted).
    pub number: u64,
    /// The log begins anew behind this snapshot.
    pub install: Option<Snapshot>,
    /// What the log has from this Raft index on is void.
    pub truncate_from: Option<u64>,
    /// Entries to store behind what is left.
    pub entries: Vec<Entry>,
    /// The vote record, where it changed.
    pub vote: Option<Vote>,
    /// Whether the caller must say when it is stored. If not, `vote` has another commit index only: it may be written
    /// with what comes next.
    pub must_sync: bool,
    /// May go at once.
    pub messages: Vec<Message>,
    /// May go when the turn `after`, and every one before it, is on disk.
    pub messages_after: Vec<Message>,
    /// This turn, or an earlier one where this stores nothing that must be waited for.
    pub after: u64,
    /// Questions that are answered. What was asked in another term than `status` tells of never is.
    pub reads: Vec<ReadGrant>,
    /// Batches that waited for the leadership to be handed over, and it was: the caller's again, in order.
    pub returned: Vec<BatchHeader>,
    /// The leader does not have what this node lacks: fetch a snapshot, then [`install`](crate::Engine::install) it. It is
    /// told again from time to time.
    pub offer: Option<SnapshotOffer>,
    /// Who belongs to the group, where that changed.
    pub membership: Option<Membership>,
    /// Where the engine stands.
    pub status: Status,
}
