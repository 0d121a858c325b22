//! How many connections and sessions without one there are, of how many that may be.

use std::sync::atomic::Ordering;

use lapwing_transport::PeerAddress;

use super::{Crowded, Shared};
use crate::listeners::ListenerId;
use crate::strangers::Ending;

impl Shared {
    /// Counts a new connection, unless there are too many, here or in all. One that is no client yet gives way.
    pub(crate) fn connection_opened(&self, listener: ListenerId) -> Result<(), Crowded> {
        let before = self.connections.fetch_add(1, Ordering::Relaxed);
        if before >= self.connections_max && !self.strangers.give_way(None, self.now_ms()) {
            self.connections.fetch_sub(1, Ordering::Relaxed);
            return Err(Crowded::Node);
        }
        if before >= self.connections_peak.load(Ordering::Relaxed) {
            self.connections_peak.fetch_max(before + 1, Ordering::Relaxed);
        }
        if !self.listener(listener).opened(|| self.strangers.give_way(Some(listener), self.now_ms())) {
            self.connections.fetch_sub(1, Ordering::Relaxed);
            return Err(Crowded::Listener);
        }
        Ok(())
    }

    /// Counts a new connection in the place of another that its shard is about to close: one of the same listener, or any where
    /// that has room.
    pub(crate) fn connection_replaced(&self, listener: ListenerId) {
        self.connections.fetch_add(1, Ordering::Relaxed);
        self.listener(listener).opened(|| true);
    }

    /// Has the log told of a connection of `peer` that [`Shared::connection_opened`] has not taken.
    pub(crate) fn crowded_out(&self, crowded: Crowded, peer: PeerAddress, listener: ListenerId) {
        let ending = match crowded {
            Crowded::Node => Ending::NodeIsFull,
            Crowded::Listener => Ending::ListenerIsFull,
        };
        self.strangers.ends(ending, peer, &self.listener(listener).url, self.now_ms());
    }

    pub(crate) fn connections_peak(&self) -> u32 {
        self.connections_peak.load(Ordering::Relaxed)
    }

    pub(crate) fn connection_closed(&self, listener: ListenerId) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
        self.listener(listener).closed();
    }

    pub(crate) fn connections(&self) -> u32 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Those in all.
    pub(crate) const fn connections_max(&self) -> u32 {
        self.connections_max
    }

    /// Connections that may become clients' yet: one that belongs to none gives way.
    pub(crate) fn connections_free(&self) -> u64 {
        self.connections_max.saturating_sub(self.shares.connections.all()).into()
    }

    /// Sessions that may lose their connection yet and stay.
    pub(crate) fn offline_free(&self) -> u64 {
        self.config.limits.sessions_offline_max.saturating_sub(self.offline.load(Ordering::Relaxed)).into()
    }

    /// Counts a session that lost its connection; false when too many wait already, unless it `stays` in any case.
    pub(crate) fn session_went_offline(&self, stays: bool) -> bool {
        let before = self.offline.fetch_add(1, Ordering::Relaxed);
        if before >= self.config.limits.sessions_offline_max && !stays {
            self.offline.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        true
    }

    pub(crate) fn session_left_offline(&self) {
        self.offline.fetch_sub(1, Ordering::Relaxed);
    }
}
