//! A snapshot from a leader takes the place of a log: whatever a crash leaves, the log and the state go together.

use lapwing_ledger::DataGroupState;
use lapwing_raft::{Membership, Position, Snapshot, Vote};
use lapwing_replica::{Body, GroupWrite, Write};
use lapwing_store::journal::{Covered, JournalReader, Received};

use super::{batch, body, check_engine, client_id, clients, entry, group, open};
use crate::log::crash::sim::{SimDisk, changes};
use crate::log::snapshot::{self, store_error};
use crate::replica::{
    GroupState, Preface, ReplicaError, WriteQueue, common_raft_index, journal_group, moved_state, start,
    write_data_group,
};

const GROUP: u8 = 9;
const AT: Position = Position { index: 20, term: 4 };

/// Logs that end before the snapshot, or go on beyond it.
const OLD_ENDS: [u64; 2] = [8, 30];

/// A log through this Raft index, of which 5 are committed; what is behind that no leader has.
fn old_log(end: u64) -> Write {
    let batch_at = |index: u64| entry(index, 1, batch(group(GROUP), 2 * index - 3, [index * 10, index * 10 + 1]));
    let entries = std::iter::once(entry(1, 1, Body::Blank)).chain((2..=end).map(batch_at)).collect();
    let vote = Some(Vote { term: 1, voted_for: 1, commit: 5 });
    let group = GroupWrite { group: group(GROUP), install: None, truncate_from: None, entries, vote };
    Write { number: 1, must_sync: true, groups: vec![group] }
}

/// The leader's state, through sequence 40.
fn theirs() -> DataGroupState {
    let mut state = DataGroupState::new();
    for sequence in 1..=40 {
        state.apply(sequence, &body(group(GROUP), 1000 + sequence)).expect("in order");
    }
    state
}

fn install() -> Write {
    let membership = Membership::of(&[1, 2, 3]);
    let vote = Some(Vote { term: 4, voted_for: 0, commit: 20 });
    let entries = vec![entry(21, 4, batch(group(GROUP), 41, [2041]))];
    let install = Some(Snapshot { at: AT, membership });
    let group = GroupWrite { group: group(GROUP), install, truncate_from: None, entries, vote };
    Write { number: 2, must_sync: true, groups: vec![group] }
}

/// How the snapshot came to lie there.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Its file has its name.
    Named,
    /// It counts with the commit that voids the log.
    Received,
}

/// Has the old log, then the snapshot; how many of the two writes are persisted.
fn live(disk: &SimDisk, old_end: u64, way: Way) -> Result<u64, ReplicaError> {
    let (mut journal, reader) = open(disk)?;
    let mut queue = WriteQueue::new(reader.clone());
    queue.push(old_log(old_end));
    queue.go_on(&mut journal)?;
    let preface = Preface { at: AT, membership: Membership::of(&[1, 2, 3]) };
    match way {
        Way::Named => drop(write_data_group(&reader, group(GROUP), &preface, theirs().freeze())?),
        Way::Received => queue.receive(group(GROUP), receive(&reader, &preface)?),
    }
    queue.push(install());
    queue.go_on(&mut journal)
}

fn receive(reader: &JournalReader, preface: &Preface) -> Result<Received, ReplicaError> {
    let covered = Covered { index: 40, raft_index: AT.index, term: AT.term };
    let common = common_raft_index(reader, group(GROUP))?;
    let mut draft = reader.receive_snapshot(journal_group(group(GROUP)), covered, common, 0)?;
    preface.write(&mut draft).and_then(|()| snapshot::write(theirs().freeze(), &mut draft)).map_err(store_error)?;
    let received = draft.finish()?;
    let GroupState::Data(state) = moved_state(&received, group(GROUP))? else { panic!("a data group's") };
    assert_eq!(state.applied(), 40);
    Ok(received)
}

/// What there is: the old log, a prefix of it, or the new one.
fn check(disk: &SimDisk, is_done: bool, context: &str) {
    for round in 0..2 {
        let (mut journal, reader) = open(disk).unwrap_or_else(|error| panic!("{context}: {error}"));
        let started = start(&mut journal, &reader).unwrap_or_else(|error| panic!("{context}: {error}"));
        let log = &started.logs[usize::from(GROUP)];
        check_engine(log, context);
        let sessions = clients(&started.data_groups, group(GROUP));
        if log.tail.compacted == AT {
            assert_eq!(log.tail.membership, Membership::of(&[1, 2, 3]), "{context}");
            assert!(log.tail.last().index <= 21 && log.tail.vote.commit == 20, "{context}: {:?}", log.tail);
            assert_eq!((sessions.len(), &*sessions[0]), (40, &*client_id(1001)), "{context}, round {round}");
        } else {
            assert!(!is_done && log.tail.compacted.index == 0, "{context}: {:?}", log.tail);
            let committed = log.tail.vote.commit.saturating_sub(1) as usize;
            assert_eq!(sessions.len(), 2 * committed, "{context}, round {round}");
        }
        assert!(!is_done || log.tail.last().index == 21 && log.waiting.len() == 1, "{context}");
    }
}

#[test]
fn a_crash_leaves_the_log_before_or_the_one_behind_the_snapshot() {
    for (old_end, way) in OLD_ENDS.into_iter().flat_map(|end| [(end, Way::Named), (end, Way::Received)]) {
        let disk = SimDisk::new(1);
        assert_eq!(live(&disk, old_end, way).expect("no fault"), 2);
        check(&disk, true, "no crash");
        for step in changes(disk.steps()).chain([disk.steps() - 1]) {
            let disk = SimDisk::new(step + 1);
            disk.crash_after(step);
            let is_done = live(&disk, old_end, way).is_ok_and(|persisted| persisted == 2);
            let context = |what: &str| format!("a log through {old_end}, {way:?}, {what} after step {step}");
            check(&disk.copy(step).after_crash(), is_done, &context("power cut"));
            check(&disk.after_kill(), is_done, &context("kill"));
        }
    }
}

/// Is a snapshot that is not there found out before anything is void?
#[test]
fn nothing_is_void_for_a_snapshot_that_is_not_there() {
    let disk = SimDisk::new(1);
    let (mut journal, reader) = open(&disk).expect("open");
    let mut queue = WriteQueue::new(reader);
    queue.push(old_log(8));
    queue.go_on(&mut journal).expect("no fault");
    queue.push(install());
    let refused = queue.go_on(&mut journal).expect_err("no snapshot");
    assert!(matches!(&refused, ReplicaError::Group { group: found, .. } if *found == group(GROUP)), "{refused}");
    drop(journal);
    let (mut journal, reader) = open(&disk).expect("open");
    let started = start(&mut journal, &reader).expect("as it was");
    assert_eq!(started.logs[usize::from(GROUP)].tail.last().index, 8);
}
