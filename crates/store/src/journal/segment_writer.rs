//! The writer's side of the segments: one write and one sync per commit, a new segment when one is full.

use std::io::IoSlice;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::active::{self, Before};
use super::config::JournalConfig;
use super::data_group::{Layout, OWN};
use super::info::JournalCommitted;
use super::manifest::{Listed, Replaced};
use super::pending::Pending;
use super::room::{Room, Used};
use super::state::{Shared, State};
use crate::batch::{Batch, opening_bytes};
use crate::clock::now_us;
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::notice::Notice;
use crate::record::{CommitBody, LIFETIME_JOURNAL, RecordHeader, RecordKind};
use crate::segment_file;

/// What the writer keeps for itself. It alone changes the shared state, so a copy of a position taken under the lock
/// stays true after the lock is let go.
#[derive(Debug)]
pub(crate) struct SegmentWriter {
    segment_bytes: u64,
    /// Kept free behind the entries, for the journal's own records.
    own_bytes: u64,
    /// Bytes reserved for the active segment; 0 where space cannot be reserved.
    allocated_bytes: u64,
    /// A record behind the last commit names its end, so that damage in it would be noticed.
    end_named: bool,
    /// What the next segment may hold: once a cluster, always one.
    layout: Layout,
    /// What is set aside.
    pub(crate) room: Room,
    /// Kept, so that a commit allocates nothing that grows with it.
    opening: Vec<u8>,
}

impl SegmentWriter {
    pub(crate) fn new(shared: &Shared, config: &JournalConfig, allocated_bytes: u64) -> Self {
        let room = Room::find(shared, config.segment_bytes, config.init_zero, allocated_bytes);
        let state = shared.state();
        Self {
            segment_bytes: config.segment_bytes,
            own_bytes: config.own_bytes(),
            allocated_bytes,
            end_named: state.active.end == state.active.start_bytes,
            layout: state.active.layout,
            room,
            opening: vec![],
        }
    }

    /// Makes the batch durable, then visible. On `Full` it is kept.
    pub(crate) fn commit(&mut self, shared: &Shared, pending: &mut Pending) -> Result<JournalCommitted, StoreError> {
        let runs = pending.batch.runs();
        let total = opening_bytes(runs.len()) + pending.batch.bytes() as u64;
        let (end, start_bytes) = shared.state().ends();
        let is_over = end + total + self.own_bytes > self.segment_bytes;
        self.layout = self.layout.max(pending.layout);
        // The first thing of a cluster: it lies in no segment that does not say so at its head.
        let is_of_cluster = pending.layout == Layout::Cluster;
        let is_new_layout = is_of_cluster && shared.state().active.layout != Layout::Cluster;
        // One that began small and finds no more space is over early, if the next one is there.
        let has_next = self.room.has_spare() && end > start_bytes;
        let is_due = is_new_layout || is_over && end > start_bytes;
        if is_due || has_next && self.grow(shared, end + total + self.own_bytes).is_err() {
            self.roll(shared, total)?;
        }
        let (end, _) = shared.state().ends();
        self.grow(shared, end + total + self.own_bytes)?;
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
        let end = body.synced_before + (self.opening.len() + batch.bytes()) as u64;
        self.grow(shared, end)?;
        self.room.take(end);
        let sync_us = Self::write(shared, &batch.parts(&self.opening), body.synced_before)?;
        self.end_named = false;
        Ok(sync_us)
    }

