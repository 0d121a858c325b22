//! The log on a real file system: what is appended and committed can be read, now and after reopening.

use std::fs;
use std::ops::ControlFlow;

use crate::common::*;
use lapwing_store::{Log, LogConfig, Notice, ReadLimits, StoreError, StreamConfig, StreamIndex};

#[test]
fn readers_see_what_is_committed_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = Log::open(dir.path(), &LogConfig::default(), &[small("s", 2)]).expect("open");
    assert_eq!(append(&mut writer, 1, b"one"), 0);
    assert_eq!(append(&mut writer, 1, b""), 1);
    assert!(read_all(&reader, 1).is_empty(), "not committed yet");
    assert!(matches!(read_from(&reader, 1, 1), Err(StoreError::BeyondEnd { next_offset: 0, .. })));
    let committed = writer.commit().expect("commit");
    assert_eq!((committed.records, committed.streams), (2, 1));
    assert_eq!(read_all(&reader, 1), [b"one".to_vec(), vec![]]);
    assert!(read_all(&reader, 0).is_empty());
    assert_eq!(writer.commit().expect("nothing waits").records, 0);
}

#[test]
fn everything_is_there_after_reopening_over_many_segments() {
    let dir = tempfile::tempdir().expect("a folder");
    let open = || Log::open(dir.path(), &LogConfig::default(), &[small("s", 3)]).expect("open");
    let mut model = vec![vec![]; 3];
    let mut uuid = None;
    for round in 0..4 {
        let (mut writer, reader) = open();
        let info = reader.stream("s").expect("the stream");
        assert_eq!(*uuid.get_or_insert(info.uuid), info.uuid, "the stream keeps its identity");
        for number in 0..800u64 {
            let partition = (number * 7 % 3) as u32;
            let body = body(partition, round * 1000 + number);
            assert_eq!(append(&mut writer, partition, &body), model[partition as usize].len() as u64);
            model[partition as usize].push(body);
            if number % 50 == 49 {
                writer.commit().expect("commit");
            }
        }
        if round % 2 == 0 {
            writer.close().expect("close");
        }
        for partition in 0..3 {
            assert_eq!(read_all(&reader, partition), model[partition as usize], "round {round}");
        }
    }
    let (_writer, reader) = open();
    for partition in 0..3u32 {
        let expected = &model[partition as usize];
        assert_eq!(&read_all(&reader, partition), expected);
        for from in (0..=expected.len()).step_by(97) {
            let records = read_from(&reader, partition, from as u64).expect("read");
            assert_eq!(records.len(), expected.len() - from);
            assert!(records.first().is_none_or(|(offset, body)| (*offset, body) == (from as u64, &expected[from])));
        }
    }
    let info = reader.stream("s").expect("the stream");
    assert!(info.segments > 5, "{} segments", info.segments);
    assert!(reader.take_notices().is_empty(), "an orderly log has nothing to say");
}

#[test]
fn a_read_stops_at_its_limits_and_hands_over_one_record_at_least() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = Log::open(dir.path(), &LogConfig::default(), &[small("s", 1)]).expect("open");
    for _ in 0..100 {
        append(&mut writer, 0, &[1; 100]);
    }
    writer.commit().expect("commit");
    let read = |messages_max, bytes_max| {
        let limits = ReadLimits { messages_max, bytes_max };
        read_with(&reader, 0, 10, limits, &mut vec![]).expect("read")
    };
    assert_eq!((read(7, u64::MAX).messages, read(7, u64::MAX).next_offset), (7, 17));
    assert_eq!((read(99, 350).messages, read(99, 350).bytes), (3, 300));
    assert_eq!(read(99, 0).messages, 1);
    assert_eq!(read(0, 100).messages, 0);
    assert_eq!((read(1, 1).first_offset, read(1, 1).end_offset), (0, 100));
    let broken = reader
        .read(FIRST, 0, 0, EVERYTHING, None, &mut |record| match record.offset {
            4 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
        .expect("read");
    assert_eq!((broken.messages, broken.next_offset), (5, 5));
}

#[test]
fn a_record_comes_back_with_its_times_and_ids() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut writer, reader) = Log::open(dir.path(), &LogConfig::default(), &[small("s", 1)]).expect("open");
    append(&mut writer, 0, b"x");
    writer.commit().expect("commit");
    let mut seen = None;
    let mut each = |record: lapwing_store::RecordView<'_>| {
        seen = Some((record.appended_at_us, record.message_id, record.slot));
        ControlFlow::Continue(())
    };
    reader.read(FIRST, 0, 0, EVERYTHING, None, &mut each).expect("read");
    assert_eq!(seen, Some((NOW_US, 99, 7)));
}

