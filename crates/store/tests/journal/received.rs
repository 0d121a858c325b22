//! Snapshots that a leader sends: with the entries that they refer to they count as a whole or not at all.

use std::io::{Read, Write};
use std::path::Path;

use crate::common::*;
use crate::sim::{SimDisk, Step, changes};
use lapwing_store::StoreError;
use lapwing_store::disk::Disk;
use lapwing_store::journal::{Covered, DataGroupId, Entry, JournalReader, JournalWriter, RaftError, Received};

/// Where the leader's snapshot ends.
const COVERED: Covered = Covered { index: 40, raft_index: 20, term: 4 };
/// Up to there the follower's log is the leader's.
const COMMON: u64 = 5;
/// What the leader's snapshot refers to. Some of it the follower has.
const LIVE: [u64; 6] = [3, 9, 11, 12, 25, 40];
/// Where its own snapshot ends.
const OWN: Covered = Covered { index: 6, raft_index: 3, term: 1 };

/// A follower's log through this Raft index, each with two entries.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Old {
    /// There is none, and no snapshot.
    Nothing,
    Through(u64),
    /// It has the snapshot's end itself, and goes on.
    Equal,
}

impl Old {
    const ALL: [Old; 5] = [Old::Nothing, Old::Through(5), Old::Through(8), Old::Through(30), Old::Equal];

    fn end(self) -> u64 {
        match self {
            Old::Nothing => 0,
            Old::Through(end) => end,
            Old::Equal => 30,
        }
    }

    /// Entries behind an installed snapshot.
    fn kept(self) -> Vec<u64> {
        match self {
            Old::Equal => (1..=60).collect(),
            Old::Nothing => LIVE.to_vec(),
            Old::Through(_) => (1..=10).chain([11, 12, 25, 40]).collect(),
        }
    }
}

fn put(writer: &mut JournalWriter, (raft_index, term): (u64, u64), index: u64) {
    let body = body(A, index);
    writer.append(Entry { raft_index, ..entry(A, index, term, &body) }).expect("it follows");
}

fn set_up(writer: &mut JournalWriter, reader: &JournalReader, old: Old) -> Result<(), StoreError> {
    for raft_index in 1..=old.end() {
        let term = if old == Old::Equal && raft_index > 10 { 4 } else { 1 };
        put(writer, (raft_index, term), 2 * raft_index - 1);
        put(writer, (raft_index, term), 2 * raft_index);
    }
    append(writer, B, b"another group");
    writer.commit()?;
    if old != Old::Nothing {
        reader.new_snapshot(A, OWN.index, OWN.term)?.finish()?;
        writer.purge_raft(A, OWN)?;
        writer.commit()?;
    }
    Ok(())
}

fn receive(reader: &JournalReader) -> Result<Received, StoreError> {
    let io = |error: std::io::Error| error.downcast::<StoreError>().unwrap_or_else(|other| panic!("{other}"));
    let mut draft = reader.receive_snapshot(A, COVERED, COMMON, 4096)?;
    draft.write_all(&[7; 300_000]).map_err(io)?;
    for index in LIVE {
        // As they come: without a Raft index.
        draft.keep(entry(A, index, 1, &body(A, index)))?;
    }
    draft.finish()
}

/// Receives, installs and goes on.
fn live(writer: &mut JournalWriter, reader: &JournalReader, old: Old) -> Result<(), StoreError> {
    let mut received = receive(reader)?;
    writer.install(&mut received)?;
    if old != Old::Equal {
        put(writer, (21, 4), 41);
        writer.commit()?;
    }
    Ok(())
}

fn files(disk: &SimDisk, ending: &str) -> Vec<String> {
    let list = |folder: &str| disk.list(Path::new(folder)).expect("a folder");
    let all = list("/data/log").into_iter().chain(list("/data/log/snapshots"));
    all.filter(|name| name.ends_with(ending)).collect()
}

fn snapshot(reader: &JournalReader) -> Option<(u64, u64)> {
    let mut found = reader.snapshot(A).expect("a look")?;
    let mut bytes = vec![];
    found.read_to_end(&mut bytes).expect("a read");
    assert!(bytes.iter().all(|byte| *byte == 7));
    Some((found.index(), bytes.len() as u64))
}

