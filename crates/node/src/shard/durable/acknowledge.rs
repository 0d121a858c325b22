//! What is on disk is acknowledged: to clients, whose PUBACKs and fenced output have waited for it, and to other shards.

use crate::log::LogFeed;
use crate::shard::Shard;
use crate::shard::durable::DurableRoom;

impl Shard {
    /// Releases what waited for the disk, and tells other shards what of theirs is on it.
    pub(in crate::shard) fn acknowledge(&mut self) {
        let Some(log) = &mut self.durable.log else { return };
        let durable_lsn = log.committed();
        let Shard { durable: DurableRoom { confirmations, .. }, shared, id, .. } = self;
        confirmations.confirm(durable_lsn, |shard, count| shared.confirm(*id, shard, count));
        self.entries_committed(durable_lsn);
        let Shard { clients, shared, id, .. } = self;
        if let Some(through) = clients.commit_tokens.commit(durable_lsn, |shard| shared.confirmed(shard, *id)) {
            clients.committed(through);
            self.groups_committed(through);
            self.holds_committed(through);
            self.wills_committed(through);
        }
    }

    /// True when `acknowledge` would release something.
    pub(in crate::shard) fn has_committed(&mut self) -> bool {
        let Some(log) = &mut self.durable.log else { return false };
        let (
            durable_lsn,
            Shard { durable: DurableRoom { confirmations, awaited_entries, .. }, clients, shared, id, .. },
        ) = (log.committed(), self);
        confirmations.is_due(durable_lsn)
            || awaited_entries.is_due(durable_lsn)
            || clients.commit_tokens.is_due(durable_lsn, |shard| shared.confirmed(shard, *id))
    }

    /// The turn has handed over all that it had for the log and for other shards.
    pub(in crate::shard) fn close_commit_token(&mut self) {
        let lsn = self.durable.log.as_ref().map_or(0, LogFeed::last_lsn);
        self.clients.commit_tokens.close(lsn);
        self.durable.confirmations.close(lsn);
        self.durable.awaited_entries.close(lsn);
    }

    /// Nobody waits for the disk.
    pub(in crate::shard) fn is_all_committed(&self) -> bool {
        let DurableRoom { confirmations, awaited_entries, .. } = &self.durable;
        let is_awaited = !self.clients.commit_tokens.is_settled() || !awaited_entries.is_empty();
        !is_awaited && confirmations.is_settled() && !self.has_news_for_log()
    }
}
