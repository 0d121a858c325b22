//! A running node: its threads, and the way to ask, drain and stop them.

mod groups;
mod sessions;
mod spawn;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lapwing_store::LogReader;

use crate::assemble::{self, HookParts, LogParts, PageParts, Parts};
use crate::config::{self, Config};
use crate::error::NodeError;
use crate::extensions::Extensions;
use crate::hooks::HookControl;
use crate::log::LogShared;
use crate::mailbox::Bell;
use crate::metrics::{
    DropReason, HookCounters, LogCounters, Metric, ShardCounters, group_metrics, hold_metrics, journal_metrics,
};
use crate::passwords::PasswordControl;
use crate::queue_pages::PageControl;
use crate::shard::{Recovered, Shard, ranked_holds};
use crate::shared::{Failure, Phase, Shared};
use crate::streams::Streams;
use spawn::{spawn_hooks, spawn_log, spawn_pages, spawn_passwords, spawn_shard};

/// A running node. Dropped without [`Handle::stop`] it is stopped at once, without draining.
pub struct Handle {
    shared: Arc<Shared>,
    counters: Vec<Arc<ShardCounters>>,
    listeners: Vec<String>,
    streams: Streams,
    log: Option<(Arc<LogShared>, Bell)>,
    /// What is kept of sessions and retained messages, if anything is.
    kept: Option<Recovered>,
    pages: Option<Arc<PageControl>>,
    hooks: Option<Arc<HookControl>>,
    passwords: Arc<PasswordControl>,
    /// A hook or a strategy did not return when the node stopped.
    abandoned: AtomicBool,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    shards: Vec<JoinHandle<()>>,
    log: Option<JoinHandle<()>>,
    pages: Option<JoinHandle<()>>,
    hooks: Option<JoinHandle<()>>,
    passwords: Option<JoinHandle<()>>,
}

/// How often a drain looks whether it is done.
const DRAIN_LOOK: Duration = Duration::from_millis(2);

impl Handle {
    /// Opens the log and the listeners and starts the threads. Clients can connect when it returns.
    ///
    /// # Errors
    /// `Config`, `Bind`, `Store`, `System`; nothing stays open then.
    pub fn start(config: Config) -> Result<Self, NodeError> {
        config.check()?;
        Self::start_with(config, Extensions::default())
    }

    /// As [`Handle::start`], with code of the user's own.
    ///
    /// # Errors
    /// As [`Handle::start`]; `Config` too where a group uses a strategy that is not among `extensions`.
    pub fn start_with(config: Config, extensions: Extensions) -> Result<Self, NodeError> {
        config.check()?;
        let Extensions { hooks, strategists } = extensions;
        let parts = assemble::parts(Arc::new(config), assemble::open_log(), hooks)?;
        for (name, strategist) in strategists {
            parts.shared.strategies.start(&name, strategist)?;
        }
        for (name, group) in &parts.shared.config.groups {
            parts.shared.check_strategy(name, group)?;
        }
        Self::run(parts)
    }

    /// As [`Handle::start`], with a log that the caller opened: the seam at which tests inject faults of the disk.
    ///
    /// # Errors
    /// As [`Handle::start`].
    #[doc(hidden)]
    pub fn start_with_log(config: Config, open: assemble::OpenLog) -> Result<Self, NodeError> {
        config.check()?;
        Self::run(assemble::parts(Arc::new(config), open, None)?)
    }

    fn run(parts: Parts) -> Result<Self, NodeError> {
        let Parts { shared, shards, log, kept, pages, hooks, passwords, listeners, streams } = parts;
        let (password_thread, passwords) = passwords;
        let (log_thread, log) = match log {
            Some(LogParts { thread, shared, bell }) => (Some(thread), Some((shared, bell))),
            None => (None, None),
        };
        let (page_thread, pages) = match pages {
            Some(PageParts { thread, control }) => (Some(thread), Some(control)),
            None => (None, None),
        };
        let (hook_thread, hooks) = match hooks {
            Some(HookParts { thread, control }) => (Some(thread), Some(control)),
            None => (None, None),
        };
        let handle = Handle {
            counters: shards.iter().map(Shard::counters).collect(),
            shared,
            listeners,
            streams,
            log,
            kept,
            pages,
            hooks,
            passwords,
            abandoned: AtomicBool::new(false),
            threads: Mutex::new(Threads::default()),
        };
        // From here on a failure drops the handle, and that stops the threads begun so far.
        if let Some(log_thread) = log_thread {
            handle.threads().log = Some(spawn_log(&handle.shared, log_thread)?);
        }
        if let Some(page_thread) = page_thread {
            handle.threads().pages = Some(spawn_pages(&handle.shared, page_thread)?);
        }
        if let Some(hook_thread) = hook_thread {
            handle.threads().hooks = Some(spawn_hooks(&handle.shared, hook_thread)?);
        }
        handle.threads().passwords = Some(spawn_passwords(&handle.shared, password_thread)?);
        for shard in shards {
            let thread = spawn_shard(&handle.shared, shard)?;
            handle.threads().shards.push(thread);
        }
        Ok(handle)
    }

    /// The addresses that clients connect to, with their real ports.
    pub fn listeners(&self) -> Vec<String> {
        self.listeners.clone()
    }

    /// Takes other users and rules while the node runs: both, or on an error neither.
    ///
    /// `access_json`: `{"auth": {...}, "rules": [...]}`, as [`Config`] has them. Sessions that are open get their new
    /// rights in the next turn of their shard; those whose user is gone end.
    /// # Errors
    /// `Config`: names the key and the remedy, and no secret.
    pub fn reload_access(&self, access_json: &str) -> Result<(), NodeError> {
        self.shared.reload_access(&config::access_from_json(access_json)?)
    }

