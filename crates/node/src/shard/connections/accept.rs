//! New connections: accepted here, refused when there are too many, moved when their client lives elsewhere.

use lapwing_transport::Accepted;

use crate::listeners::ListenerId;
use crate::mail::{Control, MovedConnection};
use crate::shard::connections::connection::{Connection, Stage};
use crate::shard::connections::rate::Rate;
use crate::shard::{Due, Shard, token_of};
use crate::slot::ShardId;

impl Shard {
    /// Takes waiting connections from every listener that has some.
    pub(in crate::shard) fn accept(&mut self) {
        while let Some((listener, accepted)) =
            self.connections.doors.next(self.now_ms, &self.counters, &self.shared.strangers)
        {
            self.welcome(listener, accepted);
        }
    }

    fn welcome(&mut self, listener: ListenerId, accepted: Accepted) {
        match self.shared.connection_opened(listener) {
            Ok(()) => {
                let accepted_ms = self.shared.now_ms();
                let mut connection = Connection::new(accepted.socket, listener, accepted_ms);
                match self.take_stranger(listener, &connection.socket, accepted.peer) {
                    Some(stranger) => connection.stranger = Some(stranger),
                    None => return self.shared.connection_closed(listener),
                }
                self.counters.accepted.add(1);
                self.admit_socket(connection, accepted_ms);
            }
            Err(crowded) => {
                self.counters.crowded(crowded);
                self.shared.crowded_out(crowded, accepted.peer, listener);
            }
        }
    }

    /// Takes a connection that another shard has read the CONNECT of, or whose handshake is done.
    pub(in crate::shard) fn take_connection(&mut self, moved: MovedConnection) {
        let mut connection = Connection::new(moved.socket, moved.listener, moved.accepted_ms);
        connection.bytes_in = moved.bytes.len() as u64;
        connection.input = moved.bytes;
        connection.stranger = moved.stranger;
        if let Some(stranger) = &mut connection.stranger {
            stranger.input_bytes_max = self.connect_bytes_max(moved.listener);
        }
        if moved.is_unseen || moved.called.is_some() {
            let candidate = &mut connection.gate_mut().candidate;
            (candidate.is_unseen, candidate.called) = (moved.is_unseen, moved.called);
        }
        connection.unhandled = !connection.input.is_empty();
        self.admit_socket(connection, moved.accepted_ms);
    }

    fn admit_socket(&mut self, mut connection: Connection, accepted_ms: u64) {
        connection.rate = Rate::new(&self.shared.config.limits, self.now_ms);
        let index = self.clients.insert_connection(connection);
        let born = self.clients.connection(index).map_or(0, |c| c.born);
        let registered = match self.clients.connection(index) {
            Some(connection) => connection.socket.register(self.event_loop.registry(), token_of(index)),
            None => return,
        };
        self.counters.connections.add(1);
        self.settle_stranger(index);
        if registered.is_err() {
            self.counters.accept_failures.add(1);
            self.drop_connection(index);
            return;
        }
        self.timers.add(accepted_ms + self.shared.config.limits.connect_timeout_ms, Due::Connect { index, born });
        self.clients.queue_read(index);
    }

    /// Sends a connection, with everything read from it, to the shard of its client.
    pub(in crate::shard) fn move_connection(&mut self, index: usize, to: ShardId, bytes: &[u8]) {
        let Some(mut connection) = self.clients.remove_connection(index) else { return };
        self.counters.connections.sub(1);
        let Stage::Connecting { accepted_ms } = connection.stage else { return };
        if connection.socket.deregister(self.event_loop.registry()).is_err() {
            self.shared.connection_closed(connection.listener);
            self.counters.accept_failures.add(1);
            return;
        }
        let Connection { socket, listener, mut stranger, gate, .. } = connection;
        let (is_unseen, called) = gate.map_or((false, None), |gate| (gate.candidate.is_unseen, gate.candidate.called));
        if stranger.as_mut().is_some_and(|stranger| !stranger.lift()) {
            // The table has ended it since its last turn.
            return self.shared.connection_closed(listener);
        }
        self.counters.moved.add(1);
        let bytes = bytes.to_vec();
        let moved = MovedConnection { socket, listener, bytes, accepted_ms, stranger, is_unseen, called };
        self.mail.post.control(to, Control::Connection(Box::new(moved)));
    }

    /// Forgets a connection and closes its socket.
    pub(in crate::shard) fn drop_connection(&mut self, index: usize) {
        let Some(connection) = self.clients.remove_connection(index) else { return };
        self.shared.connection_closed(connection.listener);
        if connection.linger_bytes().is_some() {
            self.connections.lingering -= 1;
            self.counters.limits.lingering.sub(1);
        } else {
            self.counters.connections.sub(1);
        }
    }
}
