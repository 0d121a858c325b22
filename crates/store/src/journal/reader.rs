//! Reading: from any thread, never more than what is synced.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::counters::JournalCounters;
use super::data_group::DataGroupId;
use super::entry::{EntryView, OwnedEntry};
use super::info::{DataGroupLog, JournalInfo, JournalRead};
use super::map::Held;
use super::state::{Place, Shared};
use super::walk::Walk;
use crate::error::StoreError;
use crate::info::ReadLimits;
use crate::notice::Notice;

/// A handle to every data group. Cheap to clone; used by any number of threads beside the writer, and after it.
#[derive(Debug, Clone)]
pub struct JournalReader {
    pub(crate) shared: Arc<Shared>,
}

/// What one read handed over so far.
struct Progress {
    entries: u64,
    bytes: u64,
    next: u64,
    limits: ReadLimits,
    done: bool,
}

impl Progress {
    fn wants_more(&self, to: u64) -> bool {
        !self.done && self.next <= to && self.entries < self.limits.messages_max
    }

    /// Hands the entry over; at least one is, however large.
    fn hand(&mut self, entry: EntryView<'_>, each: &mut impl FnMut(EntryView<'_>) -> ControlFlow<()>) {
        let bytes = self.bytes.saturating_add(entry.body.len() as u64);
        if self.entries > 0 && bytes > self.limits.bytes_max {
            self.done = true;
            return;
        }
        (self.entries, self.bytes, self.next) = (self.entries + 1, bytes, entry.index + 1);
        self.done = each(entry).is_break();
    }
}

impl JournalReader {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// How a group stands.
    ///
    /// # Errors
    /// `NoDataGroup`.
    pub fn group(&self, group: DataGroupId) -> Result<DataGroupLog, StoreError> {
        let place = group.place()?;
        Ok(self.shared.state().groups[place].log())
    }