/// The old group is there or the new one, each with all that belongs to it. True: the new one.
fn check_group(reader: &JournalReader, old: Old, context: &str) -> bool {
    let log = reader.group(A).expect("a group");
    let found = read_all(reader, A);
    assert!(found.iter().all(|(index, found)| *found == body(A, *index)), "{context}");
    let mut found: Vec<u64> = found.iter().map(|entry| entry.0).collect();
    assert_eq!(read_all(reader, B).len(), 1, "{context}");
    let is_new = log.purged_raft_index == COVERED.raft_index;
    if is_new {
        found.retain(|index| old == Old::Equal || *index != 41);
        assert_eq!((found, snapshot(reader)), (old.kept(), Some((40, 300_000))), "{context}");
        assert_eq!((log.purged_index, log.purged_raft_term), (COVERED.index, COVERED.term), "{context}");
        let ends = if old == Old::Equal { [(60, 30), (60, 30)] } else { [(40, 20), (41, 21)] };
        assert!(ends.contains(&(log.last_index, log.last_raft_index)), "{context}: {log:?}");
    } else {
        let before = if old == Old::Nothing { (None, 0) } else { (Some((OWN.index, 0)), OWN.index) };
        assert_eq!((snapshot(reader), log.purged_index), before, "{context}");
        assert_eq!(found, (1..=2 * old.end()).collect::<Vec<_>>(), "{context}");
        assert_eq!((log.last_index, log.last_raft_index), (2 * old.end(), old.end()), "{context}");
    }
    is_new
}

/// The same for what a crash leaves, of which nothing is left behind.
fn check(disk: &SimDisk, old: Old, is_done: bool, context: &str) {
    for round in 0..2 {
        let context = format!("{old:?}, {context}, round {round}");
        let (mut writer, reader) = open_sim(disk).unwrap_or_else(|error| panic!("{context}: {error}"));
        let is_new = check_group(&reader, old, &context);
        assert!(is_new || !is_done, "{context}: it counted");
        assert_eq!(files(disk, ".received"), [""; 0], "{context}");
        assert_eq!(files(disk, ".tmp"), [""; 0], "{context}");
        assert!(is_new || files(disk, ".kept").is_empty(), "{context}");
        if round == 1 && is_new && old != Old::Equal {
            assert_eq!(reader.group(A).expect("a group").last_index, writer.next_index(A).expect("a group") - 1);
            let (index, raft_index) = (writer.next_index(A).expect("a group"), 30);
            put(&mut writer, (raft_index, 5), index);
            writer.commit().unwrap_or_else(|error| panic!("{context}: {error}"));
        }
    }
}

#[test]
fn a_crash_leaves_the_old_group_or_the_new_one() {
    for old in Old::ALL {
        let begin = |seed: u64| {
            let disk = SimDisk::new(seed);
            let (mut writer, reader) = open_sim(&disk).expect("open");
            set_up(&mut writer, &reader, old).expect("no fault");
            (disk, writer, reader)
        };
        let (disk, mut writer, reader) = begin(1);
        let before = disk.steps();
        live(&mut writer, &reader, old).expect("no fault");
        check_group(&reader, old, "as it goes on");
        let steps = disk.steps() - before;
        drop(writer);
        check(&disk, old, true, "no crash");
        assert!(steps > 8, "{steps} steps");
        for step in changes(steps).chain([steps - 1]) {
            let (disk, mut writer, reader) = begin(step + 1);
            disk.crash_after(step);
            let is_done = live(&mut writer, &reader, old).is_ok();
            drop(writer);
            check(&disk.copy(step).after_crash(), old, is_done, &format!("power cut after step {step}"));
            check(&disk.after_kill(), old, is_done, &format!("kill after step {step}"));
        }
    }
}

/// A disk that is full, for one thing or the other, while it is received: is the group as it was, and nothing left behind?
#[test]
fn a_full_disk_leaves_nothing_behind() {
    for old in Old::ALL {
        for step in [Step::Write, Step::Allocate, Step::Open] {
            let disk = SimDisk::new(1);
            let (mut writer, reader) = open_sim(&disk).expect("open");
            set_up(&mut writer, &reader, old).expect("no fault");
            disk.fail(step, libc::ENOSPC);
            match receive(&reader) {
                Err(error) => assert!(error.is_retryable(), "{old:?}, {step:?}: {error}"),
                Ok(received) => drop(received),
            }
            disk.heal();
            let left = [".received", ".tmp", ".kept"].map(|ending| files(&disk, ending));
            assert!(left.iter().all(Vec::is_empty), "{old:?}, {step:?}: {left:?}");
            assert!(!check_group(&reader, old, "full"));
        }
    }
}

