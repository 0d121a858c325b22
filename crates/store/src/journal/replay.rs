//! Reading every group from where its snapshot ends, in one pass over the files: what happens when a node starts.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use super::data_group::{DataGroupId, GROUPS, PLACES};
use super::entry::EntryView;
use super::index::SegmentIndex;
use super::info::Replayed;
use super::manifest::Listed;
use super::map::Held;
use super::reader::JournalReader;
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::info::ReadLimits;
use crate::record::{self, Fault, HEADER_BYTES, LIFETIME_KEPT, RecordHeader, RecordKind};
use crate::window::Window;

/// A stretch of a group in the segment that is being read.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    next: u64,
    last: u64,
    /// Where the stretch begins: entries of the same indexes before it are void.
    begins_at: u64,
}

/// One segment to read.
struct Part {
    file: Arc<dyn DiskFile>,
    path: Arc<Path>,
    from: u64,
    end: u64,
    /// Per group, the last one first.
    wanted: Vec<Vec<Wanted>>,
}

impl JournalReader {
    /// Hands every entry from `from[group]` on to `each`: ascending within a group, the groups interleaved. One pass over
    /// the files for what lies above the purged indexes; what lies below is read group by group.
    ///
    /// The group of the metadata is read by itself, and markers by [`JournalReader::read_raft`].
    ///
    /// Meant for starting: what is appended meanwhile may or may not be handed over.
    /// # Errors
    /// `Corrupt`, `Io`; what was handed over before is good.
    pub fn replay(
        &self,
        from: &[u64; GROUPS],
        each: &mut impl FnMut(EntryView<'_>) -> ControlFlow<()>,
    ) -> Result<Replayed, StoreError> {
        self.replay_telling(from, each, &mut |_| {})
    }

    /// The bytes of the files that [`JournalReader::replay`] goes through above the purged indexes.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub fn replay_bytes(&self, from: &[u64; GROUPS]) -> Result<u64, StoreError> {
        let from = everywhere(from);
        self.replay_order().into_iter().try_fold(0, |bytes, (sequence, listed)| {
            let part = self.part(sequence, listed, &from)?;
            Ok(bytes + part.map_or(0, |part| part.end.saturating_sub(part.from)))
        })
    }

    /// As [`JournalReader::replay`]; `passed` is told how many bytes of [`JournalReader::replay_bytes`] it has gone on by.
    ///
    /// # Errors
    /// As [`JournalReader::replay`].
    pub fn replay_telling(
        &self,
        from: &[u64; GROUPS],
        each: &mut impl FnMut(EntryView<'_>) -> ControlFlow<()>,
        passed: &mut impl FnMut(u64),
    ) -> Result<Replayed, StoreError> {
        let mut replayed = Replayed::default();
        let done = Cell::new(false);
        let mut hand = |entry: EntryView<'_>| {
            replayed.entries += 1;
            replayed.bytes += entry.body.len() as u64;
            let flow = each(entry);
            done.set(done.get() || flow.is_break());
            flow
        };
        let next = self.replay_purged(from, &mut hand)?;
        for (sequence, listed) in self.replay_order() {
            if done.get() {
                break;
            }
            if let Some(part) = self.part(sequence, listed, &next)? {
                self.replay_part(part, &mut hand, passed)?;
            }
        }
        Ok(replayed)
    }

