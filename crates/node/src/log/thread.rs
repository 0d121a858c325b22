//! The one thread that writes the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lapwing_store::StoreError;

use super::batch::LogBatch;
use super::keeper::Keeper;
use super::lanes::LogLanes;
use super::shared::LogShared;
use super::writers::LogWriters;
use crate::assemble::Unpark;
use crate::mailbox::{Bell, Inlet};
use crate::niceness::come_soon;

/// Bytes appended before a commit is due even though more waits in the lanes.
const COMMIT_BYTES: usize = 8 << 20;
/// How long a commit that nobody waits for may gather.
const COMPANY: Duration = Duration::from_millis(2);
/// Pause between two tries while the disk is full.
const FULL_PAUSE: Duration = Duration::from_millis(100);
/// How often retention is looked after.
const RETAIN_EVERY: Duration = Duration::from_secs(1);
/// How often it is looked whether the next segment is there, where publishers wait for that.
const ROOM_PAUSE: Duration = Duration::from_millis(1);
/// How often the length of the data groups' log is looked after.
const TEND_EVERY: Duration = Duration::from_millis(100);

/// What connects a log thread to the shards.
pub(crate) struct LogWiring {
    pub(crate) inlets: Vec<Inlet<LogBatch>>,
    pub(crate) shards: Vec<Bell>,
    pub(crate) bell: Bell,
    pub(crate) unpark: Unpark,
    pub(crate) shared: Arc<LogShared>,
}

/// The log thread's state; [`LogThread::run`] is its life.
pub(crate) struct LogThread {
    writers: LogWriters,
    lanes: LogLanes,
    shards: Vec<Bell>,
    bell: Bell,
    unpark: Unpark,
    shared: Arc<LogShared>,
    /// Bytes appended since the last commit.
    appended_bytes: u64,
    /// What is left of a batch, with its shard: too much waited already when the writer had taken the first records.
    rest: Option<(usize, LogBatch)>,
    awaited: bool,
    last_commit: Instant,
    last_retain: Instant,
    last_tend: Instant,
    has_more_to_tend: bool,
}

impl LogThread {
    pub(crate) fn new(writers: LogWriters, wiring: LogWiring) -> Self {
        let LogWiring { inlets, shards, bell, unpark, shared } = wiring;
        let now = Instant::now();
        LogThread {
            writers,
            lanes: LogLanes::new(inlets),
            shards,
            bell,
            unpark,
            shared,
            appended_bytes: 0,
            rest: None,
            awaited: false,
            last_commit: now,
            last_retain: now,
            last_tend: now,
            has_more_to_tend: false,
        }
    }

    /// Works until the node stops it, and everything that the shards have handed over is committed. Gives back what it wrote
    /// with; `None`: the disk is full and the node ends, so what was never acknowledged is given up.
    ///
    /// # Errors
    /// Any error of the log but `Full`: the node stops.
    pub(crate) fn run(mut self) -> Result<Option<LogWriters>, StoreError> {
        self.unpark.is_me();
        come_soon();
        loop {
            self.shared.pulse.begin();
            let stopping = self.shared.stop.load(Ordering::Acquire);
            self.gather()?;
            if self.writers.pending_bytes() > 0 {
                self.commit_or_wait(stopping)?;
            } else if stopping && self.is_idle() {
                return Ok(Some(self.writers));
            } else if self.rest.is_some() {
                // Refused though nothing waits for a commit: it is tried again, but not at full speed.
                self.doze(FULL_PAUSE);
            } else {
                self.sleep(self.pause());
            }
            self.retain()?;
            self.tend()?;
            self.shared.pulse.end();
            if stopping && self.shared.is_full() {
                return Ok(None);
            }
        }
    }

    /// Appends what waits in the lanes, up to one commit's worth.
    fn gather(&mut self) -> Result<(), StoreError> {
        if self.shared.is_full() {
            return Ok(());
        }
        if let Some((shard, batch)) = self.rest.take() {
            self.append(shard, batch)?;
        }
        while self.rest.is_none()
            && self.writers.pending_bytes() < COMMIT_BYTES
            && let Some((shard, batch)) = self.lanes.take()
        {
            self.append(shard, batch)?;
        }
        Ok(())
    }

    fn append(&mut self, shard: usize, mut batch: LogBatch) -> Result<(), StoreError> {
        self.awaited |= batch.awaited;
        let refused = self.append_records(&batch)?;
        self.rest = refused.map(|first| (shard, batch.split_off(first)));
        self.lanes.appended(shard, batch.last_lsn);
        self.appended_bytes += batch.bodies.len() as u64;
        self.writers.appended(batch);
        Ok(())
    }

