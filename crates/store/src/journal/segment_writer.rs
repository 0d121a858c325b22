//! The writer's side of the segments: one write and one sync per commit, a new segment when one is full.

use std::io::IoSlice;
use std::sync::Arc;
use std::time::Instant;

use super::active::{self, Before};
use super::config::JournalConfig;
use super::group::OWN;
use super::info::JournalCommitted;
use super::manifest::{Listed, Replaced};
use super::pending::Pending;
use super::spare;
use super::state::{Shared, State};
use crate::batch::{Batch, opening_bytes};
use crate::clock::now_us;
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::notice::Notice;
use crate::record::{CommitBody, LIFETIME_JOURNAL, RecordHeader, RecordKind};

/// What the writer keeps for itself. It alone changes the shared state, so a copy of a position taken under the lock
/// stays true after the lock is let go.
#[derive(Debug)]
pub(crate) struct SegmentWriter {
    segment_bytes: u64,
    /// Where entries end; behind it is room for the journal's own records.
    entries_end: u64,
    /// Bytes reserved for the active segment; 0 where space cannot be reserved.
    allocated_bytes: u64,
    /// A record behind the last commit names its end, so that damage in it would be noticed.
    end_named: bool,
    /// The number that the next segment gets.
    next_sequence: u64,
    /// A file waits to be the next segment.
    has_spare: bool,
    /// One could not be made although it is time for it.
    is_low: bool,
    /// Kept, so that a commit allocates nothing that grows with it.
    opening: Vec<u8>,
}

impl SegmentWriter {
    pub(crate) fn new(shared: &Shared, config: &JournalConfig, allocated_bytes: u64) -> Self {
        let state = shared.state();
        let sealed = state.sealed.keys().next_back().copied().unwrap_or(0);
        Self {
            segment_bytes: config.segment_bytes,
            entries_end: config.entries_end(),
            allocated_bytes,
            end_named: state.active.end == state.active.start_bytes,
            next_sequence: state.active.sequence.max(sealed) + 1,
            has_spare: spare::find(&*shared.disk, &shared.dir, config.segment_bytes),
            is_low: false,
            opening: vec![],
        }
    }

    /// Makes the batch durable, then visible. On `Full` it is kept.
    pub(crate) fn commit(&mut self, shared: &Shared, pending: &mut Pending) -> Result<JournalCommitted, StoreError> {
        let runs = pending.batch.runs();
        let total = opening_bytes(runs.len()) + pending.batch.bytes() as u64;
        let (end, start_bytes) = shared.state().ends();
        if end + total > self.entries_end && end > start_bytes {
            self.roll(shared, total)?;
        }
        let (end, _) = shared.state().ends();
        let body = CommitBody { synced_before: end, runs };
        let sync_us = self.write_batch(shared, &pending.batch, &body)?;
        shared.state().publish(pending, end + self.opening.len() as u64, end + total);
        let committed = JournalCommitted { entries: pending.entries, bytes: total, sync_us };
        pending.clear();
        Ok(committed)
    }

    /// Records that segments gave way to another one, or to none: durable on return. It needs no room but what is kept
    /// free for it in the segment, so that a full disk can heal.
    pub(crate) fn record_replaced(&mut self, shared: &Shared, replaced: &Replaced) -> Result<(), StoreError> {
        let mut batch = Batch::new(OWN + 1);
        let own = RecordHeader { partition: OWN, ..RecordHeader::own(RecordKind::Replaced, now_us()) };
        batch.push(&RecordHeader { lifetime: LIFETIME_JOURNAL, ..own }, &replaced.encode(), shared.salt);
        let total = opening_bytes(1) + batch.bytes() as u64;
        if shared.state().ends().0 + total > self.segment_bytes {
            self.roll(shared, total)?;
        }
        let (end, _) = shared.state().ends();
        let body = CommitBody { synced_before: end, runs: batch.runs() };
        self.write_batch(shared, &batch, &body)?;
        shared.state().active.end = end + total;
        Ok(())
    }

