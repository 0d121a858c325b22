//! Connections of clients that are gone: each ends behind what its client has said.

use super::counters::Dropped;
use super::link::{Link, Written};
use super::thread::SnThread;

/// Those whose last word is not written yet, and until when that is waited for.
#[derive(Default)]
pub(super) struct Leaving {
    links: Vec<(Link, u64)>,
}

impl Leaving {
    pub(super) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    fn see_off(&mut self, mut link: Link, until_ms: u64) {
        if link.flush() == Written::Rest {
            self.links.push((link, until_ms));
        }
    }

    /// Lets go those that have said everything, and those whose time is over.
    pub(super) fn look(&mut self, now_ms: u64) {
        self.links.retain_mut(|(link, until_ms)| now_ms < *until_ms && link.flush() == Written::Rest);
    }
}

impl SnThread {
    /// A client is gone.
    pub(super) fn remove(&mut self, index: usize) {
        self.keep_will(index);
        let Some(guest) = self.table.remove(index) else { return };
        self.counters.clients.set(self.table.len() as u64);
        if guest.counts_as_asleep {
            self.counters.asleep.sub(1);
        }
        if guest.is_awaited() {
            self.counters.dropped(Dropped::Unanswered);
        }
        let peer = (guest.address.socket(), guest.address.peer);
        self.tunnels.left(peer, (index, guest.born), self.now_ms, &self.counters);
        guest.link.into_iter().for_each(|link| self.let_go(link));
    }

    /// A connection ends behind what its client has said. What waited for that client comes again, but for QoS 0.
    pub(super) fn let_go(&mut self, link: Link) {
        let lost = link.waiting().filter(|waiting| waiting.is_at_most_once()).count();
        self.counters.dropped_many(Dropped::ClientGone, lost as u64);
        let until_ms = self.now_ms + self.shared.config.limits.connect_timeout_ms;
        self.leaving.see_off(link, until_ms);
    }
}