    /// The number of the first record for which too much waits already, if there is one.
    fn append_records(&mut self, batch: &LogBatch) -> Result<Option<usize>, StoreError> {
        // Nothing is appended before it came in, even if the clock was set back meanwhile.
        let appended_at_us = now_us().max(batch.ingress_at_us);
        for (n, (record, body)) in batch.iter().enumerate() {
            match self.writers.append(record, appended_at_us, body) {
                Ok(()) => {}
                Err(error) if error.is_retryable() => return Ok(Some(n)),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Commits now, or sleeps a moment when nobody waits for it and more may come.
    fn commit_or_wait(&mut self, stopping: bool) -> Result<(), StoreError> {
        let since = self.last_commit.elapsed();
        let urgent = self.awaited || stopping || self.rest.is_some() || self.writers.pending_bytes() >= COMMIT_BYTES;
        if !urgent && since < COMPANY {
            self.sleep(COMPANY - since);
            return Ok(());
        }
        match self.writers.commit() {
            Ok(()) => {
                self.note_room();
                self.publish();
            }
            Err(error) if error.is_retryable() => {
                self.shared.full.store(true, Ordering::Relaxed);
                self.note_room();
                self.doze(FULL_PAUSE);
            }
            Err(error) => return Err(error),
        }
        self.last_commit = Instant::now();
        Ok(())
    }

    /// Tells the shards how far the log is durable.
    fn publish(&mut self) {
        let was_full = self.shared.full.swap(false, Ordering::Relaxed);
        self.awaited = false;
        let is_room = self.shared.arrived(std::mem::take(&mut self.appended_bytes));
        for (shard, lsn) in self.lanes.lsns().iter().enumerate() {
            let cell = &self.shared.committed[shard];
            if cell.load(Ordering::Relaxed) != *lsn || was_full || is_room {
                cell.store(*lsn, Ordering::Release);
                self.shards[shard].ring();
            }
        }
    }

    fn retain(&mut self) -> Result<(), StoreError> {
        if self.last_retain.elapsed() < RETAIN_EVERY {
            return Ok(());
        }
        self.last_retain = Instant::now();
        match self.writers.streams.retain(now_us() / 1000) {
            Ok(_) => Ok(()),
            // The next commit meets the same full disk and raises the flag; retention is tried again in a second.
            Err(error) if error.is_retryable() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// How long nothing need be looked after.
    fn pause(&self) -> Duration {
        match self.has_more_to_tend {
            _ if self.writers.keeper.as_ref().is_some_and(Keeper::waits_for_room) => ROOM_PAUSE,
            true => TEND_EVERY,
            false => RETAIN_EVERY,
        }
    }

    /// Looks after the log of the data groups, now and then.
    fn tend(&mut self) -> Result<(), StoreError> {
        let Some(keeper) = &mut self.writers.keeper else { return Ok(()) };
        if keeper.waits_for_room() {
            keeper.take_room()?;
            self.note_room();
        }
        let Some(keeper) = &mut self.writers.keeper else { return Ok(()) };
        if self.last_tend.elapsed() < TEND_EVERY {
            return Ok(());
        }
        self.last_tend = Instant::now();
        let tended = keeper.tend();
        self.note_room();
        self.has_more_to_tend = match tended {
            // The next commit meets the same full disk and raises the flag; this is tried again.
            Err(error) if error.is_retryable() => true,
            tended => tended?,
        };
        Ok(())
    }

    /// Lets the shards know whether another segment will find room, before more comes.
    fn note_room(&mut self) {
        let Some(keeper) = &mut self.writers.keeper else { return };
        if let Some(bytes) = self.shared.held_up_bytes() {
            // For the next time: as much again, if it is still small.
            keeper.expect(bytes.saturating_mul(2));
        }
        let set = |flag: &AtomicBool, is_so| flag.swap(is_so, Ordering::Relaxed) && !is_so;
        let is_late = keeper.waits_for_room();
        self.shared.pulse.set_late(is_late);
        let is_more = self.shared.set_scale(keeper.scale_bytes());
        if set(&self.shared.low, keeper.is_low_on_space()) | set(&self.shared.late, is_late) | is_more {
            // Nothing else may come that would wake them.
            self.shards.iter().for_each(Bell::ring);
        }
    }

    fn is_idle(&self) -> bool {
        self.rest.is_none() && self.lanes.is_empty()
    }

    fn sleep(&self, at_most: Duration) {
        self.bell.prepare();
        if self.is_idle() && !self.shared.stop.load(Ordering::Acquire) {
            self.doze(at_most);
        }
        self.bell.awake();
    }

    /// Sleeps at most so long, and that is no turn.
    fn doze(&self, at_most: Duration) {
        self.shared.pulse.end();
        std::thread::park_timeout(at_most);
        self.shared.pulse.begin();
    }
}

/// Microseconds since the epoch.
pub(crate) fn now_us() -> i64 {
    // A clock before 1970 is no reason to stop: the append time is then 0.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}