    /// Writes and syncs; returns the microseconds that the sync took.
    fn write(shared: &Shared, parts: &[IoSlice<'_>], at: u64) -> Result<u64, StoreError> {
        let (file, path) = shared.state().active_file();
        file.write_at(parts, at).map_err(|error| StoreError::write("write to", &path, error))?;
        let started = Instant::now();
        file.sync().map_err(|error| StoreError::sync("sync", &path, error))?;
        Ok(u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// Reserves space for the first `bytes` bytes of the active segment: it may have begun small, or a record be large. More
    /// than that where there is some, as commits should not have to ask each time.
    fn grow(&mut self, shared: &Shared, bytes: u64) -> Result<(), StoreError> {
        if self.allocated_bytes == 0 || bytes <= self.allocated_bytes {
            return Ok(());
        }
        let (file, path) = shared.state().active_file();
        let ample = bytes + self.segment_bytes / 16;
        self.allocated_bytes = segment_file::reserve(&*file, &path, bytes, ample)?;
        Ok(())
    }

    /// So many bytes are reserved for the active segment now, if it has grown.
    pub(crate) fn grown(&mut self, bytes: Option<u64>) {
        self.allocated_bytes = self.allocated_bytes.max(bytes.unwrap_or(0));
    }

    /// How the active segment stands.
    pub(crate) fn used(&self, shared: &Shared) -> Used {
        Used { end: shared.state().active.end, allocated_bytes: self.allocated_bytes }
    }

    /// While space is low the active segment is sealed as soon as its next one would be due: only then may go what is dead in
    /// it, and what is not used of it is free at once.
    ///
    /// # Errors
    /// `Full`, `Exhausted`: later. Anything else is fatal.
    pub(crate) fn make_way(&mut self, shared: &Shared) -> Result<(), StoreError> {
        let used = self.used(shared);
        match self.room.is_low() && used.end * 4 >= self.room.scale_bytes(used) {
            true => self.roll(shared, 0),
            false => Ok(()),
        }
    }

    /// Seals the active segment and goes on in a new one with room for `bytes`.
    fn roll(&mut self, shared: &Shared, bytes: u64) -> Result<(), StoreError> {
        let (active, allocated_bytes) = self.next_segment(shared, bytes)?;
        self.allocated_bytes = allocated_bytes;
        self.end_named = true;
        // Before it is trimmed: a zero behind its end would make it longer again.
        self.room.seal();
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

    /// The segment behind the active one, with room for `bytes`. Where there is no space for a whole one, it begins small and
    /// grows: the rest is for what gives space back.
    fn next_segment(&mut self, shared: &Shared, bytes: u64) -> Result<(active::Active, u64), StoreError> {
        let (sequence, least) = (shared.take_sequence(), bytes + self.own_bytes);
        let spare = self.room.take_spare(&shared.dir);
        if spare.is_some() || !self.room.is_low() {
            let whole = self.segment_bytes.max(least);
            let made = self.following(shared, sequence, (whole, spare.as_deref()));
            self.room.spare_used(shared);
            if !matches!(made, Err(StoreError::Full { .. })) {
                return made;
            }
        }
        self.following(shared, sequence, (least, None))
    }

    /// Makes the segment behind the active one. What waits is not in its checkpoint: it comes behind it.
    fn following(
        &self,
        shared: &Shared,
        sequence: u64,
        (wanted_bytes, spare): (u64, Option<&Path>),
    ) -> Result<(active::Active, u64), StoreError> {
        let (groups, before) = {
            let state = shared.state();
            let active = &state.active;
            let mut segments = state.sealed.clone();
            segments.insert(active.sequence, Listed { end: active.end, lifetime: LIFETIME_JOURNAL });
            let at_us = active.last_at_us.unwrap_or(active.created_at_us);
            (state.groups.clone(), (active.end, at_us, segments))
        };
        let (previous_end, previous_last_at_us, segments) = before;
        let layout = self.layout;
        let (uuid, salt) = (shared.uuid, shared.salt);
        let before =
            Before { uuid, salt, sequence, layout, previous_end, previous_last_at_us, groups: &groups, segments };
        active::create(&*shared.disk, &shared.dir, before, wanted_bytes, spare)
    }
}

impl State {
    fn ends(&self) -> (u64, u64) {
        (self.active.end, self.active.start_bytes)
    }

    fn active_file(&self) -> (Arc<dyn DiskFile>, Arc<Path>) {
        (self.active.file.clone(), self.active.path.clone())
    }
}
