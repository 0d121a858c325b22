//! The writer's side of one stream.

use std::io::IoSlice;
use std::time::Instant;

use super::batch::StreamBatch;
use super::retention::{Candidate, Limits};
use super::sealed::write_index;
use super::state::{Active, Sealed, State, Stream};
use crate::batch::opening_bytes;
use crate::clock::now_us;
use crate::config::StreamConfig;
use crate::disk;
use crate::error::StoreError;
use crate::index::Sidecar;
use crate::info::{Committed, Trimmed};
use crate::notice::{Notice, StoreCounters};
use crate::record::{CommitBody, LIFETIME_STREAM, PartitionStart, SegmentStart, check_next};
use crate::segment_file::{self, index_path, log_path};
use crate::shared::Shared;
use crate::writer::Append;

/// What the writer keeps for itself. It alone changes the shared `sealed` and `active`, so a copy of a position taken
/// under the lock stays true after the lock is let go.
#[derive(Debug)]
pub(crate) struct StreamWriter {
    place: usize,
    segment_bytes: u64,
    /// What is reserved of a segment that begins because time has passed.
    small_bytes: u64,
    limits: Limits,
    batch: StreamBatch,
    /// Per partition the offset of the next record appended.
    next: Vec<u64>,
    salt: u32,
    /// Bytes reserved for the active segment; 0 where space cannot be reserved.
    allocated_bytes: u64,
    /// A record behind the last commit names its end, so that damage in it would be noticed.
    end_named: bool,
    readers_saved_at_ms: i64,
}

impl StreamWriter {
    /// Positions of named readers are saved this often at most.
    const SAVE_READERS_MS: i64 = 5_000;

    pub(crate) fn new(stream: &Stream, allocated_bytes: u64, config: &StreamConfig) -> Self {
        let state = stream.state();
        Self {
            place: stream.index.0 as usize,
            segment_bytes: config.segment_bytes_effective(),
            small_bytes: config.small_segment_bytes(),
            limits: Limits::new(config.retain_bytes, config.retain_age_ms),
            batch: StreamBatch::new(stream.partitions),
            next: state.active.next.clone(),
            salt: state.active.salt,
            allocated_bytes,
            end_named: state.active.times_us.is_none(),
            readers_saved_at_ms: 0,
        }
    }

    /// Takes a record into the batch; `None` when there is no such partition.
    ///
    /// # Errors
    /// `NumbersEnd`: the partition has no more offsets.
    pub(crate) fn append(&mut self, record: &Append<'_>) -> Result<Option<u64>, StoreError> {
        let Some(next) = self.next.get_mut(record.partition as usize) else { return Ok(None) };
        let offset = *next;
        check_next(offset)?;
        self.batch.push(record, offset, self.salt);
        *next += 1;
        Ok(Some(offset))
    }

    pub(crate) fn is_dirty(&self) -> bool {
        !self.batch.records.is_empty()
    }

