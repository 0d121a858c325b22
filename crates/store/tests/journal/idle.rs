//! A folder in which little is kept: does it take little of the disk, and is there room ahead of whatever comes?

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use lapwing_store::journal::{JournalConfig, JournalWriter};
use lapwing_store::{Log, LogConfig, StreamConfig};

use crate::common::*;

const IDLE_BYTES_MAX: u64 = 16 << 20;
/// By default.
const SEGMENT_BYTES: u64 = 64 << 20;
/// With `broker.profile = "edge"`.
const EDGE_IDLE_BYTES_MAX: u64 = 8 << 20;
const EDGE_SEGMENT_BYTES: u64 = 1 << 20;

/// Bytes that the files of a folder take of the disk, or have, whichever is more.
fn taken_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.map(|path| if path.is_dir() { taken_bytes(&path) } else { file_bytes(&path) }).sum()
}

fn file_bytes(file: &Path) -> u64 {
    let known = fs::metadata(file).expect("a file");
    known.len().max(known.blocks() * 512)
}

/// Sets aside, and fills with zeros, until there is nothing more to do.
fn make_all_room(writer: &mut JournalWriter) {
    while let Some(order) = writer.room_order() {
        writer.room_made(order.carry_out()).expect("there is room");
    }
}

fn segment(data: &Path, sequence: u64) -> PathBuf {
    data.join("log").join(format!("{sequence:020}.log"))
}

#[test]
fn an_idle_folder_takes_little_of_the_disk() {
    takes_at_most(SEGMENT_BYTES, IDLE_BYTES_MAX);
    takes_at_most(EDGE_SEGMENT_BYTES, EDGE_IDLE_BYTES_MAX);
}

fn takes_at_most(segment_bytes: u64, idle_bytes_max: u64) {
    let dir = tempfile::tempdir().expect("a folder");
    let config = JournalConfig { segment_bytes, ..JournalConfig::default() };
    let streams: Vec<StreamConfig> = (0..8).map(|number| StreamConfig::new(format!("s{number}"), 4)).collect();
    for life in 1..=3 {
        let (log, _) = Log::open(dir.path(), &LogConfig::default(), &streams).expect("a log");
        let (mut writer, _reader) = log.open_journal(&config).expect("a journal");
        append(&mut writer, A, b"a little");
        writer.commit().expect("a commit");
        make_all_room(&mut writer);
        let taken = taken_bytes(dir.path());
        assert!(taken <= idle_bytes_max, "{taken} bytes in life {life}");
        assert!(dir.path().join("log/reserve").exists(), "what frees a full disk has its room");
        writer.close().expect("the end");
        drop(log);
    }
}

/// Is the first segment always larger than what may come before somebody makes more room, and whole before it is used up?
#[test]
fn the_first_segment_grows_before_it_is_needed() {
    let dir = tempfile::tempdir().expect("a folder");
    let (log, _) = Log::open(dir.path(), &LogConfig::default(), &[]).expect("a log");
    let (mut writer, _reader) = log.open_journal(&JournalConfig::default()).expect("a journal");
    make_all_room(&mut writer);
    let (mut sizes, mut kept) = (vec![], 0);
    while kept < SEGMENT_BYTES / 3 {
        let before = file_bytes(&segment(dir.path(), 1));
        append(&mut writer, A, &vec![7; 200_000]);
        writer.commit().expect("a commit");
        kept += 200_000;
        assert_eq!(file_bytes(&segment(dir.path(), 1)), before, "a commit made room for itself");
        assert!(!writer.waits_for_room());
        make_all_room(&mut writer);
        let scale = writer.scale_bytes();
        assert!(kept * 4 < scale || scale == SEGMENT_BYTES, "{kept} of {scale}");
        assert!(file_bytes(&dir.path().join("log/reserve")) >= scale.min(SEGMENT_BYTES));
        sizes.push(scale);
    }
    sizes.dedup();
    assert!((4..=6).contains(&sizes.len()), "twice as much each time: {sizes:?}");
    assert!(dir.path().join("log/spare").exists(), "the second one is whole");
    assert_eq!(writer.scale_bytes(), SEGMENT_BYTES);
    drop(log);
}

/// Does more come at once than fits: is there room for it before it has come again?
#[test]
fn the_first_segment_grows_for_what_is_on_its_way() {
    let dir = tempfile::tempdir().expect("a folder");
    let (log, _) = Log::open(dir.path(), &LogConfig::default(), &[]).expect("a log");
    let (mut writer, _reader) = log.open_journal(&JournalConfig::default()).expect("a journal");
    make_all_room(&mut writer);
    assert!(writer.scale_bytes() < 8 << 20);
    writer.expect(3 << 20);
    make_all_room(&mut writer);
    assert_eq!(writer.scale_bytes() / (3 << 20), 5, "four times as much at least");
    writer.expect(u64::MAX);
    make_all_room(&mut writer);
    assert_eq!(writer.scale_bytes(), SEGMENT_BYTES);
}

/// What has grown: is it known again after a restart, and does a segment that is sealed while it grows get no byte more?
#[test]
fn a_segment_that_grew_is_taken_as_it_is() {
    let dir = tempfile::tempdir().expect("a folder");
    let config = JournalConfig { segment_bytes: 1 << 20, first_bytes: 64 << 10, ..JournalConfig::default() };
    let (log, _) = Log::open(dir.path(), &LogConfig::default(), &[]).expect("a log");
    let (mut writer, reader) = log.open_journal(&config).expect("a journal");
    writer.expect(50_000);
    make_all_room(&mut writer);
    let scale = writer.scale_bytes();
    assert!(scale > 200_000 && scale < 1 << 20, "{scale}");
    writer.close().expect("the end");
    drop((reader, log));

    let (log, _) = Log::open(dir.path(), &LogConfig::default(), &[]).expect("a log");
    let (mut writer, reader) = log.open_journal(&config).expect("a journal");
    assert_eq!(writer.scale_bytes(), scale);
    writer.expect(u64::MAX);
    let order = writer.room_order().expect("it is to grow");
    while !segment(dir.path(), 2).exists() {
        append(&mut writer, A, &vec![7; 100_000]);
        writer.commit().expect("a commit");
    }
    let sealed = file_bytes(&segment(dir.path(), 1));
    writer.room_made(order.carry_out()).expect("told");
    assert_eq!(file_bytes(&segment(dir.path(), 1)), sealed);
    assert_eq!(writer.scale_bytes(), 1 << 20);
    let entries = reader.group(A).expect("a group").last_index;
    assert_eq!(read_all(&reader, A).len() as u64, entries);
    drop(log);
}
