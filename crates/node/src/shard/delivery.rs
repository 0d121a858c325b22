//! A message for one session here.

use lapwing_session::{Delivered, Grant, Routed, SessionKey};

use super::clients::{Clients, Entry};

impl Clients {
    /// Delivers a message to one session; false when there is no such session any more.
    pub(crate) fn deliver<'g>(
        &mut self,
        key: SessionKey,
        routed: &Routed<'_>,
        grants: impl Iterator<Item = &'g Grant>,
        now_ms: u64,
    ) -> bool {
        if self.keeps_no_more && self.would_wait(key, routed) {
            self.not_kept += 1;
            return true;
        }
        let Some(delivered) = self.with(key, |session, io| session.deliver(routed, grants, None, now_ms, io)) else {
            return false;
        };
        if let Delivered::Overflow(close) = delivered {
            self.overflowing.push((key, close));
        }
        true
    }

    /// Whether the message would lie with a client that does not take it now.
    fn would_wait(&mut self, key: SessionKey, routed: &Routed<'_>) -> bool {
        let would_wait = |entry: &mut Entry| entry.connection.is_none() || entry.session.queued_messages() > 0;
        routed.publish().qos.is_acknowledged() && self.entry(key).is_some_and(would_wait)
    }
}
