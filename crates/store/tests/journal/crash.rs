//! The machine goes down at every change of the file system: nothing committed is missing afterwards, a commit is there
//! as a whole or not at all, and no reader had seen what is missing.

use crate::common::*;
use crate::expected::Model;
use crate::sim::contents::next_random;
use crate::sim::{SimDisk, changes};
use lapwing_store::StoreError;
use lapwing_store::journal::{JournalReader, JournalWriter};

/// What was asked for, what is committed, and what a commit that failed may have left.
#[derive(Clone)]
struct Life {
    model: Model,
    committed: Model,
    attempted: Option<Model>,
}

impl Life {
    fn new(is_of_cluster: bool) -> Self {
        let model = Model::new(is_of_cluster);
        Self { committed: model.clone(), model, attempted: None }
    }

    fn some_group(&self, random: &mut u64) -> usize {
        let groups: &[usize] = if self.model.is_of_cluster { &[0, 3, 15, 17] } else { &[0, 3, 15] };
        groups[(next_random(random) % groups.len() as u64) as usize]
    }

    /// What is dead is so whatever becomes of the last commit.
    fn die(&mut self, group: usize, through: u64, rest: (u64, u64)) {
        self.committed.die(group, through, rest);
        let dead = self.committed.groups[group].dead.clone();
        self.model.groups[group].dead.extend(&dead);
    }

    /// Compares what is there after a crash, and goes on from it.
    fn check_recovered(&mut self, reader: &JournalReader, context: &str) {
        let number = self.model.number;
        if let Err(what) = self.committed.check(reader) {
            let attempted = self.attempted.take().unwrap_or_else(|| panic!("{context}: {what}"));
            attempted.check(reader).unwrap_or_else(|other| panic!("{context}: {what}; {other}"));
            self.committed = attempted;
        }
        self.attempted = None;
        self.model = Model { number, ..self.committed.clone() };
    }
}

/// Does this and that until the disk fails or `rounds` are done.
fn work(
    writer: &mut JournalWriter,
    reader: &JournalReader,
    life: &mut Life,
    rounds: u64,
    random: &mut u64,
) -> Result<(), StoreError> {
    for round in 0..rounds {
        for _ in 0..next_random(random) % 8 {
            let group = life.some_group(random);
            let (choice, number) = (next_random(random) % 40, next_random(random));
            let last = life.model.last(group);
            match choice {
                0 => life.model.truncate(writer, group, last.saturating_sub(number % 20))?,
                1..4 => life.model.purge(writer, group, (last + 3).saturating_sub(number % 50))?,
                4 => life.model.vote(writer, group, number)?,
                5..8 => life.model.mark(writer, group, (number % 200) as usize)?,
                _ => life.model.append(writer, group, (number % 4000) as usize)?,
            }
        }
        let group = life.some_group(random);
        let (divisor, remainder) = (1 + next_random(random) % 12, next_random(random));
        let through = life.committed.groups[group].purged.saturating_sub(remainder % 20);
        life.die(group, through, (divisor, remainder));
        life.committed.compact(writer, next_random(random) % 300_000)?;
        life.attempted = Some(life.model.clone());
        writer.commit()?;
        life.committed = life.model.clone();
        life.attempted = None;
        writer.make_room()?;
        if round % 8 == 7 {
            let last = life.committed.groups[3].last;
            assert_eq!(reader.group(lapwing_store::journal::DataGroupId(3)).expect("a group").last_index, last);
        }
    }
    Ok(())
}

/// One life of the machine: open, check what is there, work; an error means that it went down.
fn live(disk: &SimDisk, life: &mut Life, rounds: u64, random: &mut u64, context: &str) -> Result<(), StoreError> {
    let (mut writer, reader) = open_sim(disk)?;
    if disk.is_down() {
        // It went down in a step that the journal can do without; nobody is there to read.
        return Err(StoreError::Stopped { reason: "the machine is down".to_owned() });
    }
    // Reading may write indexes; the machine does not go down while the test looks.
    let steps_left = disk.disarm();
    life.check_recovered(&reader, context);
    disk.crash_after(steps_left);
    work(&mut writer, &reader, life, rounds, random)?;
    writer.close()
}

#[test]
fn a_crash_at_every_change_loses_nothing_that_was_committed() {
    crash_everywhere(false);
}

#[test]
fn nor_does_it_of_a_cluster() {
    crash_everywhere(true);
}

fn crash_everywhere(is_of_cluster: bool) {
    let rounds = 60;
    let whole = SimDisk::new(1);
    live(&whole, &mut Life::new(is_of_cluster), rounds, &mut 7, "no crash").expect("no fault");
    let steps = whole.steps();
    assert!(steps > 150, "{steps} steps");
    for step in changes(steps) {
        let context = format!("crash after step {step}");
        let disk = SimDisk::new(step + 1);
        disk.crash_after(step);
        let mut life = Life::new(is_of_cluster);
        // Steps that only save space or time may fail without a word, so the last ones may end well.
        let _ = live(&disk, &mut life, rounds, &mut 7, &context);
        let disk = disk.after_crash();
        live(&disk, &mut life, 5, &mut 9, &context).unwrap_or_else(|error| panic!("{context}: {error}"));
        live(&disk, &mut life, 0, &mut 9, &context).unwrap_or_else(|error| panic!("{context}: {error}"));
    }
}

/// A process that is killed leaves names that the system knows and the disk does not. What is committed after the restart
/// is worth as much as the name of the file that it is in.
#[test]
fn a_kill_at_every_change_and_a_power_cut_after_the_restart_lose_nothing() {
    let rounds = 40;
    let whole = SimDisk::new(1);
    live(&whole, &mut Life::new(true), rounds, &mut 7, "no crash").expect("no fault");
    for step in changes(whole.steps()) {
        let disk = SimDisk::new(1);
        disk.crash_after(step);
        let mut before = Life::new(true);
        let _ = live(&disk, &mut before, rounds, &mut 7, &format!("up to step {step}"));
        for seed in 0..4 {
            let context = format!("kill after step {step}, seed {seed}");
            let mut life = before.clone();
            let disk = disk.copy(step * 4 + seed + 1).after_kill();
            live(&disk, &mut life, 2, &mut 9, &context).unwrap_or_else(|error| panic!("{context}: {error}"));
            let disk = disk.after_crash();
            live(&disk, &mut life, 0, &mut 9, &context).unwrap_or_else(|error| panic!("{context}: {error}"));
        }
    }
}

/// How many histories are tried; more with `LAPWING_CRASH_SEEDS`.
fn seeds() -> std::ops::Range<u64> {
    let wanted = std::env::var("LAPWING_CRASH_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    1..wanted.unwrap_or(100)
}

#[test]
fn many_crashes_in_a_row_lose_nothing_that_was_committed() {
    for seed in seeds() {
        let mut random = seed * 0x9E37_79B9;
        let mut life = Life::new(seed % 2 == 0);
        let mut disk = SimDisk::new(seed);
        if seed % 3 == 0 {
            disk.forbid_allocate();
        }
        for number in 0..8 {
            let context = format!("seed {seed}, life {number}");
            disk.crash_after(next_random(&mut random) % 120);
            match live(&disk, &mut life, 1000, &mut random, &context) {
                Err(error @ StoreError::Corrupt { .. }) => panic!("{context}: {error}"),
                Err(_) if next_random(&mut random).is_multiple_of(3) => disk = disk.after_kill(),
                Err(_) => disk = disk.after_crash(),
                Ok(()) => panic!("{context}: a thousand rounds are more than the steps it was given"),
            }
        }
        live(&disk, &mut life, 3, &mut random, "the last life").unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}