    /// Writes an empty commit that names the end of the last one: from then on damage in it is told from a torn tail.
    pub(crate) fn name_end(&mut self, shared: &Shared) -> Result<(), StoreError> {
        let (end, _) = shared.state().ends();
        let bytes = opening_bytes(0);
        if self.end_named || end + bytes > self.segment_bytes {
            return Ok(());
        }
        match self.write_batch(shared, &Batch::new(0), &CommitBody { synced_before: end, runs: vec![] }) {
            Ok(_) => {
                shared.state().active.end = end + bytes;
                self.end_named = true;
                Ok(())
            }
            // No space for evidence: the next commit brings it. What was written is overwritten then.
            Err(error) if error.is_retryable() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A number that no segment had.
    pub(crate) fn take_sequence(&mut self) -> u64 {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        sequence
    }

    /// The size of segments.
    pub(crate) fn segment_bytes(&self) -> u64 {
        self.segment_bytes
    }

    /// Writes one commit at the end of the active segment and syncs it; returns the microseconds that the sync took.
    fn write_batch(&mut self, shared: &Shared, batch: &Batch, body: &CommitBody) -> Result<u64, StoreError> {
        self.opening.clear();
        let (_, last_at_us) = batch.times_us();
        let at_us = if batch.is_empty() { now_us() } else { last_at_us };
        body.encode(at_us, shared.salt, &mut self.opening);
        let parts = batch.parts(&self.opening);
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        let sync_us = self.write(shared, &parts, body.synced_before, bytes as u64)?;
        self.end_named = false;
        Ok(sync_us)
    }

    fn write(&self, shared: &Shared, parts: &[IoSlice<'_>], at: u64, bytes: u64) -> Result<u64, StoreError> {
        let (file, path) = shared.state().active_file();
        if self.allocated_bytes > 0 && at + bytes > self.allocated_bytes {
            file.allocate(at + bytes).map_err(|error| StoreError::write("reserve space in", &path, error))?;
        }
        file.write_at(parts, at).map_err(|error| StoreError::write("write to", &path, error))?;
        let started = Instant::now();
        file.sync().map_err(|error| StoreError::sync("sync", &path, error))?;
        Ok(u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// Makes a spare segment once the active one is half full. A full disk is no error: the state is `is_low` until it works.
    ///
    /// # Errors
    /// `WriteFailed`.
    pub(crate) fn prepare(&mut self, shared: &Shared) -> Result<(), StoreError> {
        if self.has_spare || self.allocated_bytes == 0 || shared.state().active.end * 2 < self.segment_bytes {
            self.is_low = false;
            return Ok(());
        }
        match spare::make(&*shared.disk, &shared.dir, self.segment_bytes) {
            Ok(made) => (self.has_spare, self.is_low) = (made, false),
            Err(error) if error.is_retryable() => self.is_low = true,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The disk had no room for a spare segment; what is left of the active one is all there is.
    pub(crate) fn is_low(&self) -> bool {
        self.is_low
    }

    /// Seals the active segment and goes on in a new one with room for `bytes`.
    fn roll(&mut self, shared: &Shared, bytes: u64) -> Result<(), StoreError> {
        let (active, allocated_bytes) = self.following(shared, bytes).inspect_err(|_| {
            // The spare may have gone with the attempt.
            self.has_spare = self.has_spare && spare::find(&*shared.disk, &shared.dir, self.segment_bytes);
        })?;
        self.next_sequence += 1;
        self.has_spare = false;
        self.allocated_bytes = allocated_bytes;
        self.end_named = true;
        let (sequence, listed, old) = {
            let mut state = shared.state();
            let old = std::mem::replace(&mut state.active, active);
            let listed = Listed { end: old.end, lifetime: LIFETIME_JOURNAL };
            state.sealed.insert(old.sequence, listed);
            (old.sequence, listed, old)
        };
        // From here on only time and space are saved; the journal is whole without it.
        if let Err(error) = old.file.set_len(old.end) {
            shared.notice(Notice::Postponed { file: old.path.to_path_buf(), why: error.to_string() });
        }
        let failed = shared.sealed_file(sequence, listed).write_index(&old.index);
        failed.into_iter().for_each(|notice| shared.notice(notice));
        Ok(())
    }

    /// Makes the segment behind the active one. What waits is not in its checkpoint: it comes behind it.
    fn following(&self, shared: &Shared, bytes: u64) -> Result<(active::Active, u64), StoreError> {
        let (groups, before) = {
            let state = shared.state();
            let active = &state.active;
            let mut segments = state.sealed.clone();
            segments.insert(active.sequence, Listed { end: active.end, lifetime: LIFETIME_JOURNAL });
            let at_us = active.last_at_us.unwrap_or(active.created_at_us);
            (state.groups.clone(), (active.end, at_us, segments))
        };
        let (previous_end, previous_last_at_us, segments) = before;
        let sequence = self.next_sequence;
        let (uuid, salt) = (shared.uuid, shared.salt);
        let before = Before { uuid, salt, sequence, previous_end, previous_last_at_us, groups: &groups, segments };
        // What is kept free for the journal's own records stays free.
        let wanted_bytes = bytes + (self.segment_bytes - self.entries_end);
        let wanted_bytes = self.segment_bytes.max(wanted_bytes);
        let spare = self.has_spare.then(|| spare::path(&shared.dir));
        active::create(&*shared.disk, &shared.dir, before, wanted_bytes, spare.as_deref())
    }
}

impl State {
    fn ends(&self) -> (u64, u64) {
        (self.active.end, self.active.start_bytes)
    }

    fn active_file(&self) -> (Arc<dyn DiskFile>, Arc<std::path::Path>) {
        (self.active.file.clone(), self.active.path.clone())
    }
}
