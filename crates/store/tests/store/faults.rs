//! A disk that is full, read-only or broken: what the log says, and what is left.

use std::path::Path;
use std::sync::Arc;

use crate::common::*;
use crate::sim::{SimDisk, Step};
use lapwing_store::{Log, LogConfig, LogReader, LogWriter, StoreError};

fn open(disk: &SimDisk) -> Result<(LogWriter, LogReader), StoreError> {
    Log::open_on(Arc::new(disk.clone()), Path::new("/data"), &LogConfig::default(), &[small("s", 2)])
}

/// Appends and commits until the disk says no; returns the error and how many records were committed.
fn fill(writer: &mut LogWriter) -> (StoreError, usize) {
    for number in 0..10_000 {
        append(writer, 0, &[number as u8; 1000]);
        if let Err(error) = writer.commit() {
            return (error, number);
        }
    }
    panic!("the disk has no end");
}

#[test]
fn a_full_disk_keeps_the_batch_and_goes_on_when_space_returns() {
    for can_allocate in [true, false] {
        let disk = SimDisk::new(1);
        if !can_allocate {
            disk.forbid_allocate();
        }
        let (mut writer, reader) = open(&disk).expect("open");
        disk.set_capacity(300 << 10);
        let (error, committed) = fill(&mut writer);
        assert!(matches!(error, StoreError::Full { .. }), "{error}");
        assert!(error.is_retryable() && !error.is_fatal());
        assert_eq!(read_all(&reader, 0).len(), committed, "nothing half-written is seen");
        append(&mut writer, 1, b"more waits");
        assert!(matches!(writer.commit(), Err(StoreError::Full { .. })), "still full");
        assert_eq!(writer.pending_bytes(), 1064 + 80);

        disk.set_capacity(400 << 10);
        assert_eq!(writer.commit().expect("space is back").records, 2);
        assert_eq!(writer.pending_bytes(), 0);
        assert_eq!(read_all(&reader, 0).len(), committed + 1);
        assert_eq!(read_all(&reader, 1), [b"more waits"]);
        drop(writer);
        let (_, reader) = open(&disk).expect("open");
        assert_eq!(read_all(&reader, 0).len(), committed + 1, "and it is there after a restart");
    }
}

#[test]
fn a_process_killed_while_the_disk_is_full_loses_only_what_was_not_committed() {
    for can_allocate in [true, false] {
        let disk = SimDisk::new(1);
        if !can_allocate {
            disk.forbid_allocate();
        }
        let (mut writer, _) = open(&disk).expect("open");
        disk.set_capacity(200 << 10);
        let (_, committed) = fill(&mut writer);
        drop(writer);
        let (mut writer, reader) = open(&disk).expect("a full disk does not keep the log from opening");
        assert_eq!(read_all(&reader, 0).len(), committed);
        disk.set_capacity(u64::MAX);
        append(&mut writer, 0, b"on");
        writer.commit().expect("commit");
        assert_eq!(read_all(&reader, 0).len(), committed + 1);
    }
}

#[test]
fn retention_frees_a_full_disk() {
    let disk = SimDisk::new(1);
    let (mut writer, reader) = open(&disk).expect("open");
    disk.set_capacity(300 << 10);
    let (_, committed) = fill(&mut writer);
    let day_later_ms = NOW_US / 1000 + 25 * 3600 * 1000;
    let trimmed = writer.retain(day_later_ms).expect("deleting needs no space");
    assert!(trimmed.segments > 0 && trimmed.bytes > 0);
    assert_eq!(writer.commit().expect("now it fits").records, 1);
    assert_eq!(reader.streams()[0].partitions[0].next_offset as usize, committed + 1);
}

