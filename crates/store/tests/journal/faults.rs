//! A disk that is full, read-only or broken: what the journal says, and what is left.

use crate::common::*;
use crate::sim::{SimDisk, Step};
use lapwing_store::StoreError;
use lapwing_store::journal::JournalWriter;

/// Appends and commits until the disk says no; returns the error and how many entries were committed.
fn fill_up(writer: &mut JournalWriter) -> (StoreError, usize) {
    for number in 0..10_000 {
        append(writer, A, &[number as u8; 1000]);
        if let Err(error) = writer.commit() {
            return (error, number);
        }
    }
    panic!("the disk has no end");
}

#[test]
fn a_full_disk_keeps_what_waits_and_goes_on_when_space_returns() {
    for can_allocate in [true, false] {
        let disk = SimDisk::new(1);
        if !can_allocate {
            disk.forbid_allocate();
        }
        let (mut writer, reader) = open_sim(&disk).expect("open");
        disk.set_capacity(300 << 10);
        let (error, committed) = fill_up(&mut writer);
        assert!(matches!(error, StoreError::Full { .. }), "{error}");
        assert!(error.is_retryable() && !error.is_fatal());
        assert_eq!(read_all(&reader, A).len(), committed, "nothing half-written is seen");
        append(&mut writer, B, b"more waits");
        assert!(matches!(writer.commit(), Err(StoreError::Full { .. })), "still full");
        disk.set_capacity(400 << 10);
        assert_eq!(writer.commit().expect("space is back").entries, 2);
        assert_eq!(writer.pending_bytes(), 0);
        assert_eq!((read_all(&reader, A).len(), read_all(&reader, B).len()), (committed + 1, 1));
        drop(writer);
        let (_, reader) = open_sim(&disk).expect("open");
        assert_eq!(read_all(&reader, A).len(), committed + 1, "and it is there after a restart");
    }
}

#[test]
fn a_process_killed_while_the_disk_is_full_loses_only_what_was_not_committed() {
    for can_allocate in [true, false] {
        let disk = SimDisk::new(1);
        if !can_allocate {
            disk.forbid_allocate();
        }
        let (mut writer, _) = open_sim(&disk).expect("open");
        disk.set_capacity(200 << 10);
        let (_, committed) = fill_up(&mut writer);
        drop(writer);
        let (mut writer, reader) = open_sim(&disk).expect("a full disk does not keep the journal from opening");
        assert_eq!(read_all(&reader, A).len(), committed);
        disk.set_capacity(u64::MAX);
        append(&mut writer, A, b"on");
        writer.commit().expect("commit");
        assert_eq!(read_all(&reader, A).len(), committed + 1);
    }
}

#[test]
fn a_process_without_descriptors_keeps_what_waits_and_goes_on_when_one_is_free() {
    for step in [Step::Open, Step::Dir] {
        let disk = SimDisk::new(1);
        let (mut writer, reader) = open_sim(&disk).expect("open");
        disk.fail(step, libc::EMFILE);
        let (error, committed) = fill_up(&mut writer);
        assert!(matches!(error, StoreError::Exhausted { .. }), "{error}");
        disk.heal();
        assert_eq!(writer.commit().expect("a descriptor is free").entries, 1);
        assert_eq!(read_all(&reader, A).len(), committed + 1);
        drop(writer);
        let (_, reader) = open_sim(&disk).expect("open");
        assert_eq!(read_all(&reader, A).len(), committed + 1);
    }
}

#[test]
fn a_failed_sync_stops_the_journal_and_names_the_file() {
    for errno in [libc::EIO, libc::ENOSPC] {
        let disk = SimDisk::new(1);
        let (mut writer, reader) = open_sim(&disk).expect("open");
        append(&mut writer, A, b"good");
        writer.commit().expect("commit");
        append(&mut writer, A, b"lost");
        disk.fail(Step::Sync, errno);
        let error = writer.commit().expect_err("fdatasync failed");
        assert!(
            matches!(&error, StoreError::SyncFailed { file, .. } if file.ends_with("log/00000000000000000001.log"))
        );
        assert!(error.is_fatal() && !error.is_retryable());
        disk.heal();
        assert!(matches!(writer.commit(), Err(StoreError::Stopped { .. })), "a later success would prove nothing");
        assert!(matches!(writer.append(entry(A, 3, 0, b"x")), Err(StoreError::Stopped { .. })));
        assert!(matches!(writer.vote(A, b"x"), Err(StoreError::Stopped { .. })));
        assert!(matches!(writer.truncate(A, 1), Err(StoreError::Stopped { .. })));
        assert!(matches!(writer.purge(A, 1, 0), Err(StoreError::Stopped { .. })));
        assert_eq!(read_all(&reader, A), [(1, b"good".to_vec())], "readers go on");
    }
}

#[test]
fn a_broken_write_stops_the_journal_and_a_broken_read_only_itself() {
    let disk = SimDisk::new(1);
    let (mut writer, reader) = open_sim(&disk).expect("open");
    append(&mut writer, A, b"good");
    writer.commit().expect("commit");
    disk.fail(Step::Read, libc::EIO);
    let error = reader.get(A, 1).expect_err("unreadable");
    assert!(matches!(error, StoreError::Io { operation: "read", .. }), "{error}");
    disk.heal();
    assert!(get(&reader, A, 1).is_some());
    append(&mut writer, A, b"lost");
    disk.fail(Step::Write, libc::EIO);
    let error = writer.commit().expect_err("unwritable");
    assert!(matches!(error, StoreError::WriteFailed { .. }) && error.is_fatal(), "{error}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named_when_opening() {
    for (step, errno) in [(Step::Dir, libc::EROFS), (Step::Dir, libc::EACCES), (Step::Open, libc::EROFS)] {
        let disk = SimDisk::new(1);
        drop(open_sim(&disk).expect("open"));
        disk.fail(step, errno);
        let error = open_sim(&disk).expect_err("read-only");
        assert!(matches!(error, StoreError::NotWritable { .. }), "{error:?}");
        assert!(error.to_string().contains("/data"), "{error}");
    }
}
