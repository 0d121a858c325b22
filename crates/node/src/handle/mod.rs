//! A running node: its threads, and the way to ask, drain and stop them.

mod audit;
mod bans;
mod begin;
mod end;
mod groups;
mod health;
mod identify;
mod notices;
mod place;
mod sessions;
mod spawn;
mod stream_losses;

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::config::Config;
use crate::error::NodeError;
use crate::extensions::Extensions;
use crate::handshakes::HandshakeRoom;
use crate::hooks::HookControl;
use crate::life::{Failure, Phase};
use crate::listeners::Listeners;
use crate::log::LogShared;
use crate::mailbox::Bell;
use crate::metrics::{HookCounters, LogCounters, Metric, ShardCounters, group_metrics, hold_metrics, journal_metrics};
use crate::opened_log::{KeptReader, LogReaders, OpenLog, OpenedBy, OpenedLog, Writing, open_log};
use crate::passwords::PasswordControl;
use crate::queue_pages::PageControl;
use crate::reload::Reload;
use crate::shard::ranked_holds;
use crate::shared::Shared;
use crate::sn::{SnCounters, SnThread};
use crate::streams::Streams;
use health::Turns;
use notices::Told;
use stream_losses::StreamLosses;

pub use bans::Ban;
pub use health::Hindrance;
pub use identify::{HttpClaim, Identified};
pub use notices::LogLine;

/// A running node. Dropped without [`Handle::stop`] it is stopped at once, without draining.
pub struct Handle {
    shared: Arc<Shared>,
    /// Of the shards in their order, then of the threads that do handshakes.
    counters: Vec<Arc<ShardCounters>>,
    listeners: Vec<String>,
    streams: Streams,
    log: Option<(Arc<LogShared>, Bell)>,
    /// What the log is, beside who writes it.
    opened: Option<(LogReaders, OpenedBy)>,
    pages: Option<Arc<PageControl>>,
    hooks: Option<Arc<HookControl>>,
    passwords: Arc<PasswordControl>,
    handshakes: Arc<HandshakeRoom>,
    sn: Option<Arc<SnCounters>>,
    /// A hook or a strategy did not return when the node stopped.
    abandoned: AtomicBool,
    /// When each shard's loop was seen to turn.
    turns: Turns,
    /// What the operator was told last of the disk and the shards.
    told: Told,
    stream_losses: StreamLosses,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    shards: Vec<JoinHandle<()>>,
    handshakes: Vec<JoinHandle<()>>,
    sn: Option<JoinHandle<SnThread>>,
    log: Option<JoinHandle<Option<Writing>>>,
    pages: Option<JoinHandle<()>>,
    hooks: Option<JoinHandle<()>>,
    passwords: Vec<JoinHandle<()>>,
    audit: Option<JoinHandle<()>>,
    /// And what stops it when it is dropped.
    timekeeper: Option<(JoinHandle<()>, Sender<()>)>,
}

impl Handle {
    /// Opens the log and the listeners and starts the threads. Clients can connect when it returns.
    ///
    /// # Errors
    /// `Config`, `Bind`, `Store`, `System`; nothing stays open then.
    pub fn start(config: Config) -> Result<Self, NodeError> {
        Self::start_with(config, Extensions::default())
    }

    /// As [`Handle::start`], with code of the user's own.
    ///
    /// # Errors
    /// As [`Handle::start`]; `Config` too where a group uses a strategy that is not among `extensions`.
    pub fn start_with(config: Config, extensions: Extensions) -> Result<Self, NodeError> {
        Self::start_by(config, open_log(), extensions)
    }

    fn start_by(config: Config, open: OpenLog, extensions: Extensions) -> Result<Self, NodeError> {
        config.check()?;
        let opened = OpenedLog::open_by(&config, open, &extensions.progress)?;
        Self::serve(config, opened, extensions).map_err(|not_served| not_served.close())
    }

    /// As [`Handle::start`], with a log that the caller opened: the seam at which tests inject faults of the disk.
    ///
    /// # Errors
    /// As [`Handle::start`].
    #[doc(hidden)]
    pub fn start_with_log(config: Config, open: OpenLog) -> Result<Self, NodeError> {
        Self::start_by(config, open, Extensions::default())
    }