/// Full when it is to count: does it count when there is room again, and leave nothing when it is given up?
#[test]
fn what_finds_no_room_to_count_is_tried_again_or_given_up() {
    for old in Old::ALL {
        for is_given_up in [false, true] {
            let disk = SimDisk::new(1);
            let (mut writer, reader) = open_sim(&disk).expect("open");
            set_up(&mut writer, &reader, old).expect("no fault");
            let mut received = receive(&reader).expect("no fault");
            disk.fail(Step::Write, libc::ENOSPC);
            let error = writer.install(&mut received).expect_err("no room");
            assert!(error.is_retryable(), "{error}");
            disk.heal();
            assert!(!check_group(&reader, old, "full"));
            if is_given_up {
                drop(received);
                assert_eq!([files(&disk, ".received"), files(&disk, ".kept")], [vec![""; 0], vec![]]);
                append(&mut writer, B, b"on it goes");
                writer.commit().expect("there is room");
                let (_, reader) = (drop(writer), open_sim(&disk.after_crash()).expect("open").1);
                assert_eq!(
                    (read_all(&reader, B).len(), snapshot(&reader).map_or(0, |found| found.0)),
                    (
                        2,
                        match old {
                            Old::Nothing => 0,
                            _ => OWN.index,
                        }
                    )
                );
            } else {
                writer.install(&mut received).expect("there is room");
                drop((received, writer));
                check(&disk.after_crash(), old, true, "tried again");
            }
        }
    }
}

/// Is what was received like any kept entry to compaction, beside others that have Raft indexes, and without its index?
#[test]
fn compaction_keeps_what_is_live_of_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    let live_before = |index: u64| index <= 10 && index.is_multiple_of(3);
    set_up(&mut writer, &reader, Old::Through(8)).expect("no fault");
    for _ in 0..200 {
        // Segments have to be sealed, so that something is rewritten.
        append(&mut writer, B, &[1; 2000]);
        writer.commit().expect("a commit");
    }
    writer.compact(&mut |group, index| group == A && live_before(index), u64::MAX).expect("compacted");
    live(&mut writer, &reader, Old::Through(8)).expect("no fault");
    for index in 42..=500 {
        put(&mut writer, (index, 5), index);
    }
    for _ in 0..200 {
        append(&mut writer, B, &[1; 2000]);
        writer.commit().expect("a commit");
    }
    reader.new_snapshot(A, 500, 5).and_then(|draft| draft.finish()).expect("a snapshot");
    writer.purge_raft(A, Covered { index: 500, raft_index: 500, term: 5 }).expect("purged");
    let last = writer.next_index(B).expect("a group") - 1;
    writer.purge(B, last, 0).expect("purged");
    writer.commit().expect("a commit");
    // Few of each segment: they come into one.
    let is_live = |index: u64| [3, 12, 77].contains(&index);
    for _ in 0..5 {
        writer.compact(&mut |group, index| group == A && is_live(index), u64::MAX).expect("compacted");
    }
    let found = |reader: &JournalReader| read_all(reader, A).iter().map(|entry| entry.0).collect::<Vec<_>>();
    let all: Vec<u64> = found(&reader);
    assert!([3, 12, 77].iter().all(|index| all.contains(index)), "{all:?}");
    drop((writer, reader));
    for file in std::fs::read_dir(dir.path().join("log")).expect("a folder") {
        let file = file.expect("a file").path();
        if file.extension().is_some_and(|ending| ending == "idx") {
            std::fs::remove_file(file).expect("removed");
        }
    }
    let (_writer, reader) = open(dir.path()).expect("indexes are made again");
    assert_eq!(found(&reader), all);
}

/// Is a snapshot refused that the log has gone past, before it is received or meanwhile, and what does not ascend?
#[test]
fn what_is_past_is_refused() {
    let disk = SimDisk::new(1);
    let (mut writer, reader) = open_sim(&disk).expect("open");
    set_up(&mut writer, &reader, Old::Through(8)).expect("no fault");
    let past = reader.receive_snapshot(A, OWN, 0, 0).expect_err("it is purged as far");
    assert!(matches!(past, StoreError::Raft(RaftError::Purged { purged_raft_index: 3, .. })), "{past}");
    let mut draft = reader.receive_snapshot(A, COVERED, COMMON, 0).expect("begun");
    assert_eq!(draft.common_index(), 10);
    draft.keep(entry(A, 12, 1, b"")).expect("the first");
    for index in [12, 11, 41] {
        assert!(matches!(draft.keep(entry(A, index, 1, b"")), Err(StoreError::NotNext { .. })), "{index}");
    }
    drop(draft);
    let mut received = receive(&reader).expect("no fault");
    writer.purge_raft(A, Covered { index: 14, raft_index: 7, term: 1 }).expect("purged");
    let past = writer.install(&mut received).expect_err("purged beyond what was equal");
    assert!(matches!(past, StoreError::Raft(RaftError::Purged { purged_raft_index: 7, .. })), "{past}");
    drop(received);
    assert_eq!([files(&disk, ".received"), files(&disk, ".kept")], [vec![""; 0], vec![]]);
    assert_eq!(reader.group(A).expect("a group").purged_index, 14, "what waited was committed");
    assert!(matches!(reader.receive_snapshot(DataGroupId(16), COVERED, 0, 0), Err(StoreError::NoDataGroup { .. })));
}
