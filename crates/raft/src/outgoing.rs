//! Messages on their way out: which may leave before the disk has come, and how large one may be.

use std::mem;

use crate::message::{Message, MessageKind};
use crate::message_bound::MessageBound;

/// Whether a message says nothing that the disk must know first, except its term. A leader's entries are safe when a
/// quorum has them, whoever that is; and who hears a leader says so even while its own disk stands still.
pub(crate) fn goes_at_once(kind: MessageKind) -> bool {
    match kind {
        MessageKind::Append
        | MessageKind::Heartbeat
        | MessageKind::HeartbeatAnswer
        | MessageKind::Snapshot
        | MessageKind::Lead => true,
        MessageKind::Appended
        | MessageKind::AskVote
        | MessageKind::Vote
        | MessageKind::AskPreVote
        | MessageKind::PreVote => false,
    }
}

/// Adds a message to `out`, cut into several where it carries more than one may.
pub(crate) fn push(mut message: Message, bound: MessageBound, out: &mut Vec<Message>) {
    if bound.fitting(message.entries.iter()) == message.entries.len() {
        out.push(message);
        return;
    }
    let mut entries = mem::take(&mut message.entries);
    loop {
        let rest = entries.split_off(bound.fitting(entries.iter()));
        let end = entries.last().map(|entry| (entry.index, entry.term));
        let Some((index, index_term)) = end.filter(|_| !rest.is_empty()) else {
            out.push(Message { entries, ..message });
            return;
        };
        out.push(Message { entries, ..message.clone() });
        (message.index, message.index_term) = (index, index_term);
        entries = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{BatchHeader, Entry, EntryKind};

    /// Does each part follow the one before it, and are all entries in them?
    #[test]
    fn a_large_message_is_cut() {
        let kind = EntryKind::Batch(BatchHeader { first_sequence: 1, count: 1, bytes: 40 });
        let entries: Vec<Entry> = (8..=12).map(|index| Entry { index, term: index / 4, kind: kind.clone() }).collect();
        let whole = Message {
            kind: MessageKind::Append,
            index: 7,
            index_term: 1,
            commit: 9,
            entries: entries.clone(),
            ..Message::default()
        };
        let mut parts = Vec::new();
        push(whole, MessageBound { bytes_max: 80 }, &mut parts);
        let places: Vec<_> = parts.iter().map(|part| (part.index, part.index_term, part.entries.len())).collect();
        assert_eq!(places, [(7, 1, 2), (9, 2, 2), (11, 2, 1)]);
        assert!(parts.iter().all(|part| part.commit == 9));
        assert_eq!(parts.into_iter().flat_map(|part| part.entries).collect::<Vec<_>>(), entries);
    }

    /// Is a message without entries one message?
    #[test]
    fn a_message_without_entries_is_one() {
        let mut parts = Vec::new();
        push(Message::default(), MessageBound { bytes_max: 1 }, &mut parts);
        assert_eq!(parts, [Message::default()]);
    }
}
