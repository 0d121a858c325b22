//! What the tests of the journal share.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::sim::SimDisk;
use lapwing_store::journal::{DataGroupId, Entry, Journal, JournalConfig, JournalReader, JournalWriter, OwnedEntry};
use lapwing_store::{Log, LogConfig, ReadLimits, StoreError};

pub const EVERYTHING: ReadLimits = ReadLimits { messages_max: u64::MAX, bytes_max: u64::MAX };
pub const NOW_US: i64 = 1_700_000_000_000_000;
pub const A: DataGroupId = DataGroupId(0);
pub const B: DataGroupId = DataGroupId(15);

/// The smallest segments, and a first one that grows twice.
pub fn small() -> JournalConfig {
    JournalConfig { segment_bytes: 64 << 10, first_bytes: 16 << 10, ..JournalConfig::default() }
}

/// The journal in a folder of the real file system, under its lock.
pub fn open(dir: &Path) -> Result<(JournalWriter, JournalReader), StoreError> {
    let (log, _) = Log::open(dir, &LogConfig::default(), &[])?;
    log.open_journal(&small())
}

pub fn open_sim(disk: &SimDisk) -> Result<(JournalWriter, JournalReader), StoreError> {
    Journal::open_on(Arc::new(disk.clone()), Path::new("/data"), &small())
}

pub fn entry(group: DataGroupId, index: u64, term: u64, body: &[u8]) -> Entry<'_> {
    Entry { group, index, term, raft_index: 0, slot: 77, message_id: index ^ 0xABCD, appended_at_us: NOW_US, body }
}

/// Appends the next entry of a group; returns its index.
pub fn append(writer: &mut JournalWriter, group: DataGroupId, body: &[u8]) -> u64 {
    let index = writer.next_index(group).expect("a group");
    writer.append(entry(group, index, 0, body)).expect("an append");
    index
}

/// Indexes and bodies of a range.
pub fn read(reader: &JournalReader, group: DataGroupId, from: u64, to: u64) -> Result<Vec<(u64, Vec<u8>)>, StoreError> {
    let mut found = vec![];
    reader.read(group, from, to, EVERYTHING, &mut |entry| {
        assert_eq!((entry.group, entry.slot, entry.message_id), (group, 77, entry.index ^ 0xABCD));
        found.push((entry.index, entry.body.to_vec()));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// All there is of a group.
pub fn read_all(reader: &JournalReader, group: DataGroupId) -> Vec<(u64, Vec<u8>)> {
    read(reader, group, 0, u64::MAX).expect("a read")
}

pub fn get(reader: &JournalReader, group: DataGroupId, index: u64) -> Option<OwnedEntry> {
    reader.get(group, index).expect("a look-up")
}

/// A body that tells its group and number, of a length that varies.
pub fn body(group: DataGroupId, number: u64) -> Vec<u8> {
    let mut body = format!("{}/{number}:", group.0).into_bytes();
    body.resize(body.len() + (number * 37 % 300) as usize, number as u8);
    body
}

/// Appends `count` entries to both groups, ten in a commit.
pub fn fill(writer: &mut JournalWriter, count: u64) {
    for number in 1..=count {
        for group in [A, B] {
            let index = writer.next_index(group).expect("a group");
            append(writer, group, &body(group, index));
        }
        if number % 10 == 0 {
            writer.commit().expect("a commit");
        }
    }
    writer.commit().expect("a commit");
}

/// Checks that a group holds exactly what `fill` gave it, index `from` to `to`, by every way of reading.
pub fn assert_filled(reader: &JournalReader, group: DataGroupId, from: u64, to: u64) {
    let found = read(reader, group, from, u64::MAX).expect("a read");
    let indexes: Vec<u64> = found.iter().map(|entry| entry.0).collect();
    assert_eq!(indexes, (from..=to).collect::<Vec<_>>());
    assert!(found.iter().all(|(index, found)| *found == body(group, *index)));
    for index in (from..=to).step_by(53) {
        assert_eq!(get(reader, group, index).expect("it is there").body, body(group, index));
    }
}
