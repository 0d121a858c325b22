//! Who comes to shake hands: accepted here, refused when there are too many, and named by its proxy.

use lapwing_transport::{AcceptError, Accepted, PeerAddress};
use mio::Token;

use super::half::Half;
use super::places::Full;
use super::thread::HandshakeThread;
use super::turns::HandshakeId;
use crate::door::EXHAUSTED_PAUSE_MS;
use crate::listeners::ListenerId;
use crate::notices::NoticeKind;
use crate::shared::Crowded;
use crate::strangers::{Place, Source};

/// Connections taken from one listener between two slices of work.
const ACCEPTS_PER_TURN: usize = 64;

impl HandshakeThread {
    /// Takes waiting connections from every listener that has some.
    pub(super) fn accept(&mut self) {
        for index in 0..self.doors.len() {
            let mut left = ACCEPTS_PER_TURN;
            while self.doors[index].is_open(self.now_ms) && left > 0 {
                left -= 1;
                match self.doors[index].listener.accept() {
                    Ok(Some(accepted)) => self.welcome(self.doors[index].id, accepted),
                    Ok(None) => self.doors[index].ready = false,
                    Err(AcceptError::Connection(_)) => self.counters.accept_failures.add(1),
                    Err(AcceptError::Refused(refusal)) => self.counters.refused(refusal),
                    Err(AcceptError::Exhausted(_)) => {
                        self.counters.accept_failures.add(1);
                        self.doors[index].paused_until_ms = self.now_ms + EXHAUSTED_PAUSE_MS;
                    }
                }
            }
        }
    }

    fn welcome(&mut self, listener: ListenerId, accepted: Accepted) {
        let source = if accepted.socket.awaits_header() { None } else { accepted.peer.source() };
        let entered = self.room.places().enter(source);
        if let Err(full) = entered {
            return self.crowded_out(full, accepted.peer);
        }
        if let Err(crowded) = self.shared.connection_opened(listener) {
            self.room.places().leave(source);
            return match crowded {
                Crowded::Node => self.counters.refused_connections_max.add(1),
                Crowded::Listener => self.counters.refused_listener_max.add(1),
            };
        }
        let Some(mut stranger) = self.shared.strangers.accepted(listener, &accepted.socket, accepted.peer, self.now_ms)
        else {
            self.room.places().leave(source);
            return self.shared.connection_closed(listener);
        };
        self.counters.accepted.add(1);
        self.counters.connections.add(1);
        let id = HandshakeId(self.next_id);
        self.next_id += 1;
        // Numbers of handshakes do not come again, so that nobody else is meant by this place.
        stranger.settle(Place { shard: self.place, index: id.0, born: 0 });
        let mut half = Half::new(accepted.socket, listener, stranger, source);
        let registered = half.socket.register(self.poll.registry(), Token(id.0));
        self.halves.insert(id, half);
        if registered.is_err() {
            self.counters.accept_failures.add(1);
            return self.forget(id);
        }
        // Its first bytes come with an event.
        self.timers.add(self.now_ms + self.shared.config.limits.connect_timeout_ms, id);
    }

    /// There is no place for a connection's handshake: it is closed at once, counted, and told once a minute.
    fn crowded_out(&mut self, full: Full, peer: PeerAddress) {
        self.room.counters.refused(full);
        let limits = &self.shared.config.limits;
        let bound = match full {
            Full::All => {
                format!("limits.handshakes_max = {}, a quarter of connections_max at most,", limits.handshakes_max)
            }
            Full::Address => format!("limits.handshakes_per_address_max = {}", limits.handshakes_per_address_max),
        };
        if let Some(line) = self.complaint.refused(self.now_ms, &peer, &bound) {
            self.shared.tell(NoticeKind::Refused, line);
        }
    }

    /// Finds out whose place a handshake has, once its proxy has said so; false when that one has none left.
    pub(super) fn name(&mut self, id: HandshakeId) -> bool {
        let Some(half) = self.halves.get_mut(&id) else { return false };
        if half.source.is_some() || half.socket.awaits_header() {
            return true;
        }
        let peer = half.socket.peer();
        let Some(source) = peer.source() else { return true };
        let named = self.room.places().name(source);
        match named {
            Ok(()) => {
                half.source = Some(source);
                half.stranger.name(Source::Address(source), self.now_ms);
            }
            Err(full) => {
                self.forget(id);
                self.crowded_out(full, peer);
            }
        }
        named.is_ok()
    }
}
