//! Compaction on a real file system and on one that is full: what is live stays, what is dead goes, and disk use follows.

use std::fs;
use std::path::Path;

use crate::common::*;
use crate::sim::SimDisk;
use lapwing_store::journal::{Compacted, DataGroupId, JournalReader, JournalWriter};
use lapwing_store::{Notice, StoreError};

/// Compacts until a round is over and changed nothing; returns the sum of what was done.
fn compact(writer: &mut JournalWriter, is_live: impl Fn(DataGroupId, u64) -> bool) -> Compacted {
    let mut sum = Compacted::default();
    for _ in 0..100 {
        let (mut deleted, mut over) = (0, false);
        while !over {
            let done = writer.compact(&mut |group, index| is_live(group, index), 100_000).expect("compact");
            (deleted, over) = (deleted + done.deleted_segments, done.round_over);
            sum.kept_entries += done.kept_entries;
            sum.written_bytes += done.written_bytes;
            sum.deleted_bytes += done.deleted_bytes;
        }
        sum.deleted_segments += deleted;
        if deleted == 0 {
            return sum;
        }
    }
    panic!("it never ends");
}

fn purge(writer: &mut JournalWriter, through: u64) {
    for group in [A, B] {
        writer.purge(group, through, 0).expect("purge");
    }
    writer.commit().expect("commit");
}

/// The live entries of both groups are there with their bodies, by every way of reading.
fn assert_live(reader: &JournalReader, from: u64, to: u64, is_live: impl Fn(u64) -> bool) {
    for group in [A, B] {
        let found = read(reader, group, from, to).expect("read");
        assert!(found.iter().all(|(index, found)| *found == body(group, *index)));
        let indexes: Vec<u64> = found.iter().map(|entry| entry.0).collect();
        let missing: Vec<u64> = (from..=to).filter(|index| is_live(*index) && !indexes.contains(index)).collect();
        assert!(missing.is_empty(), "missing {missing:?}");
        for index in (from..=to).filter(|index| is_live(*index)).step_by(7) {
            assert_eq!(get(reader, group, index).expect("it is there").body, body(group, index));
        }
    }
}

fn bytes_on_disk(dir: &Path) -> u64 {
    let files = fs::read_dir(dir.join("log")).expect("a folder");
    files.map(|entry| entry.expect("an entry").metadata().expect("a file").len()).sum()
}

#[test]
fn nothing_goes_that_replay_needs() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    fill(&mut writer, 1000);
    let done = compact(&mut writer, |_, _| panic!("nobody is asked about what replay needs"));
    assert_eq!((done.deleted_segments, done.kept_entries), (0, 0));
    // One group holds all segments that it shares with the other.
    writer.purge(A, 1000, 0).expect("purge");
    writer.commit().expect("commit");
    compact(&mut writer, |_, _| panic!("the other group needs these segments"));
    assert_filled(&reader, A, 1, 1000);
}

#[test]
fn segments_without_live_entries_are_deleted() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    fill(&mut writer, 2000);
    let (before, segments) = (bytes_on_disk(dir.path()), reader.info().segments);
    purge(&mut writer, 1500);
    let done = compact(&mut writer, |_, _| false);
    assert!(done.deleted_segments > segments / 2 && done.kept_entries == 0, "{done:?} of {segments}");
    assert!(bytes_on_disk(dir.path()) < before / 2);
    assert_live(&reader, 1501, 2000, |_| true);
    assert_eq!(get(&reader, A, 1), None);
    drop(writer);
    let (mut writer, reader) = open(dir.path()).expect("open");
    assert!(reader.take_notices().is_empty());
    assert_live(&reader, 1501, 2000, |_| true);
    fill(&mut writer, 10);
    assert_eq!(reader.group(A).expect("a group").last_index, 2010);
}

#[test]
fn sparse_segments_become_one_of_kept_entries_and_references_stay_good() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    fill(&mut writer, 3000);
    purge(&mut writer, 2800);
    let before = bytes_on_disk(dir.path());
    let one_in_ten = |index: u64| index % 10 == 3 || index > 2800;
    let done = compact(&mut writer, |_, index| one_in_ten(index));
    assert!(done.kept_entries >= 400, "{done:?}");
    let info = reader.info();
    assert!(info.kept_segments > 0 && info.kept_segments < 5 && info.segments < 6, "{info:?}");
    assert!(bytes_on_disk(dir.path()) < before / 4, "{} of {before}", bytes_on_disk(dir.path()));
    assert_live(&reader, 1, 3000, one_in_ten);
    drop(writer);
    let (mut writer, reader) = open(dir.path()).expect("open");
    assert!(reader.take_notices().is_empty());
    assert_live(&reader, 1, 3000, one_in_ten);
    // Kept entries die too.
    let one_in_hundred = |index: u64| index % 100 == 3 || index > 2800;
    compact(&mut writer, |_, index| one_in_hundred(index));
    assert!(reader.info().kept_bytes < info.kept_bytes / 4, "{:?}", reader.info());
    assert_live(&reader, 1, 3000, one_in_hundred);
    compact(&mut writer, |_, _| false);
    assert_eq!((reader.info().kept_segments, read(&reader, A, 1, 2000).expect("read").len()), (0, 0));
}

