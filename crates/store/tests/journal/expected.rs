//! The journal as a map: what every way of reading has to show.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use crate::common::*;
use crate::raft_model::RaftModel;
use lapwing_store::StoreError;
use lapwing_store::journal::{Compacted, DataGroupId, Entry, JournalReader, JournalWriter};

/// One group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    /// By index: term and body.
    pub entries: BTreeMap<u64, (u64, Vec<u8>)>,
    pub last: u64,
    pub term: u64,
    pub purged: u64,
    pub vote: Vec<u8>,
    pub raft: RaftModel,
    /// Nobody needs these any more; at or below `purged`. They may be gone or still there.
    pub dead: BTreeSet<u64>,
}

impl Group {
    /// What a read may find at `index`.
    fn allows(&self, index: u64, body: Option<&[u8]>) -> bool {
        match (self.entries.get(&index), body) {
            (Some(_), None) => self.dead.contains(&index),
            (Some(expected), Some(found)) => expected.1 == found,
            (None, found) => found.is_none(),
        }
    }
}

/// Places of groups; nobody has the one of the journal itself.
const PLACES: usize = DataGroupId::METADATA.0 as usize + 1;
const OWN: usize = 16;

/// Every group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    pub groups: Vec<Group>,
    /// The groups from 15 on have Raft indexes.
    pub is_of_cluster: bool,
    /// Bodies tell their number, so that an old entry cannot pass for a new one.
    pub number: u64,
}

impl Model {
    pub fn new(is_of_cluster: bool) -> Self {
        Self { groups: vec![Group::default(); PLACES], is_of_cluster, number: 0 }
    }

    /// The last entry of a group, or the last Raft index of one that has them.
    pub fn last(&self, group: usize) -> u64 {
        let model = &self.groups[group];
        if self.has_raft(group) { model.raft.last } else { model.last }
    }

    fn has_raft(&self, group: usize) -> bool {
        self.is_of_cluster && group >= 15
    }

    /// Appends to both.
    pub fn append(&mut self, writer: &mut JournalWriter, group: usize, bytes: usize) -> Result<(), StoreError> {
        let mut body = format!("{group}/{}:", self.number).into_bytes();
        body.resize(body.len() + bytes, self.number as u8);
        let (has_raft, is_of_last) = (self.has_raft(group), self.number.is_multiple_of(3));
        let model = &mut self.groups[group];
        let raft_index = if has_raft { model.raft.next(model.term, is_of_last) } else { 0 };
        let next = entry(DataGroupId(group as u16), model.last + 1, model.term, &body);
        writer.append(Entry { raft_index, ..next })?;
        model.last += 1;
        if has_raft {
            model.raft.append(raft_index, model.term, model.last);
        }
        model.entries.insert(model.last, (model.term, body));
        self.number += 1;
        Ok(())
    }

    /// A marker in both, in a group that has Raft indexes.
    pub fn mark(&mut self, writer: &mut JournalWriter, group: usize, bytes: usize) -> Result<(), StoreError> {
        let has_raft = self.has_raft(group);
        let model = &mut self.groups[group];
        if has_raft { model.raft.mark(writer, DataGroupId(group as u16), model.term, bytes) } else { Ok(()) }
    }

    /// Truncates both from `from`, which is clamped to what may be truncated; the next term begins. It is an entry, or in a group
    /// that has them a Raft index.
    pub fn truncate(&mut self, writer: &mut JournalWriter, group: usize, from: u64) -> Result<(), StoreError> {
        let has_raft = self.has_raft(group);
        let model = &mut self.groups[group];
        let from = if has_raft {
            model.raft.truncate(writer, DataGroupId(group as u16), from)? + 1
        } else {
            let from = from.clamp(model.purged + 1, model.last + 1);
            writer.truncate(DataGroupId(group as u16), from)?;
            from
        };
        model.entries.split_off(&from);
        model.last = from - 1;
        model.term += 1;
        Ok(())
    }

    /// Purges both through an entry, or in a group that has them a Raft index.
    pub fn purge(&mut self, writer: &mut JournalWriter, group: usize, through: u64) -> Result<(), StoreError> {
        let has_raft = self.has_raft(group);
        let (model, id) = (&mut self.groups[group], DataGroupId(group as u16));
        let through = if has_raft {
            model.raft.purge(writer, id, (through, model.term, model.last))?
        } else {
            writer.purge(id, through, model.term)?;
            through
        };
        model.purged = model.purged.max(through);
        model.last = model.last.max(through);
        Ok(())
    }

