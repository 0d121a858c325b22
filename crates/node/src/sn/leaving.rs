//! Connections of clients that are gone: each ends behind what its client has said.

use std::io::ErrorKind;

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

impl Link {
    /// Whether its shard has ended it, so that it counts no more. What the shard has said before is lost: for one that goes.
    pub(super) fn is_over(&mut self) -> bool {
        let mut unheard = [0; 4096];
        loop {
            match self.socket.read(&mut unheard) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() != ErrorKind::WouldBlock,
            }
        }
    }
}

impl SnThread {
    /// A client has said that it goes.
    pub(super) fn part(&mut self, index: usize) {
        if let Some(guest) = self.table.look(index) {
            let settings = self.doors[guest.door()].settings(&guest.address.get());
            self.goodbyes.note(guest.address.get(), settings, self.now_ms);
        }
        self.remove(index);
    }

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
        let peer = guest.address.get().source();
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

#[cfg(test)]
mod tests {
    use lapwing_transport::{PeerAddress, Socket};

    use super::*;
    use crate::sn::link::Stage;

    /// Is a connection over once its shard has closed it, whatever it has said before, and not sooner?
    #[test]
    fn what_its_shard_has_closed_is_over() {
        let (ours, mut theirs) = Socket::pair(PeerAddress::Local, None).expect("a pair of sockets");
        let mut link = Link::new(ours, Stage::Judged);
        assert!(!link.is_over());
        assert_eq!(theirs.write(&[0xF0, 0]).expect("there is room"), 2);
        assert!(!link.is_over());
        assert_eq!(theirs.write(&[0xE0, 0]).expect("there is room"), 2);
        drop(theirs);
        assert!(link.is_over());
    }
}
