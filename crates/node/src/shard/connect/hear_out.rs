//! What a client has said on a connection that is about to end by our doing is heard first: its last messages, and the DISCONNECT
//! without which its will is told.
//!
//! A client that says goodbye and comes again at once has two connections for a moment, and it is chance which one is read
//! first, the more so where its CONNECT was accepted by another shard. So a CONNECT that takes a connection over has that one
//! read to its end; one that waits for room, or has more to say than its share, gets a moment for it. Likewise a connection
//! that can no longer be written to: whoever says DISCONNECT need not wait for what we had to say.

use crate::shard::connections::connection::{Connection, Pause, Stage};
use crate::shard::connections::in_hand::InHand;
use crate::shard::{Due, Shard};

/// So often a connection is read in one turn at most, besides its own share. What it has beyond is read in the next ones.
const READS_MAX: usize = 16;

/// How often a CONNECT looks that waits, for `takeover_wait_ms` at most.
const LOOK_MS: u64 = 5;

impl Shard {
    /// Whether a CONNECT has to wait because the former connection of its client has said more than could be taken now.
    pub(in crate::shard) fn must_hear_former(&mut self, index: usize, client_id: &str) -> bool {
        let row = self.clients.find(client_id).and_then(|key| self.clients.row(key));
        let Some(former) = row.and_then(|row| row.connection()) else { return false };
        if self.hear_out(former) || !self.clients.look(former).is_some_and(may_go_on) {
            return false;
        }
        let (now_ms, wait_ms) = (self.now_ms, self.shared.config.limits.takeover_wait_ms());
        let Some(connection) = self.clients.connection(index) else { return false };
        let until_ms = *connection.gate_mut().candidate.hears_former_until_ms.get_or_insert(now_ms + wait_ms);
        if now_ms >= until_ms {
            return false;
        }
        connection.paused = Some(Pause::Gate);
        let born = connection.born;
        self.timers.add(now_ms + LOOK_MS, Due::Former { index, born });
        true
    }

    /// The CONNECT looks again.
    pub(in crate::shard) fn former_due(&mut self, index: usize, born: u64) {
        if self.clients.connection(index).is_some_and(|connection| connection.born == born) {
            self.leave_gate(index);
        }
    }

    /// Reads an open connection as far as it has anything, and as far as it may be read; true when nothing is left to hear, or it
    /// is over.
    fn hear_out(&mut self, index: usize) -> bool {
        let before = std::mem::replace(&mut self.connections.in_hand, InHand::Packet(index));
        // Whoever is being served has the shard's own buffer.
        let mut buffer = std::mem::take(&mut self.connections.read_buffer);
        buffer.resize(self.shared.config.limits.read_bytes_per_turn as usize, 0);
        if let Some(connection) = self.clients.connection(index) {
            // The kernel may have bytes of which it has not told us yet.
            connection.readable = true;
        }
        let mut is_heard = false;
        for _ in 0..READS_MAX {
            is_heard = !self.clients.look(index).is_some_and(has_more);
            if is_heard || self.clients.look(index).is_some_and(|connection| connection.paused.is_some()) {
                break;
            }
            self.serve(index, &mut buffer);
        }
        self.connections.read_buffer = buffer;
        self.connections.in_hand = before;
        is_heard
    }

    /// The kernel takes nothing for this client any more: what it said before is heard, in turns like any other's, and then it is
    /// gone.
    pub(in crate::shard) fn hear_last_words(&mut self, index: usize) {
        let Some(connection) = self.clients.connection(index) else { return };
        if !matches!(connection.stage, Stage::Open { .. }) || !may_go_on(connection) {
            return self.broken(index);
        }
        connection.forget_output();
        connection.write_failed = true;
        connection.readable = true;
        self.clients.queue_read(index);
    }

    /// Counts a connection that ends with something of its client's unread; true if it does.
    pub(in crate::shard) fn ends_unread(&mut self, index: usize) -> bool {
        let Some(connection) = self.clients.connection(index) else { return false };
        let is_unread = !connection.has_left && (connection.unhandled || connection.socket.has_unread());
        if is_unread {
            self.counters.limits.ended_unread.add(1);
        }
        is_unread
    }
}

/// Whether an open connection has, or may have, bytes that were not handled.
fn has_more(connection: &Connection) -> bool {
    let is_open = matches!(connection.stage, Stage::Open { .. });
    is_open && (connection.readable || connection.unhandled || connection.paused.is_some())
}

/// Whether what a connection is paused for, if anything, may pass without its peer. Who does not take our bytes is not
/// read before it does.
fn may_go_on(connection: &Connection) -> bool {
    !matches!(connection.paused, Some(Pause::Output | Pause::Drain))
}
