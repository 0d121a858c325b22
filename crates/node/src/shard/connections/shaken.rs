//! Connections whose TLS handshake is done: they come from the threads that do them, like those that another shard has accepted.

use crate::shard::Shard;

/// Batches taken from one of these threads in one turn.
const BATCHES_PER_TURN: usize = 2;

impl Shard {
    /// True when some wait.
    pub(in crate::shard) fn has_shaken(&self) -> bool {
        self.connections.shaken.iter().any(|inlet| !inlet.is_empty())
    }

    /// Takes some, a bounded number.
    pub(in crate::shard) fn take_shaken(&mut self) {
        let mut shaken = std::mem::take(&mut self.connections.shaken);
        for inlet in &mut shaken {
            for _ in 0..BATCHES_PER_TURN {
                let Some(batch) = inlet.take() else { break };
                batch.into_iter().for_each(|connection| self.take_connection(connection));
            }
        }
        self.connections.shaken = shaken;
    }
}
