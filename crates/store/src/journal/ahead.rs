//! Zeros in front of the records of the first segment of a folder.
//!
//! Every other segment was a spare before, and had its zeros then. Nothing waits for those of the first one either: they are
//! written while records come, always in front of them and only so far that a broker with little to keep writes little.

use std::path::PathBuf;
use std::sync::Arc;

use super::fill::{Claim, Fill, PIECE_BYTES};
use super::room::Used;
use super::state::Shared;

/// Zeros are so far in front of the records at most, and half as far when more are ordered.
const LEAD_BYTES: u64 = 4 << 20;

/// The zeros of a segment that is being written.
#[derive(Debug)]
pub(crate) struct Ahead {
    path: PathBuf,
    /// Up to here zeros are ordered.
    ordered: u64,
    claim: Claim,
}

impl Ahead {
    /// Of the segment that is being written, if it never was a spare.
    pub(crate) fn of_first(shared: &Shared) -> Option<Self> {
        let state = shared.state();
        let active = &state.active;
        let claim = Claim::default();
        claim.take(active.end);
        let (path, ordered) = (active.path.to_path_buf(), active.end);
        (active.sequence == 1).then_some(Ahead { path, ordered, claim })
    }

    /// What is to be filled next of what is reserved.
    pub(crate) fn order(&mut self, shared: &Arc<Shared>, used: Used) -> Option<Fill> {
        if self.ordered >= used.allocated_bytes || used.end + LEAD_BYTES / 2 < self.ordered {
            return None;
        }
        let until = (used.end + LEAD_BYTES).next_multiple_of(PIECE_BYTES).min(used.allocated_bytes);
        let bytes = std::mem::replace(&mut self.ordered, until)..until;
        Some(Fill::new(shared.clone(), self.path.clone(), bytes, self.claim.clone()))
    }

    /// Records are about to reach up to `end`.
    pub(crate) fn take(&self, end: u64) {
        self.claim.take(end);
    }
}

impl Drop for Ahead {
    /// The segment is sealed, or nobody writes to it any more.
    fn drop(&mut self) {
        self.claim.take_all();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Seek, SeekFrom, Write};

    use super::super::{DataGroupId, Entry, Journal, JournalConfig, JournalWriter};
    use super::*;
    use crate::disk::OsDisk;

    const SEGMENT_BYTES: u64 = 12 << 20;
    const GROUP: DataGroupId = DataGroupId(3);

    struct Bench {
        _dir: tempfile::TempDir,
        writer: JournalWriter,
        path: PathBuf,
    }

    impl Bench {
        /// With a first segment that is full of ones, so that zeros can be seen.
        fn new(init_zero: bool) -> Self {
            let dir = tempfile::tempdir().expect("a folder");
            let (segment_bytes, first_bytes) = (SEGMENT_BYTES, SEGMENT_BYTES);
            let config = JournalConfig { segment_bytes, first_bytes, init_zero, ..JournalConfig::default() };
            let (writer, _) = Journal::open_on(Arc::new(OsDisk), dir.path(), &config).expect("a journal");
            let (path, end) = {
                let state = writer.shared.state();
                (state.active.path.to_path_buf(), state.active.end)
            };
            let mut file = fs::OpenOptions::new().write(true).open(&path).expect("the segment");
            let bytes = file.metadata().expect("its length").len();
            file.seek(SeekFrom::Start(end)).expect("behind its opening");
            file.write_all(&vec![0xFF; (bytes - end) as usize]).expect("ones");
            Bench { _dir: dir, writer, path }
        }

        fn append(&mut self, bytes: usize) {
            let index = self.writer.next_index(GROUP).expect("a group");
            let (body, appended_at_us) = (vec![7; bytes], 1);
            let entry = Entry {
                group: GROUP,
                index,
                term: 0,
                raft_index: 0,
                slot: 0,
                message_id: 0,
                appended_at_us,
                body: &body,
            };
            self.writer.append(entry).expect("an append");
            self.writer.commit().expect("a commit");
        }

        fn order(&mut self) -> Option<Fill> {
            let mut made = self.writer.room_order()?.carry_out();
            let fill = made.take_active_fill();
            self.writer.room_made(made).expect("there is room");
            fill
        }

        fn end(&self) -> u64 {
            self.writer.shared.state().active.end
        }

        fn bytes(&self) -> Vec<u8> {
            fs::read(&self.path).expect("the segment")
        }
    }

    fn is_all(bytes: &[u8], byte: u8) -> bool {
        bytes == vec![byte; bytes.len()]
    }

    /// Do the zeros stay in front of the records, however much comes between two pieces: none in their place, none missing
    /// behind them, and none farther than that?
    #[test]
    fn zeros_run_in_front_of_the_records() {
        for (entry_bytes, entries, pieces) in
            [(10_000, 30, 1), (200_000, 50, 0), (200_000, 50, 1), (700_000, 15, 1), (700_000, 15, 100)]
        {
            let (mut bench, mut fills) = (Bench::new(true), vec![]);
            for _ in 0..entries {
                bench.append(entry_bytes);
                let (end, before) = (bench.end(), bench.bytes());
                fills.extend(bench.order());
                fills.retain_mut(|fill| (0..pieces).all(|_| fill.step()));
                let after = bench.bytes();
                assert!(before[..end as usize] == after[..end as usize], "a zero in a record before {end}");
                let far = after.len().min((end + LEAD_BYTES + PIECE_BYTES) as usize);
                assert!(is_all(&after[far..], 0xFF), "a zero far from {end}");
            }
            fills.iter_mut().for_each(|fill| while fill.step() {});
            let (bytes, from) = (bench.bytes(), bench.end().next_multiple_of(4 << 10));
            let near = bytes.len().min((from + LEAD_BYTES / 4) as usize);
            assert!(is_all(&bytes[from as usize..near], 0), "no zeros behind {from}");
        }
    }

    /// A segment that is sealed while it is filled: is it as long as it was when it was sealed?
    #[test]
    fn a_sealed_segment_gets_no_zeros() {
        let (mut bench, mut fill) = (Bench::new(true), None);
        while bench.writer.shared.state().active.sequence == 1 {
            fill = bench.order().or(fill);
            bench.append(1_000_000);
        }
        let sealed = bench.bytes();
        assert!(!fill.expect("something to fill").step());
        assert!(bench.bytes() == sealed && (sealed.len() as u64) < SEGMENT_BYTES);
    }

    /// Is nothing filled in front of the records of a segment that was a spare, nor where it is turned off?
    #[test]
    fn only_the_first_segment_is_filled_so() {
        let mut bench = Bench::new(true);
        while bench.writer.shared.state().active.sequence == 1 {
            bench.append(1_000_000);
        }
        assert!((0..8).all(|_| {
            bench.append(1_000_000);
            bench.order().is_none()
        }));
        assert!(Bench::new(false).order().is_none());
    }
}
