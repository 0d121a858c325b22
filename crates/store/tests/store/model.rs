//! The log against a list: any run of appends, commits, reads, restarts and crashes.

use std::path::Path;
use std::sync::Arc;

use crate::common::*;
use crate::sim::SimDisk;
use lapwing_store::{Log, LogConfig, LogReader, LogWriter, ReadLimits, StoreError};
use proptest::prelude::*;

const PARTITIONS: u32 = 4;

#[derive(Debug, Clone)]
enum Action {
    Append { partition: u32, bytes: usize, count: usize },
    Commit,
    Read { partition: u32, from: u64, messages_max: u64, bytes_max: u64 },
    Close,
    Kill,
    NameEnd,
}

fn actions() -> impl Strategy<Value = Action> {
    let append = (0..PARTITIONS, 0usize..6000, 1usize..6);
    let read = (0..PARTITIONS, 0u64..80, 0u64..20, 0u64..20_000);
    prop_oneof![
        8 => append.prop_map(|(partition, bytes, count)| Action::Append { partition, bytes, count }),
        4 => Just(Action::Commit),
        4 => read.prop_map(|(partition, from, messages_max, bytes_max)| {
            Action::Read { partition, from, messages_max, bytes_max }
        }),
        1 => Just(Action::Close),
        1 => Just(Action::Kill),
        1 => Just(Action::NameEnd),
    ]
}

fn open(disk: &SimDisk) -> (LogWriter, LogReader) {
    let config = [small("s", PARTITIONS)];
    Log::open_on(Arc::new(disk.clone()), Path::new("/data"), &LogConfig::default(), &config).expect("open")
}

struct Run {
    disk: SimDisk,
    writer: Option<LogWriter>,
    reader: LogReader,
    bodies: Vec<Vec<Vec<u8>>>,
    committed: Vec<usize>,
}

impl Run {
    fn new() -> Self {
        let disk = SimDisk::new(3);
        let (writer, reader) = open(&disk);
        let lists = PARTITIONS as usize;
        Self { disk, writer: Some(writer), reader, bodies: vec![vec![]; lists], committed: vec![0; lists] }
    }

    fn writer(&mut self) -> &mut LogWriter {
        self.writer.as_mut().expect("always one between two actions")
    }

    fn apply(&mut self, action: &Action) {
        match *action {
            Action::Append { partition, bytes, count } => {
                for place in 0..count {
                    let list = &self.bodies[partition as usize];
                    let body = vec![(list.len() + place) as u8; bytes];
                    let expected = list.len() as u64;
                    assert_eq!(append(self.writer(), partition, &body), expected);
                    self.bodies[partition as usize].push(body);
                }
            }
            Action::Commit => {
                self.writer().commit().expect("commit");
                self.committed = self.bodies.iter().map(Vec::len).collect();
            }
            Action::Read { partition, from, messages_max, bytes_max } => {
                self.read(partition, from, ReadLimits { messages_max, bytes_max });
            }
            Action::Close => {
                self.writer.take().expect("a writer").close().expect("close");
                self.committed = self.bodies.iter().map(Vec::len).collect();
                (self.writer, self.reader) = wrap(open(&self.disk));
            }
            Action::Kill => {
                self.writer = None;
                self.bodies.iter_mut().zip(&self.committed).for_each(|(list, kept)| list.truncate(*kept));
                (self.writer, self.reader) = wrap(open(&self.disk));
            }
            Action::NameEnd => drop(self.writer().retain(NOW_US / 1000).expect("retain")),
        }
    }

    fn read(&self, partition: u32, from: u64, limits: ReadLimits) {
        let mut found = vec![];
        let outcome = read_with(&self.reader, partition, from, limits, &mut found);
        let list = &self.bodies[partition as usize][..self.committed[partition as usize]];
        if from > list.len() as u64 {
            assert!(matches!(outcome, Err(StoreError::BeyondEnd { .. })));
            return;
        }
        let outcome = outcome.expect("a read");
        let expected = expected(&list[from as usize..], limits);
        assert_eq!(found.len(), expected.len());
        let numbered = (from..).zip(expected);
        assert!(found.iter().zip(numbered).all(|((offset, body), (place, want))| *offset == place && body == want));
        assert_eq!((outcome.end_offset, outcome.next_offset), (list.len() as u64, from + found.len() as u64));
    }
}

fn wrap((writer, reader): (LogWriter, LogReader)) -> (Option<LogWriter>, LogReader) {
    (Some(writer), reader)
}

/// What a read within limits hands over.
fn expected(list: &[Vec<u8>], limits: ReadLimits) -> &[Vec<u8>] {
    let (mut count, mut bytes) = (0, 0);
    for body in list {
        bytes += body.len() as u64;
        if count == limits.messages_max || (count > 0 && bytes > limits.bytes_max) {
            break;
        }
        count += 1;
    }
    &list[..count as usize]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn the_log_is_a_list(actions in proptest::collection::vec(actions(), 1..80)) {
        let mut run = Run::new();
        actions.iter().for_each(|action| run.apply(action));
        run.apply(&Action::Close);
        for partition in 0..PARTITIONS {
            run.read(partition, 0, EVERYTHING);
        }
    }
}
