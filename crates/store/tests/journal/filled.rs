//! Another thread fills spares with zeros while they become segments, and the first segment while it is written: is nothing of
//! an entry written over?

use lapwing_store::journal::{JournalConfig, RoomThread};
use lapwing_store::{Log, LogConfig};

use crate::common::*;

const ENTRIES: u64 = 6_000;

#[test]
fn what_is_committed_stays_while_zeros_are_written() {
    // The last one has room for all of it: there is no other segment.
    for segment_bytes in [64 << 10, 1 << 20, 16 << 20] {
        let dir = tempfile::tempdir().expect("a folder");
        let config = JournalConfig { segment_bytes, ..JournalConfig::default() };
        let (log, _) = Log::open(dir.path(), &LogConfig::default(), &[]).expect("a log");
        let (mut writer, reader) = log.open_journal(&config).expect("a journal");
        let mut room = RoomThread::start().expect("a thread");
        for number in 1..=ENTRIES {
            for group in [A, B] {
                append(&mut writer, group, &body(group, number));
            }
            if number % 10 == 0 {
                writer.commit().expect("a commit");
                room.tend(&mut writer).expect("room");
            }
        }
        for group in [A, B] {
            assert_filled(&reader, group, 1, ENTRIES);
        }
        drop(room);
        writer.close().expect("the end");
        drop((reader, log));
        let (log, _) = Log::open(dir.path(), &LogConfig::default(), &[]).expect("a log");
        let (_writer, reader) = log.open_journal(&config).expect("a journal");
        for group in [A, B] {
            assert_filled(&reader, group, 1, ENTRIES);
        }
    }
}