    /// Bytes of the records that wait.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.batch.records.bytes()
    }

    /// Makes the batch durable, then visible. On `Full` it is kept.
    pub(crate) fn commit(&mut self, shared: &Shared) -> Result<Committed, StoreError> {
        if self.batch.records.is_empty() {
            return Ok(Committed::default());
        }
        let runs = self.batch.records.runs();
        let total = opening_bytes(runs.len()) + self.batch.records.bytes() as u64;
        let stream = &shared.streams[self.place];
        let (end, start_bytes) = stream.state().ends();
        if end + total > self.segment_bytes && end > start_bytes {
            self.roll(shared, self.segment_bytes, total)?;
        }
        let stream = &shared.streams[self.place];
        let (end, _) = stream.state().ends();
        let mut opening = vec![];
        let body = CommitBody { synced_before: end, runs };
        body.encode(self.batch.records.times_us().1, self.salt, &mut opening);
        self.grow(stream, end + total)?;
        let sync_us = Self::write(stream, &self.batch.records.parts(&opening), end)?;
        self.publish(stream, &body, end + opening.len() as u64);
        let committed = Committed { records: self.batch.records.records(), bytes: total, streams: 1, sync_us };
        self.batch.clear();
        self.end_named = false;
        Ok(committed)
    }

    /// Reserves space for the first `bytes` bytes of the active segment: twice as much as there was, where there is some, so
    /// that commits seldom have to ask.
    fn grow(&mut self, stream: &Stream, bytes: u64) -> Result<(), StoreError> {
        if self.allocated_bytes == 0 || bytes <= self.allocated_bytes {
            return Ok(());
        }
        let (file, path) = stream.state().active_file();
        let ample = (self.allocated_bytes * 2).min(self.segment_bytes).max(bytes);
        self.allocated_bytes = segment_file::reserve(&*file, &path, bytes, ample)?;
        Ok(())
    }

    /// Writes and syncs; returns the microseconds that the sync took.
    fn write(stream: &Stream, parts: &[IoSlice<'_>], at: u64) -> Result<u64, StoreError> {
        let (file, path) = stream.state().active_file();
        file.write_at(parts, at).map_err(|error| StoreError::write("write to", &path, error))?;
        let started = Instant::now();
        file.sync().map_err(|error| StoreError::sync("sync", &path, error))?;
        Ok(u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    fn publish(&self, stream: &Stream, body: &CommitBody, runs_start: u64) {
        let mut state = stream.state();
        let active = &mut state.active;
        self.batch.note(runs_start, &mut active.index);
        for run in &body.runs {
            active.next[run.partition as usize] += u64::from(run.records);
            active.bytes[run.partition as usize] += run.bytes;
        }
        let (first_at_us, last_at_us) = self.batch.records.times_us();
        active.times_us = Some((active.times_us.map_or(first_at_us, |times| times.0), last_at_us));
        active.end = runs_start + body.runs_bytes();
    }

    /// Seals the active segment and goes on in a new one with room for `bytes`; `least_bytes`: of it are reserved at least.
    fn roll(&mut self, shared: &Shared, least_bytes: u64, bytes: u64) -> Result<(), StoreError> {
        let stream = &shared.streams[self.place];
        let start = Self::following(stream);
        let wanted_bytes = least_bytes.max(bytes + stream.state().active.start_bytes);
        let new = segment_file::create(&*shared.disk, &stream.dir, start, &[], wanted_bytes, None)?;
        self.allocated_bytes = new.start.allocated_bytes;
        self.end_named = true;
        // First, so that who reads the segment as soon as it is sealed finds it.
        Self::write_active_index(shared, stream);
        let sealed = {
            let mut state = stream.state();
            let sealed = std::mem::replace(&mut state.active, Active::empty(new));
            state.sealed.push_back(Sealed::of(&sealed));
            sealed
        };
        // Only space is saved; the stream is whole without it.
        if let Err(error) = sealed.file.set_len(sealed.end) {
            shared.notice(Notice::Postponed { file: sealed.path.clone(), why: error.to_string() });
        }
        Ok(())
    }

    /// The index that the active segment needs once it is sealed; readers do not wait for the disk meanwhile.
    fn write_active_index(shared: &Shared, stream: &Stream) {
        let (file, index) = {
            let state = stream.state();
            let active = &state.active;
            let sidecar = Sidecar { sequence: active.sequence, salt: active.salt, end: active.end };
            (index_path(&stream.dir, active.sequence), sidecar.encode(&active.index))
        };
        write_index(shared, &file, &index);
    }

    /// The opening record of the segment behind the active one.
    fn following(stream: &Stream) -> SegmentStart {
        let state = stream.state();
        let active = &state.active;
        let partition = |(next, bytes): (&u64, &u64)| PartitionStart { first_offset: *next, previous_bytes: *bytes };
        SegmentStart {
            lifetime: LIFETIME_STREAM,
            uuid: stream.uuid,
            sequence: active.sequence + 1,
            // Inherited, so that records that wait for the roll keep their checksums.
            salt: active.salt,
            allocated_bytes: 0,
            created_at_us: now_us(),
            previous_end: active.end,
            previous_last_at_us: active.times_us.map_or(active.created_at_us, |times| times.1),
            partitions: active.next.iter().zip(&active.bytes).map(partition).collect(),
        }
    }

    /// Writes an empty commit that names the end of the last one: from then on damage in it is told from a torn tail.
    pub(crate) fn name_end(&mut self, shared: &Shared) -> Result<(), StoreError> {
        let stream = &shared.streams[self.place];
        let (end, _) = stream.state().ends();
        let bytes = opening_bytes(0);
        if self.end_named || self.is_dirty() || end + bytes > self.segment_bytes {
            return Ok(());
        }
        let mut opening = vec![];
        CommitBody { synced_before: end, runs: vec![] }.encode(now_us(), self.salt, &mut opening);
        let written = self.grow(stream, end + bytes);
        match written.and_then(|()| Self::write(stream, &[IoSlice::new(&opening)], end)) {
            Ok(_) => {
                stream.state().active.end = end + bytes;
                self.end_named = true;
                Ok(())
            }
            // No space for evidence: the next commit brings it. What was written is overwritten then.
            Err(error) if error.is_retryable() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Deletes what is too old or too much; adds what went to `trimmed`.
    pub(crate) fn retain(&mut self, shared: &Shared, now_ms: i64, trimmed: &mut Trimmed) -> Result<(), StoreError> {
        let now_us = now_ms.saturating_mul(1000);
        self.delete_sealed(shared, now_us, trimmed)?;
        let first_at_us = shared.streams[self.place].state().active.times_us.map(|times| times.0);
        if !self.is_dirty() && first_at_us.is_some_and(|first_at_us| self.limits.rolls(first_at_us, now_us)) {
            match self.roll(shared, self.small_bytes, 0) {
                Ok(()) => self.delete_sealed(shared, now_us, trimmed)?,
                // A full disk heals by deleting, and that was done; the roll is tried again at the next call.
                Err(error) if error.is_retryable() => self.postpone(shared, &error),
                Err(error) => return Err(error),
            }
        }
        if now_ms.saturating_sub(self.readers_saved_at_ms) >= Self::SAVE_READERS_MS {
            self.save_readers(shared);
            self.readers_saved_at_ms = now_ms;
        }
        Ok(())
    }

    fn postpone(&self, shared: &Shared, error: &StoreError) {
        let file = shared.streams[self.place].dir.clone();
        shared.notice(Notice::Postponed { file, why: error.to_string() });
    }

    fn delete_sealed(&mut self, shared: &Shared, now_us: i64, trimmed: &mut Trimmed) -> Result<(), StoreError> {
        let stream = &shared.streams[self.place];
        let count = {
            let state = stream.state();
            let candidate = |sealed: &Sealed| Candidate { bytes: sealed.end, last_at_us: sealed.last_at_us };
            let began_at_us = state.active.times_us.map_or(state.active.created_at_us, |times| times.0);
            let active = Candidate { bytes: state.active.end, last_at_us: began_at_us };
            self.limits.sealed_to_delete(state.sealed.iter().map(candidate), active, now_us)
        };
        for _ in 0..count {
            if !self.delete_oldest(shared, stream, trimmed)? {
                break;
            }
        }
        Ok(())
    }

    /// Deletes the oldest sealed segment; false when that has to wait. The lock is held while the name is removed, so
    /// that a reader finds the file or knows that its offsets are gone.
    fn delete_oldest(&self, shared: &Shared, stream: &Stream, trimmed: &mut Trimmed) -> Result<bool, StoreError> {
        let mut state = stream.state();
        let Some(oldest) = state.sealed.front().cloned() else { return Ok(false) };
        let path = log_path(&stream.dir, oldest.sequence);
        if let Err(error) = shared.disk.remove(&path) {
            shared.notice(Notice::Postponed { file: path, why: error.to_string() });
            return Ok(false);
        }
        let next = state.second_first().to_vec();
        let unread = state.readers.trimmed(&stream.name, &oldest.first, &next);
        state.sealed.pop_front();
        drop(state);
        stream.sealed_cache.forget(oldest.sequence);
        // An index that stays behind is removed when the log is opened.
        let _ = shared.disk.remove(&index_path(&stream.dir, oldest.sequence));
        // In order and one by one: a crash must not leave a gap between segments.
        shared
            .disk
            .sync_dir(&stream.dir)
            .map_err(|error| StoreError::sync("sync of the folder", &stream.dir, error))?;
        trimmed.segments += 1;
        trimmed.bytes += oldest.end;
        let messages = unread.iter().map(|unread| unread.until_offset - unread.from_offset).sum();
        StoreCounters::add(&shared.counters.trimmed_unread, messages);
        unread.iter().for_each(|unread| shared.notice(Notice::Unread(unread.clone())));
        trimmed.unread.extend(unread);
        Ok(true)
    }

    /// Saves the positions of named readers when they changed. They guard an alarm, not messages: a failure is told.
    pub(crate) fn save_readers(&self, shared: &Shared) {
        let stream = &shared.streams[self.place];
        let Some(contents) = stream.state().readers.encode_if_dirty() else { return };
        let file = stream.dir.join("readers");
        if let Err(error) = disk::replace(&*shared.disk, &file, &contents) {
            stream.state().readers.not_saved();
            shared.notice(Notice::ReadersFile { file, why: error.to_string() });
        }
    }
}

impl State {
    fn ends(&self) -> (u64, u64) {
        (self.active.end, self.active.start_bytes)
    }

    fn active_file(&self) -> (std::sync::Arc<dyn disk::DiskFile>, std::path::PathBuf) {
        (self.active.file.clone(), self.active.path.clone())
    }
}

impl Sealed {
    fn of(active: &Active) -> Self {
        Self {
            sequence: active.sequence,
            end: active.end,
            last_at_us: active.times_us.map_or(active.created_at_us, |times| times.1),
            first: active.first.clone(),
            bytes: active.bytes.clone().into_boxed_slice(),
        }
    }
}
