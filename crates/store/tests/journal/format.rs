//! Journals that earlier versions wrote are read as they were written.
//!
//! `tests/fixtures/journal-1` holds what `write_fixture` did when the journal was new, `journal-1-kept` what
//! `write_kept_fixture` did when compaction and snapshots were, `journal-1-raft` what `write_raft_fixture` did when Raft indexes were.
//! They are never made again: a new format version gets
//! folders of its own, and these tests go on reading the old ones.

use std::fs;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::common::*;
use lapwing_store::journal::{Covered, DataGroupId, Entry, JournalReader, Marker, RaftEntry};

const C: DataGroupId = DataGroupId(5);

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A copy: opening writes.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => assert!(fs::copy(&path, &target).is_ok()),
        }
    }
}

fn check(reader: &JournalReader) {
    assert_filled(reader, A, 1, 200);
    let log = reader.group(B).expect("a group");
    assert_eq!((log.first_index, log.last_index, log.last_term, log.purged_index), (151, 160, 7, 150));
    let found = read(reader, B, 151, 999).expect("read");
    assert!(found.len() == 10 && found.iter().all(|entry| entry.1 == b"another term"));
    assert_eq!(reader.group(A).expect("a group").vote, b"a vote");
    let log = reader.group(C).expect("a group");
    assert_eq!((log.last_index, log.last_term, log.purged_term), (1001, 9, 9));
}

#[test]
fn format_1_is_read_as_it_was_written() {
    let dir = tempfile::tempdir().expect("a folder");
    copy(&fixture("journal-1"), dir.path());
    let (mut writer, reader) = open(dir.path()).expect("open");
    check(&reader);
    assert!(reader.take_notices().is_empty(), "nothing had to be repaired");
    assert_eq!(append(&mut writer, A, b"and it goes on"), 201);
    writer.commit().expect("commit");
}

/// In group A some live entries below the purged index, in stretches; in group B nothing below it; a snapshot of B.
fn check_kept(reader: &JournalReader) {
    let found = read_all(reader, A);
    let live: Vec<u64> = (1..=900).filter(|index| is_kept(*index)).collect();
    let indexes: Vec<u64> = found.iter().map(|entry| entry.0).collect();
    assert!(live.iter().all(|index| indexes.contains(index)) && indexes.len() < 700, "{}", indexes.len());
    assert!(found.iter().all(|(index, found)| *found == body(A, *index)));
    assert_eq!(read(reader, B, 801, 999).expect("read").len(), 100);
    assert!(reader.info().kept_segments > 0, "{:?}", reader.info());
    let mut contents = vec![];
    let mut snapshot = reader.snapshot(B).expect("a look").expect("a snapshot");
    snapshot.read_to_end(&mut contents).expect("read");
    assert_eq!((snapshot.index(), snapshot.term(), &contents[..]), (800, 4, &b"what 800 entries add up to"[..]));
}

fn is_kept(index: u64) -> bool {
    index > 800 || index % 25 == 3 || (400..420).contains(&index)
}

#[test]
fn kept_entries_and_snapshots_of_format_1_are_read_as_they_were_written() {
    let dir = tempfile::tempdir().expect("a folder");
    copy(&fixture("journal-1-kept"), dir.path());
    let (mut writer, reader) = open(dir.path()).expect("open");
    check_kept(&reader);
    assert!(reader.take_notices().is_empty(), "nothing had to be repaired");
    drop(writer);
    for index in fs::read_dir(dir.path().join("log")).expect("a folder") {
        let path = index.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "idx") {
            fs::remove_file(path).expect("remove");
        }
    }
    let reader;
    (writer, reader) = open(dir.path()).expect("open without indexes");
    check_kept(&reader);
    assert_eq!(append(&mut writer, A, b"and it goes on"), 901);
    writer.commit().expect("commit");
}

/// Group A had entries before there was a cluster, B has begun with one; a marker in either, and in the group of the metadata.
fn check_raft(reader: &JournalReader) {
    assert_filled(reader, A, 1, 60);
    assert_filled(reader, DataGroupId::METADATA, 1, 3);
    let stands = |group| {
        let log = reader.group(group).expect("a group");
        let (raft_index, term) = (log.last_raft_index, log.last_raft_term);
        (log.purged_index, log.last_index, log.purged_raft_index, raft_index, term)
    };
    assert_eq!(stands(A), (40, 60, 1, 12, 2));
    assert_eq!(stands(B), (200, 203, 90, 91, 5));
    assert_eq!(stands(DataGroupId::METADATA), (0, 3, 0, 4, 1));
    assert_eq!(reader.group(DataGroupId::METADATA).expect("a group").vote, b"a vote");
    let mut markers = vec![];
    let read = reader.read_raft(A, 2, u64::MAX, EVERYTHING, &mut |entry| {
        if let RaftEntry::Marker(marker) = entry {
            markers.push((marker.raft_index, marker.term, marker.body.to_vec()));
        }
        ControlFlow::Continue(())
    });
    assert_eq!((read.expect("read").entries, markers), (21, vec![(12, 2, b"who votes".to_vec())]));
}