    /// What lies at or below the purged indexes; returns from where on each group goes on.
    fn replay_purged(
        &self,
        from: &[u64; GROUPS],
        each: &mut impl FnMut(EntryView<'_>) -> ControlFlow<()>,
    ) -> Result<[u64; PLACES], StoreError> {
        let mut next = everywhere(from);
        for (group, next) in DataGroupId::all().zip(&mut next) {
            let purged = self.group(group)?.purged_index;
            if *next <= purged {
                let everything = ReadLimits { messages_max: u64::MAX, bytes_max: u64::MAX };
                self.read(group, *next, purged, everything, each)?;
                *next = purged + 1;
            }
        }
        Ok(next)
    }

    /// The segments as they were written, the active one last.
    fn replay_order(&self) -> Vec<(u64, Option<Listed>)> {
        let state = self.shared.state();
        let young = state.sealed.iter().filter(|(_, listed)| listed.lifetime != LIFETIME_KEPT);
        let sealed = young.map(|(sequence, listed)| (*sequence, Some(*listed)));
        sealed.chain([(state.active.sequence, None)]).collect()
    }

    /// What is wanted of a segment; nothing when that is nothing.
    fn part(&self, sequence: u64, listed: Option<Listed>, next: &[u64; PLACES]) -> Result<Option<Part>, StoreError> {
        let mut held = self.shared.state().map.of_segment(sequence);
        held.retain(|(place, held)| held.last >= next[*place]);
        if held.is_empty() {
            return Ok(None);
        }
        if let Some(listed) = listed {
            let segment = self.shared.open_sealed(sequence, listed)?;
            let (from, wanted) = wanted(&segment.index, &held, next);
            let (file, path) = (segment.file.clone(), segment.path.clone());
            return Ok(Some(Part { file, path, from, end: listed.end, wanted }));
        }
        let state = self.shared.state();
        let active = &state.active;
        let (from, wanted) = wanted(&active.index, &held, next);
        let (file, path) = (active.file.clone(), active.path.clone());
        Ok((active.sequence == sequence).then_some(Part { file, path, from, end: active.end, wanted }))
    }

    fn replay_part(
        &self,
        mut part: Part,
        each: &mut impl FnMut(EntryView<'_>) -> ControlFlow<()>,
        passed: &mut impl FnMut(u64),
    ) -> Result<(), StoreError> {
        let mut window = Window::new(&*part.file, &part.path, part.end);
        let mut at = part.from;
        while at < part.end {
            let corrupt = |fault: Fault| StoreError::corrupt(&part.path, at, fault.to_string());
            let header = window.slice(at, HEADER_BYTES)?;
            let total = record::peek_bytes(header).map_err(corrupt)?;
            let (kind, partition, index) = RecordHeader::peek(header).map_err(corrupt)?;
            let is_entry = kind == RecordKind::Data;
            if is_entry && part.wanted.get_mut(partition as usize).is_some_and(|list| takes(list, index, at)) {
                let decoded = record::decode(window.slice(at, total)?, self.shared.salt);
                let entry = decoded.and_then(|(header, body)| EntryView::of(&header, body)).map_err(corrupt)?;
                if each(entry).is_break() {
                    return Ok(());
                }
            }
            at += total as u64;
            passed(total as u64);
        }
        match part.wanted.iter().flatten().next() {
            None => Ok(()),
            Some(missing) => Err(StoreError::corrupt(&part.path, at, format!("entry {} is missing", missing.next))),
        }
    }
}

/// By partition; nothing is wanted of what is not replayed.
fn everywhere(from: &[u64; GROUPS]) -> [u64; PLACES] {
    let mut next = [u64::MAX; PLACES];
    next[..GROUPS].copy_from_slice(from);
    next
}

/// Whether the record at `at` is the next entry of its group; then the one behind it is the next.
fn takes(list: &mut Vec<Wanted>, index: u64, at: u64) -> bool {
    match list.last_mut() {
        Some(wanted) if wanted.next == index && at >= wanted.begins_at => {
            wanted.next += 1;
            if wanted.next > wanted.last {
                list.pop();
            }
            true
        }
        _ => false,
    }
}

/// Per group the stretches that are wanted, the last one first, and where to begin.
fn wanted(index: &SegmentIndex, held: &[(usize, Held)], next: &[u64; PLACES]) -> (u64, Vec<Vec<Wanted>>) {
    let mut lists = vec![vec![]; PLACES];
    let mut from = u64::MAX;
    for (place, held) in held.iter().rev() {
        for stretch in index.groups[*place].stretches.iter().rev() {
            let first = stretch.first.max(held.first).max(next[*place]);
            let last = stretch.last.min(held.last);
            if first > last {
                continue;
            }
            let begins_at = stretch.marks.first().map_or(0, |mark| mark.position);
            from = from.min(index.seek(*place, first).map_or(begins_at, |found| found.1));
            lists[*place].push(Wanted { next: first, last, begins_at });
        }
    }
    (from, lists)
}
