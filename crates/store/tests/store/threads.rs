//! One writer, many readers, retention in between, on a real file system: readers see every record once, in order, until
//! it is trimmed.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::*;
use lapwing_store::{Log, LogConfig, LogReader, ReadLimits, StoreError, StreamConfig};

const PARTITIONS: u32 = 2;
const RECORDS: u64 = 8_000;

/// Follows a partition until it has seen the last record; returns how many it saw and how many were trimmed before it.
fn follow(reader: &LogReader, partition: u32, done: &AtomicBool) -> (u64, u64) {
    let limits = ReadLimits { messages_max: 100, bytes_max: 10_000 };
    let (mut next, mut seen, mut trimmed) = (0, 0, 0);
    loop {
        // Asked before reading: what is committed when the writer is done is seen by the read that follows.
        let is_last = done.load(Ordering::Acquire);
        let read = reader.read(FIRST, partition, next, limits, Some("follower"), &mut |record| {
            assert_eq!(record.body, body(partition, record.offset));
            seen += 1;
            ControlFlow::Continue(())
        });
        match read {
            Ok(outcome) if is_last && outcome.messages == 0 => return (seen, trimmed),
            Ok(outcome) => next = outcome.next_offset,
            Err(StoreError::Trimmed { first_offset, .. }) => {
                trimmed += first_offset - next;
                next = first_offset;
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn followers_see_every_record_once_or_hear_that_it_was_trimmed() {
    let dir = tempfile::tempdir().expect("a folder");
    let config = StreamConfig { retain_bytes: 1 << 20, ..small("s", PARTITIONS) };
    let (mut writer, reader) = Log::open(dir.path(), &LogConfig::default(), &[config]).expect("open");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (reader, done) = (&reader, &done);
        let start = |place| scope.spawn(move || follow(reader, place % PARTITIONS, done));
        let followers: Vec<_> = (0..4).map(start).collect();
        for number in 0..RECORDS {
            for partition in 0..PARTITIONS {
                append(&mut writer, partition, &body(partition, number));
            }
            if number % 100 == 99 {
                writer.commit().expect("commit");
            }
            if number % 1000 == 999 {
                writer.retain(NOW_US / 1000).expect("retain");
            }
        }
        done.store(true, Ordering::Release);
        for follower in followers {
            let (seen, trimmed) = follower.join().expect("a follower");
            assert_eq!(seen + trimmed, RECORDS);
            assert!(seen > 0);
        }
    });
}