    /// The addresses that clients connect to, with their real ports.
    pub fn listeners(&self) -> Vec<String> {
        self.listeners.clone()
    }

    /// Takes over what may change while the node runs, all of it or on an error nothing: `{"access": {"auth": {...}, "rules":
    /// [...]}, "topics": {FILTER: {...}}, "groups": {NAME: {...}, NAME: null}}`, each of them as [`Config`] has it and absent
    /// where it stays as it is; and the certificates and keys of listeners, whose files are read again.
    ///
    /// Sessions that are open get their new rights in the next turn of their shard; those whose user is gone end. New
    /// handshakes use the new files. Of topics these are all tables, of groups those that are to be taken, replaced, or taken
    /// out (`null`). What came before under other topics' tables stays where it is: a session takes them up when nothing waits
    /// for it any more, so that no message overtakes another one of its topic.
    ///
    /// Returns the number of listeners whose files were read.
    /// # Errors
    /// `Config`, `Bind`, `Reload`: names the key or the file and the remedy, and no secret.
    pub fn reload(&self, reload_json: &str) -> Result<usize, NodeError> {
        self.shared.reload(Reload::from_json(reload_json)?)
    }

    /// What a start with `config` would refuse of its listeners' settings and files, all of it; no port is touched.
    pub fn listener_faults(config: &Config) -> Vec<NodeError> {
        Listeners::faults(config)
    }

    /// True while the node accepts connections and has not failed.
    pub fn ready(&self) -> bool {
        self.shared.phase() == Phase::Running
    }

    /// Why the node stopped by itself, if it did.
    pub fn failure(&self) -> Option<Failure> {
        self.shared.life.failure()
    }

    /// All counters of the node, summed over its shards.
    pub fn metrics(&self) -> Vec<Metric> {
        let shards: Vec<&ShardCounters> = self.counters.iter().map(|counters| &**counters).collect();
        let mut metrics =
            vec![Metric::gauge("lapwing_shards", "Event loops of this node.", self.shared.bells.len() as u64)];
        metrics.extend(ShardCounters::collect(&shards));
        metrics.extend(self.passwords.collect());
        metrics.extend(self.shared.token_keys.collect());
        metrics.extend(self.handshakes.metrics());
        metrics.extend(self.sn.iter().flat_map(|counters| counters.metrics()));
        if let Some(hooks) = &self.hooks {
            metrics.extend(HookCounters::collect(&shards, hooks));
        }
        metrics.extend(self.shared.strategies.metrics());
        metrics.extend(self.shared.memory.metrics());
        metrics.extend(self.shared.strangers.metrics());
        metrics.extend(self.shared.notices.metrics());
        metrics.extend(self.shared.audit.metrics());
        metrics.extend(self.shared.listeners().metrics());
        metrics.extend(group_metrics(self.sample_groups(), &self.shared.config.dispatch));
        let holds = ranked_holds(&self.shared.config).into_iter().map(|(filter, _)| filter);
        metrics.extend(hold_metrics(&holds.zip(&self.shared.hold_counters).collect::<Vec<_>>()));
        if let (Some(reader), Some((log, _))) = (self.streams.reader(), &self.log) {
            metrics.extend(LogCounters::collect(reader, log));
        }
        if let Some(KeptReader { reader, data_groups }) = self.kept() {
            metrics.extend(journal_metrics(reader, data_groups));
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

    /// Answers of stream reads take up so many bytes more, or less: they count with what clients hold.
    pub fn hold_reads(&self, bytes: i64) {
        self.shared.memory.hold_reads(bytes);
    }

    /// Whether memory is above `memory_high_bytes`.
    pub fn is_memory_high(&self) -> bool {
        self.shared.memory.is_high()
    }

    /// What is kept of sessions and retained messages, if anything is.
    fn kept(&self) -> Option<&KeptReader> {
        self.opened.as_ref().and_then(|(readers, _)| readers.kept.as_ref())
    }

    fn threads(&self) -> std::sync::MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
