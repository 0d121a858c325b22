//! What waits in the log for a kept session: nothing of it is in memory while the client is away, and a page at a time while it
//! is there.
//!
//! The session has a few bytes for each message (see [`crate::paged`]) and names the entries of the next page; whoever keeps the
//! log reads them, elsewhere and in their own time, and hands them in. Meanwhile anything may happen to the session: a message
//! that comes and is not the next one any more is not taken.

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::{DropReason, Fate, Io, Message, Session};

/// Messages of one page, however small they are.
const PAGE_MESSAGES_MAX: usize = 1024;
/// So many times what may be at hand may be under way: a client that is far away needs more of that than of what comes next.
const UNDER_WAY: u64 = 4;

/// What was read of one entry.
#[derive(Clone, Debug)]
pub struct ReadEntry {
    /// Its index.
    pub entry: NonZeroU64,
    /// `None`: the log has lost it.
    pub message: Option<Arc<Message>>,
    /// Since when it waits, on the clock of every other time here.
    pub since_ms: u64,
}

impl Session {
    /// Whether messages should be read from the log now: the client is there, and has taken at least half of the page before.
    #[inline]
    pub fn wants_page(&self) -> bool {
        self.link.is_some() && !self.reads_page && (self.window.is_paged() || self.queue.wants_page())
    }

    /// The entries of the next page, ascending: about so many bytes of messages, at least one. The page is read until
    /// [`Session::take_page`] is called; it may bring less, from the front.
    pub fn ask_page(&mut self, bytes_max: u64) -> Vec<u64> {
        self.reads_page = true;
        if !self.window.is_paged() {
            return self.queue.ask_page(PAGE_MESSAGES_MAX, bytes_max);
        }
        // What was under way comes first. It is in the order in which it was sent, which is that of the entries but where a
        // restart came in between.
        let mut entries: Vec<u64> = self.window.missing().map(NonZeroU64::get).collect();
        entries.sort_unstable();
        entries
    }

    /// The page that was asked for, in the order of the entries. Sends what may be sent.
    pub fn take_page(&mut self, page: impl IntoIterator<Item = ReadEntry>, now_ms: u64, io: &mut Io<'_>) {
        self.reads_page = false;
        if self.link.is_none() {
            // The client has gone again.
            return;
        }
        for ReadEntry { entry, message, since_ms } in page {
            match message {
                Some(message) if self.window.take_read(entry, &message) => {}
                Some(message) => self.queue.take_read(entry, message, since_ms),
                None => self.give_up(entry, io),
            }
        }
        self.pump(now_ms, io);
    }

    /// The log has lost a message: it goes, whether it was under way or waited.
    fn give_up(&mut self, entry: NonZeroU64, io: &mut Io<'_>) {
        if let Some(tie) = self.window.give_up(entry).or_else(|| self.queue.give_up(entry)) {
            self.told.lost(tie, DropReason::Damaged, Fate::Undeliverable, io.counters);
        }
    }

    /// The client has gone, and the log has all that waits: nothing of it stays in memory.
    pub fn page_out(&mut self) {
        if self.told.kept.is_some() {
            self.window.page_out();
            self.queue.page_out();
        }
    }

    /// Whether messages of it lie in the log only.
    pub fn is_paged(&self) -> bool {
        self.window.is_paged() || self.queue.has_paged()
    }

    /// Messages that wait in the log only.
    pub fn paged_messages(&self) -> usize {
        self.queue.paged_len()
    }

    /// Messages that wait in memory, those unacknowledged not counted.
    pub fn messages_at_hand(&self) -> usize {
        self.queue.at_hand()
    }

    /// Bytes of the messages in memory, waiting or unacknowledged.
    pub fn bytes_at_hand(&self) -> u64 {
        self.queue.at_hand_bytes() + self.window.bytes()
    }

    /// Whether one more message may be under way; one may be in any case.
    #[inline]
    pub(crate) fn has_memory(&self, io: &Io<'_>) -> bool {
        let bytes_max = io.at_hand_bytes_max.filter(|_| self.told.kept.is_some());
        bytes_max.is_none_or(|bytes_max| self.window.bytes() < (bytes_max * UNDER_WAY).max(1))
    }

    /// Whether a message that has an entry, of so many bytes, is not to be kept in memory.
    pub(crate) fn stays_in_log(&self, bytes: u64, io: &Io<'_>) -> bool {
        let Some(bytes_max) = io.at_hand_bytes_max else { return false };
        // Behind what lies there already, or the order would be lost.
        self.link.is_none() || self.queue.has_paged() || self.queue.at_hand_bytes() + bytes > bytes_max
    }
}
