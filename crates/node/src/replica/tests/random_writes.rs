//! Writes of any kind, with the machine going down in between. What is found again is, of each group, what some of the parts
//! of the writes in their order add up to, and no part is missing that was called persisted.

use lapwing_ledger::DataGroupState;
use lapwing_peer::GroupNumber;
use lapwing_raft::{Change, Membership, Position, Standing, Vote};
use lapwing_replica::{Body, GroupWrite, LogEntry, Write};
use lapwing_store::journal::{JournalReader, JournalWriter};

use super::model::{Model, Step};
use super::{batch, check_engine, clients, entry, group, open};
use crate::log::crash::sim::contents::{chance, next_random};
use crate::log::crash::sim::{SimDisk, changes};
use crate::replica::{Preface, ReplicaError, Started, WriteQueue, journal_group, start, write_data_group};

const GROUPS: [u8; 4] = [0, 3, 15, 17];
const WRITES: u64 = 90;

/// Who makes the writes, and knows what they add up to.
struct Author {
    random: u64,
    models: Vec<Model>,
    /// By group: the parts so far, each with the number of its write.
    steps: Vec<Vec<(u64, Step)>>,
    clients: u64,
}

impl Author {
    fn new(seed: u64) -> Self {
        let models = GROUPS.iter().map(|number| Model::new(group(*number))).collect();
        Author { random: seed, models, steps: vec![vec![]; GROUPS.len()], clients: 0 }
    }

    fn below(&mut self, end: u64) -> u64 {
        next_random(&mut self.random) % end
    }

    fn write(&mut self, number: u64) -> Write {
        let must_sync = chance(&mut self.random, 2);
        let some: Vec<usize> = (0..GROUPS.len()).filter(|_| chance(&mut self.random, 2)).collect();
        let groups = some.into_iter().map(|at| self.group_write(number, at)).collect();
        Write { number, must_sync, groups }
    }

    fn step(&mut self, (number, at): (u64, usize), step: Step) {
        self.models[at].take(&step);
        self.steps[at].push((number, step));
    }

    fn group_write(&mut self, number: u64, at: usize) -> GroupWrite {
        let (last, vote) = (self.models[at].last().index, self.models[at].vote);
        let mut term = vote.term.max(1) + u64::from(chance(&mut self.random, 8));
        let mut truncate_from = None;
        if last > vote.commit && chance(&mut self.random, 5) {
            let from = vote.commit + 1 + self.below(last - vote.commit);
            self.step((number, at), Step::Truncate(from));
            (truncate_from, term) = (Some(from), term + 1);
        }
        let entries: Vec<LogEntry> = (0..self.below(5)).map(|_| self.entry((number, at), term)).collect();
        let last = self.models[at].last().index;
        let commit = vote.commit + self.below(last - vote.commit + 1);
        let new = Vote { term, voted_for: self.below(4), commit };
        let vote = (term > vote.term || chance(&mut self.random, 2)).then_some(new);
        vote.into_iter().for_each(|vote| self.step((number, at), Step::Vote(vote)));
        GroupWrite { group: self.models[at].group, install: None, truncate_from, entries, vote }
    }

    fn entry(&mut self, (number, at): (u64, usize), term: u64) -> LogEntry {
        let model = &self.models[at];
        let (group, index, sequence) = (model.group, model.last().index + 1, model.next_sequence());
        let body = match self.below(6) {
            0 => Body::Blank,
            1 => {
                let standing = if chance(&mut self.random, 2) { Standing::Voter } else { Standing::Gone };
                let change = Change { node: 1 + self.below(9), standing };
                Body::Membership(vec![change; self.below(3) as usize])
            }
            _ => {
                let first = self.clients;
                // Now and then one that is larger than what may wait.
                let end = if chance(&mut self.random, 12) { 60 } else { 6 };
                self.clients += 1 + self.below(end);
                batch(group, sequence, first..self.clients)
            }
        };
        let entry = entry(index, term, body);
        self.step((number, at), Step::Append(entry.clone()));
        entry
    }
}

fn membership() -> Membership {
    Membership::of(&[1, 2, 3])
}

/// Works until all is written or the machine goes down; the number of the last write that is persisted.
fn live(disk: &SimDisk, author: &mut Author) -> u64 {
    let mut persisted = 0;
    let Ok((mut journal, reader)) = open(disk) else { return 0 };
    let mut queue = WriteQueue::new(reader.clone());
    for number in 1..=WRITES {
        let write = author.write(number);
        let must_sync = write.must_sync;
        queue.push(write);
        match queue.go_on(&mut journal) {
            Ok(through) => {
                assert!(!must_sync || through == number, "somebody waits for write {number}, not for {through}");
                assert!(through >= persisted && through <= number);
                persisted = through;
            }
            Err(_) => return persisted,
        }
        if persisted == number && author.below(6) == 0 && cover(&mut journal, &reader, author).is_err() {
            return persisted;
        }
    }
    persisted
}

