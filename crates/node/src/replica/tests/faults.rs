//! Logs that no engine may start from: each is refused, with its group named.

use lapwing_ledger::{DataGroupState, Fault};
use lapwing_raft::{StartError, Vote};
use lapwing_replica::vote_bytes;
use lapwing_store::journal::{JournalReader, JournalWriter, Marker};

use super::{body, group, open};
use crate::log::crash::sim::SimDisk;
use crate::log::snapshot;
use crate::replica::{GroupFault, ReplicaError, Started, is_of_cluster, journal_group, start};

const GROUP: u8 = 4;

/// What a start says of a journal that was written so.
fn started(write: impl FnOnce(&mut JournalWriter, &JournalReader)) -> Result<Started, ReplicaError> {
    let disk = SimDisk::new(1);
    let (mut journal, reader) = open(&disk).expect("open");
    assert!(!is_of_cluster(&reader).expect("a group"));
    write(&mut journal, &reader);
    journal.commit().expect("commit");
    drop(journal);
    let (mut journal, reader) = open(&disk).expect("open");
    start(&mut journal, &reader)
}

fn fault(write: impl FnOnce(&mut JournalWriter, &JournalReader)) -> GroupFault {
    match started(write) {
        Err(ReplicaError::Group { group: found, fault }) => {
            assert_eq!(found, group(GROUP));
            fault
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it starts"),
    }
}

fn mark(journal: &mut JournalWriter, raft_index: u64, body: &[u8]) {
    journal.mark(Marker { group: journal_group(group(GROUP)), raft_index, term: 1, body }).expect("a marker");
}

fn vote(journal: &mut JournalWriter, vote: Vote) {
    journal.vote(journal_group(group(GROUP)), &vote_bytes(&vote)).expect("a vote");
}

/// Is a replica refused that lost what its vote calls committed?
#[test]
fn a_log_that_lost_something_is_refused() {
    let fault = fault(|journal, _| {
        (1..=3).for_each(|raft_index| mark(journal, raft_index, &[0]));
        vote(journal, Vote { term: 1, voted_for: 1, commit: 5 });
    });
    assert!(matches!(fault, GroupFault::Start(StartError::Lost { commit: 5, last: 3 })), "{fault}");
}

/// Is what no member writes refused, and not guessed at?
#[test]
fn what_no_member_writes_is_refused() {
    let found = fault(|journal, _| mark(journal, 1, &[]));
    assert!(matches!(found, GroupFault::Log { raft_index: 1, .. }), "{found}");
    let found = fault(|journal, _| mark(journal, 1, &[1, 9, 9]));
    assert!(matches!(found, GroupFault::Log { raft_index: 1, .. }), "{found}");
    let found = fault(|journal, _| journal.vote(journal_group(group(GROUP)), b"short").expect("a vote"));
    assert!(matches!(found, GroupFault::Snapshot(_)), "{found}");
    let found = fault(|journal, _| {
        let id = journal_group(group(GROUP));
        let nothing = [b"no entry".to_vec(), body(group(GROUP), 1)];
        for (index, body) in (1..).zip(&nothing) {
            let numbers = lapwing_store::journal::Entry {
                group: id,
                index,
                term: 1,
                raft_index: index,
                slot: 0,
                message_id: 0,
                appended_at_us: 0,
                body,
            };
            journal.append(numbers).expect("an entry");
        }
        vote(journal, Vote { term: 1, voted_for: 1, commit: 1 });
    });
    assert!(matches!(found, GroupFault::State { sequence: 1, fault: Fault::Kind { .. } }), "{found}");
}

/// Is a snapshot that one node alone has written not taken for a member's?
#[test]
fn one_nodes_snapshot_is_no_members() {
    let found = fault(|_, reader| {
        let mut draft = reader.new_snapshot(journal_group(group(GROUP)), 0, 0).expect("a draft");
        snapshot::write(DataGroupState::new().freeze(), &mut draft).expect("written");
        draft.finish().expect("written");
    });
    assert!(matches!(found, GroupFault::Snapshot(_)), "{found}");
}

/// Does an empty folder start as one that joins: with nothing, and nobody known?
#[test]
fn an_empty_folder_waits_for_a_snapshot() {
    let started = started(|_, _| {}).expect("nothing is wrong");
    assert_eq!(started.logs.len(), 17);
    for log in started.logs {
        assert_eq!((log.tail, log.waiting.len()), (lapwing_raft::LogTail::joining(), 0));
    }
}
