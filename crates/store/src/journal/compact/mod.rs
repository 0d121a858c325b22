//! Compaction: disk use follows what is live, at a rate that the caller bounds.
//!
//! A round looks at every sealed segment that replay no longer needs. One without live entries is deleted; those under
//! half live are rewritten together into a segment of kept entries. Each step is bounded by a budget, and is crash-safe:
//! the new segment is whole and named before a record in the journal says that it counts, and a file goes only after
//! the record that gives it up is durable. What a crash leaves of either is removed when the journal is opened.

mod choose;
mod examine;
mod install;
mod rewrite;

use std::collections::BTreeSet;

use choose::{Candidate, choose};
use examine::Examination;
use rewrite::Rewrite;

use super::counters::JournalCounters;
use super::data_group::DataGroupId;
use super::manifest::Replaced;
use super::reader::JournalReader;
use super::segment_writer::SegmentWriter;
use super::state::Shared;
use super::writer::JournalWriter;
use crate::error::StoreError;
use crate::notice::Notice;

/// What one call did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Entries that the caller was asked about.
    pub asked: u64,
    /// Segments that are gone, and their bytes.
    pub deleted_segments: u64,
    /// See `deleted_segments`.
    pub deleted_bytes: u64,
    /// Live entries that were copied, and the bytes written for them.
    pub kept_entries: u64,
    /// See `kept_entries`.
    pub written_bytes: u64,
    /// A round ended: every segment was looked at and there is nothing to do until more entries die or are purged.
    pub round_over: bool,
}

/// Who says whether an entry is live.
pub(crate) type IsLive<'l> = &'l mut dyn FnMut(DataGroupId, u64) -> bool;

/// What an entry costs that is asked about, in bytes of the budget: no record is smaller.
const ASKED_BYTES: u64 = 64;
/// What looking at a segment costs, in bytes of the budget.
const LOOK_BYTES: u64 = 4 << 10;

/// How much may still be done in this call.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
}

impl Budget {
    fn spend(&mut self, bytes: u64) {
        self.left = self.left.saturating_sub(bytes);
    }

    fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// Where compaction stands between two calls.
#[derive(Debug, Default)]
pub(crate) struct Compaction {
    work: Work,
    /// Segments up to this one were looked at in this round.
    looked_through: u64,
    /// Segments of this round that might be rewritten.
    candidates: Vec<Candidate>,
    /// Segments that could not be read; nobody touches them again.
    unreadable: BTreeSet<u64>,
    /// Why something could not be rewritten in this round; what is dead goes all the same.
    put_off: Option<StoreError>,
    /// Where the active segment ended at the last call.
    end: (u64, u64),
}

#[derive(Debug, Default)]
enum Work {
    #[default]
    Nothing,
    Examine(Examination),
    Rewrite(Box<Rewrite>),
}

impl JournalWriter {
    /// Compacts, within a budget: so many bytes of entries are read, and one entry more at most; an entry asked about counts as 64.
    /// What is kept of them is written when 1 MiB has gathered. Call it often, and with as much as the disk may be burdened with: for instance ten times a second with 1 MiB.
    ///
    /// `is_live` is asked about entries at or below the purged index of their group: what it calls dead goes, sooner or
    /// later, and must stay dead. Entries above are never touched. When nothing was written since the last call, the end
    /// of the journal is named in it.
    /// # Errors
    /// `Full`, `Exhausted`: tried again at a later call; what needs no space was done. Anything else is fatal, as for `commit`; a segment that cannot be
    /// read is left alone and told in a notice.
    pub fn compact(
        &mut self,
        is_live: &mut dyn FnMut(DataGroupId, u64) -> bool,
        budget_bytes: u64,
    ) -> Result<Compacted, StoreError> {
        self.check_running()?;
        let mut done = Compacted::default();
        let mut budget = Budget { left: budget_bytes };
        let mut compaction = std::mem::take(&mut self.compaction);
        let context = &mut Context { shared: &self.shared, segment: &mut self.segment };
        let result = compaction.run(context, is_live, &mut budget, &mut done);
        self.compaction = compaction;
        self.count(&done);
        self.note(result)?;
        self.name_end_when_idle()?;
        Ok(done)
    }

    fn count(&self, done: &Compacted) {
        let counters = &self.shared.counters;
        JournalCounters::add(&counters.deleted_segments, done.deleted_segments);
        JournalCounters::add(&counters.deleted_bytes, done.deleted_bytes);
        JournalCounters::add(&counters.kept_entries, done.kept_entries);
        JournalCounters::add(&counters.kept_bytes, done.written_bytes);
    }

    fn name_end_when_idle(&mut self) -> Result<(), StoreError> {
        let end = {
            let state = self.shared.state();
            (state.active.sequence, state.active.end)
        };
        if std::mem::replace(&mut self.compaction.end, end) == end && self.pending_bytes() == 0 {
            let named = self.segment.name_end(&self.shared);
            self.note(named)?;
        }
        Ok(())
    }
}

/// What the steps work on.
pub(crate) struct Context<'c> {
    pub shared: &'c std::sync::Arc<Shared>,
    pub segment: &'c mut SegmentWriter,
}

