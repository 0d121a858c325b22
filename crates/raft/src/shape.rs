//! What a message must be, whoever gets it: raft-rs counts with its numbers and believes its lists.

use crate::bounds::{INDEX_MAX, MESSAGE_ENTRIES_MAX, TERM_MAX};
use crate::message::{Message, MessageKind};
use crate::refusal::Refusal;

/// Looks at a message alone.
///
/// # Errors
/// What is wrong with it: a number that cannot be, entries that do not follow each other, a membership of no group.
pub(crate) fn check(message: &Message) -> Result<(), Refusal> {
    if message.from == 0 || message.from == message.to {
        return Err(Refusal::From { from: message.from });
    }
    check_numbers(message)?;
    check_entries(message)?;
    check_membership(message)
}

fn check_numbers(message: &Message) -> Result<(), Refusal> {
    let numbers = [
        ("term", message.term, TERM_MAX),
        ("term of an entry", message.index_term, TERM_MAX),
        ("term of what is committed", message.commit_term, TERM_MAX),
        ("index", message.index, INDEX_MAX),
        ("commit index", message.commit, INDEX_MAX),
        ("hint", message.hint, INDEX_MAX),
    ];
    if let Some((what, found, _)) = numbers.into_iter().find(|(_, number, most)| number > most) {
        return Err(Refusal::Number { what, found });
    }
    if message.term == 0 {
        return Err(Refusal::Number { what: "term", found: 0 });
    }
    let has_position = matches!(message.kind, MessageKind::Append | MessageKind::AskVote | MessageKind::AskPreVote);
    if has_position && (message.index == 0) != (message.index_term == 0) {
        return Err(Refusal::Number { what: "term of an entry for this index", found: message.index_term });
    }
    let is_leaders = matches!(message.kind, MessageKind::Append | MessageKind::Snapshot);
    if is_leaders && message.index_term > message.term {
        return Err(Refusal::Number { what: "term of an entry above its leader's", found: message.index_term });
    }
    Ok(())
}

fn check_entries(message: &Message) -> Result<(), Refusal> {
    let refused = |what| Err(Refusal::Entries { what });
    if message.entries.is_empty() {
        return Ok(());
    }
    if message.kind != MessageKind::Append {
        return refused("in a message that carries none");
    }
    if message.entries.len() > MESSAGE_ENTRIES_MAX {
        return refused("too many");
    }
    let (mut index, mut term) = (message.index, message.index_term.max(1));
    for entry in &message.entries {
        if entry.index != index + 1 || entry.index > INDEX_MAX {
            return refused("indexes do not follow each other");
        }
        if entry.term < term || entry.term > message.term {
            return refused("terms go back, or are above the leader's");
        }
        if !entry.kind.is_valid() {
            return refused("an entry says what cannot be");
        }
        (index, term) = (entry.index, entry.term);
    }
    Ok(())
}

fn check_membership(message: &Message) -> Result<(), Refusal> {
    let refused = |what| Err(Refusal::Membership { what });
    match (&message.membership, message.kind) {
        (None, MessageKind::Snapshot) => refused("a snapshot without one"),
        (Some(_), kind) if kind != MessageKind::Snapshot => refused("in a message that carries none"),
        (Some(_), _) if message.index == 0 || message.index_term == 0 => refused("of a snapshot of nothing"),
        (Some(membership), _) if membership.voters.is_empty() => refused("nobody votes"),
        (Some(membership), _) => membership.fault().map_or(Ok(()), refused),
        (None, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{BatchHeader, Entry, EntryKind};
    use crate::membership::{Change, Membership, Standing};

    fn append() -> Message {
        let entry = |index, term| Entry { index, term, kind: EntryKind::Blank };
        Message {
            kind: MessageKind::Append,
            from: 1,
            to: 2,
            term: 5,
            index: 7,
            index_term: 3,
            entries: vec![entry(8, 3), entry(9, 5)],
            ..Message::default()
        }
    }

    fn snapshot() -> Message {
        let membership = Some(Box::new(Membership::of(&[1, 2])));
        Message { kind: MessageKind::Snapshot, membership, entries: Vec::new(), ..append() }
    }

    /// Is what a leader says taken as it is?
    #[test]
    fn good_messages_pass() {
        assert_eq!(check(&append()), Ok(()));
        assert_eq!(check(&snapshot()), Ok(()));
        assert_eq!(check(&Message { from: 1, to: 2, term: 1, ..Message::default() }), Ok(()));
    }

    /// Is each number that cannot be refused, before anything is counted with it?
    #[test]
    fn impossible_numbers_are_refused() {
        let wrong = [
            Message { term: 0, ..append() },
            Message { term: TERM_MAX + 1, ..append() },
            Message { index: u64::MAX, entries: Vec::new(), ..append() },
            Message { commit: u64::MAX, ..append() },
            Message { hint: u64::MAX, ..append() },
            Message { commit_term: u64::MAX, ..append() },
            Message { index_term: 6, ..append() },
            Message { index_term: 0, ..append() },
        ];
        for message in wrong {
            assert!(matches!(check(&message), Err(Refusal::Number { .. })), "{message:?}");
        }
        assert_eq!(check(&Message { from: 0, ..append() }), Err(Refusal::From { from: 0 }));
        assert_eq!(check(&Message { from: 2, ..append() }), Err(Refusal::From { from: 2 }));
    }

    /// Are entries refused that do not follow each other, or come where none belong?
    #[test]
    fn malformed_entries_are_refused() {
        let with = |change: fn(&mut Vec<Entry>)| {
            let mut message = append();
            change(&mut message.entries);
            message
        };
        let wrong = [
            with(|entries| entries[0].index = 9),
            with(|entries| entries.swap(0, 1)),
            with(|entries| entries[1].term = 6),
            with(|entries| entries[0].term = 2),
            with(|entries| entries[1].term = 2),
            with(|entries| entries[0].kind = EntryKind::Batch(BatchHeader { first_sequence: 1, count: 0, bytes: 0 })),
            with(|entries| {
                entries[0].kind = EntryKind::Batch(BatchHeader { first_sequence: u64::MAX, count: u32::MAX, bytes: 0 });
            }),
            with(|entries| {
                entries[0].kind = EntryKind::Membership(vec![Change { node: 0, standing: Standing::Gone }]);
            }),
            Message { kind: MessageKind::Heartbeat, ..append() },
        ];
        for message in wrong {
            assert!(matches!(check(&message), Err(Refusal::Entries { .. })), "{message:?}");
        }
    }

    /// Is a membership refused that no group can have?
    #[test]
    fn malformed_memberships_are_refused() {
        let wrong = [
            Message { membership: None, ..snapshot() },
            Message { membership: Some(Box::new(Membership::default())), ..snapshot() },
            Message { membership: Some(Box::new(Membership::of(&[3, 3]))), ..snapshot() },
            Message { membership: Some(Box::new(Membership::of(&[1]))), ..append() },
            Message { index: 0, index_term: 0, ..snapshot() },
        ];
        for message in wrong {
            assert!(matches!(check(&message), Err(Refusal::Membership { .. })), "{message:?}");
        }
    }
}
