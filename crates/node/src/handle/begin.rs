//! How a node begins to serve: everything is laid first, then its threads start; whatever fails, the log is the caller's again.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use super::health::Turns;
use super::notices::Told;
use super::spawn::{
    spawn_audit, spawn_handshakes, spawn_hooks, spawn_log, spawn_pages, spawn_password_worker, spawn_passwords,
    spawn_shard, spawn_sn, spawn_timekeeper, spawn_token_keys,
};
use super::stream_losses::StreamLosses;
use super::{Handle, Threads, place};
use crate::assemble::{self, HookParts, LogParts, PageParts, Parts};
use crate::audit::lay_audit;
use crate::clock::lay_timekeeper;
use crate::config::Config;
use crate::data_groups::Share;
use crate::error::NodeError;
use crate::extensions::Extensions;
use crate::handshakes::HandshakeThread;
use crate::hooks::HookThread;
use crate::log::LogWiring;
use crate::opened_log::{NotServed, OpenedBy, OpenedLog, Writing};
use crate::passwords::{PasswordParts, PasswordThread, PasswordWorker};
use crate::queue_pages::PageThread;
use crate::shard::Shard;
use crate::sn::SnThread;
use crate::strategies::Strategist;
use crate::token_keys::KeyThread;

/// What the threads of a node work on, before there are any.
struct Work {
    strategists: Vec<(String, Box<dyn Strategist>)>,
    /// Consumer groups that were kept.
    shares: Option<Arc<BTreeMap<Box<str>, Share>>>,
    log: Option<LogWiring>,
    pages: Option<PageThread>,
    hooks: Option<HookThread>,
    passwords: (PasswordThread, Vec<PasswordWorker>),
    handshakes: Vec<HandshakeThread>,
    sn: Option<SnThread>,
    shards: Vec<Shard>,
}

impl Handle {
    /// Opens the listeners and starts the threads on a log that is open: of [`OpenedLog::open`], or of a serving before that has
    /// ended ([`Handle::end_serving`]). Clients can connect when it returns.
    ///
    /// # Errors
    /// As [`Handle::start_with`], with the log as it was; `Config` too where the log was opened by another folder, or other
    /// settings of it, than are in `config`.
    pub fn serve(config: Config, opened: Option<OpenedLog>, extensions: Extensions) -> Result<Self, Box<NotServed>> {
        match Self::laid(config, opened.as_ref(), extensions) {
            Ok((handle, work)) => handle.begun(work, opened.map(|opened| opened.writers)),
            Err(error) => Err(Box::new(NotServed { log: opened, error })),
        }
    }

    /// A node without threads.
    fn laid(config: Config, opened: Option<&OpenedLog>, mut extensions: Extensions) -> Result<(Self, Work), NodeError> {
        config.check()?;
        OpenedBy::check(opened.map(|opened| &opened.opened_by), &config)?;
        let strategists = std::mem::take(&mut extensions.strategists);
        assemble::parts(Arc::new(config), opened, extensions).map(|parts| Self::of(parts, strategists))
    }

    fn of(parts: Parts, strategists: Vec<(String, Box<dyn Strategist>)>) -> (Self, Work) {
        let Parts { shared, shards, log, shares, pages, hooks, passwords, handshakes, sn, listeners, streams } = parts;
        let PasswordParts { thread: password_thread, workers, control: passwords } = passwords;
        let (handshake_threads, handshakes) = handshakes;
        let (log_work, opened, log) = match log {
            Some(LogParts { wiring, readers, opened_by, shared, bell }) => {
                (Some(wiring), Some((readers, opened_by)), Some((shared, bell)))
            }
            None => (None, None, None),
        };
        let (page_thread, pages) = pages.map(|PageParts { thread, control }| (thread, control)).unzip();
        let (hook_thread, hooks) = hooks.map(|HookParts { thread, control }| (thread, control)).unzip();
        let of_handshakes = handshake_threads.iter().map(HandshakeThread::counters);
        let handle = Handle {
            counters: shards.iter().map(Shard::counters).chain(of_handshakes).collect(),
            shared,
            listeners,
            streams,
            log,
            opened,
            pages,
            hooks,
            passwords,
            handshakes,
            sn: sn.as_ref().map(SnThread::counters),
            abandoned: AtomicBool::new(false),
            turns: Turns::default(),
            told: Told::default(),
            stream_losses: StreamLosses::default(),
            threads: Mutex::new(Threads::default()),
        };
        let work = Work {
            strategists,
            shares,
            log: log_work,
            pages: page_thread,
            hooks: hook_thread,
            passwords: (password_thread, workers),
            handshakes: handshake_threads,
            sn,
            shards,
        };
        (handle, work)
    }

    /// Starts its threads.
    ///
    /// # Errors
    /// One of them could not be had, or has nothing to work with: those that were begun have ended.
    fn begun(self, work: Work, mut writers: Option<Writing>) -> Result<Self, Box<NotServed>> {
        match self.begin(work, &mut writers) {
            Ok(()) => Ok(self),
            Err(error) => {
                let writers = self.end_threads(Some).or(writers);
                Err(Box::new(NotServed { log: self.opened_with(writers), error }))
            }
        }
    }

    /// Takes `writers` when there is a log thread.
    fn begin(&self, work: Work, writers: &mut Option<Writing>) -> Result<(), NodeError> {
        place::watch();
        self.load_strategies(work.strategists)?;
        if let Some(shares) = &work.shares {
            self.shared.redeclare_groups(shares);
        }
        if let Some(audit) = lay_audit(&self.shared)? {
            self.threads().audit = Some(spawn_audit(&self.shared, audit)?);
            self.audit_accepted_losses();
        }
        if let Some(wiring) = work.log {
            self.threads().log = Some(spawn_log(&self.shared, wiring, writers)?);
        }
        if let Some(pages) = work.pages {
            self.threads().pages = Some(spawn_pages(&self.shared, pages)?);
        }
        if let Some(hooks) = work.hooks {
            self.threads().hooks = Some(spawn_hooks(&self.shared, hooks)?);
        }
        self.begin_passwords(work.passwords)?;
        spawn_token_keys(&self.shared, KeyThread::new(&self.shared))?;
        if let Some((timekeeper, stop)) = lay_timekeeper(&self.shared) {
            self.threads().timekeeper = Some((spawn_timekeeper(&self.shared, timekeeper)?, stop));
        }
        for thread in work.handshakes {
            let thread = spawn_handshakes(&self.shared, thread)?;
            self.threads().handshakes.push(thread);
        }
        if let Some(thread) = work.sn {
            let thread = spawn_sn(&self.shared, thread)?;
            self.threads().sn = Some(thread);
        }
        for shard in work.shards {
            let thread = spawn_shard(&self.shared, shard)?;
            self.threads().shards.push(thread);
        }
        Ok(())
    }

    fn load_strategies(&self, strategists: Vec<(String, Box<dyn Strategist>)>) -> Result<(), NodeError> {
        for (name, strategist) in strategists {
            self.shared.strategies.start(&name, strategist)?;
        }
        self.shared.config.groups.iter().try_for_each(|(name, group)| self.shared.check_strategy(name, group))
    }

    fn begin_passwords(&self, (thread, workers): (PasswordThread, Vec<PasswordWorker>)) -> Result<(), NodeError> {
        let spawned = spawn_passwords(&self.shared, thread)?;
        self.threads().passwords.push(spawned);
        for worker in workers {
            let spawned = spawn_password_worker(&self.shared, worker)?;
            self.threads().passwords.push(spawned);
        }
        Ok(())
    }
}
