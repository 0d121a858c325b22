//! The machine goes down at every change of the file system: nothing synced is missing afterwards, nothing else is
//! required, and no reader had seen what is missing.

use std::path::Path;
use std::sync::Arc;

use crate::common::*;
use crate::sim::contents::next_random;
use crate::sim::{SimDisk, changes};
use lapwing_store::{Log, LogConfig, LogReader, LogWriter, StoreError, StreamConfig};

const PARTITIONS: u32 = 3;

fn config() -> StreamConfig {
    StreamConfig { retain_bytes: 300 << 10, ..small("s", PARTITIONS) }
}

fn open(disk: &SimDisk) -> Result<(LogWriter, LogReader), StoreError> {
    Log::open_on(Arc::new(disk.clone()), Path::new("/data"), &LogConfig::default(), &[config()])
}

/// What was appended, and how much of it is committed, per partition.
#[derive(Debug, Clone, Default)]
struct Model {
    bodies: Vec<Vec<Vec<u8>>>,
    committed: Vec<usize>,
    /// Body numbers never repeat, so that an old record cannot pass for a new one.
    number: u64,
}

impl Model {
    fn new() -> Self {
        Self { bodies: vec![vec![]; PARTITIONS as usize], committed: vec![0; PARTITIONS as usize], number: 0 }
    }

    /// Compares what is there after a crash, and goes on from it.
    fn check_recovered(&mut self, reader: &LogReader, context: &str) {
        for partition in 0..PARTITIONS {
            let place = partition as usize;
            let info = reader.streams()[0].partitions[place];
            let (first, next) = (info.first_offset as usize, info.next_offset as usize);
            assert!(next >= self.committed[place], "{context}: {next} of {} committed", self.committed[place]);
            let found = read_all(reader, partition);
            let expected = &self.bodies[place][first..next];
            assert_eq!(found.len(), expected.len(), "{context}: records of partition {partition} from {first}");
            let differs = found.iter().zip(expected).position(|(found, expected)| found != expected);
            assert_eq!(differs, None, "{context}: the first record of partition {partition} that is another one");
            self.bodies[place].truncate(next);
            self.committed[place] = next;
        }
    }
}

/// Appends, commits and trims until the disk fails or `rounds` are done.
fn work(
    writer: &mut LogWriter,
    reader: &LogReader,
    model: &mut Model,
    rounds: u64,
    random: &mut u64,
) -> Result<(), StoreError> {
    for round in 0..rounds {
        for _ in 0..next_random(random) % 8 {
            let partition = (next_random(random) % u64::from(PARTITIONS)) as u32;
            let mut body = format!("{}:", model.number).into_bytes();
            body.resize(body.len() + (next_random(random) % 4000) as usize, model.number as u8);
            model.number += 1;
            writer.append(FIRST, record(partition, &body))?;
            model.bodies[partition as usize].push(body);
        }
        writer.commit()?;
        model.committed = model.bodies.iter().map(Vec::len).collect();
        if round % 4 == 3 {
            writer.retain(NOW_US / 1000)?;
        }
        for partition in reader.streams()[0].partitions.iter() {
            assert_eq!(partition.next_offset as usize, model.committed[partition.partition as usize]);
        }
    }
    Ok(())
}

/// One life of the machine: open, check what is there, work; an error means that it went down.
fn live(disk: &SimDisk, model: &mut Model, rounds: u64, random: &mut u64, context: &str) -> Result<(), StoreError> {
    let (mut writer, reader) = open(disk)?;
    if disk.is_down() {
        // It went down in a step that the log can do without; nobody is there to read.
        return Err(StoreError::Stopped { reason: "the machine is down".to_owned() });
    }
    // Reading may write indexes; the machine does not go down while the test looks.
    let steps_left = disk.disarm();
    model.check_recovered(&reader, context);
    disk.crash_after(steps_left);
    let result = work(&mut writer, &reader, model, rounds, random);
    for partition in reader.streams()[0].partitions.iter() {
        let committed = model.committed[partition.partition as usize];
        assert!(partition.next_offset as usize <= committed.max(model.bodies[partition.partition as usize].len()));
    }
    result?;
    writer.close()
}

#[test]
fn a_crash_at_every_change_loses_nothing_that_was_synced() {
    let rounds = 40;
    let whole = SimDisk::new(1);
    live(&whole, &mut Model::new(), rounds, &mut 7, "no crash").expect("no fault");
    let steps = whole.steps();
    assert!(steps > 150, "{steps} steps");
    for step in changes(steps) {
        let context = format!("crash after step {step}");
        let disk = SimDisk::new(step + 1);
        disk.crash_after(step);
        let mut model = Model::new();
        // Steps that only save space or time may fail without a word, so the last ones may end well.
        let _ = live(&disk, &mut model, rounds, &mut 7, &context);
        let disk = disk.after_crash();
        live(&disk, &mut model, 5, &mut 9, &context).unwrap_or_else(|error| panic!("{context}: {error}"));
        live(&disk, &mut model, 0, &mut 9, &context).unwrap_or_else(|error| panic!("{context}: {error}"));
    }
}

/// A process that is killed leaves names that the system knows and the disk does not. What is committed after the restart
/// is worth as much as the name of the file that it is in.
#[test]
fn a_kill_at_every_change_and_a_power_cut_after_the_restart_lose_nothing() {
    let rounds = 25;
    let whole = SimDisk::new(1);
    live(&whole, &mut Model::new(), rounds, &mut 7, "no crash").expect("no fault");
    for step in changes(whole.steps()) {
        let disk = SimDisk::new(1);
        disk.crash_after(step);
        let mut before = Model::new();
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

#[test]
fn many_crashes_in_a_row_lose_nothing_that_was_synced() {
    for seed in 1..150 {
        let mut random = seed * 0x9E37_79B9;
        let mut model = Model::new();
        let mut disk = SimDisk::new(seed);
        if seed % 3 == 0 {
            disk.forbid_allocate();
        }
        for life in 0..8 {
            let context = format!("seed {seed}, life {life}");
            disk.crash_after(next_random(&mut random) % 120);
            match live(&disk, &mut model, 1000, &mut random, &context) {
                Err(error @ StoreError::Corrupt { .. }) => panic!("{context}: {error}"),
                Err(_) if next_random(&mut random).is_multiple_of(3) => disk = disk.after_kill(),
                Err(_) => disk = disk.after_crash(),
                Ok(()) => panic!("{context}: a thousand rounds are more than the steps it was given"),
            }
        }
        live(&disk, &mut model, 3, &mut random, "the last life").unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}
