//! Who leads, and who may.

use lapwing_raft::{Config, Engine, Fault, LogTail, Message, MessageKind, NotDone, Refusal, Role, StartError};

use crate::trio::{Trio, config};

/// Left alone, do three find a leader within twice the longest time of an election, and keep it?
#[test]
fn three_find_a_leader() {
    let mut trio = Trio::new();
    trio.tick(40);
    let leader = trio.engines.iter().position(|engine| engine.status().role == Role::Leader).expect("a leader");
    let term = trio.engines[leader].status().term;
    trio.tick(200);
    assert!(trio.engines.iter().all(|engine| engine.status().leader == leader as u64 + 1));
    assert!(trio.engines.iter().all(|engine| engine.status().term == term));
}

/// A leader that hears nobody: does it step down within an election's time, while the others find another one?
#[test]
fn a_leader_without_a_quorum_steps_down() {
    let mut trio = Trio::led();
    trio.cut = vec![1];
    trio.tick(60);
    assert_ne!(trio.node(1).status().role, Role::Leader);
    assert!(trio.roles()[1..].contains(&Role::Leader));
}

/// A node that was cut off for long: does its coming back disturb nobody?
#[test]
fn who_comes_back_disturbs_nobody() {
    let mut trio = Trio::led();
    let term = trio.node(1).status().term;
    trio.cut = vec![3];
    trio.tick(100);
    trio.cut.clear();
    trio.tick(20);
    assert_eq!(trio.roles(), [Role::Leader, Role::Follower, Role::Follower]);
    assert_eq!(trio.node(3).status().term, term);
}

/// Whom the caller keeps from leading: does it never ask, refuse the leader's wish, and vote nevertheless?
#[test]
fn who_lacks_something_does_not_lead() {
    let mut trio = Trio::led();
    trio.node(2).set_electable(false);
    assert_eq!(trio.node(2).campaign(), Err(NotDone::NotElectable));
    trio.node(1).transfer_to(2).expect("it leads");
    trio.settle();
    assert_eq!(trio.faults, [Fault::Refused(Refusal::NotElectable)]);
    trio.cut = vec![1];
    trio.tick(100);
    assert_eq!(trio.roles()[1..], [Role::Follower, Role::Leader], "its vote counts");
}

/// A vote that nobody asked for: raft-rs would make somebody leader whose log is not on disk, and panic.
#[test]
fn a_vote_that_was_not_asked_for_is_refused() {
    let mut trio = Trio::new();
    trio.stuck = vec![1];
    trio.node(1).campaign().expect("it may lead");
    let pre_vote = Message { kind: MessageKind::PreVote, from: 2, to: 1, term: 2, ..Message::default() };
    let vote = Message { kind: MessageKind::Vote, ..pre_vote.clone() };
    trio.node(1).step(pre_vote).expect("it asks that");
    assert_eq!(trio.node(1).status().role, Role::Candidate);
    let unasked = Err(Fault::Refused(Refusal::Unasked { from: 2 }));
    assert_eq!(trio.node(1).step(vote.clone()), unasked);
    let _ = trio.turn(1);
    assert_eq!(trio.node(1).step(vote.clone()), unasked, "its own vote is not on its disk");
    trio.sync(1);
    trio.node(1).step(vote).expect("it asked");
    assert_eq!(trio.node(1).status().role, Role::Leader);
}

/// Does nobody lead by the word of somebody who does not?
#[test]
fn only_a_leader_calls_another_to_lead() {
    let mut trio = Trio::led();
    let call = Message { kind: MessageKind::Lead, from: 3, to: 2, term: 2, ..Message::default() };
    assert_eq!(trio.node(2).step(call), Err(Fault::Refused(Refusal::Unasked { from: 3 })));
    let second = Message { from: 3, to: 2, term: 2, ..Message::default() };
    let refusal = Refusal::SecondLeader { from: 3, term: 2, leader: 1 };
    assert_eq!(trio.node(2).step(second), Err(Fault::Refused(refusal)));
}

/// Are settings refused that no engine runs with?
#[test]
fn settings_without_meaning_are_refused() {
    let wrong = [
        Config { id: 0, ..config(1) },
        Config { heartbeat_ticks: 0, ..config(1) },
        Config { election_ticks: 2, ..config(1) },
    ];
    for config in wrong {
        let started = Engine::new(&config, LogTail::founded(&[1]));
        assert_eq!(started.err(), Some(StartError::Config { config }));
    }
}