#[test]
fn raft_indexes_and_markers_of_format_1_are_read_as_they_were_written() {
    let dir = tempfile::tempdir().expect("a folder");
    copy(&fixture("journal-1-raft"), dir.path());
    let (mut writer, reader) = open(dir.path()).expect("open");
    check_raft(&reader);
    assert!(reader.take_notices().is_empty(), "nothing had to be repaired");
    let next = Entry { raft_index: 13, ..entry(A, 61, 2, b"and it goes on") };
    writer.append(next).expect("append");
    writer.commit().expect("commit");
}

#[test]
#[ignore = "writes the fixture; once per format version"]
fn write_raft_fixture() {
    let dir = fixture("journal-1-raft");
    assert!(!dir.exists(), "a fixture is never made again");
    let (mut writer, reader) = open(&dir).expect("open");
    (1..=40).for_each(|index| assert_eq!(append(&mut writer, A, &body(A, index)), index));
    writer.commit().expect("commit");
    writer.purge_raft(A, Covered { index: 40, raft_index: 1, term: 1 }).expect("purge");
    for index in 41..=64 {
        let body = body(A, index);
        writer.append(Entry { raft_index: 2 + (index - 41) / 2, ..entry(A, index, 1, &body) }).expect("append");
    }
    writer.truncate_raft(A, 12).expect("truncate");
    writer.mark(Marker { group: A, raft_index: 12, term: 2, body: b"who votes" }).expect("a marker");
    writer.purge_raft(B, Covered { index: 200, raft_index: 90, term: 5 }).expect("purge");
    (201..=203).for_each(|index| {
        let body = body(B, index);
        writer.append(Entry { raft_index: 91, ..entry(B, index, 5, &body) }).expect("append");
    });
    let group = DataGroupId::METADATA;
    writer.mark(Marker { group, raft_index: 1, term: 1, body: b"" }).expect("a marker");
    (1..=3).for_each(|index| {
        let body = body(group, index);
        writer.append(Entry { raft_index: index + 1, ..entry(group, index, 1, &body) }).expect("append");
    });
    writer.vote(group, b"a vote").expect("vote");
    writer.commit().expect("commit");
    // A checkpoint that has all of it.
    append(&mut writer, C, &vec![7; 60 << 10]);
    writer.commit().expect("commit");
    append(&mut writer, C, b"in the next segment");
    writer.commit().expect("commit");
    check_raft(&reader);
    writer.close().expect("close");
    fs::remove_file(dir.join("lock")).expect("remove");
    fs::remove_dir(dir.join("streams")).expect("remove");
    for name in ["spare", "reserve"] {
        let _ = fs::remove_file(dir.join("log").join(name));
    }
}

#[test]
#[ignore = "writes the fixture; once per format version"]
fn write_kept_fixture() {
    let dir = fixture("journal-1-kept");
    assert!(!dir.exists(), "a fixture is never made again");
    let (mut writer, reader) = open(&dir).expect("open");
    fill(&mut writer, 900);
    for through in [500, 800] {
        for group in [A, B] {
            writer.purge(group, through, 0).expect("purge");
        }
        writer.commit().expect("commit");
        while !writer.compact(&mut |group, index| group == A && is_kept(index), 1 << 20).expect("compact").round_over {}
    }
    let mut snapshot = reader.new_snapshot(B, 800, 4).expect("a snapshot");
    snapshot.write_all(b"what 800 entries add up to").expect("write");
    snapshot.finish().expect("finish");
    check_kept(&reader);
    writer.close().expect("close");
    fs::remove_file(dir.join("lock")).expect("remove");
    fs::remove_dir(dir.join("streams")).expect("remove");
    // Only space that is reserved; not to be kept with the program.
    for name in ["spare", "reserve"] {
        let _ = fs::remove_file(dir.join("log").join(name));
    }
}

#[test]
#[ignore = "writes the fixture; once per format version"]
fn write_fixture() {
    let dir = fixture("journal-1");
    assert!(!dir.exists(), "a fixture is never made again");
    let (mut writer, reader) = open(&dir).expect("open");
    fill(&mut writer, 200);
    writer.vote(A, b"a vote").expect("vote");
    writer.truncate(B, 151).expect("truncate");
    writer.purge(B, 150, 0).expect("purge");
    (151..=160).for_each(|index| writer.append(entry(B, index, 7, b"another term")).expect("append"));
    writer.purge(C, 1000, 9).expect("purge");
    writer.append(entry(C, 1001, 9, b"behind a snapshot")).expect("append");
    writer.commit().expect("commit");
    check(&reader);
    writer.close().expect("close");
    fs::remove_file(dir.join("lock")).expect("remove");
    fs::remove_dir(dir.join("streams")).expect("remove");
}
