//! Files damaged in every region: a torn tail is cut and told, damage in what was synced is an error that names file and
//! byte, and what only saves time is made again.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::common::*;
use lapwing_store::{Notice, StoreError};

fn segment(dir: &Path, sequence: u64, ending: &str) -> PathBuf {
    dir.join(format!("log/{sequence:020}.{ending}"))
}

fn flip(file: &Path, at: u64) {
    let handle = OpenOptions::new().read(true).write(true).open(file).expect("open");
    let mut byte = [0];
    handle.read_exact_at(&mut byte, at).expect("read");
    handle.write_all_at(&[byte[0] ^ 0x10], at).expect("write");
}

/// A journal of one segment with five commits; returns its folder and where each commit begins, and the end.
fn one_segment(close: bool) -> (tempfile::TempDir, Vec<u64>) {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    let mut starts = vec![];
    for number in 1..=5 {
        starts.push(reader.info().bytes);
        append(&mut writer, A, &body(A, number));
        append(&mut writer, B, &body(B, number));
        writer.vote(B, &[number as u8]).expect("vote");
        writer.commit().expect("commit");
    }
    starts.push(reader.info().bytes);
    if close {
        writer.close().expect("close");
    }
    (dir, starts)
}

/// A journal of many segments, closed.
fn many_segments() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(dir.path()).expect("open");
    fill(&mut writer, 1000);
    assert!(reader.info().segments > 5);
    writer.close().expect("close");
    dir
}

