//! What retention deletes, who hears of it, and what a reader at the edge sees.

use std::ops::ControlFlow;
use std::path::Path;

use crate::common::*;
use lapwing_store::{
    Log, LogConfig, LogReader, LogWriter, Notice, ReadLimits, StoreError, StreamConfig, Trimmed, TrimmedUnread,
};

const NOW_MS: i64 = NOW_US / 1000;
const DAY_MS: i64 = 24 * 3600 * 1000;

fn open_with(dir: &Path, config: StreamConfig) -> (LogWriter, LogReader) {
    Log::open(dir, &LogConfig { readers_max: 2, ..LogConfig::default() }, &[config]).expect("open")
}

/// Fills a few segments of one partition.
fn fill(writer: &mut LogWriter, records: u64) {
    for number in 0..records {
        append(writer, 0, &body(0, number));
        if number % 20 == 19 {
            writer.commit().expect("commit");
        }
    }
    writer.commit().expect("commit");
}

fn first_offset(reader: &LogReader) -> u64 {
    reader.streams()[0].partitions[0].first_offset
}

fn read_as(reader: &LogReader, name: &str, from: u64) -> Result<u64, StoreError> {
    let limits = ReadLimits { messages_max: 10, bytes_max: u64::MAX };
    reader.read(FIRST, 0, from, limits, Some(name), &mut |_| ControlFlow::Continue(())).map(|read| read.next_offset)
}

#[test]
fn whole_segments_go_when_the_stream_is_too_large_and_stay_gone() {
    let dir = tempfile::tempdir().expect("a folder");
    let config = StreamConfig { retain_bytes: 200 << 10, ..small("s", 1) };
    let (mut writer, reader) = open_with(dir.path(), config.clone());
    fill(&mut writer, 3000);
    let before = reader.streams()[0].clone();
    assert!(before.bytes > 600 << 10);
    let trimmed = writer.retain(NOW_MS).expect("retain");
    let after = reader.streams()[0].clone();
    assert_eq!(before.segments - after.segments, trimmed.segments);
    let naming_bytes = 80; // The record that names the end of the last commit came with `retain`.
    assert_eq!(before.bytes + naming_bytes - after.bytes, trimmed.bytes);
    assert!(after.bytes <= 200 << 10 && after.bytes > 100 << 10, "{}", after.bytes);
    assert!(after.partitions[0].first_offset > 0 && after.partitions[0].bytes < after.bytes);
    assert!(matches!(read_from(&reader, 0, 0), Err(StoreError::Trimmed { first_offset, next_offset: 3000, .. })
        if first_offset == after.partitions[0].first_offset));
    drop(writer);
    let (_, again) = open_with(dir.path(), config);
    let info = &again.streams()[0];
    assert_eq!((info.partitions.clone(), info.segments), (after.partitions, after.segments));
    assert_eq!(read_all(&again, 0).len() as u64, 3000 - first_offset(&reader));
}

#[test]
fn old_segments_go_and_a_quiet_stream_is_rolled_so_that_it_can_be_trimmed() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open_with(dir.path(), small("s", 1));
    append(&mut writer, 0, b"the only one");
    writer.commit().expect("commit");
    assert_eq!(writer.retain(NOW_MS).expect("retain").segments, 0);
    assert_eq!(writer.retain(NOW_MS + DAY_MS / 4).expect("rolled, kept").segments, 0);
    assert_eq!((reader.streams()[0].segments, first_offset(&reader)), (2, 0));
    assert_eq!(read_all(&reader, 0).len(), 1, "a sealed segment is still read");
    assert_eq!(writer.retain(NOW_MS + DAY_MS + 1).expect("too old").segments, 1);
    assert_eq!(first_offset(&reader), 1);
    assert_eq!(writer.retain(NOW_MS + 9 * DAY_MS).expect("nothing left").segments, 0);
    assert_eq!(append(&mut writer, 0, b"offsets go on"), 1);
    writer.commit().expect("commit");
    drop(writer);
    let (mut writer, reader) = open_with(dir.path(), small("s", 1));
    assert_eq!(read_all(&reader, 0), [b"offsets go on"]);
    assert_eq!(append(&mut writer, 0, b"x"), 2);
}