#[test]
fn segments_that_are_half_live_are_left_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    fill(&mut writer, 1000);
    purge(&mut writer, 1000);
    let segments = reader.info().segments;
    let done = compact(&mut writer, |_, index| index % 4 != 0);
    assert_eq!((done.deleted_segments, done.kept_entries, reader.info().segments), (0, 0, segments));
}

#[test]
fn pinned_entries_here_and_there_do_not_make_many_small_segments() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    let is_pinned = |index: u64| index % 200 == 7;
    let mut kept_entries = 0;
    for round in 1..=20 {
        fill(&mut writer, 300);
        purge(&mut writer, round * 300);
        kept_entries += compact(&mut writer, |_, index| is_pinned(index)).kept_entries;
    }
    let info = reader.info();
    assert!(info.kept_segments <= 7 && info.segments <= 3, "{info:?}");
    let pinned = (1..=6000).filter(|index| is_pinned(*index)).count() as u64 * 2;
    assert!(kept_entries < pinned * 6, "{kept_entries} copies of {pinned} entries");
    assert_live(&reader, 1, 6000, is_pinned);
}

#[test]
fn a_segment_that_makes_older_entries_void_stays_until_they_are_gone() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, _) = open(dir.path()).expect("open");
    fill(&mut writer, 600);
    writer.truncate(A, 200).expect("truncate");
    writer.commit().expect("commit");
    // The second life of these indexes dies at once, the first one is pinned by the other group.
    let entries: Vec<u64> = (200..=900).collect();
    for chunk in entries.chunks(20) {
        chunk.iter().for_each(|index| writer.append(entry(A, *index, 1, b"second")).expect("append"));
        writer.commit().expect("commit");
    }
    fill_b(&mut writer, 300);
    writer.purge(A, 900, 0).expect("purge");
    writer.purge(B, 900, 0).expect("purge");
    writer.commit().expect("commit");
    compact(&mut writer, |group, index| group == B && index <= 600);
    for _ in 0..3 {
        drop(writer);
        let reader;
        (writer, reader) = open(dir.path()).expect("open");
        let stale: Vec<_> =
            read(&reader, A, 200, 900).expect("read").into_iter().filter(|e| e.1 != b"second").collect();
        assert!(stale.is_empty(), "{} entries came back from the dead", stale.len());
        let there: Vec<u64> = read(&reader, B, 1, 600).expect("read").into_iter().map(|entry| entry.0).collect();
        assert!((1..=600).filter(|index| index % 5 == 0).all(|index| there.contains(&index)));
        compact(&mut writer, |group, index| group == B && index <= 600 && index % 5 == 0);
        assert_eq!(get(&reader, B, 500).expect("it is there").body, body(B, 500));
    }
}

fn fill_b(writer: &mut JournalWriter, count: u64) {
    for _ in 0..count {
        let index = writer.next_index(B).expect("a group");
        append(writer, B, &body(B, index));
        writer.commit().expect("commit");
    }
}

#[test]
fn an_index_of_kept_entries_is_made_again_as_it_was() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, _) = open(dir.path()).expect("open");
    fill(&mut writer, 1000);
    purge(&mut writer, 1000);
    compact(&mut writer, |_, index| index % 9 == 0);
    // Other segments lie between what is kept now and what is kept then: stretches.
    fill(&mut writer, 1000);
    fill(&mut writer, 1000);
    purge(&mut writer, 3000);
    compact(&mut writer, |_, index| index % 9 == 0 || (1000..2000).contains(&index));
    compact(&mut writer, |_, index| index % 90 == 0 || (1000..2000).contains(&index));
    drop(writer);
    let log = dir.path().join("log");
    let indexes: Vec<_> = fs::read_dir(&log).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    let indexes: Vec<_> = indexes.into_iter().filter(|path| path.extension().is_some_and(|e| e == "idx")).collect();
    assert!(indexes.iter().any(|path| path.with_extension("kept").exists()));
    let before: Vec<_> = indexes.iter().map(|path| fs::read(path).expect("read")).collect();
    indexes.iter().for_each(|path| fs::remove_file(path).expect("remove"));
    let (_writer, reader) = open(dir.path()).expect("open");
    assert_eq!(reader.take_notices().len(), indexes.len());
    for (path, before) in indexes.iter().zip(before) {
        assert_eq!(fs::read(path).expect("read"), before, "{}", path.display());
    }
    assert_live(&reader, 1, 3000, |index| index % 90 == 0 || (1000..2000).contains(&index));
}

