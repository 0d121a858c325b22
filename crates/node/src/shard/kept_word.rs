//! The end of waiting: promises that are kept, here and for other shards.

use super::Shard;
use crate::log::LogFeed;

impl Shard {
    /// Releases what waited for the disk, and tells other shards what of theirs is on it.
    pub(super) fn acknowledge(&mut self) {
        let Some(log) = &mut self.log else { return };
        let committed = log.committed();
        let Shard { confirmations, clients, shared, id, .. } = self;
        confirmations.confirm(committed, |shard, count| shared.confirm(*id, shard, count));
        if let Some(through) = clients.promises.keep(committed, |shard| shared.confirmed(shard, *id)) {
            clients.committed(through);
            self.groups_committed(through);
            self.holds_committed(through);
            self.wills_committed(through);
        }
    }

    /// True when `acknowledge` would release something.
    pub(super) fn has_kept_promises(&mut self) -> bool {
        let Some(log) = &mut self.log else { return false };
        let (committed, Shard { confirmations, clients, shared, id, .. }) = (log.committed(), self);
        confirmations.is_due(committed) || clients.promises.is_due(committed, |shard| shared.confirmed(shard, *id))
    }

    /// The turn has handed over all that it had for the log and for other shards.
    pub(super) fn close_promises(&mut self) {
        let ticket = self.log.as_ref().map_or(0, LogFeed::last_ticket);
        self.clients.promises.close(ticket);
        self.confirmations.close(ticket);
    }

    /// Nobody waits for the disk.
    pub(super) fn is_kept_word(&self) -> bool {
        self.clients.promises.is_settled() && self.confirmations.is_settled() && !self.has_news_for_log()
    }
}
