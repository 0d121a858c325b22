//! Logs that begin later, and who needs a snapshot.

use lapwing_raft::{Change, LogTail, Membership, NotDone, Position, Snapshot, SnapshotOffer, Standing};

use crate::trio::{Trio, batch};

/// So many ticks, with turns and messages between; the offers that node 4 had.
fn offers(trio: &mut Trio, ticks: u32) -> Vec<SnapshotOffer> {
    let mut offers = Vec::new();
    for _ in 0..ticks {
        trio.engines.iter_mut().for_each(|engine| engine.tick().expect("it lives"));
        let mut messages = Vec::new();
        for id in 1..=4 {
            let (turn, left) = trio.turn(id);
            offers.extend(turn.offer);
            messages.extend(left);
        }
        trio.deliver(messages);
    }
    offers
}

/// A leader of three whose log was compacted, and a fourth node that was let in as a learner, at index 8.
fn joined() -> Trio {
    let founded = || LogTail::founded(&[1, 2, 3]);
    let mut trio = Trio::of(&[founded(), founded(), founded(), LogTail::joining()]);
    trio.node(1).campaign().expect("it may lead");
    trio.settle();
    for sequence in 1..=5 {
        trio.node(1).propose(batch(sequence)).expect("it leads");
    }
    trio.settle();
    trio.node(1).compact(5).expect("committed and on disk");
    let learner = Change { node: 4, standing: Standing::Learner };
    assert_eq!(trio.node(1).propose_membership(&[learner]), Ok(8));
    trio
}

/// Is who joins told of a snapshot, and does it have everything once that is installed?
#[test]
fn who_joins_gets_a_snapshot_then_the_rest() {
    let mut trio = joined();
    let offer = SnapshotOffer { from: 1, at: Position { index: 8, term: 2 } };
    assert_eq!(offers(&mut trio, 20).first(), Some(&offer));
    let snapshot = trio.node(1).snapshot_at(8).expect("applied");
    assert!(snapshot.membership.learners == [4] && snapshot.at.index == 8);
    trio.node(4).install(&snapshot).expect("it lacks that");
    let (turn, messages) = trio.turn(4);
    assert_eq!(turn.install, Some(snapshot.clone()));
    assert!(turn.must_sync && turn.status.commit == 8);
    trio.deliver(messages);
    trio.node(1).propose(batch(6)).expect("it leads");
    trio.settle();
    trio.tick(4);
    assert_eq!(trio.commits(), [9, 9, 9, 9]);
    assert_eq!(trio.node(4).install(&snapshot), Err(NotDone::NotNeeded { index: 8 }));
    assert_eq!(trio.node(4).compacted().index, 8);
}

/// An offer that was lost, or whose bytes did not come: is it made again?
#[test]
fn an_offer_is_made_again() {
    let mut trio = joined();
    assert!(offers(&mut trio, 60).len() >= 2);
}

/// Does who is on its way to a snapshot acknowledge nothing, and not ask for votes, before the disk has it?
#[test]
fn a_snapshot_counts_when_it_is_on_disk() {
    let mut trio = Trio::led();
    trio.cut = vec![3];
    trio.stuck = vec![3];
    let at = Position { index: 40, term: 2 };
    let snapshot = Snapshot { at, membership: Membership::of(&[1, 2, 3]) };
    trio.node(3).install(&snapshot).expect("it lacks that");
    let (turn, left) = trio.turn(3);
    assert_eq!(turn.install, Some(snapshot.clone()));
    assert!(left.is_empty() && !turn.messages_after.is_empty());
    let other = Snapshot { at: Position { index: 50, term: 2 }, ..snapshot };
    assert_eq!(trio.node(3).install(&other), Err(NotDone::ChangeUnderWay));
    assert_eq!(trio.node(3).campaign(), Err(NotDone::NotElectable));
    assert!(trio.node(3).compact(40).is_err(), "it does not count yet");
    trio.sync(3);
    let _ = trio.turn(3);
    trio.node(3).compact(40).expect("now it does");
    assert_eq!(trio.node(3).status().persisted, 40);
}

/// A membership entry was not on disk yet when a snapshot took its place: does the snapshot's membership count alone?
#[test]
fn a_snapshot_takes_the_place_of_changes_before_it() {
    let mut trio = Trio::led();
    trio.stuck = vec![3];
    let learner = Change { node: 4, standing: Standing::Learner };
    trio.node(1).propose_membership(&[learner]).expect("it leads");
    trio.settle();
    trio.tick(4);
    let status = trio.node(3).status();
    assert_eq!((status.commit, status.persisted), (3, 2));
    let snapshot = Snapshot { at: Position { index: 40, term: 2 }, membership: Membership::of(&[1, 2, 3]) };
    trio.node(3).install(&snapshot).expect("it lacks that");
    trio.sync(3);
    let _ = trio.turn(3);
    trio.sync(3);
    let _ = trio.turn(3);
    assert_eq!(trio.node(3).membership(), &snapshot.membership);
    assert_eq!(trio.node(3).peers().len(), 2, "nobody else is known");
    assert_eq!(trio.node(3).status().persisted, 40);
}

/// Is a snapshot refused that this node cannot be helped by?
#[test]
fn a_snapshot_for_somebody_else_is_refused() {
    let mut trio = Trio::led();
    let of = |index, voters: &[u64]| Snapshot { at: Position { index, term: 2 }, membership: Membership::of(voters) };
    assert!(matches!(trio.node(2).install(&of(40, &[1, 3])), Err(NotDone::NoSnapshot { .. })));
    assert!(matches!(trio.node(2).install(&of(40, &[2, 2])), Err(NotDone::NoSnapshot { .. })));
    assert!(matches!(trio.node(2).install(&of(0, &[1, 2])), Err(NotDone::NoSnapshot { .. })));
    assert!(matches!(trio.node(2).install(&of(u64::MAX, &[1, 2])), Err(NotDone::NoSnapshot { .. })));
    assert_eq!(trio.node(2).install(&of(2, &[1, 2, 3])), Err(NotDone::NotNeeded { index: 2 }));
    assert_eq!(trio.node(1).install(&of(40, &[1, 2, 3])), Err(NotDone::Leads));
}

/// Is nothing forgotten that is not committed?
#[test]
fn only_what_is_committed_is_forgotten() {
    let mut trio = Trio::led();
    assert_eq!(trio.node(1).compact(3), Err(NotDone::Beyond { asked: 3, limit: 2 }));
    assert_eq!(trio.node(1).snapshot_at(3), Err(NotDone::Beyond { asked: 3, limit: 2 }));
    trio.node(1).compact(2).expect("committed");
    assert_eq!(trio.node(1).compacted(), Position { index: 2, term: 2 });
}
