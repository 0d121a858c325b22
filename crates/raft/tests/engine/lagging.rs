//! Disks that stand still.

use lapwing_raft::{LogTail, Membership, Message, MessageKind, Role};

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

/// Does a vote leave when it is on disk, and not with a heartbeat's answer?
#[test]
fn a_vote_leaves_when_it_is_on_disk() {
    let mut trio = Trio::new();
    let ask =
        Message { kind: MessageKind::AskVote, from: 1, to: 2, term: 2, index: 1, index_term: 1, ..Message::default() };
    let heard = Message { from: 1, to: 2, term: 2, ..Message::default() };
    trio.node(2).step(ask).expect("it may ask");
    trio.node(2).step(heard).expect("it won by others");
    let turn = trio.node(2).turn();
    assert!(turn.must_sync && turn.messages.is_empty());
    let kinds: Vec<_> = turn.messages_after.iter().map(|message| message.kind).collect();
    assert_eq!((kinds, turn.after), (vec![MessageKind::Vote, MessageKind::HeartbeatAnswer], turn.number));
}

/// A single voter leads by its own vote: does nobody hear of that term before the vote is on disk?
#[test]
fn a_single_voter_is_not_heard_before_its_vote_is_on_disk() {
    let membership = Membership { learners: vec![2], ..Membership::of(&[1]) };
    let tail = LogTail { membership, ..LogTail::founded(&[1]) };
    let mut pair = Trio::of(&[tail.clone(), tail]);
    pair.stuck = vec![1];
    pair.node(1).campaign().expect("it may lead");
    let (turn, left) = pair.turn(1);
    assert_eq!((turn.status.role, left.len(), turn.messages_after.len()), (Role::Leader, 0, 1));
    assert_eq!(turn.status.commit, 1, "its own disk is its quorum");
    let told = pair.sync(1);
    pair.deliver(told);
    pair.settle();
    assert_eq!(pair.commits(), [2, 2]);
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
