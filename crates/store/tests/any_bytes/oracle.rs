//! What must hold for a folder whose files say anything: it is opened, mended or refused; nobody panics, goes on for ever, or
//! believes a length.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use lapwing_oracle::allocations;
use lapwing_store::disk::{Disk, Overlay};
use lapwing_store::inspect::{DataFolder, RecordSource};
use lapwing_store::journal::{DataGroupId, Entry, Journal, JournalConfig, JournalReader, JournalWriter};
use lapwing_store::{Append, Log, LogConfig, LogReader, LogWriter, ReadLimits, StoreError, StreamConfig, StreamIndex};

use crate::folder::{disk, fixtures};
use crate::spoil::{Choices, FIELDS, spoil};

/// Several times what the files hold; a length that was believed takes far more.
const PEAK_BYTES_MAX: usize = 24 << 20;
const SPOILED_MAX: usize = 12;
/// More than there are records in any of the folders.
const RECORDS_MAX: usize = 20_000;
const EVERYTHING: ReadLimits = ReadLimits { messages_max: u64::MAX, bytes_max: u64::MAX };
const BODY: &[u8] = b"behind all that";
const DIR: &str = "/a folder in memory";

/// Reads `input` as a byte of choices (which folder; bit 7: checksums fit what records say) and what is done to its files.
///
/// Returns whether the folder is opened.
pub fn check_folder(input: &[u8]) -> bool {
    let Some((&first, rest)) = input.split_first() else { return false };
    let place = usize::from(first & 0x7f) % fixtures().len();
    let mut files = fixtures()[place].clone();
    let mut choices = Choices(rest);
    for _ in 0..SPOILED_MAX {
        if choices.0.is_empty() {
            break;
        }
        spoil(&mut files, &mut choices);
    }
    if first & 0x80 != 0 {
        files.iter_mut().for_each(crate::folder::File::seal);
    }
    let disk = disk(&files, Path::new(DIR));
    let has_streams = place == 0;
    let (is_opened, used) = allocations::count(|| {
        look(&disk);
        let changed: Arc<dyn Disk> = Arc::new(Overlay::new(disk));
        if has_streams { go_on_with_stream(&changed) } else { go_on_with_journal(&changed) }
    });
    assert!(used.peak_bytes < PEAK_BYTES_MAX, "{} bytes at once", used.peak_bytes);
    is_opened
}

/// All that the tools do: every file is looked at and every record read; what is damaged is given up, on a disk of its own.
fn look(disk: &Arc<dyn Disk>) {
    let Ok(mut folder) = DataFolder::open(disk.clone(), Path::new(DIR)) else { return };
    let mended: Arc<dyn Disk> = Arc::new(Overlay::new(disk.clone()));
    for file in folder.files().to_vec() {
        if folder.check(&file).is_ok_and(|report| report.is_damaged()) {
            _ = folder.accept_loss(&*mended, &file, &|bytes| vec![0; bytes]);
        }
        _ = folder.remake_index(&*mended, &file);
    }
    let streams = folder.streams().map(|name| RecordSource::Stream(name.to_owned()));
    for source in streams.chain([RecordSource::Journal]).collect::<Vec<_>>() {
        let mut records = folder.records(&source).expect("it is there");
        let mut count = 0;
        while let Ok(some) = records.read_some(1000) {
            count += some.len();
            assert!(count < RECORDS_MAX, "records without end");
            if some.is_empty() {
                break;
            }
        }
    }
    _ = folder.start(mended);
}

fn open_stream(disk: &Arc<dyn Disk>) -> Result<(LogWriter, LogReader), StoreError> {
    let config = StreamConfig { segment_bytes: 64 << 10, retain_age_ms: 0, ..StreamConfig::new("readings", 2) };
    Log::open_on(disk.clone(), Path::new(DIR), &LogConfig::default(), &[config])
}

/// A stream that is opened takes a message, and gives it after the next start. False: it is not opened.
fn go_on_with_stream(disk: &Arc<dyn Disk>) -> bool {
    let Ok((mut writer, reader)) = open_stream(disk) else { return false };
    read_stream(&reader, 0, 0);
    read_stream(&reader, 1, 17);
    let record = Append { partition: 1, slot: 7, data_group: 3, message_id: 9, appended_at_us: 1, body: BODY };
    let Ok(offset) = writer.append(StreamIndex(0), record) else { return true };
    if writer.commit().is_err() {
        return true;
    }
    drop((writer, reader));
    let (_writer, reader) = open_stream(disk).expect("what was opened and written is opened again");
    assert_eq!(read_stream(&reader, 1, offset), Some(BODY.to_vec()), "at {offset}");
    true
}