    /// Hands the entries `from_index..=to_index` of a group that are there to `each`, in order, until a limit or `Break`.
    /// Holes, which compaction leaves at or below the purged index, are passed over.
    ///
    /// An entry on which `each` breaks was handed over and counts.
    /// # Errors
    /// `NoDataGroup`: the caller's. `Corrupt`, `Io`: the journal's; what was handed over before is good.
    pub fn read(
        &self,
        group: DataGroupId,
        from_index: u64,
        to_index: u64,
        limits: ReadLimits,
        each: &mut impl FnMut(EntryView<'_>) -> ControlFlow<()>,
    ) -> Result<JournalRead, StoreError> {
        let place = group.place()?;
        let mut progress = Progress { entries: 0, bytes: 0, next: from_index, limits, done: false };
        while progress.wants_more(to_index) {
            let Some(held) = self.held(place, progress.next, to_index) else {
                progress.next = to_index.saturating_add(1);
                break;
            };
            progress.next = progress.next.max(held.first);
            let result = self.read_stretch(place, held, to_index, &mut progress, each);
            self.explain(place, progress.next, held, result)?;
        }
        JournalCounters::add(&self.shared.counters.read_entries, progress.entries);
        let Progress { entries, bytes, next: next_index, .. } = progress;
        Ok(JournalRead { entries, bytes, next_index })
    }

    /// The entry, nothing when it is not there: never appended, truncated, or given up by compaction.
    ///
    /// # Errors
    /// `NoDataGroup`, `Corrupt`, `Io`.
    pub fn get(&self, group: DataGroupId, index: u64) -> Result<Option<OwnedEntry>, StoreError> {
        let mut found = None;
        self.get_many(group, &[index], &mut |entry| {
            found = Some(entry.to_owned_entry());
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// Hands those entries of a group that are there to `each`, in order; `indexes` ascend. Returns how many there were.
    /// This is how a queue is drained: what lies close together is read at once.
    ///
    /// # Errors
    /// As `get`.
    pub fn get_many(
        &self,
        group: DataGroupId,
        indexes: &[u64],
        each: &mut impl FnMut(EntryView<'_>) -> ControlFlow<()>,
    ) -> Result<u64, StoreError> {
        let place = group.place()?;
        debug_assert!(indexes.is_sorted(), "indexes ascend");
        let (mut rest, mut entries) = (indexes, 0);
        while let Some((first, last)) = rest.first().zip(indexes.last()) {
            let Some(held) = self.held(place, *first, *last) else { break };
            let missing = rest.partition_point(|index| *index < held.first);
            rest = &rest[missing..];
            let Some(wanted) = rest.first().copied().filter(|index| *index <= held.last) else { continue };
            let before = (entries, rest.len());
            let result = self.pick_stretch(place, held, &mut rest, &mut entries, each);
            if let Some(true) = self.explain(place, wanted, held, result)? {
                break;
            }
            debug_assert!(
                (entries, rest.len()) != before || self.held(place, wanted, *last) != Some(held),
                "it goes on"
            );
        }
        JournalCounters::add(&self.shared.counters.read_entries, entries);
        Ok(entries)
    }

    /// The files of the journal.
    pub fn info(&self) -> JournalInfo {
        self.shared.state().info()
    }

    /// Takes what the journal has to say since the last call: what recovery found, indexes rebuilt.
    pub fn take_notices(&self) -> Vec<Notice> {
        self.shared.notices.take()
    }

    /// Counters since the journal was opened.
    pub fn counters(&self) -> &JournalCounters {
        &self.shared.counters
    }

    /// The range that holds `index`, or the next one that begins at or before `to`.
    fn held(&self, place: usize, index: u64, to: u64) -> Option<Held> {
        self.shared.state().map.at_or_behind(place, index).filter(|held| held.first <= to)
    }

    /// Reads on in the one stretch that holds the next entry.
    fn read_stretch(
        &self,
        group: usize,
        held: Held,
        to: u64,
        progress: &mut Progress,
        each: &mut impl FnMut(EntryView<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let Some(place) = self.place(group, progress.next, held)? else {
            progress.next = held.last + 1;
            return Ok(());
        };
        let last = place.last.min(held.last).min(to);
        let likely = (last - progress.next).saturating_add(1).saturating_mul(1 << 10).min(progress.limits.bytes_max);
        let mut walk = Walk::through(&place, self.shared.salt, group, likely);
        while progress.wants_more(last) {
            let entry = walk.find(progress.next)?;
            if place.is_dense && entry.index != progress.next {
                return Err(StoreError::corrupt(
                    &place.path,
                    place.from,
                    format!("entry {} is missing", progress.next),
                ));
            }
            if entry.index > last {
                progress.next = last + 1;
                break;
            }
            progress.hand(entry, each);
        }
        Ok(())
    }

    /// Picks wanted entries out of one stretch; true when `each` broke off.
    fn pick_stretch(
        &self,
        group: usize,
        held: Held,
        rest: &mut &[u64],
        entries: &mut u64,
        each: &mut impl FnMut(EntryView<'_>) -> ControlFlow<()>,
    ) -> Result<bool, StoreError> {
        let Some(first) = rest.first().copied() else { return Ok(false) };
        let Some(place) = self.place(group, first, held)? else {
            *rest = &rest[1..];
            return Ok(false);
        };
        let last = place.last.min(held.last);
        let mut walk = Walk::here_and_there(&place, self.shared.salt, group);
        while let Some(index) = rest.first().copied().filter(|index| *index <= last) {
            if let Some(ahead) = self.mark_before(group, index, held, &place) {
                walk.jump(ahead);
            }
            let entry = walk.find(index)?;
            *rest = &rest[1..];
            if entry.index == index {
                *entries += 1;
                if each(entry).is_break() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Where `index` is found in the segment of `held`; nothing when it lies in a hole between two stretches.
    fn place(&self, group: usize, index: u64, held: Held) -> Result<Option<Place>, StoreError> {
        let listed = {
            let state = self.shared.state();
            if held.sequence == state.active.sequence {
                return Ok(state.place_in_active(group, index));
            }
            state.sealed.get(&held.sequence).copied()
        };
        // It gave way to another one since `held` was looked up: the caller looks again.
        let Some(listed) = listed else { return Err(gone(&self.shared, held.sequence)) };
        let segment = self.shared.open_sealed(held.sequence, listed)?;
        let found = segment.index.seek(group, index);
        Ok(found.map(|(stretch, from)| Place {
            file: segment.file.clone(),
            path: segment.path.clone(),
            from,
            end: listed.end,
            last: stretch.last,
            is_dense: stretch.records == stretch.last - stretch.first + 1,
            segment: Some(segment.clone()),
        }))
    }

    /// A mark at or before `index` in the part of the segment that `place` names.
    fn mark_before(&self, group: usize, index: u64, held: Held, place: &Place) -> Option<u64> {
        let position = match &place.segment {
            Some(segment) => segment.index.seek(group, index)?.1,
            None => {
                let state = self.shared.state();
                let is_active = state.active.sequence == held.sequence;
                is_active.then(|| state.active.index.seek(group, index))??.1
            }
        };
        (position < place.end).then_some(position)
    }

    /// A segment that gave way between two steps is not an error: the entry is found where it is now.
    fn explain<T>(
        &self,
        place: usize,
        index: u64,
        held: Held,
        result: Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match result {
            Ok(done) => Ok(Some(done)),
            Err(error) => {
                let now = self.shared.state().map.at_or_behind(place, index);
                if now.is_none_or(|now| now.sequence != held.sequence) {
                    return Ok(None);
                }
                if matches!(error, StoreError::Corrupt { .. }) {
                    JournalCounters::add(&self.shared.counters.corrupt_reads, 1);
                }
                Err(error)
            }
        }
    }
}

fn gone(shared: &Shared, sequence: u64) -> StoreError {
    StoreError::io("open", &crate::segment_file::log_path(&shared.dir, sequence), io::ErrorKind::NotFound.into())
}
