//! Batches while a leadership is being handed over.

use lapwing_raft::{EntryKind, NotDone, NotProposed, Proposed, Role};

use crate::trio::{Trio, batch};

/// Do batches wait in order, is the one too many named, and do all come back when another leads?
#[test]
fn batches_come_back_in_order_when_another_leads() {
    let mut trio = Trio::led();
    trio.node(1).transfer_to(2).expect("it leads");
    for sequence in 1..=3 {
        assert_eq!(trio.node(1).propose(batch(sequence)), Ok(Proposed::Waits));
    }
    assert_eq!(trio.node(1).propose(batch(4)), Err(NotProposed::Full { limit: 3, batch: batch(4) }));
    assert_eq!(trio.node(1).status().waiting, 3);
    trio.settle();
    assert_eq!(trio.roles(), [Role::Follower, Role::Leader, Role::Follower]);
    assert_eq!(trio.returned, [batch(1), batch(2), batch(3)]);
    assert_eq!(trio.node(1).propose(batch(5)), Err(NotProposed::NotLeader { leader: 2, batch: batch(5) }));
}

/// A transfer that comes to nothing: does what waited go into the log, in order, before what comes later?
#[test]
fn batches_go_on_in_order_when_a_transfer_comes_to_nothing() {
    let mut trio = Trio::led();
    trio.cut = vec![2];
    trio.node(1).transfer_to(2).expect("it leads");
    trio.node(1).propose(batch(1)).expect("there is room");
    trio.node(1).propose(batch(2)).expect("there is room");
    for _ in 0..10 {
        trio.node(1).tick().expect("it lives");
    }
    assert_eq!(trio.node(1).status().transfers_to, 0, "decided within an election's time");
    assert_eq!(trio.node(1).propose(batch(3)), Ok(Proposed::Waits), "behind those that came before it");
    let (turn, _) = trio.turn(1);
    let batches: Vec<_> = turn.entries.into_iter().map(|entry| entry.kind).collect();
    assert_eq!(batches, [1, 2, 3].map(|sequence| EntryKind::Batch(batch(sequence))));
    assert_eq!(trio.node(1).propose(batch(4)), Ok(Proposed::At(6)));
    assert!(trio.returned.is_empty());
}

/// Is a transfer refused that leads nowhere?
#[test]
fn a_transfer_that_leads_nowhere_is_refused() {
    let mut trio = Trio::led();
    assert_eq!(trio.node(1).transfer_to(1), Err(NotDone::Leads));
    assert_eq!(trio.node(1).transfer_to(9), Err(NotDone::NoVoter { node: 9 }));
    assert_eq!(trio.node(2).transfer_to(3), Err(NotDone::NotLeader { leader: 1 }));
}