#[test]
fn requests_that_cannot_be_met_say_why() {
    let dir = tempfile::tempdir().expect("a folder");
    let config = LogConfig { body_bytes_max: 1000, pending_bytes_max: 2000, ..LogConfig::default() };
    let (mut writer, reader) = Log::open(dir.path(), &config, &[small("s", 1)]).expect("open");
    assert!(matches!(writer.append(StreamIndex(4), record(0, b"")), Err(StoreError::NoStream { .. })));
    assert!(matches!(writer.append(FIRST, record(1, b"")), Err(StoreError::NoPartition { partitions: 1, .. })));
    assert!(matches!(writer.append(FIRST, record(0, &[0; 1001])), Err(StoreError::BodyTooLarge { .. })));
    append(&mut writer, 0, &[0; 1000]);
    let pending = writer.append(FIRST, record(0, &[0; 1000])).expect_err("too much waits");
    assert!(matches!(pending, StoreError::Pending { .. }) && pending.is_retryable());
    writer.commit().expect("commit");
    assert_eq!(append(&mut writer, 0, &[0; 1000]), 1, "refused records used no offset");
    let unknown = reader.stream("t").expect_err("no such stream");
    assert_eq!(unknown.to_string(), "no stream \"t\"; there are: s");
    assert!(matches!(read_from(&reader, 3, 0), Err(StoreError::NoPartition { .. })));
}

#[test]
fn a_body_larger_than_a_segment_gets_one_of_its_own_size() {
    let dir = tempfile::tempdir().expect("a folder");
    let open = || Log::open(dir.path(), &LogConfig::default(), &[small("s", 1)]).expect("open");
    let (mut writer, reader) = open();
    let bodies = [vec![1; 300_000], vec![2; 10], vec![3; 400_000], vec![4; 500_000]];
    for body in &bodies {
        append(&mut writer, 0, body);
        writer.commit().expect("commit");
    }
    assert_eq!(read_all(&reader, 0), bodies);
    drop(writer);
    assert_eq!(read_all(&open().1, 0), bodies);
}

#[test]
fn a_second_broker_is_kept_out() {
    let dir = tempfile::tempdir().expect("a folder");
    let held = Log::open(dir.path(), &LogConfig::default(), &[small("s", 1)]).expect("open");
    let refused = Log::open(dir.path(), &LogConfig::default(), &[small("s", 1)]).expect_err("locked");
    assert!(refused.to_string().contains(&format!("process {}", std::process::id())), "{refused}");
    drop(held.0);
    Log::open(dir.path(), &LogConfig::default(), &[small("s", 1)]).expect("the reader alone holds nothing");
}

#[test]
fn partitions_of_a_stream_that_exists_cannot_change() {
    let dir = tempfile::tempdir().expect("a folder");
    drop(Log::open(dir.path(), &LogConfig::default(), &[small("s", 2)]).expect("open"));
    for partitions in [1, 3] {
        let error = Log::open(dir.path(), &LogConfig::default(), &[small("s", partitions)]).expect_err("refused");
        let text = error.to_string();
        assert!(text.contains("partitions") && text.contains('2') && text.contains(&partitions.to_string()), "{text}");
        assert!(text.contains("set partitions = 2"), "{text}");
    }
}

#[test]
fn bad_settings_are_refused_with_key_and_value() {
    let dir = tempfile::tempdir().expect("a folder");
    let refused = |stream: StreamConfig, part: &str| {
        let streams = [StreamConfig::new("twin", 1), stream];
        let error = Log::open(dir.path(), &LogConfig::default(), &streams).expect_err("refused").to_string();
        assert!(error.contains(part), "{error}");
    };
    refused(StreamConfig::new("../up", 1), "\"../up\"");
    refused(StreamConfig::new("", 1), "name");
    refused(StreamConfig::new("s", 0), "partitions = 0");
    refused(StreamConfig::new("s", 2000), "partitions = 2000");
    refused(StreamConfig { segment_bytes: 1, ..StreamConfig::new("s", 1) }, "segment_bytes = 1");
    refused(StreamConfig::new("twin", 1), "two streams");
}

#[test]
fn another_format_version_and_unknown_streams_are_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let streams = [small("a", 1), small("b", 1)];
    drop(Log::open(dir.path(), &LogConfig::default(), &streams).expect("open"));
    let (_, reader) = Log::open(dir.path(), &LogConfig::default(), &streams[..1]).expect("b is left alone");
    assert_eq!(reader.take_notices(), [Notice::Unconfigured { dir: dir.path().join("streams/b") }]);
    fs::write(dir.path().join("format"), "lapwing-log 3\n").expect("write");
    let error = Log::open(dir.path(), &LogConfig::default(), &streams).expect_err("newer").to_string();
    assert!(error.contains("format version 3") && error.contains("version 2"), "{error}");
    fs::remove_file(dir.path().join("format")).expect("remove");
    let error = Log::open(dir.path(), &LogConfig::default(), &streams).expect_err("missing");
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}
