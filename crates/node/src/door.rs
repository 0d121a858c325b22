//! A listener as one event loop sees it.

use lapwing_transport::Listener;

use crate::listeners::ListenerId;

/// Pause of a listener after the process ran out of descriptors.
pub(crate) const EXHAUSTED_PAUSE_MS: u64 = 100;

/// A listener that this event loop accepts from.
pub(crate) struct Door {
    pub(crate) id: ListenerId,
    pub(crate) listener: Listener,
    /// The kernel may have connections for us, and they may come: not before the loop listens. The socket takes them up
    /// from the moment it is bound, so some wait already when it does.
    pub(crate) ready: bool,
    /// Not looked at before then: there was no descriptor left.
    pub(crate) paused_until_ms: u64,
}

impl Door {
    /// Closed until the loop listens.
    pub(crate) fn new(id: ListenerId, listener: Listener) -> Self {
        Door { id, listener, ready: false, paused_until_ms: 0 }
    }

    pub(crate) fn is_open(&self, now_ms: u64) -> bool {
        self.ready && self.paused_until_ms <= now_ms
    }
}
