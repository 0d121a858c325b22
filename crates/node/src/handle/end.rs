//! How a node ends: drained first, or at once.

use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::Handle;
use crate::error::NodeError;
use crate::life::Phase;
use crate::log::LogShared;
use crate::metrics::DropReason;
use crate::opened_log::{OpenedLog, Writing};

/// How often a drain looks whether it is done.
const DRAIN_LOOK: Duration = Duration::from_millis(2);

impl Handle {
    /// Stops accepting, sends clients away (`0x8B` in 5.0), writes out what waits and commits it.
    ///
    /// # Errors
    /// `DrainTimeout`: some connections did not take their bytes in time; [`Handle::stop`] cuts them.
    pub fn drain(&self, timeout: Duration) -> Result<(), NodeError> {
        self.shared.enter(Phase::Draining);
        let begun = Instant::now();
        while !self.shared.life.is_drained() && self.shared.phase() != Phase::Stopping {
            if begun.elapsed() >= timeout {
                let connections = u64::from(self.shared.connections());
                let disk_full = self.log.as_ref().is_some_and(|(log, _)| log.is_full());
                let timeout_ms = timeout.as_millis() as u64;
                return Err(NodeError::DrainTimeout { connections, timeout_ms, disk_full });
            }
            thread::sleep(DRAIN_LOOK);
        }
        Ok(())
    }

    /// Ends all threads; the log is committed and closed last. Connections still open are cut. A second call does nothing.
    ///
    /// # Errors
    /// The failure that stopped the node before, or one on the way down.
    pub fn stop(&self) -> Result<(), NodeError> {
        self.end();
        self.unfailed()
    }

    /// Ends all threads as [`Handle::stop`] does, and gives the log back open, with everything in it that was acknowledged:
    /// another [`Handle::serve`] in this process goes on with it. `None`: nothing is kept, or the disk was full.
    ///
    /// # Errors
    /// As [`Handle::stop`]; a log that is whole, because something else has failed, is closed.
    pub fn end_serving(self) -> Result<Option<OpenedLog>, NodeError> {
        let opened = self.opened_with(self.end_threads(Some));
        if let Err(failure) = self.unfailed() {
            // What fails first is what somebody has to see to.
            let _ = opened.map(OpenedLog::close);
            return Err(failure);
        }
        Ok(opened)
    }

    /// The log again, when no thread writes it.
    pub(super) fn opened_with(&self, writers: Option<Writing>) -> Option<OpenedLog> {
        let opened = writers.zip(self.opened.clone());
        opened.map(|(writers, (readers, opened_by))| OpenedLog { writers, readers, opened_by })
    }

    fn unfailed(&self) -> Result<(), NodeError> {
        self.shared.life.failure().map_or(Ok(()), |failure| Err(NodeError::Failed(failure)))
    }

    fn end(&self) {
        self.end_threads(|writers| {
            writers.close().unwrap_or_else(|error| self.shared.fail(&error.into()));
            None
        });
    }

    /// `behind`: what becomes of what the log thread wrote with, if that is whole.
    pub(super) fn end_threads(&self, behind: impl FnOnce(Writing) -> Option<Writing>) -> Option<Writing> {
        self.shared.enter(Phase::Stopping);
        let threads = std::mem::take(&mut *self.threads());
        for shard in threads.shards.into_iter().chain(threads.handshakes) {
            // A panic was caught and noted inside the thread.
            let _ = shard.join();
        }
        if let Some(sn) = threads.sn {
            // After the shards: see `spawn_sn`.
            let _ = sn.join();
        }
        if let (Some(thread), Some(pages)) = (threads.pages, &self.pages) {
            pages.stop();
            let _ = thread.join();
        }
        self.passwords.stop();
        self.shared.token_keys.stop();
        for thread in threads.passwords {
            // At most one check of each is waited for.
            let _ = thread.join();
        }
        let timeout = Duration::from_millis(self.shared.config.hooks.timeout_ms);
        if !self.shared.strategies.end(timeout).is_empty() {
            self.abandoned.store(true, Ordering::Relaxed);
        }
        if let (Some(thread), Some(control)) = (threads.hooks, &self.hooks) {
            control.stop();
            self.leave_hooks(thread);
        }
        if let Some((thread, stop)) = threads.timekeeper {
            // While the log holds the folder's lock: the next broker must not have begun to keep its time there.
            drop(stop);
            let _ = thread.join();
        }
        let writers = threads.log.zip(self.log.as_ref()).and_then(|(thread, (log, bell))| {
            log.stop();
            bell.ring();
            let writers = thread.join().ok().flatten();
            self.count_unlogged(log);
            writers
        });
        let writers = writers.and_then(behind);
        if let Some(thread) = threads.audit {
            self.end_audit();
            let _ = thread.join();
        }
        writers
    }

    /// What shards handed to the log and it did not make durable; all threads have ended, so nobody else counts.
    fn count_unlogged(&self, log: &LogShared) {
        for (shard, counters) in self.counters.iter().take(self.shared.bells.len()).enumerate() {
            counters.dropped(DropReason::StreamStopped, log.unlogged(shard));
        }
    }

    /// Gives the hooks as long as one call may take. A hook that blocks keeps its thread, and nothing of the node's.
    fn leave_hooks(&self, thread: JoinHandle<()>) {
        let begun = Instant::now();
        let timeout = Duration::from_millis(self.shared.config.hooks.timeout_ms);
        while !thread.is_finished() {
            if begun.elapsed() >= timeout {
                return self.abandoned.store(true, Ordering::Relaxed);
            }
            thread::sleep(DRAIN_LOOK);
        }
        // A panic of the hooks' code was caught inside.
        let _ = thread.join();
    }

    /// Whether a hook or a strategy did not return, so that its thread was left behind when the node stopped.
    pub fn has_abandoned_hooks(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.end();
    }
}
