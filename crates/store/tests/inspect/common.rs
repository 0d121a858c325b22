//! What the tests of inspection share: a folder with a stream and a journal, both of several segments.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lapwing_store::disk::{Disk, OsDisk};
use lapwing_store::inspect::{DataFolder, FileReport, KnownFile, Severity};
use lapwing_store::journal::{DataGroupId, Entry, JournalConfig, JournalReader, JournalWriter};
use lapwing_store::{Append, Log, LogConfig, LogReader, LogWriter, ReadLimits, StoreError, StreamConfig, StreamIndex};

pub const EVERYTHING: ReadLimits = ReadLimits { messages_max: u64::MAX, bytes_max: u64::MAX };
pub const GROUPS: [DataGroupId; 2] = [DataGroupId(0), DataGroupId(15)];

pub struct Opened {
    pub log: LogWriter,
    pub messages: LogReader,
    pub journal: JournalWriter,
    pub entries: JournalReader,
}

pub fn open(dir: &Path) -> Result<Opened, StoreError> {
    let stream = StreamConfig { segment_bytes: 64 << 10, ..StreamConfig::new("s", 2) };
    let (log, messages) = Log::open(dir, &LogConfig::default(), &[stream])?;
    let (journal, entries) =
        log.open_journal(&JournalConfig { segment_bytes: 64 << 10, ..JournalConfig::default() })?;
    Ok(Opened { log, messages, journal, entries })
}

/// A body that tells whose it is, of a length that varies.
pub fn body(whose: u64, number: u64) -> Vec<u8> {
    let mut body = format!("{whose}/{number}:").into_bytes();
    body.resize(body.len() + (number * 37 % 300) as usize, number as u8);
    body
}

impl Opened {
    /// Appends so many entries to both groups and messages to both partitions, ten in a commit.
    pub fn fill(&mut self, count: u64) {
        for number in 0..count {
            for group in GROUPS {
                let index = self.journal.next_index(group).expect("a group");
                let body = body(u64::from(group.0), index);
                let (term, raft_index, slot, message_id, appended_at_us, body) = (0, 0, 7, index, 1, &body[..]);
                self.journal
                    .append(Entry { group, index, term, raft_index, slot, message_id, appended_at_us, body })
                    .expect("room");
            }
            for partition in 0..2 {
                let next = self.next_offset(partition) + number % 10;
                let body = body(u64::from(partition), next);
                let (slot, data_group, message_id, appended_at_us, body) = (7, 0, 1, 1, &body[..]);
                let record = Append { partition, slot, data_group, message_id, appended_at_us, body };
                assert_eq!(self.log.append(StreamIndex(0), record).expect("room"), next);
            }
            if number % 10 == 9 {
                self.commit();
            }
        }
        self.commit();
    }

    /// The offset behind the last committed one.
    fn next_offset(&self, partition: u32) -> u64 {
        self.messages.streams()[0].partitions[partition as usize].next_offset
    }

    pub fn commit(&mut self) {
        self.journal.commit().expect("a commit");
        self.log.commit().expect("a commit");
    }

    pub fn close(self) {
        self.journal.close().expect("closed");
        self.log.close().expect("closed");
    }

    /// All entries of a group, by index.
    pub fn entries_of(&self, group: DataGroupId) -> BTreeMap<u64, Vec<u8>> {
        let mut found = BTreeMap::new();
        let read = self.entries.read(group, 0, u64::MAX, EVERYTHING, &mut |entry| {
            found.insert(entry.index, entry.body.to_vec());
            ControlFlow::Continue(())
        });
        read.expect("every entry can be read");
        found
    }

    /// All messages of a partition, by offset.
    pub fn messages_of(&self, partition: u32) -> BTreeMap<u64, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut next = 0;
        while next < self.next_offset(partition) {
            let read = self.messages.read(StreamIndex(0), partition, next, EVERYTHING, None, &mut |record| {
                found.insert(record.offset, record.body.to_vec());
                ControlFlow::Continue(())
            });
            let read = read.expect("every message can be read");
            assert!(read.next_offset > next, "it goes on");
            next = read.next_offset;
        }
        found
    }
}

/// A closed folder with several segments of everything, and a snapshot.
pub fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let mut opened = open(dir.path()).expect("open");
    opened.fill(600);
    let mut draft = opened.entries.new_snapshot(GROUPS[0], 50, 0).expect("a snapshot");
    draft.write_all(&[7; 300_000]).expect("written");
    draft.finish().expect("durable");
    opened
        .messages
        .read(StreamIndex(0), 0, 0, EVERYTHING, Some("spark"), &mut |_| ControlFlow::Break(()))
        .expect("read");
    opened.close();
    dir
}

pub fn os() -> Arc<dyn Disk> {
    Arc::new(OsDisk)
}

/// Where a segment, or its index, lies.
pub fn numbered(home: &str, sequence: u64, ending: &str) -> PathBuf {
    PathBuf::from(format!("{home}/{sequence:020}.{ending}"))
}

/// The number of the newest segment.
pub fn newest(dir: &Path, home: &str) -> u64 {
    let names = fs::read_dir(dir.join(home)).expect("a folder").map(|entry| entry.expect("an entry").path());
    let segments = names.filter(|path| path.extension().is_some_and(|ending| ending == "log"));
    let number = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().parse().expect("a number");
    segments.map(number).max().expect("a segment")
}

pub fn known(folder: &DataFolder, path: &Path) -> KnownFile {
    folder.files().iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path:?} is not known")).clone()
}

/// What is said of one file.
pub fn report(dir: &Path, path: &Path) -> FileReport {
    let mut folder = DataFolder::open(os(), dir).expect("a data folder");
    let file = known(&folder, path);
    folder.check(&file).expect("it can be looked at")
}

/// Everything that is worse than a note, in the whole folder.
pub fn troubles(dir: &Path) -> Vec<(PathBuf, Severity, String)> {
    let mut folder = DataFolder::open(os(), dir).expect("a data folder");
    let mut troubles = vec![];
    for file in folder.files().to_vec() {
        let report = folder.check(&file).expect("it can be looked at");
        let bad = report.findings.into_iter().filter(|finding| finding.severity != Severity::Note);
        troubles.extend(bad.map(|finding| (report.path.clone(), finding.severity, finding.what)));
    }
    troubles
}

/// Nothing is said of the folder but notes.
pub fn assert_whole(dir: &Path) {
    let troubles = troubles(dir);
    assert!(troubles.is_empty(), "{troubles:?}");
}

pub fn flip(file: &Path, at: u64) {
    let handle = OpenOptions::new().read(true).write(true).open(file).expect("open");
    let mut byte = [0];
    handle.read_exact_at(&mut byte, at).expect("read");
    handle.write_all_at(&[byte[0] ^ 0x10], at).expect("write");
}
