//! Writing the live entries of some segments into one segment of kept entries.
//!
//! Group by group, ascending: what a queue refers to lies side by side afterwards.

use std::ops::ControlFlow;

use super::super::data_group::{DataGroupId, PLACES};
use super::super::kept_draft::{KeptDraft, KeptSegment, WRITE_BYTES};
use super::super::manifest::Replaced;
use super::super::map::Held;
use super::super::state::Shared;
use super::{Budget, Compacted, Context, IsLive, install};
use crate::error::StoreError;
use crate::info::ReadLimits;
use crate::record::record_bytes;

/// A range of a source to copy.
#[derive(Debug, Clone, Copy)]
struct Range {
    group: usize,
    held: Held,
    /// Entries of segments that are not rewritten lie between it and the range before it.
    is_apart: bool,
}

/// A segment of kept entries in the making.
#[derive(Debug)]
pub(crate) struct Rewrite {
    sources: Vec<u64>,
    /// What is to be copied, the last one first.
    ranges: Vec<Range>,
    /// The next index of the range that is being copied.
    next: Option<u64>,
    draft: KeptDraft,
    /// The next entry of this group begins a stretch; the group whose entry was the last one copied.
    apart: bool,
    last_group: Option<usize>,
}

impl Rewrite {
    /// Makes the file, with room for what is likely to be copied.
    ///
    /// # Errors
    /// `Full`, `Exhausted`: nothing is left behind. `WriteFailed`: fatal.
    pub(crate) fn begin(context: &mut Context<'_>, sources: Vec<u64>, live_bytes: u64) -> Result<Self, StoreError> {
        let shared = context.shared;
        let layout = shared.state().active.layout;
        let draft = KeptDraft::begin(shared.clone(), layout, live_bytes)?;
        let ranges = ranges(shared, &sources);
        Ok(Self { sources, ranges, next: None, draft, apart: false, last_group: None })
    }

    pub(crate) fn sources(&self) -> &[u64] {
        &self.sources
    }

    /// Copies on; true when everything was.
    ///
    /// # Errors
    /// `Corrupt`, `Io`: a source cannot be read. `Full`, `WriteFailed`.
    pub(crate) fn step(
        &mut self,
        context: &Context<'_>,
        is_live: IsLive<'_>,
        budget: &mut Budget,
        done: &mut Compacted,
    ) -> Result<bool, StoreError> {
        let reader = context.reader();
        while let Some(range) = self.ranges.last().copied() {
            if budget.is_spent() {
                return Ok(false);
            }
            let from = self.next.unwrap_or_else(|| {
                self.apart |= range.is_apart;
                range.held.first
            });
            let limits = ReadLimits { messages_max: u64::MAX, bytes_max: budget.left.min(WRITE_BYTES as u64) };
            let group = DataGroupId(range.group as u16);
            let read = reader.read(group, from, range.held.last, limits, &mut |entry| {
                budget.spend(record_bytes(entry.body.len()) as u64);
                done.asked += 1;
                if is_live(group, entry.index) {
                    done.kept_entries += 1;
                    let is_apart = self.last_group.replace(range.group) == Some(range.group) && self.apart;
                    self.apart = false;
                    self.draft.take(&entry, is_apart);
                }
                if budget.is_spent() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            self.next = Some(read.next_index).filter(|next| *next <= range.held.last);
            if self.next.is_none() {
                self.ranges.pop();
            }
            if self.draft.waiting_bytes() >= WRITE_BYTES {
                done.written_bytes += self.draft.write()?;
            }
        }
        done.written_bytes += self.draft.write()?;
        Ok(true)
    }

    /// Everything was copied: the segment takes the place of its sources.
    ///
    /// # Errors
    /// `Full`, `Exhausted`: nothing changed. `SyncFailed`, `WriteFailed`: fatal.
    pub(crate) fn finish(self, context: &mut Context<'_>, done: &mut Compacted) -> Result<(), StoreError> {
        // Nothing: all of it died meanwhile.
        let kept = self.draft.finish()?;
        let output = kept.as_ref().map(KeptSegment::output);
        let replaced = Replaced { sources: self.sources, output };
        install::replace(context, &replaced, kept.as_ref().map(|kept| &kept.index), done).inspect_err(|error| {
            // Not recorded: it does not count, and would be removed when the journal is opened.
            if let Some(kept) = kept.as_ref().filter(|_| error.is_retryable()) {
                kept.remove(context.shared);
            }
        })
    }

    /// Nothing comes of it.
    pub(crate) fn give_up(&self) {
        self.draft.give_up();
    }
}

/// What the sources hold, group by group, the last range first.
fn ranges(shared: &Shared, sources: &[u64]) -> Vec<Range> {
    let state = shared.state();
    let mut ranges = vec![];
    for group in 0..PLACES {
        let mut is_apart = false;
        for held in state.map.of_group(group) {
            if !sources.contains(&held.sequence) {
                is_apart = true;
                continue;
            }
            ranges.push(Range { group, held, is_apart });
            is_apart = false;
        }
    }
    ranges.reverse();
    ranges
}
