//! Between the engine's words and the frames': both are numbers.

use lapwing_peer::{self as peer, BatchHead, Content, EntryHeader, GroupNumber, List, NodeId};
use lapwing_raft::{BatchHeader, Entry, EntryKind, Message, MessageKind};

use crate::codec::{membership_bytes, read_membership};

const KINDS: [(MessageKind, peer::MessageKind); 9] = [
    (MessageKind::Append, peer::MessageKind::Append),
    (MessageKind::Appended, peer::MessageKind::AppendResponse),
    (MessageKind::Heartbeat, peer::MessageKind::Heartbeat),
    (MessageKind::HeartbeatAnswer, peer::MessageKind::HeartbeatResponse),
    (MessageKind::AskVote, peer::MessageKind::RequestVote),
    (MessageKind::Vote, peer::MessageKind::RequestVoteResponse),
    (MessageKind::AskPreVote, peer::MessageKind::RequestPreVote),
    (MessageKind::PreVote, peer::MessageKind::RequestPreVoteResponse),
    (MessageKind::Lead, peer::MessageKind::TimeoutNow),
];

/// A message of one group, to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) group: GroupNumber,
    pub(crate) message: Message,
}

impl Outgoing {
    /// Cuts off the entries before this one, as a message that goes first; `None`: there are none.
    pub(crate) fn split_before(&mut self, raft_index: u64) -> Option<Outgoing> {
        let entries = &mut self.message.entries;
        let count = entries.iter().take_while(|entry| entry.index < raft_index).count();
        let (index, term) = entries[..count].last().map(|last| (last.index, last.term))?;
        let rest = entries.split_off(count);
        let first = self.message.clone();
        (self.message.entries, self.message.index, self.message.index_term) = (rest, index, term);
        Some(Outgoing { group: self.group, message: first })
    }
}

/// The bytes of memberships among a message's entries, in their order: frames borrow them.
pub(crate) fn memberships(message: &Message) -> Vec<Vec<u8>> {
    let bytes = |entry: &Entry| match &entry.kind {
        EntryKind::Membership(changes) => Some(membership_bytes(changes)),
        EntryKind::Blank | EntryKind::Batch(_) => None,
    };
    message.entries.iter().filter_map(bytes).collect()
}

/// The headers of a message's entries.
pub(crate) fn headers<'a>(message: &Message, memberships: &'a [Vec<u8>]) -> Vec<EntryHeader<'a>> {
    let mut memberships = memberships.iter();
    let header = |entry: &Entry| {
        let content = match &entry.kind {
            EntryKind::Blank => Content::Blank,
            EntryKind::Membership(_) => Content::Membership(memberships.next().map_or(&[], Vec::as_slice)),
            EntryKind::Batch(batch) => Content::Batch(head(batch)),
        };
        EntryHeader { term: entry.term, raft_index: entry.index, content }
    };
    message.entries.iter().map(header).collect()
}