#[test]
fn a_named_reader_that_has_not_read_raises_the_alarm_once_and_over_restarts() {
    let dir = tempfile::tempdir().expect("a folder");
    let config = StreamConfig { retain_bytes: 200 << 10, ..small("s", 1) };
    let (mut writer, reader) = open_with(dir.path(), config.clone());
    fill(&mut writer, 1000);
    assert_eq!(read_as(&reader, "slow", 7).expect("read"), 17);
    read_as(&reader, "done", 1000).expect("read");
    writer.close().expect("positions are saved");

    let config = StreamConfig { retain_bytes: 70 << 10, ..config };
    let (mut writer, reader) = open_with(dir.path(), config);
    let readers: Vec<_> = reader.streams()[0].readers.iter().map(|reader| reader.positions.clone()).collect();
    assert_eq!(readers, [vec![(0, 7)], vec![(0, 1000)]]);
    let trimmed: Trimmed = writer.retain(NOW_MS).expect("retain");
    assert!(trimmed.segments >= 2);
    let lost: u64 = trimmed.unread.iter().map(|unread| unread.until_offset - unread.from_offset).sum();
    assert!(trimmed.unread.iter().all(|unread| unread.reader == "slow" && unread.stream == "s"));
    assert_eq!((trimmed.unread[0].from_offset, lost), (7, first_offset(&reader) - 7));
    let counted = reader.counters().list().into_iter().find(|(name, ..)| *name == "trimmed_unread");
    assert_eq!(counted.map(|(_, _, value)| value), Some(lost));
    let alarms = reader.take_notices().into_iter().filter(|notice| matches!(notice, Notice::Unread(_))).count();
    assert_eq!(alarms, trimmed.unread.len());
    assert!(writer.retain(NOW_MS).expect("retain").unread.is_empty());
    assert!(reader.forget_reader(FIRST, "slow"));
    let none: Vec<TrimmedUnread> = writer.retain(NOW_MS + 2 * DAY_MS).expect("retain").unread;
    assert!(none.is_empty(), "one forgotten, the other had read");
}

#[test]
fn readers_are_bounded_and_their_names_checked() {
    let dir = tempfile::tempdir().expect("a folder");
    let (_writer, reader) = open_with(dir.path(), small("s", 1));
    read_as(&reader, "a", 0).expect("room");
    read_as(&reader, "b", 0).expect("room");
    assert!(matches!(read_as(&reader, "c", 0), Err(StoreError::TooManyReaders { readers_max: 2, .. })));
    assert!(matches!(read_as(&reader, "../c", 0), Err(StoreError::ReaderName { .. })));
    assert!(reader.forget_reader(FIRST, "a"));
    read_as(&reader, "c", 0).expect("room again");
}

#[test]
fn retention_does_not_pull_a_segment_away_from_a_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = open_with(dir.path(), small("s", 1));
    fill(&mut writer, 1000);
    let (mut seen, mut outcome) = (0, None);
    let read = reader.clone().read(FIRST, 0, 0, EVERYTHING, None, &mut |record| {
        assert_eq!(record.offset, seen);
        seen += 1;
        if seen == 5 {
            outcome = Some(writer.retain(NOW_MS + 2 * DAY_MS).expect("retain"));
        }
        ControlFlow::Continue(())
    });
    assert!(outcome.is_some_and(|trimmed| trimmed.segments > 3));
    let read = read.expect("the segment that was being read is read to its end");
    assert_eq!(read.next_offset, seen);
    assert!(seen > 50 && seen < 1000, "{seen}");
    assert!(matches!(read_from(&reader, 0, seen), Err(StoreError::Trimmed { .. })), "the next read hears of it");
}
