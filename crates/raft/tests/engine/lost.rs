//! A replica that is not what it was: it stops and says why, where raft-rs would panic.

use lapwing_raft::{
    Entry, EntryKind, Fault, LogTail, Message, MessageKind, NotDone, NotProposed, Position, StartError, Verdict, Vote,
};

use crate::trio::{Trio, batch, config};

/// A follower acknowledged an entry, and comes back without it, while its leader is still there.
#[test]
fn a_follower_that_lost_what_it_acknowledged_stops() {
    let mut trio = Trio::led();
    trio.node(1).propose(batch(1)).expect("it leads");
    trio.settle();
    trio.tick(2);
    assert_eq!(trio.commits(), [3, 3, 3]);

    let emptied = LogTail { vote: Vote { term: 2, voted_for: 1, commit: 1 }, ..LogTail::founded(&[1, 2, 3]) };
    trio.engines[2] = lapwing_raft::Engine::new(&config(3), emptied).expect("a log that is whole, but older");
    trio.tick(2);

    let verdict = Verdict::Lost { by: 1, acknowledged: 3, last: 1 };
    assert_eq!(trio.node(3).verdict(), Some(verdict));
    assert_eq!(trio.faults.first(), Some(&Fault::Stopped(verdict)));
    assert!(verdict.to_string().contains("node 1 has an acknowledgement of this replica through 3"));
}

/// Does a stopped replica do nothing more, whatever it is asked?
#[test]
fn a_stopped_replica_does_nothing_more() {
    let mut trio = Trio::led();
    let lie = Message { from: 1, to: 2, term: 2, commit: 900, ..Message::default() };
    let verdict = Verdict::Lost { by: 1, acknowledged: 900, last: 2 };
    let engine = trio.node(2);
    assert_eq!(engine.step(lie.clone()), Err(Fault::Stopped(verdict)));
    assert_eq!(engine.step(Message { commit: 0, ..lie }), Err(Fault::Stopped(verdict)));
    assert_eq!(engine.tick(), Err(NotDone::Stopped(verdict)));
    assert_eq!(engine.campaign(), Err(NotDone::Stopped(verdict)));
    assert_eq!(engine.propose(batch(1)), Err(NotProposed::Stopped { verdict, batch: batch(1) }));
    let turn = engine.turn();
    assert!(turn.messages.is_empty() && turn.messages_after.is_empty() && turn.entries.is_empty());
}

/// A leader that has another entry where one is committed here: raft-rs would tell it that all is well.
#[test]
fn a_leader_without_a_committed_entry_is_not_followed() {
    let mut trio = Trio::led();
    trio.node(1).propose(batch(1)).expect("it leads");
    trio.settle();
    trio.tick(2);
    let entry = Entry { index: 3, term: 5, kind: EntryKind::Blank };
    let append = Message {
        kind: MessageKind::Append,
        from: 3,
        to: 2,
        term: 5,
        index: 2,
        index_term: 2,
        entries: vec![entry],
        ..Message::default()
    };
    let verdict = Verdict::Diverged { by: 3, index: 3, ours: 2, theirs: 5 };
    assert_eq!(trio.node(2).step(append), Err(Fault::Stopped(verdict)));
}

/// A log that ends before its own vote record's commit does not start.
#[test]
fn a_log_that_lost_committed_entries_does_not_start() {
    let tail = LogTail { vote: Vote { term: 2, voted_for: 1, commit: 9 }, ..LogTail::founded(&[1, 2, 3]) };
    assert_eq!(tail.last(), Position { index: 1, term: 1 });
    let started = lapwing_raft::Engine::new(&config(1), tail);
    assert_eq!(started.err(), Some(StartError::Lost { commit: 9, last: 1 }));
}
