//! A disk that is full for publishers: whatever lies on it, what gives space back finds some, and in the end there is room again.

use std::collections::BTreeSet;
use std::io::Write as _;

use crate::common::*;
use crate::sim::SimDisk;
use crate::sim::contents::next_random;
use lapwing_store::StoreError;
use lapwing_store::journal::{DataGroupId, JournalReader, JournalWriter};

const SEGMENT: u64 = 64 << 10;
/// Times that something is tried again before it counts as standing still.
const PATIENCE: usize = 200;

/// A queue on a journal, as a node keeps it: messages in one group, what has been said of them in the other.
struct Queue {
    writer: JournalWriter,
    reader: JournalReader,
    live: BTreeSet<u64>,
    /// A snapshot is to be so long.
    snapshot_bytes: usize,
}

impl Queue {
    fn open(disk: &SimDisk, snapshot_bytes: usize) -> Self {
        let (mut writer, reader) = open_sim(disk).expect("open");
        writer.make_room().expect("room");
        Queue { writer, reader, live: BTreeSet::new(), snapshot_bytes }
    }

    /// What the log thread does after a commit.
    fn commit(&mut self) -> Result<(), StoreError> {
        self.writer.commit()?;
        self.writer.make_room()
    }

    fn publish(&mut self, bytes: usize) -> Result<(), StoreError> {
        let index = append(&mut self.writer, A, &vec![7; bytes]);
        self.live.insert(index);
        self.commit()
    }

    /// Some at a time, as a turn of a node has them.
    fn acknowledge(&mut self, some: &[u64], context: &str) {
        append(&mut self.writer, B, &vec![1; 6 * some.len()]);
        some.iter().for_each(|index| _ = self.live.remove(index));
        self.insist(Self::commit, context);
    }

    /// Publishes until that is to be stopped, and what is on its way then.
    fn fill(&mut self, random: &mut u64, bytes_max: u64) -> usize {
        let mut count = 0;
        let mut next = || (next_random(random) % bytes_max) as usize;
        while !self.writer.is_low_on_space() {
            self.publish(next()).expect("there is room until it is said that there is not");
            count += 1;
            if count % 100 == 0 {
                self.tend();
            }
        }
        // When a publisher is told to wait: half of a segment, and half as much again.
        let (mut under_way, most) = (0, self.writer.scale_bytes() * 3 / 4);
        while under_way < most {
            let bytes = next();
            under_way += bytes as u64 + 64;
            let index = append(&mut self.writer, A, &vec![7; bytes]);
            self.live.insert(index);
            self.insist(Self::commit, "what was on its way");
        }
        count
    }

    /// Whatever finds no space at first finds it when it is tried again.
    fn insist(&mut self, mut work: impl FnMut(&mut Self) -> Result<(), StoreError>, what: &str) {
        for _ in 0..PATIENCE {
            match work(self) {
                Ok(()) => return,
                Err(error) if error.is_retryable() => self.tend(),
                Err(error) => panic!("{what}: {error}"),
            }
        }
        panic!("no room for {what}: {:?}, {} live", self.reader.info(), self.live.len());
    }

    /// A snapshot of both groups, and a round of compaction.
    fn tend(&mut self) {
        for group in [A, B] {
            let through = self.reader.group(group).expect("a group").last_index;
            if through == 0 {
                continue;
            }
            match self.snapshot(group, through) {
                Ok(()) if self.writer.pending_bytes() == 0 => {
                    self.writer.purge(group, through, 0).expect("a purge");
                    let _ = self.commit().map_err(|error| assert!(error.is_retryable(), "{error}"));
                }
                Ok(()) => {}
                Err(error) => {
                    assert!(error.is_retryable(), "{error}");
                    self.writer.give_up_reserve();
                }
            }
        }
        let live = &self.live;
        let is_live = &mut |group: DataGroupId, index| group == A && live.contains(&index);
        loop {
            match self.writer.compact(is_live, 100_000) {
                Ok(done) if done.round_over => break,
                Ok(_) => {}
                Err(error) => {
                    assert!(error.is_retryable(), "{error}");
                    break;
                }
            }
        }
        self.writer.make_room().expect("room");
    }

