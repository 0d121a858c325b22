//! A shard's side: what it asks, what it is answered, and the places of those who wait for their refusal.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use lapwing_access::{Identity, Work};
use lapwing_codec::ReasonCode;

use super::control::PasswordControl;
use super::queue::Ask;
use super::source::Source;
use crate::side_thread::SideFeed;

/// What a password is handed over with. Without `Debug`: it is a secret.
pub(crate) struct Secret {
    pub(super) to: AnswerTo,
    /// `None` where only somebody else can be asked about a name alone.
    pub(super) password: Option<Vec<u8>>,
    pub(super) outside: Option<Box<Outside>>,
}

/// Where the answer goes.
pub(super) enum AnswerTo {
    /// A shard's connection, for its ticket.
    Shard { shard: usize, index: usize, ticket: u64 },
    /// Who waits outside of the node (HTTP), by his number among those.
    Caller(u64),
}

/// What is asked for.
pub(crate) struct AskedFor<'a> {
    pub(crate) password: Option<&'a [u8]>,
    pub(crate) work: Work,
    /// What somebody else is told, where he is asked.
    pub(crate) outside: Option<Box<Outside>>,
}

/// What somebody else is told of a client, beside its name and password.
pub(crate) struct Outside {
    /// Empty: the broker will give it one.
    pub(crate) client_id: String,
    pub(crate) has_username: bool,
    /// Without a port.
    pub(crate) address: String,
    /// Its URL.
    pub(crate) listener: String,
}

/// The answer.
pub(crate) struct Checked {
    /// The connection's place in the shard's table.
    pub(crate) index: usize,
    pub(crate) ticket: u64,
    pub(crate) result: Result<Identity, Denied>,
}

/// Why it is no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Denied {
    pub(crate) reason: ReasonCode,
    /// The client hears of it after this time.
    pub(crate) wait_ms: u64,
    /// The operator hears of it from here, with how many there were of that address.
    pub(crate) is_told: bool,
}

/// A shard's way to the thread; what waits in it is bounded by the control's backlog.
pub(crate) struct PasswordFeed {
    pub(super) feed: SideFeed<Ask<Secret>, Checked>,
    pub(super) last_ticket: u64,
    pub(super) control: Arc<PasswordControl>,
}

impl PasswordFeed {
    /// Asks for the connection at `index`; returns the ticket of the answer, or `None` when too many wait already.
    pub(crate) fn ask(
        &mut self,
        index: usize,
        source: Source,
        username: &str,
        asked_for: AskedFor<'_>,
        deadline_ms: u64,
    ) -> Option<u64> {
        if !self.control.backlog.admit(1, 0) {
            self.control.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        self.last_ticket += 1;
        let AskedFor { password, work, outside } = asked_for;
        let (ticket, password) = (self.last_ticket, password.map(<[u8]>::to_vec));
        // The desk knows which shard asks.
        let item = Secret { to: AnswerTo::Shard { shard: 0, index, ticket }, password, outside };
        self.feed.ask(Ask { source, username: username.into(), work, deadline_ms, item });
        Some(ticket)
    }

    /// Whether nothing of this address is to be decided here: it has guessed.
    pub(crate) fn suspects(&self, source: Source) -> bool {
        self.control.suspects.contains(source)
    }

    /// A place among those who wait for their refusal, as long as the value lives; none when all are taken.
    pub(crate) fn delay(&self) -> Option<DelayPlace> {
        DelayPlace::take(&self.control)
    }

    /// The next answer.
    pub(crate) fn answered(&mut self) -> Option<Checked> {
        self.feed.answered()
    }

    /// Whether answers wait to be taken.
    pub(crate) fn has_answers(&self) -> bool {
        self.feed.has_answers()
    }

    /// Hands over what gathered; once per turn of the loop.
    pub(crate) fn flush(&mut self) {
        self.feed.flush();
    }
}

/// Addresses that have guessed lately: written by the thread, asked by shards once for each CONNECT with a password.
#[derive(Default)]
pub(super) struct Suspects {
    are_there: AtomicBool,
    sources: RwLock<HashSet<Source>>,
}

impl Suspects {
    pub(super) fn contains(&self, source: Source) -> bool {
        self.are_there.load(Ordering::Acquire)
            && self.sources.read().unwrap_or_else(PoisonError::into_inner).contains(&source)
    }

    pub(super) fn insert(&self, source: Source) {
        self.sources.write().unwrap_or_else(PoisonError::into_inner).insert(source);
        self.are_there.store(true, Ordering::Release);
    }

    /// Leaves those that `stays` says.
    pub(super) fn retain(&self, stays: impl Fn(Source) -> bool) {
        if self.are_there.load(Ordering::Acquire) {
            let mut sources = self.sources.write().unwrap_or_else(PoisonError::into_inner);
            sources.retain(|source| stays(*source));
            self.are_there.store(!sources.is_empty(), Ordering::Release);
        }
    }
}

/// Connections that wait for their refusal.
#[derive(Debug, Default)]
pub(super) struct Delays {
    pub(super) now: AtomicU64,
    pub(super) total: AtomicU64,
    /// Had it at once, because so many waited.
    pub(super) full: AtomicU64,
    pub(super) most: u64,
}

/// One of them.
pub(crate) struct DelayPlace {
    control: Arc<PasswordControl>,
}

impl DelayPlace {
    fn take(control: &Arc<PasswordControl>) -> Option<Self> {
        let delays = &control.delays;
        if delays.now.fetch_add(1, Ordering::Relaxed) >= delays.most {
            delays.now.fetch_sub(1, Ordering::Relaxed);
            delays.full.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        delays.total.fetch_add(1, Ordering::Relaxed);
        Some(DelayPlace { control: control.clone() })
    }
}

impl Drop for DelayPlace {
    fn drop(&mut self) {
        self.control.delays.now.fetch_sub(1, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for DelayPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DelayPlace")
    }
}
