//! Our words and raft-rs's: no type of its own leaves this room.

use raft::CAMPAIGN_TRANSFER;
use raft::eraftpb::{
    self, ConfChangeSingle, ConfChangeType, ConfChangeV2, ConfState, EntryType, MessageType, SnapshotMetadata,
};

use crate::entry::{BatchHeader, Entry, EntryKind};
use crate::membership::{Change, Membership, Standing};
use crate::message::{Message, MessageKind};
use crate::position::Position;

/// Bytes of a batch's header in an entry of raft-rs.
const BATCH_BYTES: usize = 16;
/// Bytes of one change there.
const CHANGE_BYTES: usize = 9;

const KINDS: [(MessageKind, MessageType); 10] = [
    (MessageKind::Append, MessageType::MsgAppend),
    (MessageKind::Appended, MessageType::MsgAppendResponse),
    (MessageKind::Heartbeat, MessageType::MsgHeartbeat),
    (MessageKind::HeartbeatAnswer, MessageType::MsgHeartbeatResponse),
    (MessageKind::AskVote, MessageType::MsgRequestVote),
    (MessageKind::Vote, MessageType::MsgRequestVoteResponse),
    (MessageKind::AskPreVote, MessageType::MsgRequestPreVote),
    (MessageKind::PreVote, MessageType::MsgRequestPreVoteResponse),
    (MessageKind::Snapshot, MessageType::MsgSnapshot),
    (MessageKind::Lead, MessageType::MsgTimeoutNow),
];

/// An entry as raft-rs has it. It looks into none of its bytes: these are ours, and read by [`from_raft`] only.
pub(crate) fn to_raft(entry: &Entry) -> eraftpb::Entry {
    eraftpb::Entry { index: entry.index, term: entry.term, ..proposal(&entry.kind) }
}

/// An entry that has no place in the log yet.
pub(crate) fn proposal(kind: &EntryKind) -> eraftpb::Entry {
    match kind {
        EntryKind::Blank => eraftpb::Entry::default(),
        EntryKind::Batch(batch) => eraftpb::Entry { data: batch_bytes(batch).into(), ..eraftpb::Entry::default() },
        EntryKind::Membership(changes) => eraftpb::Entry {
            entry_type: EntryType::EntryConfChangeV2,
            data: changes.iter().flat_map(change_bytes).collect::<Vec<u8>>().into(),
            ..eraftpb::Entry::default()
        },
    }
}

/// An entry of raft-rs, which got it from [`to_raft`] or [`proposal`], or made it blank.
pub(crate) fn from_raft(entry: &eraftpb::Entry) -> Entry {
    let kind = match entry.get_entry_type() {
        EntryType::EntryNormal => batch_of(entry.get_data()).map_or(EntryKind::Blank, EntryKind::Batch),
        EntryType::EntryConfChange | EntryType::EntryConfChangeV2 => {
            EntryKind::Membership(entry.get_data().chunks_exact(CHANGE_BYTES).filter_map(change_of).collect())
        }
    };
    Entry { index: entry.index, term: entry.term, kind }
}

fn batch_bytes(batch: &BatchHeader) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(BATCH_BYTES);
    bytes.extend_from_slice(&batch.first_sequence.to_le_bytes());
    bytes.extend_from_slice(&batch.count.to_le_bytes());
    bytes.extend_from_slice(&batch.bytes.to_le_bytes());
    bytes
}

fn batch_of(bytes: &[u8]) -> Option<BatchHeader> {
    let (first_sequence, rest) = bytes.split_first_chunk()?;
    let (count, rest) = rest.split_first_chunk()?;
    let (bytes, _) = rest.split_first_chunk()?;
    Some(BatchHeader {
        first_sequence: u64::from_le_bytes(*first_sequence),
        count: u32::from_le_bytes(*count),
        bytes: u32::from_le_bytes(*bytes),
    })
}

fn change_bytes(change: &Change) -> [u8; CHANGE_BYTES] {
    let mut bytes = [change.standing as u8; CHANGE_BYTES];
    bytes[..8].copy_from_slice(&change.node.to_le_bytes());
    bytes
}

fn change_of(bytes: &[u8]) -> Option<Change> {
    let (node, standing) = bytes.split_first_chunk()?;
    let standing = match standing.first()? {
        0 => Standing::Voter,
        1 => Standing::Learner,
        _ => Standing::Gone,
    };
    Some(Change { node: u64::from_le_bytes(*node), standing })
}

/// Changes as raft-rs applies them: one alone at once, several by way of a joint membership, none to leave that.
pub(crate) fn conf_change(changes: &[Change]) -> ConfChangeV2 {
    let single = |change: &Change| ConfChangeSingle {
        node_id: change.node,
        change_type: match change.standing {
            Standing::Voter => ConfChangeType::AddNode,
            Standing::Learner => ConfChangeType::AddLearnerNode,
            Standing::Gone => ConfChangeType::RemoveNode,
        },
        ..ConfChangeSingle::default()
    };
    let mut change = ConfChangeV2::default();
    change.set_changes(changes.iter().map(single).collect::<Vec<_>>().into());
    change
}

pub(crate) fn conf_state(membership: &Membership) -> ConfState {
    ConfState {
        voters: membership.voters.clone(),
        learners: membership.learners.clone(),
        voters_outgoing: membership.outgoing.clone(),
        learners_next: membership.demoted.clone(),
        auto_leave: membership.is_joint(),
        ..ConfState::default()
    }
}