impl Context<'_> {
    fn reader(&self) -> JournalReader {
        JournalReader::new(self.shared.clone())
    }
}

impl Compaction {
    fn run(
        &mut self,
        context: &mut Context<'_>,
        is_live: IsLive<'_>,
        budget: &mut Budget,
        done: &mut Compacted,
    ) -> Result<(), StoreError> {
        while !budget.is_spent() && !done.round_over {
            match std::mem::take(&mut self.work) {
                Work::Nothing => self.next_work(context, budget, done)?,
                Work::Examine(examination) => self.examine(context, examination, is_live, budget, done)?,
                Work::Rewrite(rewrite) => self.rewrite(context, rewrite, is_live, budget, done)?,
            }
        }
        Ok(())
    }

    /// The next segment, or at the end of the round what is left to rewrite.
    fn next_work(
        &mut self,
        context: &mut Context<'_>,
        budget: &mut Budget,
        done: &mut Compacted,
    ) -> Result<(), StoreError> {
        let next = {
            let state = context.shared.state();
            let range = (std::ops::Bound::Excluded(self.looked_through), std::ops::Bound::Unbounded);
            state.sealed.range(range).find(|segment| !self.unreadable.contains(segment.0)).map(|(s, l)| (*s, *l))
        };
        budget.spend(LOOK_BYTES);
        let Some((sequence, listed)) = next else {
            if !self.begin_rewrite(context, true)? {
                (self.looked_through, done.round_over) = (0, true);
                self.candidates.clear();
                context.segment.make_way(context.shared)?;
                return self.put_off.take().map_or(Ok(()), Err);
            }
            return Ok(());
        };
        self.looked_through = sequence;
        match Examination::begin(context.shared, sequence, listed) {
            Ok(Some(examination)) => self.work = Work::Examine(examination),
            Ok(None) => {}
            Err(error) => self.leave_alone(context.shared, &[sequence], error)?,
        }
        Ok(())
    }

    fn examine(
        &mut self,
        context: &mut Context<'_>,
        mut examination: Examination,
        is_live: IsLive<'_>,
        budget: &mut Budget,
        done: &mut Compacted,
    ) -> Result<(), StoreError> {
        if !examination.step(is_live, budget, done) {
            self.work = Work::Examine(examination);
            return Ok(());
        }
        let candidate = examination.verdict();
        if candidate.live_bytes == 0 {
            let replaced = Replaced { sources: vec![candidate.sequence], output: None };
            return install::replace(context, &replaced, None, done);
        }
        self.candidates.push(candidate);
        self.begin_rewrite(context, false).map(drop)
    }

    /// Begins to rewrite when there is enough for it; false when there is not.
    fn begin_rewrite(&mut self, context: &mut Context<'_>, round_over: bool) -> Result<bool, StoreError> {
        let output_bytes_max = context.segment.segment_bytes() / if context.segment.room.is_low() { 4 } else { 1 };
        if context.segment.room.is_low() {
            // What costs least space, first.
            self.candidates.sort_by_key(|candidate| candidate.live_bytes);
        }
        let sources = choose(&self.candidates, output_bytes_max, round_over);
        if sources.is_empty() {
            return Ok(false);
        }
        let chosen = self.candidates.iter().filter(|candidate| sources.contains(&candidate.sequence));
        let live_bytes = chosen.map(|candidate| candidate.live_bytes).sum();
        self.candidates.retain(|candidate| !sources.contains(&candidate.sequence));
        match Rewrite::begin(context, sources, live_bytes) {
            Ok(rewrite) => self.work = Work::Rewrite(Box::new(rewrite)),
            Err(error) => self.put_off(error)?,
        }
        Ok(true)
    }

    fn rewrite(
        &mut self,
        context: &mut Context<'_>,
        mut rewrite: Box<Rewrite>,
        is_live: IsLive<'_>,
        budget: &mut Budget,
        done: &mut Compacted,
    ) -> Result<(), StoreError> {
        match rewrite.step(context, is_live, budget, done) {
            Ok(false) => self.work = Work::Rewrite(rewrite),
            Ok(true) => return rewrite.finish(context, done).or_else(|error| self.put_off(error)),
            Err(error) => {
                rewrite.give_up();
                let sources = rewrite.sources().to_vec();
                return self.leave_alone(context.shared, &sources, error);
            }
        }
        Ok(())
    }

    /// A segment that cannot be read keeps what it has: whoever reads there hears of it.
    fn leave_alone(&mut self, shared: &Shared, sequences: &[u64], error: StoreError) -> Result<(), StoreError> {
        match &error {
            StoreError::Corrupt { file, .. } | StoreError::WrongKind { file, .. } | StoreError::Io { file, .. } => {
                shared.notice(Notice::Postponed { file: file.clone(), why: error.to_string() });
                self.unreadable.extend(sequences);
                Ok(())
            }
            _ => self.put_off(error),
        }
    }

    /// There was no space: the round goes on, and says so at its end.
    fn put_off(&mut self, error: StoreError) -> Result<(), StoreError> {
        if !error.is_retryable() {
            return Err(error);
        }
        self.put_off = Some(error);
        Ok(())
    }
}
