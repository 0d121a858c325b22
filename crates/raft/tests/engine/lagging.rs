//! Disks that stand still.

use lapwing_raft::{MessageKind, Role};

use crate::trio::{Trio, batch};

/// A leader whose own disk stands still: is what the two others have committed, and told as that?
#[test]
fn a_leader_commits_by_the_others_disks() {
    let mut trio = Trio::led();
    trio.stuck = vec![1];
    trio.node(1).propose(batch(1)).expect("it leads");
    trio.settle();
    let status = trio.node(1).status();
    assert_eq!((status.commit, status.persisted), (3, 2));
    trio.tick(2);
    assert_eq!(trio.commits(), [3, 3, 3]);
}

/// A follower whose disk stands still: does it acknowledge nothing, and answer heartbeats nevertheless?
#[test]
fn a_follower_acknowledges_by_its_disk_and_answers_without() {
    let mut trio = Trio::led();
    trio.stuck = vec![2, 3];
    trio.node(1).propose(batch(1)).expect("it leads");
    trio.settle();
    trio.tick(60);
    assert_eq!(trio.node(1).status().role, Role::Leader, "two that answer are two that are there");
    assert_eq!(trio.node(1).status().commit, 2);
    trio.stuck.clear();
    let acknowledged = trio.sync(2);
    assert!(acknowledged.iter().any(|message| message.kind == MessageKind::Appended && message.index == 3));
    trio.deliver(acknowledged);
    assert_eq!(trio.node(1).status().commit, 3);
}

/// Does a term leave a node only when it is on its disk?
#[test]
fn a_term_leaves_when_it_is_on_disk() {
    let mut trio = Trio::new();
    trio.stuck = vec![1];
    trio.node(1).campaign().expect("it may lead");
    let (turn, _) = trio.turn(1);
    assert!(turn.messages_after.iter().all(|message| message.kind == MessageKind::AskPreVote), "nothing changed yet");
    let asked = trio.sync(1);
    trio.deliver(turn.messages.into_iter().chain(asked).collect());
    let answers: Vec<_> = [2, 3].into_iter().flat_map(|id| trio.turn(id).1).collect();
    trio.deliver(answers);
    let (turn, left) = trio.turn(1);
    assert!(turn.must_sync && left.is_empty(), "it votes for itself, which is not on its disk");
    assert_eq!((turn.messages_after.len(), turn.after), (2, turn.number));
}

/// A follower whose log is not on its disk: does it ask nobody for a vote, and does it when the disk has come?
#[test]
fn who_is_not_on_disk_does_not_ask_for_votes() {
    let mut trio = Trio::led();
    trio.stuck = vec![2];
    trio.node(1).propose(batch(1)).expect("it leads");
    trio.settle();
    trio.cut = vec![1, 3];
    trio.tick(60);
    assert_eq!(trio.node(2).status().role, Role::Follower);
    assert!(trio.node(2).campaign().is_err());
    trio.stuck.clear();
    trio.sync(2);
    trio.tick(60);
    assert_ne!(trio.node(2).status().role, Role::Follower);
}