pub(crate) fn membership(state: &ConfState) -> Membership {
    let sorted = |nodes: &[u64]| {
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        nodes
    };
    Membership {
        voters: sorted(state.get_voters()),
        learners: sorted(state.get_learners()),
        outgoing: sorted(state.get_voters_outgoing()),
        demoted: sorted(state.get_learners_next()),
    }
}

pub(crate) fn snapshot(at: Position, membership: &Membership) -> eraftpb::Snapshot {
    let mut metadata = SnapshotMetadata { index: at.index, term: at.term, ..SnapshotMetadata::default() };
    metadata.set_conf_state(conf_state(membership));
    let mut snapshot = eraftpb::Snapshot::default();
    snapshot.set_metadata(metadata);
    snapshot
}

/// The token of a question, as raft-rs carries it.
pub(crate) fn token_bytes(token: u64) -> Vec<u8> {
    token.to_le_bytes().to_vec()
}

pub(crate) fn token_of(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|token| u64::from_le_bytes(*token))
}

/// A peer's message, which was found good, for raft-rs.
pub(crate) fn message_to_raft(message: Message) -> eraftpb::Message {
    let mut raft = eraftpb::Message {
        msg_type: type_of(message.kind),
        to: message.to,
        from: message.from,
        term: message.term,
        log_term: message.index_term,
        index: message.index,
        commit: message.commit,
        commit_term: message.commit_term,
        reject: message.is_refusal,
        reject_hint: message.hint,
        ..eraftpb::Message::default()
    };
    if let Some(token) = message.read {
        raft.context = token_bytes(token).into();
    }
    if message.is_transfer {
        raft.context = CAMPAIGN_TRANSFER.into();
    }
    if let Some(membership) = &message.membership {
        raft.set_snapshot(snapshot(Position { index: message.index, term: message.index_term }, membership));
    }
    raft.set_entries(message.entries.iter().map(to_raft).collect::<Vec<_>>().into());
    raft
}

/// What raft-rs wants to say. `None`: a kind that this room never lets it say, such as a proposal to somebody else.
pub(crate) fn message_from_raft(raft: &eraftpb::Message) -> Option<Message> {
    let kind = kind_of(raft.get_msg_type())?;
    let mut message = Message {
        kind,
        from: raft.from,
        to: raft.to,
        term: raft.term,
        index: raft.index,
        index_term: raft.log_term,
        commit: raft.commit,
        commit_term: raft.commit_term,
        hint: raft.reject_hint,
        is_refusal: raft.reject,
        is_transfer: raft.context == CAMPAIGN_TRANSFER,
        read: None,
        entries: raft.get_entries().iter().map(from_raft).collect(),
        membership: None,
    };
    if matches!(kind, MessageKind::Heartbeat | MessageKind::HeartbeatAnswer) {
        message.read = token_of(&raft.context);
    }
    if kind == MessageKind::Snapshot {
        let metadata = raft.get_snapshot().get_metadata();
        (message.index, message.index_term) = (metadata.index, metadata.term);
        message.membership = Some(Box::new(membership(metadata.get_conf_state())));
    }
    Some(message)
}

fn type_of(kind: MessageKind) -> MessageType {
    // All kinds are in the table; were one not, raft-rs would drop this one as local.
    KINDS.iter().find(|(ours, _)| *ours == kind).map_or(MessageType::MsgUnreachable, |(_, theirs)| *theirs)
}

fn kind_of(theirs: MessageType) -> Option<MessageKind> {
    KINDS.iter().find(|(_, kind)| *kind == theirs).map(|(ours, _)| *ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does every kind of entry come back as it was?
    #[test]
    fn entries_come_back() {
        let changes = [Standing::Voter, Standing::Learner, Standing::Gone];
        let changes = changes.into_iter().zip(3..).map(|(standing, node)| Change { node, standing }).collect();
        let batch = BatchHeader { first_sequence: 1 << 40, count: 64, bytes: 12_800 };
        let kinds = [
            EntryKind::Blank,
            EntryKind::Batch(batch),
            EntryKind::Membership(changes),
            EntryKind::Membership(Vec::new()),
        ];
        for (kind, index) in kinds.into_iter().zip(7..) {
            let entry = Entry { index, term: 3, kind };
            assert_eq!(from_raft(&to_raft(&entry)), entry);
        }
    }

    /// Does every kind of message come back as it was?
    #[test]
    fn messages_come_back() {
        for (kind, _) in KINDS {
            let mut message = Message { kind, from: 1, to: 2, term: 3, index: 4, index_term: 2, ..Message::default() };
            match kind {
                MessageKind::Append => message.entries = vec![Entry { index: 5, term: 3, kind: EntryKind::Blank }],
                MessageKind::Appended => (message.is_refusal, message.hint) = (true, 3),
                MessageKind::Heartbeat | MessageKind::HeartbeatAnswer => message.read = Some(u64::MAX),
                MessageKind::AskVote => (message.is_transfer, message.commit, message.commit_term) = (true, 2, 1),
                MessageKind::Snapshot => message.membership = Some(Box::new(Membership::of(&[1, 2, 3]))),
                MessageKind::Vote | MessageKind::AskPreVote | MessageKind::PreVote | MessageKind::Lead => {}
            }
            assert_eq!(message_from_raft(&message_to_raft(message.clone())), Some(message));
        }
    }

    /// Is a joint membership the same on the way back?
    #[test]
    fn memberships_come_back() {
        let joint =
            Membership { outgoing: vec![1, 2, 4], demoted: vec![4], learners: vec![9], ..Membership::of(&[1, 2, 3]) };
        assert_eq!(membership(&conf_state(&joint)), joint);
    }
}