    /// Takes other tables of topics while the node runs: `{FILTER: {"durability": "memory"}}`, all that are to be in force.
    ///
    /// What came before stays where it is. A session takes up the new rules when nothing waits for it any more, so that no
    /// message overtakes another one of its topic.
    /// # Errors
    /// `Config`: names the key and the remedy; nothing changes.
    pub fn change_topics(&self, topics_json: &str) -> Result<(), NodeError> {
        let tables = config::topics_from_json(topics_json, self.shared.config.keeps_sessions())?;
        self.shared.change_topics(tables);
        Ok(())
    }

    /// Reads again what may change while the node runs: certificates and keys of listeners. New handshakes use them.
    ///
    /// Returns the number of listeners that have new ones.
    /// # Errors
    /// `Reload`: some could not be read; those listeners keep what they have, the others have new ones.
    pub fn reload(&self) -> Result<usize, NodeError> {
        let (reloaded, mut failures) = self.shared.listeners().reload();
        match failures.len() {
            0 => Ok(reloaded),
            1 => Err(NodeError::Bind(failures.remove(0))),
            _ => Err(NodeError::Reload(failures)),
        }
    }

    /// True while the node accepts connections and has not failed.
    pub fn ready(&self) -> bool {
        self.shared.phase() == Phase::Running
    }

    /// Why the node stopped by itself, if it did.
    pub fn failure(&self) -> Option<Failure> {
        self.shared.failure()
    }

    /// All counters of the node, summed over its shards.
    pub fn metrics(&self) -> Vec<Metric> {
        let shards: Vec<&ShardCounters> = self.counters.iter().map(|counters| &**counters).collect();
        let mut metrics = vec![Metric::gauge("lapwing_shards", "Event loops of this node.", shards.len() as u64)];
        metrics.extend(ShardCounters::collect(&shards));
        metrics.extend(self.passwords.collect());
        if let Some(hooks) = &self.hooks {
            metrics.extend(HookCounters::collect(&shards, hooks));
        }
        metrics.extend(self.shared.strategies.metrics());
        metrics.extend(self.shared.memory.metrics());
        metrics.extend(self.shared.listeners().metrics());
        let members_max = self.shared.config.dispatch.member_metrics_max;
        metrics.extend(group_metrics(&self.shared.group_reports(), members_max));
        let holds = ranked_holds(&self.shared.config).into_iter().map(|(filter, _)| filter);
        metrics.extend(hold_metrics(&holds.zip(&self.shared.hold_counters).collect::<Vec<_>>()));
        if let (Some(reader), Some((log, _))) = (self.streams.reader(), &self.log) {
            metrics.extend(LogCounters::collect(reader, log.is_full() || log.is_low()));
        }
        if let Some(Recovered { reader, groups, .. }) = &self.kept {
            metrics.extend(journal_metrics(reader, groups));
        }
        if let Some(pages) = &self.pages {
            metrics.extend(pages.collect());
        }
        metrics
    }

    /// The streams of this node, to read from any thread.
    pub fn streams(&self) -> Streams {
        self.streams.clone()
    }

    /// Every stream as JSON: `{"streams": [...]}`.
    pub fn streams_json(&self) -> String {
        self.streams.to_json()
    }

    /// What the node and its log have to tell an operator since the last call.
    pub fn take_notices(&self) -> Vec<String> {
        let notices = self.streams.reader().map(LogReader::take_notices).unwrap_or_default();
        let hooks = self.hooks.as_ref().and_then(|hooks| hooks.take_notice());
        let kept = self.kept.as_ref().map(|kept| kept.reader.take_notices()).unwrap_or_default();
        let notices = notices.iter().chain(&kept).map(ToString::to_string).chain(hooks);
        let notices = notices.chain(self.shared.strategies.take_notices());
        self.shared.take_notices().into_iter().chain(notices).collect()
    }

    /// Stops accepting, sends clients away (`0x8B` in 5.0), writes out what waits and commits it.
    ///
    /// # Errors
    /// `DrainTimeout`: some connections did not take their bytes in time; [`Handle::stop`] cuts them.
    pub fn drain(&self, timeout: Duration) -> Result<(), NodeError> {
        self.shared.enter(Phase::Draining);
        let begun = Instant::now();
        while !self.shared.is_drained() && self.shared.phase() != Phase::Stopping {
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
        match self.shared.failure() {
            None => Ok(()),
            Some(failure) => Err(NodeError::Failed(failure)),
        }
    }

    fn end(&self) {
        self.shared.enter(Phase::Stopping);
        let threads = std::mem::take(&mut *self.threads());
        for shard in threads.shards {
            // A panic was caught and noted inside the thread.
            let _ = shard.join();
        }
        if let (Some(thread), Some(pages)) = (threads.pages, &self.pages) {
            pages.stop();
            let _ = thread.join();
        }
        if let Some(thread) = threads.passwords {
            self.passwords.stop();
            // At most one check is waited for.
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
        if let (Some(thread), Some((log, bell))) = (threads.log, &self.log) {
            log.stop();
            bell.ring();
            let _ = thread.join();
            self.count_unlogged(log);
        }
    }

    /// What shards handed to the log and it did not make durable; all threads have ended, so nobody else counts.
    fn count_unlogged(&self, log: &LogShared) {
        for (shard, counters) in self.counters.iter().enumerate() {
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

    fn threads(&self) -> std::sync::MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.end();
    }
}
