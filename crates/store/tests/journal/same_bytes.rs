//! Does a node on its own write the bytes that it wrote before there were clusters?

use std::path::Path;
use std::sync::Arc;

use crate::common::*;
use crate::sim::SimDisk;
use lapwing_store::disk::{Access, Disk};
use lapwing_store::journal::{DataGroupId, Journal, JournalConfig, JournalWriter};

const HEADER_BYTES: usize = 64;
const SEGMENT_START: u8 = 3;
const STREAM_META: u8 = 4;
const JOURNAL_INDEX: u8 = 22;

/// What `work` wrote before there were Raft indexes: a checksum of every file, and how many there were.
const BEFORE: (u32, usize) = (0xFD1C_9F2D, 10);

/// Everything that a single node asks of a journal, over several segments.
fn work(disk: &SimDisk) {
    let config = JournalConfig { segment_bytes: 64 << 10, first_bytes: 64 << 10, ..JournalConfig::default() };
    let open = || Journal::open_on(Arc::new(disk.clone()), Path::new("/data"), &config).expect("open");
    let (mut writer, _) = open();
    fill(&mut writer, 400);
    writer.vote(A, b"a vote").expect("vote");
    writer.truncate(B, 351).expect("truncate");
    (351..=360).for_each(|index| writer.append(entry(B, index, 7, b"another term")).expect("append"));
    writer.purge(DataGroupId(5), 1000, 9).expect("purge");
    writer.commit().expect("commit");
    fill_again(&mut writer);
    for group in [A, B] {
        writer.purge(group, 300, 0).expect("purge");
    }
    writer.commit().expect("commit");
    while !writer.compact(&mut |_, index| index % 9 == 0, 1 << 20).expect("compact").round_over {}
    writer.close().expect("close");
    let (writer, _) = open();
    writer.close().expect("close");
}

fn fill_again(writer: &mut JournalWriter) {
    for number in 0..300 {
        for group in [A, B] {
            let index = writer.next_index(group).expect("a group");
            writer.append(entry(group, index, 7, &body(group, index))).expect("append");
        }
        if number % 10 == 9 {
            writer.commit().expect("a commit");
        }
    }
}

fn whole(disk: &SimDisk, file: &Path) -> Vec<u8> {
    let handle = disk.open(file, Access::Read).expect("a file");
    let mut bytes = vec![0; handle.bytes().expect("measured") as usize];
    assert_eq!(handle.read_at(&mut bytes, 0).expect("read"), bytes.len());
    bytes
}

/// A file without what differs from one run to the next: checksums, times, salt, identity.
fn lasting(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while bytes.get(at..).is_some_and(|rest| rest.starts_with(b"LwR1")) {
        let body = at + HEADER_BYTES;
        let body_bytes = u32::from_le_bytes([bytes[at + 8], bytes[at + 9], bytes[at + 10], bytes[at + 11]]) as usize;
        let mut wipe = |from: usize, count: usize| bytes[from..from + count].fill(0);
        wipe(at + 4, 4);
        wipe(at + 56, 8);
        match bytes[at + 13] {
            SEGMENT_START => {
                [(0, 16), (40, 12)].iter().for_each(|(from, count)| bytes[body + from..][..*count].fill(0))
            }
            STREAM_META => bytes[body..body + 16].fill(0),
            JOURNAL_INDEX => bytes[body + 16..body + 20].fill(0),
            _ => {}
        }
        at = (body + body_bytes).next_multiple_of(8);
    }
    bytes
}

#[test]
fn a_node_on_its_own_writes_what_it_wrote_before() {
    let disk = SimDisk::new(1);
    work(&disk);
    let folder = Path::new("/data/log");
    let mut names = disk.list(folder).expect("a folder");
    names.retain(|name| disk.open(&folder.join(name), Access::Read).is_ok());
    names.sort();
    let files: Vec<_> = names.iter().map(|name| (name, lasting(whole(&disk, &folder.join(name))))).collect();
    let sum = files
        .iter()
        .fold(0, |sum, (name, bytes)| crc32c::crc32c_append(crc32c::crc32c_append(sum, name.as_bytes()), bytes));
    assert_eq!((sum, files.len()), BEFORE, "{names:?}");
}
