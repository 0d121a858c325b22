//! What is done at a time, counted at the disk: compaction keeps to its budget, and a start reads what is alive.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::common::*;
use crate::counted::counted_disk;
use lapwing_store::disk::InterceptedDisk;
use lapwing_store::journal::{DataGroupId, Journal, JournalConfig, JournalReader, JournalWriter};

const SEGMENT_BYTES: u64 = 1 << 20;
const RECORD_HEADER_BYTES: u64 = 64;
/// What a rewrite gathers before it writes.
const GATHERED_BYTES: u64 = 1 << 20;

fn open_counted(disk: &InterceptedDisk, segment_bytes: u64) -> (JournalWriter, JournalReader) {
    let config = JournalConfig { segment_bytes, ..JournalConfig::default() };
    Journal::open_on(Arc::new(disk.clone()), Path::new("/data"), &config).expect("open")
}

/// Appends so many entries of this size to one group, a hundred in a commit.
fn append_sized(writer: &mut JournalWriter, count: u64, body_bytes: usize) {
    for number in 1..=count {
        append(writer, A, &vec![7; body_bytes]);
        if number % 100 == 0 {
            writer.commit().expect("a commit");
        }
    }
    writer.commit().expect("a commit");
}

/// What calls of compaction have cost.
#[derive(Default)]
struct Cost {
    /// Entries that were looked at and not moved since: a segment is looked at from end to end before anything in it is moved.
    looked_at: HashSet<u64>,
    calls: u64,
    moved_bytes: u64,
    written_bytes: u64,
}

impl Cost {
    /// One call in which every third entry is live; returns whether the round is over. `record_bytes`: of each entry.
    fn compact(&mut self, writer: &mut JournalWriter, budget_bytes: u64, record_bytes: u64) -> bool {
        let (mut looked_at, mut moved) = (0, 0);
        let mut is_live = |_, index: u64| {
            let is_moved = self.looked_at.remove(&index);
            if !is_moved {
                self.looked_at.insert(index);
            }
            *(if is_moved { &mut moved } else { &mut looked_at }) += 1;
            index.is_multiple_of(3)
        };
        let done = writer.compact(&mut is_live, budget_bytes).expect("compact");
        let (moved_bytes, one_more) = (moved * record_bytes, budget_bytes + record_bytes);
        let what = format!("{looked_at} asked about, {moved} of {record_bytes} bytes moved, {budget_bytes} a call");
        assert!(looked_at * RECORD_HEADER_BYTES + moved_bytes <= one_more, "{what}");
        assert!(done.written_bytes <= GATHERED_BYTES + record_bytes + one_more, "{what}, {done:?}");
        self.calls += 1;
        self.moved_bytes += moved_bytes;
        self.written_bytes += done.written_bytes;
        done.round_over
    }
}

/// Does a call of compaction read no more than its budget and one record, whatever the size of the entries, and write no more than
/// that beside what it had gathered; and on the whole less than it read?
#[test]
fn a_call_of_compaction_keeps_to_its_budget() {
    for (body_bytes, budget_bytes) in [(5000, 100_000), (5000, 1000), (200_000, 300_000), (100, 64 << 10)] {
        let (mut writer, _) = open_counted(&counted_disk().0, 2 << 20);
        let entries = (8 << 20) / body_bytes as u64;
        append_sized(&mut writer, entries, body_bytes);
        writer.purge(A, entries, 0).expect("purge");
        writer.commit().expect("a commit");
        let (mut cost, record_bytes) = (Cost::default(), RECORD_HEADER_BYTES + body_bytes as u64);
        while !cost.compact(&mut writer, budget_bytes, record_bytes) {}
        let Cost { calls, moved_bytes, written_bytes, .. } = cost;
        assert!(moved_bytes > 4 << 20, "{moved_bytes} bytes moved");
        assert!(calls >= moved_bytes / (budget_bytes + record_bytes), "{calls} calls for {moved_bytes} bytes");
        assert!(written_bytes > moved_bytes / 4 && written_bytes < moved_bytes, "{written_bytes} of {moved_bytes}");
    }
}

/// What a start reads where so much history, all of it in a snapshot, lies before a tail of a thousand entries: bytes, and
/// segments that there are. `is_dead`: all of the history may go, and has gone.
fn read_at_start(history: u64, is_dead: bool) -> (u64, u64) {
    let (disk, read_bytes) = counted_disk();
    let (mut writer, _) = open_counted(&disk, SEGMENT_BYTES);
    append_sized(&mut writer, history, 1000);
    writer.purge(A, history, 0).expect("purge");
    append_sized(&mut writer, 1000, 1000);
    while !writer.compact(&mut |_, _| !is_dead, 10 << 20).expect("compact").round_over {}
    drop(writer);
    read_bytes.take();
    let (_writer, reader) = open_counted(&disk, SEGMENT_BYTES);
    let mut from = [1; DataGroupId::COUNT as usize];
    from[0] = history + 1;
    let replayed = reader.replay(&from, &mut |_| ControlFlow::Continue(())).expect("a replay");
    assert_eq!(replayed.entries, 1000, "the tail is there");
    (read_bytes.take(), reader.info().segments)
}

/// Does what a start reads follow what lies behind the snapshots, and not the history: nothing more for ten times as much where that
/// is dead, and where it is alive a little of each segment, however large that is?
#[test]
fn a_start_reads_the_tail_and_not_the_history() {
    let (short, _) = read_at_start(4000, true);
    let (long, segments) = read_at_start(40_000, true);
    assert!(short > 1_000_000, "{short} bytes: the tail is read");
    assert!(long < short + SEGMENT_BYTES, "{long} bytes where {short} were enough");
    let (alive, more_segments) = read_at_start(40_000, false);
    assert!(more_segments > segments + 30, "{more_segments} segments and {segments}");
    let more_bytes = alive.saturating_sub(long);
    assert!(more_bytes < (more_segments - segments) * (64 << 10), "{more_bytes} bytes of {more_segments} segments");
}