/// The message as frames have it. `None`: it is not one that a frame brings (a snapshot has a connection of its own).
pub(crate) fn to_frame<'a>(outgoing: &Outgoing, headers: &'a [EntryHeader<'a>]) -> Option<peer::Message<'a>> {
    let Outgoing { group, message } = outgoing;
    let (_, kind) = *KINDS.iter().find(|(ours, _)| *ours == message.kind)?;
    Some(peer::Message {
        group: *group,
        kind,
        from: node(message.from)?,
        to: node(message.to)?,
        term: message.term,
        log_term: message.index_term,
        index: message.index,
        commit: message.commit,
        commit_term: message.commit_term,
        reject: message.is_refusal,
        reject_hint: message.hint,
        transfer: message.is_transfer,
        context: message.read,
        entries: List::from_slice(headers),
    })
}

/// A frame's message as the engine has it. `None`: it is of no kind that engines say to each other, or a membership in it is
/// none.
pub(crate) fn from_frame(message: &peer::Message<'_>) -> Option<Message> {
    let (kind, _) = *KINDS.iter().find(|(_, theirs)| *theirs == message.kind)?;
    Some(Message {
        kind,
        from: message.from.value().into(),
        to: message.to.value().into(),
        term: message.term,
        index: message.index,
        index_term: message.log_term,
        commit: message.commit,
        commit_term: message.commit_term,
        hint: message.reject_hint,
        is_refusal: message.reject,
        is_transfer: message.transfer,
        read: message.context,
        entries: message.entries.iter().map(|header| entry(&header)).collect::<Option<_>>()?,
        membership: None,
    })
}

fn entry(header: &EntryHeader<'_>) -> Option<Entry> {
    let kind = match header.content {
        Content::Blank => EntryKind::Blank,
        Content::Membership(bytes) => EntryKind::Membership(read_membership(bytes)?),
        Content::Batch(BatchHead { first_sequence, count, bytes }) => {
            EntryKind::Batch(BatchHeader { first_sequence, count, bytes })
        }
    };
    Some(Entry { index: header.raft_index, term: header.term, kind })
}

/// What an entry says of its batch.
pub(crate) fn head(batch: &BatchHeader) -> BatchHead {
    BatchHead { first_sequence: batch.first_sequence, count: batch.count, bytes: batch.bytes }
}

/// The node with this number of an engine; `None`: none has it.
pub(crate) fn node(id: u64) -> Option<NodeId> {
    u8::try_from(id).ok().and_then(NodeId::new)
}

#[cfg(test)]
mod tests {
    use lapwing_raft::{Change, Standing};

    use super::*;

    fn outgoing(kind: MessageKind) -> Outgoing {
        let changes = |node| EntryKind::Membership(vec![Change { node, standing: Standing::Learner }]);
        let batch = EntryKind::Batch(BatchHeader { first_sequence: 7, count: 2, bytes: 80 });
        let kinds = [EntryKind::Blank, changes(4), batch, changes(5)];
        let entry = |(index, kind): (u64, &EntryKind)| Entry { index, term: 3, kind: kind.clone() };
        let entries = if kind == MessageKind::Append { (10..).zip(&kinds).map(entry).collect() } else { vec![] };
        let message = Message {
            kind,
            from: 1,
            to: 3,
            term: 3,
            index: 9,
            index_term: 2,
            commit: 8,
            commit_term: 2,
            hint: 6,
            is_refusal: true,
            is_transfer: true,
            read: Some(77),
            entries,
            membership: None,
        };
        Outgoing { group: GroupNumber::METADATA, message }
    }

    /// Does each message that a frame brings come back as it was, with all that can be in it?
    #[test]
    fn there_and_back() {
        for (kind, _) in KINDS {
            let outgoing = outgoing(kind);
            let memberships = memberships(&outgoing.message);
            let headers = headers(&outgoing.message, &memberships);
            let framed = to_frame(&outgoing, &headers).expect("a frame brings it");
            assert_eq!(from_frame(&framed), Some(outgoing.message), "{kind:?}");
        }
    }

    /// Cut anywhere, does the second part follow the first, and are all entries in the two?
    #[test]
    fn two_parts_follow_each_other() {
        let whole = outgoing(MessageKind::Append);
        assert!(whole.clone().split_before(10).is_none(), "nothing lies before the first");
        for raft_index in 11..=13 {
            let mut rest = whole.clone();
            let first = rest.split_before(raft_index).expect("something lies before it").message;
            assert_eq!((first.index, rest.message.index, rest.message.index_term), (9, raft_index - 1, 3));
            assert_eq!([first.entries, rest.message.entries].concat(), whole.message.entries);
        }
    }

    /// Is what is no word between engines not made one?
    #[test]
    fn what_no_engine_says_is_none() {
        let mut outgoing = outgoing(MessageKind::Append);
        let memberships = memberships(&outgoing.message);
        let mut headers = headers(&outgoing.message, &memberships);
        headers[1].content = Content::Membership(b"nonsense");
        assert_eq!(from_frame(&to_frame(&outgoing, &headers).expect("framed")), None);
        outgoing.message.kind = MessageKind::Snapshot;
        assert_eq!(to_frame(&outgoing, &[]), None);
    }
}