    pub fn vote(&mut self, writer: &mut JournalWriter, group: usize, vote: u64) -> Result<(), StoreError> {
        writer.vote(DataGroupId(group as u16), &vote.to_le_bytes())?;
        self.groups[group].vote = vote.to_le_bytes().to_vec();
        Ok(())
    }

    /// Every entry of a group through `through` that is purged, and of which `number` has a certain remainder, dies.
    pub fn die(&mut self, group: usize, through: u64, (divisor, remainder): (u64, u64)) {
        let model = &mut self.groups[group];
        let through = through.min(model.purged);
        let dying = model.entries.range(..=through).map(|entry| *entry.0);
        model.dead.extend(dying.filter(|index| divisor == 1 || index % divisor != remainder % divisor));
    }

    /// Compacts within a budget, asking this model.
    pub fn compact(&self, writer: &mut JournalWriter, budget_bytes: u64) -> Result<Compacted, StoreError> {
        let mut asked = 0;
        let done = writer.compact(
            &mut |group, index| {
                asked += 1;
                let group = &self.groups[usize::from(group.0)];
                assert!(index <= group.purged, "entry {index} is needed for replay");
                !group.dead.contains(&index)
            },
            budget_bytes,
        );
        assert!(asked <= budget_bytes / 64 + 1, "{asked} for {budget_bytes}");
        done
    }

    /// Compares all that can be read.
    pub fn check(&self, reader: &JournalReader) -> Result<(), String> {
        for (place, group) in self.groups.iter().enumerate().filter(|group| group.0 != OWN) {
            check_group(DataGroupId(place as u16), group, reader).map_err(|what| format!("group {place}: {what}"))?;
        }
        self.check_replay(reader)
    }

    fn check_replay(&self, reader: &JournalReader) -> Result<(), String> {
        let mut from = [0; 16];
        self.groups.iter().zip(&mut from).for_each(|(group, from)| *from = group.purged + 1);
        let mut next = from;
        let mut wrong = None;
        let replayed = reader.replay(&from, &mut |entry| {
            let place = usize::from(entry.group.0);
            let expected = self.groups[place].entries.get(&entry.index);
            if entry.index != next[place] || expected.is_none_or(|expected| expected.1 != entry.body) {
                wrong = Some((place, entry.index, next[place]));
                return ControlFlow::Break(());
            }
            next[place] += 1;
            ControlFlow::Continue(())
        });
        replayed.map_err(|error| error.to_string())?;
        match wrong.is_none() && self.groups.iter().zip(next).all(|(group, next)| group.last + 1 == next) {
            true => Ok(()),
            false => Err(format!("replayed up to {next:?}, wrong {wrong:?}")),
        }
    }
}

fn check_group(id: DataGroupId, group: &Group, reader: &JournalReader) -> Result<(), String> {
    let log = reader.group(id).map_err(|error| error.to_string())?;
    let stands = (log.last_index, log.purged_index, log.vote);
    if stands != (group.last, group.purged, group.vote.clone()) {
        return Err(format!("{stands:?} is not {:?}", (group.last, group.purged)));
    }
    group.raft.check(id, reader)?;
    let found = read(reader, id, 0, u64::MAX).map_err(|error| error.to_string())?;
    let indexes: BTreeSet<u64> = found.iter().map(|entry| entry.0).collect();
    let is_missing = |index: &&u64| !indexes.contains(index) && !group.dead.contains(index);
    let missing: Vec<_> = group.entries.keys().filter(is_missing).collect();
    let wrong = found.iter().filter(|(index, body)| !group.allows(*index, Some(body)));
    let wrong: Vec<_> = wrong.map(|(index, _)| index).collect();
    if !wrong.is_empty() || !found.is_sorted() || !missing.is_empty() {
        return Err(format!("read {indexes:?}; missing {missing:?}, wrong {wrong:?}"));
    }
    let wanted: Vec<u64> = (0..=group.last + 2).step_by(3).collect();
    for index in &wanted {
        let found = reader.get(id, *index).map_err(|error| error.to_string())?;
        if found.is_some() != indexes.contains(index)
            || !group.allows(*index, found.as_ref().map(|entry| &entry.body[..]))
        {
            return Err(format!("entry {index} is another one"));
        }
    }
    let mut picked = vec![];
    let each = &mut |entry: lapwing_store::journal::EntryView<'_>| {
        picked.push(entry.index);
        ControlFlow::Continue(())
    };
    reader.get_many(id, &wanted, each).map_err(|error| error.to_string())?;
    let there: Vec<u64> = wanted.into_iter().filter(|index| indexes.contains(index)).collect();
    if picked == there { Ok(()) } else { Err(format!("picked {picked:?}, not {there:?}")) }
}
