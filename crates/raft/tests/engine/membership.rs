//! Members that come, go, and get or lose their vote.

use lapwing_raft::{Change, LogTail, Membership, NotDone, Role, Standing};

use crate::trio::Trio;

fn change(node: u64, standing: Standing) -> Change {
    Change { node, standing }
}

/// One of several at once is replaced: is the membership joint, does the leader end that, and does everybody know?
#[test]
fn several_changes_go_by_way_of_a_joint_membership() {
    let founded = || LogTail::founded(&[1, 2, 3]);
    let mut group = Trio::of(&[founded(), founded(), founded(), LogTail::joining()]);
    group.node(1).campaign().expect("it may lead");
    group.settle();
    let changes = [change(4, Standing::Voter), change(3, Standing::Gone)];
    assert_eq!(group.node(1).propose_membership(&changes), Ok(3));
    assert_eq!(group.node(1).propose_membership(&changes), Err(NotDone::ChangeUnderWay));

    let mut seen = Vec::new();
    for _ in 0..20 {
        let (turn, mut messages) = group.turn(1);
        seen.extend(turn.membership);
        messages.extend((2..=4).flat_map(|id| group.turn(id).1));
        // The fourth has nothing of the log's begin: as if a snapshot had come.
        if let Ok(snapshot) = group.node(1).snapshot_at(3) {
            let _ = group.node(4).install(&snapshot);
        }
        group.deliver(messages);
        group.engines.iter_mut().for_each(|engine| engine.tick().expect("it lives"));
    }
    let joint = Membership { outgoing: vec![1, 2, 3], ..Membership::of(&[1, 2, 4]) };
    assert_eq!(seen[seen.len() - 2..], [joint, Membership::of(&[1, 2, 4])]);
    assert_eq!(group.node(2).membership(), &Membership::of(&[1, 2, 4]));
    assert_eq!(group.node(4).membership(), &Membership::of(&[1, 2, 4]));
}

/// A leader that is removed: does it stop leading, and do the others go on?
#[test]
fn a_leader_that_is_removed_steps_down() {
    let mut trio = Trio::led();
    trio.node(1).propose_membership(&[change(1, Standing::Gone)]).expect("it leads");
    trio.settle();
    assert_eq!(trio.roles()[0], Role::Follower);
    assert_eq!(trio.node(1).campaign(), Err(NotDone::NotElectable));
    trio.tick(60);
    assert!(trio.roles()[1..].contains(&Role::Leader));
    assert_eq!(trio.node(2).membership(), &Membership::of(&[2, 3]));
}

/// Does a learner get everything and no vote, until it is given one?
#[test]
fn a_learner_gets_everything_and_no_vote() {
    let mut trio = Trio::led();
    trio.node(1).propose_membership(&[change(3, Standing::Learner)]).expect("it leads");
    trio.settle();
    trio.tick(4);
    assert_eq!(trio.node(3).membership(), &Membership { learners: vec![3], ..Membership::of(&[1, 2]) });
    assert_eq!(trio.node(3).campaign(), Err(NotDone::NotElectable));
    assert_eq!(trio.node(1).transfer_to(3), Err(NotDone::NoVoter { node: 3 }));
    trio.node(1).propose_membership(&[change(3, Standing::Voter)]).expect("it leads");
    trio.settle();
    trio.tick(4);
    trio.node(3).campaign().expect("it has a vote again");
}

/// A new leader whose term nothing is committed of yet: does it change nobody?
#[test]
fn a_leader_changes_nobody_before_its_term_is_committed() {
    let mut engine =
        lapwing_raft::Engine::new(&crate::trio::config(1), LogTail::founded(&[1])).expect("a log that is whole");
    engine.campaign().expect("it may lead");
    let changes = [change(2, Standing::Learner)];
    assert_eq!(engine.propose_membership(&changes), Err(NotDone::TermNotCommitted));
    let turn = engine.turn();
    engine.persisted(turn.number).expect("it lives");
    engine.turn();
    assert_eq!(engine.propose_membership(&changes), Ok(3));
}

/// Are changes refused that lead nowhere?
#[test]
fn changes_that_lead_nowhere_are_refused() {
    let mut trio = Trio::led();
    let all_gone = [1, 2, 3].map(|node| change(node, Standing::Gone));
    let too_many: Vec<Change> = (4..30).map(|node| change(node, Standing::Voter)).collect();
    for changes in [&[][..], &all_gone, &too_many, &[change(0, Standing::Voter)]] {
        assert_eq!(trio.node(1).propose_membership(changes), Err(NotDone::ChangeInvalid), "{changes:?}");
    }
    let late = trio.node(2).propose_membership(&[change(4, Standing::Learner)]);
    assert_eq!(late, Err(NotDone::NotLeader { leader: 1 }));
}

/// Is a membership the same after a restart, from the log alone?
#[test]
fn a_membership_comes_back_from_the_log() {
    let mut trio = Trio::led();
    let mut tail = LogTail::founded(&[1, 2, 3]);
    trio.node(1).propose_membership(&[change(3, Standing::Gone)]).expect("it leads");
    for _ in 0..6 {
        let (turn, messages) = trio.turn(1);
        tail.entries.extend(turn.entries);
        tail.vote = turn.vote.unwrap_or(tail.vote);
        trio.deliver(messages);
        let answers = (2..=3).flat_map(|id| trio.turn(id).1).collect();
        trio.deliver(answers);
    }
    let blank = lapwing_raft::Entry { index: 2, term: 2, kind: lapwing_raft::EntryKind::Blank };
    tail.entries.insert(0, blank);
    tail.vote.term = 2;
    let engine = lapwing_raft::Engine::new(&crate::trio::config(1), tail).expect("a log that is whole");
    assert_eq!(engine.membership(), &Membership::of(&[1, 2]));
}

/// A group of one with a learner that is not there: does it go on being led?
#[test]
fn who_votes_alone_needs_no_learner() {
    let mut engine = lapwing_raft::Engine::new(&crate::trio::config(1), LogTail::founded(&[1])).expect("a whole log");
    engine.campaign().expect("it may lead");
    let settle = |engine: &mut lapwing_raft::Engine| {
        for _ in 0..3 {
            let turn = engine.turn();
            engine.persisted(turn.number).expect("it lives");
        }
    };
    settle(&mut engine);
    engine.propose_membership(&[change(2, Standing::Learner)]).expect("it leads");
    settle(&mut engine);
    for tick in 0..1_000 {
        engine.tick().expect("it lives");
        settle(&mut engine);
        assert_eq!(engine.status().role, Role::Leader, "{tick}: {:?} {:?}", engine.status(), engine.membership());
    }
}
