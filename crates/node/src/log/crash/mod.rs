//! The machine goes down at every change of the file system that the log thread's side of the data groups makes: entries of
//! all kinds, commits, snapshots, compaction. What comes up again is the state after a commit, whole: the last one that
//! was promised, or the one that was being made. And every message that this state refers to can be read.
//!
//! Snapshots are written by a thread of their own: which change is which number differs a little from run to run.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range, RangeInclusive};
use std::path::Path;
use std::sync::Arc;

use lapwing_store::StoreError;
use lapwing_store::journal::{DataGroupId, Journal, JournalConfig, JournalReader};

use self::picture::Picture;
use self::script::{GROUPS, Script};
use self::sim::{SimDisk, changes};
use super::Keeper;
use super::batch::{Destination, LogBatch, Record};
use crate::data_groups::DataGroups;
use crate::error::NodeError;
use crate::slot::Slot;
use crate::start_progress::StartProgress;

mod by_hand;
mod full;
mod picture;
mod script;
#[allow(dead_code, reason = "the store's own tests need more of it")]
#[path = "../../../../store/tests/store/sim/mod.rs"]
pub(crate) mod sim;
mod uncommitted;

const COMMITS: usize = 140;
/// A snapshot of a group every few commits.
const SNAPSHOT_BYTES: u64 = 384;
/// Commits that are made behind a recovery, before the power goes again.
const BEHIND: usize = 3;
/// All that the node writes: `Lost` comes from a repair.
const KINDS: RangeInclusive<u8> = 1..=12;
const NOW_US: i64 = 1_700_000_000_000_000;

/// What the log thread has.
struct Kept {
    keeper: Keeper,
    data_groups: DataGroups,
    reader: JournalReader,
}

/// Commits of the script that are promised, and those that were begun.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    committed: usize,
    begun: usize,
}

/// As the node opens it.
fn open(disk: &SimDisk) -> Result<Kept, NodeError> {
    let config = JournalConfig { segment_bytes: 64 << 10, ..JournalConfig::default() };
    let (journal, reader) = Journal::open_on(Arc::new(disk.clone()), Path::new("/data"), &config)?;
    let (data_groups, extents) = DataGroups::recover(&reader, &StartProgress::default())?;
    let keeper = Keeper::new(journal, reader.clone(), (data_groups.clone(), extents), SNAPSHOT_BYTES)?;
    Ok(Kept { keeper, data_groups, reader })
}

impl Kept {
    /// Goes on with the script; an error means that the machine went down.
    fn work(&mut self, script: &Script, commits: Range<usize>, done: &mut Done) -> Result<(), StoreError> {
        for number in commits {
            for entry in &script.commits[number] {
                self.append((entry.group, entry.index), &entry.body)?;
            }
            // What is not committed is what a crash takes back: nothing may go because of it.
            self.keeper.tend()?;
            done.begun = number + 1;
            self.keeper.commit()?;
            done.committed = number + 1;
            // Until a snapshot that this begins on its own thread is there, and that it is, is in the log.
            while self.keeper.tend()? {
                self.keeper.commit()?;
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Gives the log one entry, as a batch of its own.
    fn append(&mut self, (data_group, index): (u16, u64), body: &[u8]) -> Result<(), StoreError> {
        let to = Destination::DataGroup { data_group, index };
        let record = Record { to, slot: Slot::first_of(data_group), message_id: index, body_end: body.len() };
        self.keeper.append((data_group, index), &record, NOW_US, body)?;
        self.keeper.appended(LogBatch { records: vec![record], bodies: body.to_vec(), ..LogBatch::default() });
        Ok(())
    }

    fn pictures(&self) -> Vec<Picture> {
        GROUPS.iter().map(|group| Picture::of(&self.data_groups.get(*group))).collect()
    }

    /// Every entry that the states refer to, or that a start would read again, is there with its own bytes.
    fn check_bodies(&self, bodies: &BTreeMap<(u16, u64), &[u8]>, context: &str) {
        for group in GROUPS {
            let state = self.data_groups.get(group);
            let live: Vec<u64> = (1..=state.applied()).filter(|index| state.is_live(*index)).collect();
            let mut found = vec![];
            let read = self.reader.get_many(DataGroupId(group), &live, &mut |entry| {
                assert_eq!(entry.body, bodies[&(group, entry.index)], "{context}: entry {} of {group}", entry.index);
                found.push(entry.index);
                ControlFlow::Continue(())
            });
            read.unwrap_or_else(|error| panic!("{context}: {error}"));
            assert_eq!(found, live, "{context}: group {group}");
        }
    }
}

/// The whole script, up to where the machine goes down.
fn live(disk: &SimDisk, script: &Script) -> Done {
    let mut done = Done::default();
    // Steps that only save space or time may fail without a word, so the last ones may end well.
    let _ = open(disk).map(|mut kept| kept.work(script, 0..script.commits.len(), &mut done));
    done
}

/// What is there is the state of one commit; the machine goes on from there, and down again.
fn check(disk: &SimDisk, script: &Script, mut done: Done, context: &str) {
    let mut kept = open(disk).unwrap_or_else(|error| panic!("{context}: {error}"));
    let found = kept.pictures();
    let at = if found == script.pictures[done.committed] { done.committed } else { done.begun };
    assert_eq!(found, script.pictures[at], "{context}: {done:?}");
    let bodies = script.bodies();
    kept.check_bodies(&bodies, context);

    let behind = script.commits.len().min(at + BEHIND);
    let went_on = kept.work(script, at..behind, &mut done);
    went_on.unwrap_or_else(|error| panic!("{context}: {error}"));
    drop(kept);
    let kept = open(&disk.after_crash()).unwrap_or_else(|error| panic!("{context}, again: {error}"));
    assert_eq!(kept.pictures(), script.pictures[behind], "{context}, again");
    kept.check_bodies(&bodies, context);
}

/// How many changes of the file system the script makes, on a machine that stays up.
fn steps(script: &Script) -> u64 {
    let disk = SimDisk::new(1);
    let (mut kept, mut done) = (open(&disk).expect("no fault"), Done::default());
    kept.work(script, 0..script.commits.len(), &mut done).expect("no fault");
    assert_eq!(kept.pictures(), script.pictures[COMMITS]);
    let counters = kept.reader.counters().list();
    let count = |name| counters.iter().find(|counter| counter.0 == name).map_or(0, |counter| counter.2);
    assert!(count("deleted_segments") >= 2, "segments go: {counters:?}");
    assert!(count("kept_entries") >= 1, "live entries move: {counters:?}");
    let steps = disk.steps();
    assert_eq!(script.kinds(), KINDS.collect(), "kinds of entries");
    assert!(steps >= 500, "{steps} steps are too few to mean something");
    steps
}

#[test]
fn a_power_cut_at_every_change_leaves_the_state_of_a_commit() {
    let script = Script::new(7, COMMITS);
    for step in changes(steps(&script)) {
        let disk = SimDisk::new(step + 1);
        disk.crash_after(step);
        let done = live(&disk, &script);
        check(&disk.after_crash(), &script, done, &format!("power cut after step {step}"));
    }
}

#[test]
fn a_kill_at_every_change_leaves_the_state_of_a_commit() {
    let script = Script::new(8, COMMITS);
    for step in changes(steps(&script)) {
        let disk = SimDisk::new(step + 1);
        disk.crash_after(step);
        let done = live(&disk, &script);
        check(&disk.after_kill(), &script, done, &format!("kill after step {step}"));
    }
}