/// The last body that is read.
fn read_stream(reader: &LogReader, partition: u32, from: u64) -> Option<Vec<u8>> {
    let mut last = None;
    _ = reader.read(StreamIndex(0), partition, from, EVERYTHING, Some("somebody"), &mut |record| {
        last = Some(record.body.to_vec());
        ControlFlow::Continue(())
    });
    last
}

fn open_journal(disk: &Arc<dyn Disk>) -> Result<(JournalWriter, JournalReader), StoreError> {
    let config = JournalConfig { segment_bytes: 64 << 10, ..JournalConfig::default() };
    Journal::open_on(disk.clone(), Path::new(DIR), &config)
}

/// The same of a journal.
fn go_on_with_journal(disk: &Arc<dyn Disk>) -> bool {
    let Ok((mut writer, reader)) = open_journal(disk) else { return false };
    read_journal(&reader);
    let group = DataGroupId(0);
    let index = writer.next_index(group).expect("a group");
    let raft_index = match reader.group(group).expect("a group").last_raft_index {
        0 => 0,
        last => last + 1,
    };
    let (term, slot, message_id, appended_at_us) = (u64::MAX, 1, 2, 3);
    let entry = Entry { group, index, term, raft_index, slot, message_id, appended_at_us, body: BODY };
    if writer.append(entry).is_err() || writer.commit().is_err() {
        return true;
    }
    drop((writer, reader));
    let (_writer, reader) = open_journal(disk).expect("what was opened and written is opened again");
    let entry = reader.get(group, index).expect("it was synced");
    assert_eq!(entry.map(|entry| entry.body), Some(BODY.to_vec()), "at {index}");
    true
}

fn read_journal(reader: &JournalReader) {
    for group in DataGroupId::all().chain([DataGroupId::METADATA]) {
        let (mut count, mut last) = (0, 0);
        _ = reader.read(group, 0, u64::MAX, EVERYTHING, &mut |entry| {
            (count, last) = (count + 1, entry.index);
            assert!(count < RECORDS_MAX, "entries without end");
            ControlFlow::Continue(())
        });
        _ = reader.get(group, last);
        let log = reader.group(group).expect("a group");
        let (from, mut count) = (log.purged_raft_index + 1, 0);
        _ = reader.read_raft(group, from, u64::MAX, EVERYTHING, &mut |_| {
            count += 1;
            assert!(count < RECORDS_MAX, "entries without end");
            ControlFlow::Continue(())
        });
        if let Ok(Some(mut snapshot)) = reader.snapshot(group) {
            _ = std::io::copy(&mut snapshot, &mut std::io::sink());
        }
    }
    _ = reader.replay(&[1; DataGroupId::COUNT as usize], &mut |_| ControlFlow::Continue(()));
    reader.take_notices();
}

/// Each folder as it is, without each of its files, with each file cut, and with each field of some records at an edge.
pub fn folder_seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![];
    for (folder, files) in fixtures().iter().enumerate() {
        // Of those numbers whose upper bit says that checksums fit, the same folder's.
        let (folder, sealed) = (folder as u8, folder as u8 | 0x80);
        seeds.push(vec![folder]);
        for file in 0..files.len() as u8 {
            seeds.push(vec![folder, file, 7]);
            seeds.push(vec![folder, file, 5, 0, 70]);
            seeds.push(vec![folder, file, 6, 1, 0, 0]);
            seeds.push(vec![folder, file, 0, 0, 100, 3, 1, 2, 3, 4]);
            for record in [0, 1, 2, 90] {
                seeds.push(vec![sealed, file, 1, 0, record, record % FIELDS.len() as u8, record.wrapping_mul(5)]);
                seeds.push(vec![sealed, file, 4, 0, record, record.wrapping_mul(2), record.wrapping_mul(7)]);
                seeds.push(vec![sealed, file, 8, 2, 1, 0, record, 0, 3]);
            }
        }
        for field in 0..FIELDS.len() as u8 {
            seeds.push(vec![sealed, 2, 1, 0, 4, field, 18, 2, 1, 0, 9, field, 20]);
        }
    }
    seeds
}
