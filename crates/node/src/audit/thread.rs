//! The thread that writes the trail.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::json;

use super::chain::Chain;
use super::desk::Word;
use super::event::AuditEvent;
use super::file::{Found, TrailFile};
use crate::config::{AuditConfig, AuditFailure};
use crate::error::NodeError;
use crate::notices::NoticeKind;
use crate::shared::Shared;

/// How often it looks what is due though nothing comes, and tries again what could not be written.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often it looks whether the file lies where it should.
const PLACE_EVERY: Duration = Duration::from_secs(1);
/// Bytes of lines that are written at a time.
const WRITE_BYTES: usize = 64 << 10;
/// So much that is not on disk is brought there before it is due: it is kept in memory until then.
const UNSYNCED_BYTES_MAX: usize = 4 << 20;

/// The thread before it runs.
pub(crate) struct AuditThread {
    shared: Arc<Shared>,
    receiver: Receiver<Word>,
    file: TrailFile,
    chain: Chain,
    /// Lines that are not in the file.
    waiting: String,
    /// How many those are.
    waiting_lines: u64,
    /// The first write since the last time that all was on disk.
    unsynced_since: Option<Instant>,
    /// Losses that the trail has told.
    lost_told: u64,
    /// The operator was told that it cannot be written.
    has_failed: bool,
    /// When it looked last whether the file lies where it should.
    place_seen: Instant,
}

/// The thread, with its file open; nothing where there is no trail.
///
/// # Errors
/// `Config`: the file cannot be used.
pub(crate) fn lay_audit(shared: &Arc<Shared>) -> Result<Option<AuditThread>, NodeError> {
    let AuditConfig { file: path, chain, file_bytes, files, .. } = &shared.config.audit;
    let (Some(path), Some(receiver)) = (path, shared.audit.take_receiver()) else { return Ok(None) };
    let Found { file, chain, cut_bytes } = TrailFile::open(path, *chain, *file_bytes, *files).map_err(|what| {
        let what = format!("{}: {what}", path.display());
        NodeError::config("audit.file", what, "Name another file, or move this one away with those beside it.")
    })?;
    let listeners: Vec<&str> = shared.listeners().iter().map(|listener| &*listener.url).collect();
    let fields = json!({
        "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id(), "listeners": listeners, "cut_bytes": cut_bytes,
    });
    let mut thread = AuditThread {
        shared: shared.clone(),
        receiver,
        file,
        chain,
        waiting: String::new(),
        waiting_lines: 0,
        unsynced_since: None,
        lost_told: 0,
        has_failed: false,
        place_seen: Instant::now(),
    };
    thread.add(AuditEvent::now("started", fields));
    // What cannot be written at all is no trail: the start is the time to say so.
    thread.append().map_err(NodeError::Audit)?;
    Ok(Some(thread))
}

impl AuditThread {
    /// Works until the node ends it.
    ///
    /// # Errors
    /// `System`: it cannot be written, and the node is to stop then.
    pub(crate) fn run(mut self) -> Result<(), NodeError> {
        loop {
            self.gather();
            self.shared.audit.end_windows(self.shared.now_ms());
            let is_last = self.shared.audit.is_ending() && self.gather_last();
            self.write(is_last)?;
            if is_last {
                return self.give_up();
            }
        }
    }

