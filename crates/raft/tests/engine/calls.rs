//! What a caller may do wrong: it is told, and nothing is changed.

use lapwing_raft::{BatchHeader, NotDone, NotProposed, Proposed};

use crate::trio::{Trio, batch};

/// Is a batch refused that says nothing, or has sequences that cannot be?
#[test]
fn a_malformed_batch_comes_back() {
    let mut trio = Trio::led();
    for batch in [BatchHeader { count: 0, ..batch(1) }, batch(u64::MAX)] {
        assert_eq!(trio.node(1).propose(batch), Err(NotProposed::Malformed { batch }));
    }
    assert_eq!(trio.node(1).status().last, 2);
}

/// Does a batch come back from who does not lead, with who does?
#[test]
fn a_batch_comes_back_from_a_follower() {
    let mut trio = Trio::led();
    assert_eq!(trio.node(2).propose(batch(1)), Err(NotProposed::NotLeader { leader: 1, batch: batch(1) }));
}

/// Is a turn refused that nobody has?
#[test]
fn a_turn_that_was_not_handed_out_is_not_persisted() {
    let mut trio = Trio::led();
    let (turn, _) = trio.turn(1);
    let asked = turn.number + 1;
    assert_eq!(trio.node(1).persisted(asked), Err(NotDone::Beyond { asked, limit: turn.number }));
}

/// Are all batches of a turn one message to each follower, in order?
#[test]
fn a_turn_is_one_message_to_each() {
    let mut trio = Trio::led();
    for sequence in 1..=64 {
        assert_eq!(trio.node(1).propose(batch(sequence)), Ok(Proposed::At(sequence + 2)));
    }
    let (turn, messages) = trio.turn(1);
    assert_eq!((turn.entries.len(), messages.len()), (64, 2));
    assert!(messages.iter().all(|message| message.entries == turn.entries));
    assert!(turn.truncate_from.is_none() && turn.must_sync);
}

/// How far are the others, as the leader knows it?
#[test]
fn a_leader_knows_how_far_the_others_are() {
    let mut trio = Trio::led();
    trio.cut = vec![3];
    trio.node(1).propose(batch(1)).expect("it leads");
    trio.settle();
    let matched: Vec<_> = trio.node(1).peers().into_iter().map(|peer| (peer.node, peer.matched)).collect();
    assert_eq!(matched, [(2, 3), (3, 2)]);
}
