//! What becomes of a handshake: it goes on, is done, is refused, is over.

use std::time::{Duration, Instant};

use lapwing_transport::Refusal;

use super::half::{Half, Step};
use super::thread::HandshakeThread;
use super::turns::HandshakeId;
use crate::mail::MovedConnection;
use crate::strangers::{Ending, Place};

/// Work between two looks at what else has happened; one handshake may take longer.
const SLICE: Duration = Duration::from_millis(2);

impl HandshakeThread {
    /// Ends those that were found to be too many, among handshakes or among strangers.
    pub(super) fn end_strangers(&mut self) {
        for Place { index, .. } in self.shared.strangers.take_ended(self.place) {
            self.forget(HandshakeId(index));
        }
    }

    /// Goes on with handshakes for a while, source by source.
    pub(super) fn work(&mut self) {
        let begun = Instant::now();
        while let Some(id) = self.turns.next() {
            self.go_on(id);
            if begun.elapsed() >= SLICE {
                break;
            }
        }
    }

    fn go_on(&mut self, id: HandshakeId) {
        let Some(half) = self.halves.get_mut(&id) else { return };
        half.queued = false;
        let step = half.go_on();
        half.note(self.now_ms);
        match step {
            Step::Waits | Step::Leaves(None) => {}
            Step::Goes => self.queue(id),
            Step::Done => self.done(id),
            Step::Leaves(Some(refusal)) => {
                self.tell_end(id, Ending::Refused(refusal));
                self.refused(id, refusal);
            }
            Step::Over => {
                self.counters.closes_network.add(u64::from(!half.is_leaving()));
                self.forget(id);
            }
        }
    }

    /// It can go on at once: behind the others of its source, once it is known whose it is.
    fn queue(&mut self, id: HandshakeId) {
        self.name(id);
        if let Some(half) = self.halves.get_mut(&id) {
            half.queue(id, &mut self.turns, self.now_ms);
        }
    }

    /// Has the log told: who has sent no TLS cannot read its alert, and who has, cannot read between its lines.
    pub(super) fn tell_end(&self, id: HandshakeId, ending: Ending) {
        let Some(half) = self.halves.get(&id) else { return };
        let url = &self.shared.listener(half.listener).url;
        self.shared.strangers.ends(ending, half.socket.peer(), url, self.now_ms);
    }

    /// The connection is a shard's from here on; shards get them in turn.
    fn done(&mut self, id: HandshakeId) {
        let Some(mut half) = self.halves.remove(&id) else { return };
        self.counters.connections.sub(1);
        if half.socket.deregister(self.event_loop.registry()).is_err() {
            self.counters.accept_failures.add(1);
            return self.shared.connection_closed(half.listener);
        }
        self.room.counters.done(half.socket.is_resumed());
        let Half { socket, listener, accepted_ms, mut stranger, .. } = half;
        if !stranger.lift() {
            // The table has ended it in the midst of its last step.
            return self.shared.connection_closed(listener);
        }
        self.lines[self.next_line].send(MovedConnection {
            socket,
            listener,
            bytes: Vec::new(),
            accepted_ms,
            stranger: Some(stranger),
            is_unseen: false,
            called: None,
        });
        self.next_line = (self.next_line + 1) % self.lines.len();
    }

    /// The peer was told why as far as TLS can; it may read that before the connection goes.
    fn refused(&mut self, id: HandshakeId, refusal: Refusal) {
        self.counters.refused(refusal);
        let linger_ms = self.shared.config.limits.close_linger_ms;
        let Some(half) = self.halves.get_mut(&id) else { return };
        self.counters.connections.sub(1);
        self.counters.limits.lingering.add(1);
        if linger_ms == 0 || half.go_on() == Step::Over {
            return self.forget(id);
        }
        self.timers.add(self.now_ms + linger_ms, id);
    }

    /// Closes the socket and gives its places back.
    pub(super) fn forget(&mut self, id: HandshakeId) {
        let Some(half) = self.halves.remove(&id) else { return };
        let (is_leaving, listener) = (half.is_leaving(), half.listener);
        // Its places are free before it counts as gone.
        drop(half);
        if is_leaving {
            self.counters.limits.lingering.sub(1);
        } else {
            self.counters.connections.sub(1);
        }
        self.shared.connection_closed(listener);
    }
}
