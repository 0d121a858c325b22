//! Snapshots of groups: whole or not there, the newest one counts, damage is named.

use std::fs;
use std::io::{Read, Write};

use crate::common::*;
use crate::sim::SimDisk;
use lapwing_store::StoreError;
use lapwing_store::journal::{DataGroupId, JournalReader};

fn bytes(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|place| (place as u8).wrapping_mul(31).wrapping_add(seed)).collect()
}

fn save(reader: &JournalReader, group: DataGroupId, index: u64, contents: &[u8]) -> Result<(), StoreError> {
    let mut draft = reader.new_snapshot(group, index, 3)?;
    for part in contents.chunks(70_001) {
        draft.write_all(part).map_err(|error| StoreError::Stopped { reason: error.to_string() })?;
    }
    draft.finish().map(drop)
}

fn load(reader: &JournalReader, group: DataGroupId) -> Option<(u64, u64, Vec<u8>)> {
    let mut snapshot = reader.snapshot(group).expect("a look")?;
    let mut contents = vec![];
    snapshot.read_to_end(&mut contents).expect("a read");
    Some((snapshot.index(), snapshot.term(), contents))
}

#[test]
fn a_snapshot_reads_back_and_takes_the_place_of_older_ones() {
    let dir = tempfile::tempdir().expect("a folder");
    let (_writer, reader) = open(dir.path()).expect("open");
    assert_eq!(load(&reader, A), None);
    for (index, length) in [(5, 0), (9, 1), (10, 256 << 10), (100, 700_000), (101, 10)] {
        save(&reader, A, index, &bytes(length, 3)).expect("saved");
        assert_eq!(load(&reader, A), Some((index, 3, bytes(length, 3))));
    }
    save(&reader, B, 7, b"the other group").expect("saved");
    assert_eq!(fs::read_dir(dir.path().join("log/snapshots")).expect("a folder").count(), 2);
    drop(reader.new_snapshot(A, 500, 3).expect("begun"));
    assert_eq!(load(&reader, A).map(|found| found.0), Some(101), "one that was not finished leaves nothing");
    drop(_writer);
    let (_writer, reader) = open(dir.path()).expect("open");
    assert_eq!(load(&reader, B), Some((7, 3, b"the other group".to_vec())));
    assert!(matches!(reader.new_snapshot(DataGroupId(16), 1, 1), Err(StoreError::NoDataGroup { .. })));
}

#[test]
fn every_flipped_byte_and_every_truncation_is_noticed() {
    let dir = tempfile::tempdir().expect("a folder");
    let (_writer, reader) = open(dir.path()).expect("open");
    save(&reader, A, 5, &bytes(300, 1)).expect("saved");
    let file = dir.path().join("log/snapshots/00-00000000000000000005.snap");
    let whole = fs::read(&file).expect("read");
    let is_good = || {
        let mut contents = vec![];
        reader.snapshot(A).is_ok_and(|found| found.is_some_and(|mut found| found.read_to_end(&mut contents).is_ok()))
    };
    assert!(is_good());
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 8;
        fs::write(&file, &damaged).expect("write");
        assert!(!is_good(), "byte {at}");
        fs::write(&file, &whole[..at]).expect("write");
        assert!(!is_good(), "cut at {at}");
    }
}

#[test]
fn a_crash_at_every_change_leaves_the_old_one_or_the_new_one() {
    for step in 0..40 {
        let disk = SimDisk::new(step + 1);
        let (writer, reader) = open_sim(&disk).expect("open");
        save(&reader, A, 5, &bytes(600_000, 1)).expect("saved");
        disk.crash_after(step);
        let saved = save(&reader, A, 9, &bytes(500_000, 2));
        drop((writer, reader));
        let disk = disk.after_crash();
        let (_writer, reader) = open_sim(&disk).expect("open");
        match load(&reader, A) {
            Some((9, 3, contents)) => assert_eq!(contents, bytes(500_000, 2)),
            Some((5, 3, contents)) => {
                assert!(saved.is_err(), "step {step}");
                assert_eq!(contents, bytes(600_000, 1));
            }
            other => panic!("step {step}: {other:?}"),
        }
    }
}
