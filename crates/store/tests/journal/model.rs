//! The journal against a map: any run of appends, markers, truncations, purges, votes, commits, restarts and kills.

use crate::common::*;
use crate::expected::Model;
use crate::sim::SimDisk;
use lapwing_store::journal::{JournalReader, JournalWriter};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Action {
    Append { group: usize, bytes: usize, count: usize },
    Truncate { group: usize, from: u64 },
    Purge { group: usize, through: u64 },
    Mark { group: usize, bytes: usize },
    Vote { group: usize, vote: u64 },
    Die { group: usize, through: u64, divisor: u64 },
    Compact { budget_bytes: u64 },
    Commit,
    Close,
    Kill,
}

/// Few groups, so that much happens to each.
fn group() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0usize), Just(1), Just(15), Just(17)]
}

fn actions() -> impl Strategy<Value = Action> {
    prop_oneof![
        12 => (group(), 0usize..6000, 1usize..8).prop_map(|(group, bytes, count)| Action::Append { group, bytes, count }),
        2 => (group(), 0u64..60).prop_map(|(group, from)| Action::Truncate { group, from }),
        2 => (group(), 0u64..60).prop_map(|(group, through)| Action::Purge { group, through }),
        2 => (group(), 0u64..60, 1u64..9).prop_map(|(group, through, divisor)| Action::Die { group, through, divisor }),
        4 => (1u64..200_000).prop_map(|budget_bytes| Action::Compact { budget_bytes }),
        2 => (group(), 0usize..300).prop_map(|(group, bytes)| Action::Mark { group, bytes }),
        1 => (group(), any::<u64>()).prop_map(|(group, vote)| Action::Vote { group, vote }),
        6 => Just(Action::Commit),
        1 => Just(Action::Close),
        1 => Just(Action::Kill),
    ]
}

struct Run {
    disk: SimDisk,
    writer: Option<JournalWriter>,
    reader: JournalReader,
    model: Model,
    committed: Model,
}

impl Run {
    fn new(is_of_cluster: bool) -> Self {
        let disk = SimDisk::new(3);
        let (writer, reader) = open_sim(&disk).expect("open");
        Self {
            disk,
            writer: Some(writer),
            reader,
            model: Model::new(is_of_cluster),
            committed: Model::new(is_of_cluster),
        }
    }

    fn apply(&mut self, action: &Action) {
        let writer = self.writer.as_mut().expect("always one between two actions");
        let model = &mut self.model;
        match *action {
            Action::Append { group, bytes, count } => {
                (0..count).for_each(|_| model.append(writer, group, bytes).expect("append"));
            }
            Action::Truncate { group, from } => model.truncate(writer, group, from).expect("truncate"),
            Action::Purge { group, through } => model.purge(writer, group, through).expect("purge"),
            Action::Mark { group, bytes } => model.mark(writer, group, bytes).expect("a marker"),
            Action::Vote { group, vote } => model.vote(writer, group, vote).expect("vote"),
            Action::Die { group, through, divisor } => {
                // What is dead is so whatever becomes of the last commit.
                self.committed.die(group, through, (divisor, through));
                model.groups.iter_mut().zip(&self.committed.groups).for_each(|(g, c)| g.dead.extend(&c.dead));
            }
            Action::Compact { budget_bytes } => {
                self.committed.compact(writer, budget_bytes).expect("compact");
            }
            Action::Commit => {
                writer.commit().expect("commit");
                self.committed = self.model.clone();
            }
            Action::Close => {
                self.writer.take().expect("a writer").close().expect("close");
                self.committed = self.model.clone();
                self.reopen();
            }
            Action::Kill => {
                self.writer = None;
                self.model = Model { number: self.model.number, ..self.committed.clone() };
                self.reopen();
            }
        }
    }

    fn reopen(&mut self) {
        let (writer, reader) = open_sim(&self.disk).expect("open");
        (self.writer, self.reader) = (Some(writer), reader);
        self.check();
    }

    fn check(&self) {
        self.committed.check(&self.reader).unwrap_or_else(|what| panic!("{what}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]
    #[test]
    fn the_journal_is_a_map(is_of_cluster: bool, actions in proptest::collection::vec(actions(), 1..100)) {
        let mut run = Run::new(is_of_cluster);
        for (place, action) in actions.iter().enumerate() {
            run.apply(action);
            if place % 10 == 9 {
                run.check();
            }
        }
        run.apply(&Action::Close);
    }
}
