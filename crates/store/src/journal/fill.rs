//! Writes zeros into a segment before its records.
//!
//! Space that was only reserved is marked as unwritten. The first write to each part of it changes that mark, and on a file
//! system with a journal the sync of a commit then waits for that journal, too: two to five times as long (ext4). Over what
//! was written before a commit syncs its own bytes and nothing else.
//!
//! It is done piece by piece and at leisure, for it shares the disk with the commits, and may be left at any moment: what is
//! not written is reserved all the same. The spare is filled as a whole. The first segment of a folder never is a spare: its
//! zeros run in front of its records, see [`super::ahead`].

use std::io::{self, IoSlice};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::state::Shared;
use crate::disk::{Access, DiskFile};
use crate::error::StoreError;
use crate::notice::Notice;

/// Bytes of one piece: a commit that comes meanwhile waits for no more than this.
pub(crate) const PIECE_BYTES: u64 = 256 << 10;
/// No zero is written to a page that has a record: a device that writes whole pages touches no record for it.
const PAGE_BYTES: u64 = 4 << 10;

/// How much of a file belongs to its records, from the start: nobody writes zeros there any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Claim(Arc<Mutex<u64>>);

impl Claim {
    /// Records are about to reach up to here. Waits until the piece that is being written is written: in each place all zeros
    /// come before the first record.
    pub(crate) fn take(&self, bytes: u64) {
        let mut taken = self.lock();
        *taken = bytes.max(*taken);
    }