    fn snapshot(&self, group: DataGroupId, through: u64) -> Result<(), StoreError> {
        let mut draft = self.reader.new_snapshot(group, through, 0)?;
        let written = draft.write_all(&vec![1; self.snapshot_bytes]);
        written.map_err(|error| error.downcast::<StoreError>().expect("the journal's own error"))?;
        draft.finish().map(drop)
    }

    fn heal(&mut self, context: &str) {
        for _ in 0..PATIENCE {
            if !self.writer.is_low_on_space() {
                return;
            }
            self.tend();
        }
        panic!("{context}: it stands still: {:?}", self.reader.info());
    }
}

#[test]
fn publishing_goes_on_by_itself_when_consumers_have_drained_what_is_there() {
    for seed in 1..=60_u64 {
        let (mut random, disk) = (seed * 0x9E37_79B9, SimDisk::new(seed));
        let capacity = SEGMENT * (6 + next_random(&mut random) % 12);
        disk.set_capacity(capacity);
        let snapshot_bytes = (next_random(&mut random) % (SEGMENT / 4)) as usize;
        let bytes_max = [100, 1_000, 8_000][(seed % 3) as usize];
        let mut queue = Queue::open(&disk, snapshot_bytes);
        for round in 0..4 {
            let context = format!("seed {seed}, {capacity} bytes, round {round}");
            let count = queue.fill(&mut random, bytes_max);
            assert!(count > 0, "{context}");
            let mut order: Vec<u64> = queue.live.iter().copied().collect();
            if round % 2 == 1 {
                // Here and there, as with many sessions.
                order.sort_by_key(|index| index.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            }
            for (number, some) in order.chunks(10).enumerate() {
                let there = get(&queue.reader, A, some[0]);
                assert!(there.is_some(), "{context}: {} can be read while the disk is full", some[0]);
                queue.acknowledge(some, &context);
                if number % 10 == 9 {
                    queue.tend();
                }
            }
            queue.heal(&context);
        }
    }
}

#[test]
fn a_restart_while_the_disk_is_full_changes_nothing_of_that() {
    for seed in 1..=20_u64 {
        let (mut random, disk) = (seed, SimDisk::new(seed));
        disk.set_capacity(SEGMENT * 8);
        let mut queue = Queue::open(&disk, 4_000);
        queue.fill(&mut random, 1_000);
        let live = std::mem::take(&mut queue.live);
        drop(queue);
        let disk = if seed % 2 == 0 { disk.after_crash() } else { disk };
        let mut queue = Queue { live: live.clone(), ..Queue::open(&disk, 4_000) };
        for (number, some) in live.into_iter().collect::<Vec<_>>().chunks(10).enumerate() {
            queue.acknowledge(some, "after a restart");
            if number % 10 == 9 {
                queue.tend();
            }
        }
        queue.heal(&format!("seed {seed}"));
        queue.fill(&mut random, 1_000);
    }
}

#[test]
fn what_is_set_aside_is_used_again_after_a_restart() {
    let disk = SimDisk::new(1);
    let mut queue = Queue::open(&disk, 0);
    (0..30).for_each(|_| queue.publish(1_000).expect("room"));
    drop(queue);
    let (mut writer, _) = open_sim(&disk).expect("open");
    let before = disk.steps();
    writer.make_room().expect("nothing to make");
    assert_eq!(disk.steps(), before, "a spare segment and a reserve are there");
    assert!(writer.room_order().is_none());
    writer.give_up_reserve();
    assert!(writer.is_low_on_space() && writer.room_order().is_some());
}

/// The next segment is late: is nothing more wanted when half of the active one is used, until it is there?
#[test]
fn what_is_set_aside_late_holds_publishers_back() {
    let disk = SimDisk::new(1);
    let mut queue = Queue::open(&disk, 0);
    queue.writer.make_room().expect("room");
    let mut order = None;
    for _ in 0..1_000 {
        append(&mut queue.writer, A, &[7; 1_000]);
        queue.writer.commit().expect("room in this segment");
        order = order.or_else(|| queue.writer.room_order().filter(|_| !queue.writer.waits_for_room()));
        if queue.writer.waits_for_room() {
            break;
        }
    }
    assert!(queue.writer.waits_for_room() && !queue.writer.is_low_on_space(), "nobody knows that there is no room");
    queue.writer.room_made(order.expect("it was due before").carry_out()).expect("there is room");
    assert!(!queue.writer.waits_for_room());
}