/// Clients may hold every descriptor when the log needs one for its next segment.
#[test]
fn a_process_without_descriptors_keeps_the_batch_and_goes_on_when_one_is_free() {
    for step in [Step::Open, Step::Dir] {
        let disk = SimDisk::new(1);
        let (mut writer, reader) = open(&disk).expect("open");
        disk.fail(step, libc::EMFILE);
        let (error, committed) = fill(&mut writer);
        assert!(matches!(error, StoreError::Exhausted { .. }), "{error}");
        assert!(error.is_retryable() && !error.is_fatal());
        append(&mut writer, 1, b"more waits");
        assert!(matches!(writer.commit(), Err(StoreError::Exhausted { .. })), "still none");
        disk.heal();
        assert_eq!(writer.commit().expect("a descriptor is free").records, 2);
        assert_eq!(read_all(&reader, 0).len(), committed + 1);
        drop(writer);
        let (_, reader) = open(&disk).expect("open");
        assert_eq!(read_all(&reader, 0).len(), committed + 1, "and it is there after a restart");
        assert_eq!(read_all(&reader, 1), [b"more waits"]);
    }
}

#[test]
fn a_failed_sync_stops_the_log_and_names_the_file() {
    let disk = SimDisk::new(1);
    let (mut writer, reader) = open(&disk).expect("open");
    append(&mut writer, 0, b"good");
    writer.commit().expect("commit");
    append(&mut writer, 0, b"lost");
    disk.fail(Step::Sync, libc::EIO);
    let error = writer.commit().expect_err("fdatasync failed");
    assert!(matches!(&error, StoreError::SyncFailed { file, .. } if file.ends_with("00000000000000000001.log")));
    assert!(error.is_fatal() && !error.is_retryable());
    disk.heal();
    assert!(matches!(writer.commit(), Err(StoreError::Stopped { .. })), "a later success would prove nothing");
    assert!(matches!(writer.append(FIRST, record(0, b"x")), Err(StoreError::Stopped { .. })));
    assert!(matches!(writer.retain(0), Err(StoreError::Stopped { .. })));
    assert_eq!(read_all(&reader, 0), [b"good"], "readers go on");
}

#[test]
fn no_space_at_the_sync_is_fatal_too() {
    let disk = SimDisk::new(1);
    let (mut writer, _) = open(&disk).expect("open");
    append(&mut writer, 0, b"x");
    disk.fail(Step::Sync, libc::ENOSPC);
    assert!(writer.commit().expect_err("the pages are gone").is_fatal());
}

#[test]
fn a_broken_write_stops_the_log_and_a_broken_read_only_itself() {
    let disk = SimDisk::new(1);
    let (mut writer, reader) = open(&disk).expect("open");
    append(&mut writer, 0, b"good");
    writer.commit().expect("commit");
    disk.fail(Step::Read, libc::EIO);
    let error = read_from(&reader, 0, 0).expect_err("unreadable");
    assert!(matches!(error, StoreError::Io { operation: "read", .. }), "{error}");
    disk.heal();
    assert_eq!(read_all(&reader, 0).len(), 1);
    append(&mut writer, 0, b"lost");
    disk.fail(Step::Write, libc::EIO);
    let error = writer.commit().expect_err("unwritable");
    assert!(matches!(error, StoreError::WriteFailed { .. }) && error.is_fatal(), "{error}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named_when_opening() {
    for (step, errno) in [(Step::Dir, libc::EROFS), (Step::Dir, libc::EACCES), (Step::Open, libc::EROFS)] {
        let disk = SimDisk::new(1);
        drop(open(&disk).expect("open"));
        disk.fail(step, errno);
        let error = open(&disk).expect_err("read-only");
        assert!(matches!(error, StoreError::NotWritable { .. }), "{error:?}");
        assert!(error.to_string().contains("/data"), "{error}");
    }
}

#[test]
fn a_device_that_is_full_when_a_stream_is_made_says_so() {
    let disk = SimDisk::new(1);
    disk.set_capacity(1000);
    assert!(matches!(open(&disk).expect_err("no room"), StoreError::Full { .. }));
    disk.set_capacity(u64::MAX);
    open(&disk).expect("a second try finds nothing in its way");
}
