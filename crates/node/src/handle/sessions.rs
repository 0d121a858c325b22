//! Sessions of a running node: looked at, and ended by order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lapwing_ledger::Entry;
use lapwing_store::journal::DataGroupId;

use super::Handle;
use crate::desk::{Awaited, Reply, reply};
use crate::error::NodeError;
use crate::life::Phase;
use crate::session_pages::{SessionPage, SessionQuery};
use crate::session_reports::{Emptied, SessionAsk, SessionDetail};
use crate::session_rows::{SessionList, SessionShown};
use crate::slot::Slot;

/// How long shards may take to answer: they do it in shares, beside their clients' work.
const ANSWER_MAX: Duration = Duration::from_secs(30);

impl Handle {
    /// One page of the sessions; see `docs/sessions.md`.
    ///
    /// # Errors
    /// `NoAnswer`: the node ends, or a shard has no time at all.
    pub fn sessions(&self, query: SessionQuery) -> Result<SessionList, NodeError> {
        let query = Arc::new(query);
        let ask = |shard| self.ask(shard, |reply| SessionAsk::List(Arc::clone(&query), reply));
        let awaited: Vec<Awaited<SessionPage>> = (0..self.shared.bells.len()).map(ask).collect();
        let pages: Result<Vec<SessionPage>, NodeError> = awaited.iter().map(|page| self.receive(page)).collect();
        Ok(SessionPage::merge(pages?, &query).into())
    }

    /// One session, with its subscriptions and the first `queued_max` messages of its queue; `None`: there is none of this
    /// client id.
    ///
    /// # Errors
    /// `NoAnswer`; `Store`: the log cannot be read.
    pub fn session(&self, client_id: &str, queued_max: usize) -> Result<Option<SessionShown>, NodeError> {
        let shown = self.ask_owner(client_id, |id, reply| SessionAsk::Show(id, queued_max, reply))?;
        let Some(mut shown) = shown else { return Ok(None) };
        self.read_queue(&mut shown)?;
        Ok(Some(shown.into()))
    }

    /// Ends a session and its connection (0x98); its will is published. On disk it has ended when this returns. False: there
    /// was none of this client id.
    ///
    /// # Errors
    /// `NoAnswer`: it may have ended all the same.
    pub fn end_session(&self, client_id: &str) -> Result<bool, NodeError> {
        self.ask_owner(client_id, SessionAsk::End)
    }

    /// Ends a client's connection (0x98) and leaves its session. False: there was no connection of this client id.
    ///
    /// # Errors
    /// `NoAnswer`: it may have ended all the same.
    pub fn kick_client(&self, client_id: &str) -> Result<bool, NodeError> {
        self.ask_owner(client_id, SessionAsk::Kick)
    }

    /// Drops what waits for a session; what is under way stays. On disk it is gone when this returns. `None`: there was no
    /// session of this client id.
    ///
    /// # Errors
    /// `NoAnswer`: it may be gone all the same.
    pub fn empty_queue(&self, client_id: &str) -> Result<Option<Emptied>, NodeError> {
        self.ask_owner(client_id, SessionAsk::Empty)
    }

    fn ask_owner<T>(
        &self,
        client_id: &str,
        make: impl FnOnce(Box<str>, Reply<T>) -> SessionAsk,
    ) -> Result<T, NodeError> {
        let shard = self.shared.placement.owner_of(Slot::of(client_id.as_bytes())).shard;
        let awaited = self.ask(shard.index(), |reply| make(client_id.into(), reply));
        self.receive(&awaited)
    }

    pub(super) fn ask<T>(&self, shard: usize, make: impl FnOnce(Reply<T>) -> SessionAsk) -> Awaited<T> {
        let (reply, awaited) = reply();
        self.shared.ask(shard, make(reply));
        awaited
    }

    pub(super) fn receive<T>(&self, awaited: &Awaited<T>) -> Result<T, NodeError> {
        let is_over = || self.shared.phase() == Phase::Stopping;
        awaited.receive(Instant::now() + ANSWER_MAX, is_over).ok_or(NodeError::NoAnswer)
    }

    /// A session does not remember when its messages came, and may have left some of them in the log: their entries say it.
    /// What has gone from there meanwhile is left out.
    fn read_queue(&self, shown: &mut SessionDetail) -> Result<(), NodeError> {
        let Some(kept) = self.kept() else { return Ok(()) };
        let now_ms = self.shared.now_ms();
        for queued in &mut shown.queue {
            let Some(index) = queued.entry else { continue };
            let Some(entry) = kept.reader.get(DataGroupId(shown.data_group), index)? else { continue };
            if let Ok(Entry::Published(published)) = Entry::decode(&entry.body) {
                queued.complete(&published, now_ms);
            }
        }
        shown.queue.retain(|queued| queued.topic.is_some());
        Ok(())
    }
}