fn assert_corrupt(error: &StoreError, file: &Path, from: u64, until: u64) {
    match error {
        StoreError::Corrupt { file: named, at, .. } => {
            assert_eq!(named, file);
            assert!((from..=until).contains(at), "{at} is not in {from}..={until}");
            assert!(error.to_string().contains("restore the data folder from a backup"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_flipped_byte_of_what_later_commits_vouch_for_is_an_error_at_its_record() {
    let (dir, starts) = one_segment(true);
    let file = segment(dir.path(), 1, "log");
    let whole = fs::read(&file).expect("read");
    for at in (0..starts[5]).step_by(11) {
        flip(&file, at);
        let error = open(dir.path()).expect_err("damage");
        assert_corrupt(&error, &file, at.saturating_sub(1200), at);
        fs::write(&file, &whole).expect("write");
    }
    let (_, reader) = open(dir.path()).expect("whole again");
    assert_filled(&reader, B, 1, 5);
}

#[test]
fn a_damaged_last_commit_that_nothing_vouches_for_is_a_torn_tail() {
    let (dir, starts) = one_segment(false);
    let file = segment(dir.path(), 1, "log");
    let whole = fs::read(&file).expect("read");
    for at in (starts[4]..starts[5]).step_by(11) {
        flip(&file, at);
        let (_, reader) = open(dir.path()).expect("a torn tail is no error");
        assert_filled(&reader, A, 1, 4);
        assert_eq!(reader.group(B).expect("a group").vote, [4], "byte {at}");
        let notices = reader.take_notices();
        assert!(
            matches!(&notices[..], [Notice::TornTail { file: named, at, .. }] if *named == file && *at == starts[4]),
            "{notices:?}"
        );
        let (_, reader) = open(dir.path()).expect("the tail is gone");
        assert!(reader.take_notices().is_empty(), "told once");
        fs::write(&file, &whole).expect("write");
    }
}

#[test]
fn zeros_in_the_middle_are_damage_and_at_the_end_a_torn_tail() {
    let (dir, starts) = one_segment(false);
    let file = segment(dir.path(), 1, "log");
    let whole = fs::read(&file).expect("read");
    for (from, until) in [(starts[2], starts[3]), (starts[1] + 100, starts[4]), (0, 64), (400, 500)] {
        let mut holed = whole.clone();
        holed[from as usize..until as usize].fill(0);
        fs::write(&file, &holed).expect("write");
        assert_corrupt(&open(dir.path()).expect_err("damage"), &file, from.saturating_sub(400), from);
    }
    for from in [starts[4], starts[4] + 8, starts[4] + 90, starts[5] - 8] {
        let mut torn = whole.clone();
        torn[from as usize..].fill(0);
        fs::write(&file, &torn).expect("write");
        let (mut writer, reader) = open(dir.path()).expect("torn");
        assert_filled(&reader, A, 1, 4);
        assert_eq!(append(&mut writer, A, b"again"), 5);
        writer.commit().expect("commit");
        assert_eq!(get(&reader, A, 5).expect("it is there").body, b"again");
    }
}

#[test]
fn a_file_that_is_too_short_is_damage_because_its_space_was_reserved() {
    let (dir, starts) = one_segment(false);
    let file = segment(dir.path(), 1, "log");
    for bytes in [starts[4] + 10, starts[2], 10, 0] {
        OpenOptions::new().write(true).open(&file).expect("open").set_len(bytes).expect("cut");
        assert_corrupt(&open(dir.path()).expect_err("damage"), &file, 0, bytes);
    }
}

#[test]
fn an_image_of_a_commit_in_a_payload_proves_nothing() {
    let (dir, starts) = one_segment(false);
    let image = fs::read(segment(dir.path(), 1, "log")).expect("read")[starts[4] as usize..starts[5] as usize].to_vec();
    let other = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open(other.path()).expect("open");
    append(&mut writer, A, b"first");
    writer.commit().expect("commit");
    let torn_at = reader.info().bytes;
    append(&mut writer, A, &image);
    writer.commit().expect("commit");
    drop(writer);
    flip(&segment(other.path(), 1, "log"), torn_at + 8);
    let (_, reader) = open(other.path()).expect("a torn tail, whatever it holds");
    assert_eq!(read_all(&reader, A), [(1, b"first".to_vec())]);
}

#[test]
fn damage_in_a_sealed_segment_is_met_by_the_read_that_comes_there_and_by_no_other() {
    let dir = many_segments();
    let file = segment(dir.path(), 2, "log");
    let bytes = fs::metadata(&file).expect("the file").len();
    let whole = fs::read(&file).expect("read");
    for at in [bytes / 3, bytes / 2 + 3, bytes - 5] {
        flip(&file, at);
        let (_writer, reader) = open(dir.path()).expect("sealed segments are not walked when opening");
        let damaged: Vec<u64> = (1..=1000).filter(|index| reader.get(A, *index).is_err()).collect();
        let other: Vec<u64> = (1..=1000).filter(|index| reader.get(B, *index).is_err()).collect();
        assert!(damaged.len() + other.len() > 0 && damaged.len() + other.len() < 80, "{damaged:?} {other:?}");
        let (group, first) = damaged.first().map_or((B, other.first()), |first| (A, Some(first)));
        let error = reader.get(group, *first.expect("one of them")).expect_err("the damage");
        assert!(matches!(&error, StoreError::Corrupt { file: named, .. } if *named == file), "{error}");
        let error = reader.replay(&[1; 16], &mut |_| std::ops::ControlFlow::Continue(())).expect_err("the damage");
        assert_corrupt(&error, &file, at.saturating_sub(500), at);
        assert!(read(&reader, A, 600, 1000).expect("what lies behind").len() == 401);
        fs::write(&file, &whole).expect("write");
    }
}

#[test]
fn a_sealed_segment_that_is_cut_or_gone_or_another_one_is_an_error_when_opening() {
    let dir = many_segments();
    let file = segment(dir.path(), 2, "log");
    let whole = fs::read(&file).expect("read");
    OpenOptions::new().write(true).open(&file).expect("open").set_len(whole.len() as u64 - 9).expect("cut");
    assert_corrupt(&open(dir.path()).expect_err("cut"), &file, whole.len() as u64 - 9, whole.len() as u64);
    fs::remove_file(&file).expect("remove");
    assert_corrupt(&open(dir.path()).expect_err("gone"), &file, 0, 0);
    let other = many_segments();
    fs::copy(segment(other.path(), 2, "log"), &file).expect("copy");
    assert_corrupt(&open(dir.path()).expect_err("a stranger"), &file, 0, 0);
    fs::copy(segment(dir.path(), 3, "log"), &file).expect("copy");
    assert_corrupt(&open(dir.path()).expect_err("the wrong place"), &file, 0, 0);
    fs::write(&file, &whole).expect("write");
    assert_filled(&open(dir.path()).expect("whole again").1, A, 1, 1000);
}

#[test]
fn a_missing_active_segment_is_an_error_not_a_shorter_journal() {
    let dir = many_segments();
    let last = fs::read_dir(dir.path().join("log"))
        .expect("a folder")
        .filter(|entry| entry.as_ref().expect("an entry").path().extension().is_some_and(|ending| ending == "log"));
    let newest = segment(dir.path(), last.count() as u64, "log");
    // The one before it had its reserved space cut, its books are closed, and yet it is not the last one.
    fs::remove_file(&newest).expect("remove");
    let error = open(dir.path()).expect_err("the newest entries are gone");
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[test]
fn an_index_that_is_missing_or_damaged_is_made_again_and_told() {
    let dir = many_segments();
    let file = segment(dir.path(), 2, "idx");
    let whole = fs::read(&file).expect("read");
    let damages: [&dyn Fn(); 4] = [
        &|| fs::remove_file(&file).expect("remove"),
        &|| flip(&file, 5),
        &|| flip(&file, whole.len() as u64 - 9),
        &|| fs::write(&file, &whole[..whole.len() / 2]).expect("write"),
    ];
    for damage in damages {
        damage();
        let (writer, reader) = open(dir.path()).expect("open");
        assert_filled(&reader, A, 1, 1000);
        let notices = reader.take_notices();
        assert!(matches!(&notices[..], [Notice::IndexRebuilt { file: named, .. }] if *named == file), "{notices:?}");
        assert_eq!(fs::read(&file).expect("read"), whole, "the same as before");
        drop(writer);
        let (_writer, reader) = open(dir.path()).expect("open");
        assert_filled(&reader, B, 1, 1000);
        assert!(reader.take_notices().is_empty(), "the new one is good");
    }
}

#[test]
fn a_damaged_segment_without_an_index_is_an_error_when_opening() {
    let dir = many_segments();
    fs::remove_file(segment(dir.path(), 2, "idx")).expect("remove");
    let file = segment(dir.path(), 2, "log");
    flip(&file, 20_000);
    assert_corrupt(&open(dir.path()).expect_err("nobody knows what lay behind"), &file, 19_000, 20_000);
}

#[test]
fn a_damaged_description_is_an_error() {
    let (dir, _) = one_segment(true);
    let meta = dir.path().join("log/meta");
    flip(&meta, 70);
    assert_corrupt(&open(dir.path()).expect_err("damage"), &meta, 0, 0);
    fs::remove_file(&meta).expect("remove");
    assert_corrupt(&open(dir.path()).expect_err("gone"), &meta, 0, 0);
}