    /// Takes what waits, at least for as long as there is nothing to do.
    fn gather(&mut self) {
        if self.has_failed {
            // Nothing more is taken meanwhile, so what comes waits in the queue, and is bounded there.
            std::thread::sleep(LOOK_EVERY);
            return;
        }
        match self.receiver.recv_timeout(self.patience()) {
            Ok(word) => self.take(word),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        while self.waiting.len() < WRITE_BYTES
            && let Ok(word) = self.receiver.try_recv()
        {
            self.take(word);
        }
        let lost = self.shared.audit.lost();
        if lost > self.lost_told {
            self.add(AuditEvent::now("lost", json!({"count": lost - self.lost_told})));
            self.lost_told = lost;
        }
    }

    /// Takes all that is left and the last event; false when there is too much for one write.
    fn gather_last(&mut self) -> bool {
        while self.waiting.len() < WRITE_BYTES
            && let Ok(word) = self.receiver.try_recv()
        {
            self.take(word);
        }
        let is_last = self.has_failed || self.waiting.len() < WRITE_BYTES;
        if is_last && let Some(event) = self.shared.audit.take_last() {
            self.add(event);
        }
        is_last
    }

    fn take(&mut self, word: Word) {
        if let Word::Happened(event) = word {
            self.add(event);
        }
    }

    fn add(&mut self, event: AuditEvent) {
        let line = self.chain.seal(event);
        self.waiting.push_str(&line);
        self.waiting_lines += 1;
    }

    /// So long it may sleep.
    fn patience(&self) -> Duration {
        if self.has_failed {
            return LOOK_EVERY;
        }
        let sync = Duration::from_millis(self.shared.config.audit.sync_ms);
        let due = self.unsynced_since.map_or(LOOK_EVERY, |since| sync.saturating_sub(since.elapsed()));
        due.min(LOOK_EVERY)
    }

    /// Writes what waits, and brings it to disk when that is due, or `at_once`.
    fn write(&mut self, at_once: bool) -> Result<(), NodeError> {
        let written = self.look_at_place().and_then(|()| self.append()).and_then(|()| self.sync(at_once));
        match written {
            Ok(()) if self.has_failed => {
                self.has_failed = false;
                self.shared.tell(NoticeKind::Audit, "the audit trail is written again".into());
                Ok(())
            }
            Ok(()) => Ok(()),
            Err(source) => self.failed(source),
        }
    }

    /// A file that was moved or removed takes all that is written to it, and nobody finds it: a failure, after which a new file is
    /// begun.
    fn look_at_place(&mut self) -> std::io::Result<()> {
        if self.has_failed {
            return self.file.back_to_place();
        }
        if self.place_seen.elapsed() < PLACE_EVERY {
            return Ok(());
        }
        self.place_seen = Instant::now();
        self.file.check_place()
    }

    fn append(&mut self) -> std::io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.file.append(self.waiting.as_bytes())?;
        self.unsynced_since.get_or_insert_with(Instant::now);
        self.shared.audit.written.fetch_add(self.waiting_lines, Ordering::Relaxed);
        (self.waiting, self.waiting_lines) = (String::new(), 0);
        Ok(())
    }

    fn sync(&mut self, at_once: bool) -> std::io::Result<()> {
        let sync = Duration::from_millis(self.shared.config.audit.sync_ms);
        let is_asked = at_once || self.has_failed || self.file.unsynced_bytes() >= UNSYNCED_BYTES_MAX;
        if self.unsynced_since.is_some_and(|since| is_asked || since.elapsed() >= sync) {
            self.file.sync()?;
            self.unsynced_since = None;
        }
        Ok(())
    }

    fn failed(&mut self, source: std::io::Error) -> Result<(), NodeError> {
        self.shared.audit.failures.fetch_add(1, Ordering::Relaxed);
        if self.shared.config.audit.on_failure == AuditFailure::Stop {
            self.shared.audit.lose(self.waiting_lines);
            return Err(NodeError::Audit(source));
        }
        if !self.has_failed {
            self.has_failed = true;
            let text = format!(
                "the audit trail cannot be written: {source}; it is tried again, {} lines wait",
                self.waiting_lines
            );
            self.shared.tell(NoticeKind::Audit, text);
        }
        Ok(())
    }

    /// The end: what could not be written is lost.
    fn give_up(self) -> Result<(), NodeError> {
        let left = self.receiver.try_iter().count() as u64;
        self.shared.audit.lose(self.waiting_lines + left);
        Ok(())
    }
}
