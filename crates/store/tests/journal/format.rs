//! Journals that earlier versions wrote are read as they were written.
//!
//! `tests/fixtures/journal-1` holds what `write_fixture` did when the journal was new. It is never made again: a new
//! format version gets a folder of its own, and this test goes on reading the old one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::*;
use lapwing_store::journal::{GroupId, JournalReader};

const C: GroupId = GroupId(5);

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journal-1")
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
    copy(&fixture(), dir.path());
    let (mut writer, reader) = open(dir.path()).expect("open");
    check(&reader);
    assert!(reader.take_notices().is_empty(), "nothing had to be repaired");
    assert_eq!(append(&mut writer, A, b"and it goes on"), 201);
    writer.commit().expect("commit");
}

#[test]
#[ignore = "writes the fixture; once per format version"]
fn write_fixture() {
    let dir = fixture();
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
