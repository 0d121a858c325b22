//! The end of a socket: what the peer still sends is read and thrown away for a while.
//!
//! Closing over unread bytes, or while more are on their way, makes the kernel reset the connection, and a reset may
//! overtake our last words: the peer would never see why it was closed. So our side is ended first, and the rest is
//! discarded until the peer ends too, or a bound is reached. For the protocol the connection is over all that time.

use std::io::ErrorKind;

use crate::shard::connections::underway::Underway;
use crate::shard::{Due, Shard};

/// What is read of a peer that goes on sending, beside the time it may take.
const LINGER_BYTES_MAX: u32 = 16 << 20;

impl Shard {
    /// Everything is with the kernel: ends our side, and waits for the peer to end its own if that matters to it.
    pub(in crate::shard) fn hang_up(&mut self, index: usize) {
        let linger_ms = self.shared.config.limits.close_linger_ms;
        let now_ms = self.now_ms;
        let Some(connection) = self.clients.connection(index) else { return };
        if connection.linger_bytes().is_some() {
            return;
        }
        connection.socket.shutdown();
        if connection.has_left || linger_ms == 0 {
            let mut bytes = std::mem::take(&mut self.connections.read_buffer);
            let _ = connection.socket.discard(&mut bytes);
            self.connections.read_buffer = bytes;
            return self.drop_connection(index);
        }
        connection.underway = Underway::Lingering { bytes_left: LINGER_BYTES_MAX };
        let born = connection.born;
        self.connections.lingering += 1;
        self.counters.connections.sub(1);
        self.counters.limits.lingering.add(1);
        self.timers.add(now_ms + linger_ms, Due::Linger { index, born });
        self.clients.queue_read(index);
    }

    /// Throws away what a connection sends that is about to be closed, or is closed on our side.
    pub(in crate::shard) fn discard_input(&mut self, index: usize, buffer: &mut [u8]) {
        let Some(connection) = self.clients.connection(index) else { return };
        match connection.socket.discard(buffer) {
            Ok(n) if n > 0 => self.discarded(index, n),
            Err(error) if error.kind() == ErrorKind::WouldBlock => connection.readable = false,
            Ok(_) | Err(_) => self.drop_connection(index),
        }
    }

    fn discarded(&mut self, index: usize, bytes: usize) {
        let Some(connection) = self.clients.connection(index) else { return };
        let Some(left) = connection.linger_bytes() else { return self.clients.touch(index) };
        match u32::try_from(bytes).ok().and_then(|bytes| left.checked_sub(bytes)) {
            Some(bytes_left) => {
                connection.underway = Underway::Lingering { bytes_left };
                self.clients.queue_read(index);
            }
            None => self.cut_lingering(index),
        }
    }

    /// The peer had its time.
    pub(in crate::shard) fn linger_due(&mut self, index: usize, born: u64) {
        if self.clients.connection(index).is_some_and(|c| c.born == born && c.linger_bytes().is_some()) {
            self.cut_lingering(index);
        }
    }

    fn cut_lingering(&mut self, index: usize) {
        self.counters.limits.linger_cut.add(1);
        self.drop_connection(index);
    }
}