#[test]
fn what_a_crash_left_of_a_compaction_is_removed_and_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, _) = open(dir.path()).expect("open");
    fill(&mut writer, 1000);
    purge(&mut writer, 1000);
    let log = dir.path().join("log");
    let source = log.join(format!("{:020}.log", 2));
    let whole = fs::read(&source).expect("read");
    compact(&mut writer, |_, index| index % 9 == 0);
    assert!(!source.exists());
    drop(writer);
    fs::write(&source, whole).expect("write");
    let never_recorded = log.join(format!("{:020}.kept", 99));
    fs::write(&never_recorded, b"half").expect("write");
    fs::write(log.join("00000000000000000098.tmp"), b"half").expect("write");
    let (_writer, reader) = open(dir.path()).expect("open");
    let mut told = reader.take_notices();
    told.sort_by_key(ToString::to_string);
    assert!(
        matches!(&told[..], [Notice::LeftOver { file: a }, Notice::LeftOver { file: b }] if *a == source && *b == never_recorded)
    );
    assert!(!source.exists() && !never_recorded.exists());
    assert_live(&reader, 1, 1000, |index| index % 9 == 0);
}

#[test]
fn a_kept_segment_that_is_missing_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, _) = open(dir.path()).expect("open");
    fill(&mut writer, 1000);
    purge(&mut writer, 1000);
    compact(&mut writer, |_, index| index % 9 == 0);
    drop(writer);
    let mut files =
        fs::read_dir(dir.path().join("log")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let kept = files.find(|path| path.extension().is_some_and(|ending| ending == "kept")).expect("kept entries");
    fs::remove_file(&kept).expect("remove");
    let error = open(dir.path()).expect_err("it is listed");
    assert!(matches!(&error, StoreError::Corrupt { file, .. } if *file == kept), "{error}");
}

#[test]
fn a_damaged_segment_is_left_alone_and_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    fill(&mut writer, 1000);
    purge(&mut writer, 1000);
    let file = dir.path().join(format!("log/{:020}.log", 2));
    let mut bytes = fs::read(&file).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 600].fill(0xEE);
    fs::write(&file, &bytes).expect("write");
    let done = compact(&mut writer, |_, index| index % 9 == 0);
    assert!(done.deleted_segments > 0 && file.exists());
    assert!(
        reader
            .take_notices()
            .iter()
            .any(|notice| matches!(notice, Notice::Postponed { file: named, .. } if *named == file))
    );
    fill(&mut writer, 10);
    assert_eq!(reader.group(A).expect("a group").last_index, 1010, "the journal goes on");
}

#[test]
fn compaction_frees_a_full_disk() {
    let disk = SimDisk::new(1);
    let (mut writer, reader) = open_sim(&disk).expect("open");
    disk.set_capacity(500 << 10);
    let mut last = 0;
    let error = loop {
        last = append(&mut writer, A, &[7; 1000]).max(last);
        if let Err(error) = writer.commit() {
            break error;
        }
        if last % 50 == 0 {
            writer.purge(A, last, 0).expect("purge");
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    let done = compact(&mut writer, |_, _| false);
    assert!(done.deleted_segments > 3, "{done:?}");
    assert_eq!(writer.commit().expect("now it fits").entries, 1);
    assert_eq!(reader.group(A).expect("a group").last_index, last);
}

#[test]
fn a_rewrite_that_finds_the_disk_full_changes_nothing_and_is_tried_again() {
    let disk = SimDisk::new(1);
    let (mut writer, reader) = open_sim(&disk).expect("open");
    fill(&mut writer, 600);
    purge(&mut writer, 500);
    disk.set_capacity(0);
    let is_live = |_: DataGroupId, index: u64| index.is_multiple_of(9);
    let mut failed = 0;
    for _ in 0..50 {
        match writer.compact(&mut |group, index| is_live(group, index), 100_000) {
            Err(error) => {
                assert!(matches!(error, StoreError::Full { .. }), "{error}");
                failed += 1;
            }
            Ok(done) => assert_eq!(done.deleted_segments, 0),
        }
    }
    assert!(failed > 0);
    assert_filled(&reader, A, 1, 600);
    disk.set_capacity(u64::MAX);
    assert!(compact(&mut writer, is_live).deleted_segments > 0);
    assert_live(&reader, 1, 600, |index| is_live(A, index) || index > 500);
}