    /// The file is not filled any more: a spare that becomes a segment, a segment that is sealed.
    pub(crate) fn take_all(&self) {
        self.take(u64::MAX);
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        // A number is whole whatever its holder did.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part of a file that is being filled.
#[derive(Debug)]
pub(crate) struct Fill {
    shared: Arc<Shared>,
    path: PathBuf,
    claim: Claim,
    /// Its own handle: what the system says to its sync is not taken from that of the records.
    file: Option<Arc<dyn DiskFile>>,
    /// The next byte to write, and behind the last one.
    at: u64,
    end: u64,
}

impl Fill {
    /// Of these bytes of the file at `path`, which are reserved.
    pub(crate) fn new(shared: Arc<Shared>, path: PathBuf, bytes: Range<u64>, claim: Claim) -> Self {
        Fill { shared, path, claim, file: None, at: bytes.start, end: bytes.end }
    }

    /// Writes and syncs the next piece; false when there is nothing more to write, or it may not go on. It only saves time: a
    /// failure ends it with a notice, and if the disk is broken the next commit finds that out.
    pub(crate) fn step(&mut self) -> bool {
        match self.write_piece() {
            Ok(more) => more,
            Err(error) => {
                let why = StoreError::write("write zeros to", &self.path, error).to_string();
                self.shared.notice(Notice::Postponed { file: self.path.clone(), why });
                false
            }
        }
    }

    fn write_piece(&mut self) -> io::Result<bool> {
        let claim = self.claim.clone();
        let taken = claim.lock();
        let at = self.at.max((*taken).min(self.end).next_multiple_of(PAGE_BYTES));
        let bytes = PIECE_BYTES.min(self.end.saturating_sub(at));
        if bytes == 0 {
            return Ok(false);
        }
        // Only now: before all of it is taken its name is still its own.
        let file = match &self.file {
            Some(file) => file.clone(),
            None => self.file.insert(self.shared.disk.open(&self.path, Access::Write)?).clone(),
        };
        file.write_at(&[IoSlice::new(&vec![0; bytes as usize])], at)?;
        drop(taken);
        file.sync()?;
        self.at = at + bytes;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::super::{DataGroupId, Entry, JournalConfig, JournalReader, JournalWriter};
    use super::*;
    use crate::disk::OsDisk;

    const SEGMENT_BYTES: u64 = 1 << 20;

    struct Bench {
        dir: tempfile::TempDir,
        writer: JournalWriter,
        reader: JournalReader,
    }

    impl Bench {
        fn new(init_zero: bool) -> Self {
            let dir = tempfile::tempdir().expect("a folder");
            let config = JournalConfig { segment_bytes: SEGMENT_BYTES, init_zero, ..JournalConfig::default() };
            let (writer, reader) =
                super::super::Journal::open_on(Arc::new(OsDisk), dir.path(), &config).expect("a journal");
            Bench { dir, writer, reader }
        }

        /// An entry of a tenth of a segment.
        fn append(&mut self) {
            let (group, body) = (DataGroupId(3), vec![7; SEGMENT_BYTES as usize / 10]);
            let index = self.writer.next_index(group).expect("a group");
            let entry =
                Entry { group, index, term: 0, raft_index: 0, slot: 0, message_id: 0, appended_at_us: 1, body: &body };
            self.writer.append(entry).expect("an append");
            self.writer.commit().expect("a commit");
        }

        /// Has a spare made; full of ones, so that zeros can be seen.
        fn spare(&mut self) -> (PathBuf, Option<Fill>) {
            let (mut fill, mut path) = (None, None);
            while path.is_none() {
                self.append();
                let Some(order) = self.writer.room_order() else { continue };
                let mut made = order.carry_out();
                fill = made.take_spare_fill();
                self.writer.room_made(made).expect("there is room");
                path = find_file(self.dir.path(), "spare");
            }
            let path = path.expect("a spare");
            fs::write(&path, vec![0xFF; SEGMENT_BYTES as usize]).expect("a write");
            (path, fill)
        }
    }

    fn find_file(dir: &Path, name: &str) -> Option<PathBuf> {
        fs::read_dir(dir)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .find_map(|path| if path.is_dir() { find_file(&path, name) } else { path.ends_with(name).then_some(path) })
    }

    /// Is the whole spare written, and does it end?
    #[test]
    fn a_spare_is_filled_with_zeros() {
        let mut bench = Bench::new(true);
        let (path, fill) = bench.spare();
        let mut fill = fill.expect("something to fill");
        assert_eq!((0..100).take_while(|_| fill.step()).count() as u64, SEGMENT_BYTES / PIECE_BYTES);
        assert_eq!(fs::read(path).expect("a read"), vec![0; SEGMENT_BYTES as usize]);
    }

    /// Does nobody write zeros into a spare that has become a segment, whenever it became one?
    #[test]
    fn a_segment_gets_no_zeros() {
        for pieces in [0, 1, 2] {
            let mut bench = Bench::new(true);
            let (path, fill) = bench.spare();
            let mut fill = fill.expect("something to fill");
            assert!((0..pieces).all(|_| fill.step()));
            while path.exists() {
                bench.append();
            }
            let segment = || {
                let path = bench.writer.shared.state().active.path.clone();
                fs::read(path).expect("the segment")
            };
            let before = segment();
            assert!(!fill.step());
            assert_eq!(
                (before[SEGMENT_BYTES as usize - 1], segment() == before),
                (0xFF, true),
                "after {pieces} pieces"
            );
        }
    }

    /// Is what fails told once, and is the journal none the worse for it?
    #[test]
    fn a_failure_is_told() {
        let mut bench = Bench::new(true);
        let (path, fill) = bench.spare();
        let elsewhere = path.with_extension("elsewhere");
        fs::rename(&path, &elsewhere).expect("it was there");
        assert!(!fill.expect("something to fill").step());
        fs::rename(&elsewhere, &path).expect("and is there again");
        let notices = bench.reader.take_notices();
        assert!(matches!(&notices[..], [Notice::Postponed { file, .. }] if *file == path), "{notices:?}");
        (0..20).for_each(|_| bench.append());
    }

    #[test]
    fn it_can_be_turned_off() {
        assert!(Bench::new(false).spare().1.is_none());
    }
}
