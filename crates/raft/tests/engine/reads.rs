//! Questions whether a node leads still.

use lapwing_raft::{NotDone, READS_MAX, ReadGrant};

use crate::trio::{Trio, batch};

/// Is a question answered by a quorum, with what was committed, and are those before it answered too?
#[test]
fn a_leader_hears_that_it_leads() {
    let mut trio = Trio::led();
    trio.node(1).propose(batch(1)).expect("it leads");
    trio.settle();
    trio.node(1).read_index(7).expect("it leads");
    trio.node(1).read_index(8).expect("it leads");
    trio.settle();
    assert_eq!(trio.reads, [ReadGrant { token: 7, index: 3 }, ReadGrant { token: 8, index: 3 }]);
}

/// Does a deposed leader never hear that it leads?
#[test]
fn a_deposed_leader_hears_nothing() {
    let mut trio = Trio::led();
    trio.cut = vec![1];
    trio.node(1).read_index(7).expect("it does not know yet");
    trio.tick(60);
    trio.cut.clear();
    trio.tick(60);
    assert!(trio.reads.is_empty());
}

/// Is a question refused before the leader knows what is committed, and one too many?
#[test]
fn questions_have_a_limit() {
    let mut trio = Trio::led();
    trio.cut = vec![2, 3];
    for token in 0..READS_MAX as u64 {
        trio.node(1).read_index(token).expect("there is room");
    }
    assert_eq!(trio.node(1).read_index(9999), Err(NotDone::TooManyReads { limit: READS_MAX }));
    assert_eq!(trio.node(2).read_index(1), Err(NotDone::NotLeader { leader: 1 }));
}

/// A new leader does not know what is committed before something of its own term is.
#[test]
fn a_new_leader_does_not_know_yet() {
    let mut trio = Trio::new();
    trio.node(1).campaign().expect("it may lead");
    while !trio.roles().contains(&lapwing_raft::Role::Leader) {
        let messages = (1..=3).flat_map(|id| trio.turn(id).1).collect();
        trio.deliver(messages);
    }
    assert_eq!(trio.node(1).read_index(1), Err(NotDone::TermNotCommitted));
}
