//! The way of finished handshakes to one shard.

use crate::mail::MovedConnection;
use crate::mailbox::Lane;

/// Connections in one batch.
const BATCH_CONNECTIONS: usize = 32;

/// The way to one shard.
pub(crate) struct Line(Lane<Vec<MovedConnection>>);

impl Line {
    pub(crate) fn new(lane: Lane<Vec<MovedConnection>>) -> Self {
        Line(lane)
    }

    pub(crate) fn send(&mut self, connection: MovedConnection) {
        match self.0.open_batch() {
            Some(batch) if batch.len() < BATCH_CONNECTIONS => batch.push(connection),
            _ => self.0.send(vec![connection]),
        }
    }

    /// Hands over what gathered, as far as there is room.
    pub(crate) fn flush(&mut self) {
        self.0.flush();
    }
}