/// Has a data group begin behind its commit, as a node does when its log has grown. All is on disk.
fn cover(journal: &mut JournalWriter, reader: &JournalReader, author: &mut Author) -> Result<(), ReplicaError> {
    let at = author.below(GROUPS.len() as u64 - 1) as usize;
    let model = &author.models[at];
    let commit = model.vote.commit;
    let mut state = DataGroupState::new();
    for (sequence, body) in (1..).zip(model.bodies(commit)) {
        state.apply(sequence, &body).expect("in order");
    }
    if commit > 0 {
        let preface = Preface { at: Position { index: commit, term: model.term_at(commit) }, membership: membership() };
        let (covered, _) = write_data_group(reader, model.group, &preface, state.freeze())?;
        journal.purge_raft(journal_group(model.group), covered)?;
    }
    Ok(())
}

/// Each group is what its steps add up to, through some step that is not below those of the persisted writes.
fn check(disk: &SimDisk, author: &Author, persisted: u64, context: &str) {
    let (mut journal, reader) = open(disk).unwrap_or_else(|error| panic!("{context}: {error}"));
    let started = start(&mut journal, &reader).unwrap_or_else(|error| panic!("{context}: {error}"));
    for (at, number) in GROUPS.into_iter().enumerate() {
        let steps = &author.steps[at];
        let least = steps.iter().filter(|(number, _)| *number <= persisted).count();
        let mut model = Model::new(group(number));
        steps[..least].iter().for_each(|(_, step)| model.take(step));
        let mut rest = steps[least..].iter();
        while !is_found(&started, &model) {
            let Some((_, step)) = rest.next() else {
                panic!("{context}: group {number} is no prefix of what was written; persisted: {persisted}")
            };
            model.take(step);
        }
    }
    started.logs.iter().for_each(|log| check_engine(log, context));
}

fn is_found(started: &Started, model: &Model) -> bool {
    let log = started.logs.iter().find(|log| log.group == model.group).expect("every group");
    let (compacted, last) = (log.tail.compacted, model.last());
    if compacted.index > last.index || compacted.term != model.term_at(compacted.index) {
        return false;
    }
    // What the log itself tells beyond its vote record.
    let term = last.term.max(compacted.term);
    let voted_for = if model.vote.term < term { 0 } else { model.vote.voted_for };
    let commit = model.vote.commit.max(compacted.index);
    let vote = Vote { term: model.vote.term.max(term), voted_for, commit };
    let members = if compacted.index == 0 { Membership::default() } else { membership() };
    log.tail.vote == vote
        && log.tail.membership == members
        && log.tail.entries == model.headers(compacted.index)
        && log.waiting == model.batches(commit)
        && has_state(started, model, commit)
}

/// The state is that of what is committed: no more, and no less.
fn has_state(started: &Started, model: &Model, commit: u64) -> bool {
    let bodies = model.bodies(commit);
    if model.group == GroupNumber::METADATA {
        return started.cluster.applied() == bodies.len() as u64;
    }
    let mut state = DataGroupState::new();
    for (sequence, body) in (1..).zip(&bodies) {
        state.apply(sequence, body).expect("in order");
    }
    let expected: Vec<_> = state.sessions().map(|kept| kept.client_id().to_owned()).collect();
    let applied = started.data_groups.get(u16::from(model.group.value())).applied();
    applied == bodies.len() as u64 && clients(&started.data_groups, model.group) == expected
}

/// How many changes of the file system a run makes; it is found again, whole.
fn steps(seed: u64) -> u64 {
    let (disk, mut author) = (SimDisk::new(seed), Author::new(seed));
    let persisted = live(&disk, &mut author);
    check(&disk, &author, persisted, "no crash");
    assert!(author.steps.iter().all(|steps| steps.len() > 60), "enough is done");
    assert!(disk.steps() > 100, "{} changes are too few to mean something", disk.steps());
    disk.steps()
}

#[test]
fn after_a_power_cut_each_log_is_a_prefix_with_all_that_was_persisted() {
    let seed = 11;
    for step in changes(steps(seed)) {
        let (disk, mut author) = (SimDisk::new(step + 1), Author::new(seed));
        disk.crash_after(step);
        let persisted = live(&disk, &mut author);
        check(&disk.after_crash(), &author, persisted, &format!("power cut after step {step}"));
    }
}

#[test]
fn after_a_kill_each_log_is_a_prefix_with_all_that_was_persisted() {
    let seed = 23;
    for step in changes(steps(seed)) {
        let (disk, mut author) = (SimDisk::new(step + 1), Author::new(seed));
        disk.crash_after(step);
        let persisted = live(&disk, &mut author);
        check(&disk.after_kill(), &author, persisted, &format!("kill after step {step}"));
    }
}
