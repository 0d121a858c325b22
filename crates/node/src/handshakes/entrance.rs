//! Who comes to shake hands: accepted here, one too many sent away, and named by its proxy.

use lapwing_transport::Accepted;
use mio::Token;

use super::half::Half;
use super::places::Seat;
use super::thread::HandshakeThread;
use super::turns::HandshakeId;
use crate::listeners::ListenerId;
use crate::notices::NoticeKind;
use crate::strangers::{Bound, Ended, Place, Source, Stranger};

impl HandshakeThread {
    /// Takes waiting connections from every listener that has some.
    pub(super) fn accept(&mut self) {
        while let Some((listener, accepted)) = self.doors.next(self.now_ms, &self.counters, &self.shared.strangers) {
            self.welcome(listener, accepted);
        }
    }

    fn welcome(&mut self, listener: ListenerId, accepted: Accepted) {
        if let Err(crowded) = self.shared.connection_opened(listener) {
            self.counters.crowded(crowded);
            return self.shared.crowded_out(crowded, accepted.peer, listener);
        }
        let id = HandshakeId(self.next_id);
        self.next_id += 1;
        let Some((stranger, seat)) = self.places_for(id, listener, &accepted) else {
            return self.shared.connection_closed(listener);
        };
        self.counters.accepted.add(1);
        self.counters.connections.add(1);
        let mut half = Half::new(accepted.socket, listener, stranger, seat, self.now_ms);
        let registered = half.socket.register(self.event_loop.registry(), Token(id.0));
        self.halves.insert(id, half);
        if registered.is_err() {
            self.counters.accept_failures.add(1);
            return self.forget(id);
        }
        // Its first bytes come with an event.
        self.timers.add(self.now_ms + self.shared.config.limits.connect_timeout_ms, id);
    }

    /// Its place among strangers and that among handshakes, if there are both.
    fn places_for(&mut self, id: HandshakeId, listener: ListenerId, accepted: &Accepted) -> Option<(Stranger, Seat)> {
        let mut stranger = self.shared.strangers.accepted(listener, &accepted.socket, accepted.peer, self.now_ms)?;
        // Numbers of handshakes do not come again, so that nobody else is meant by this place.
        let place = Place { shard: self.place, index: id.0, born: 0 };
        stranger.settle(place);
        match Seat::take(&self.room, stranger.source, listener, place) {
            Ok((seat, ended)) => {
                ended.into_iter().for_each(|ended| self.send_away(ended));
                Some((stranger, seat))
            }
            Err(bound) => {
                self.crowded_out(bound, stranger.source);
                None
            }
        }
    }

    /// Finds out whose places a handshake has, once its proxy has said so; somebody may have to go for that.
    pub(super) fn name(&mut self, id: HandshakeId) {
        let Some(half) = self.halves.get_mut(&id) else { return };
        if !half.stranger.awaits_name || half.socket.awaits_header() {
            return;
        }
        let source = Source::of(half.socket.peer());
        half.stranger.name(source, self.now_ms);
        if let Some(ended) = half.seat.name(source) {
            self.send_away(ended);
        }
    }

    /// Somebody has to leave his place; his thread closes the connection.
    fn send_away(&mut self, ended: Ended) {
        self.shared.strangers.end_at(ended.place);
        self.crowded_out(ended.bound, ended.source);
    }

    /// One too many, who had a place or found none: counted, and told once a minute.
    fn crowded_out(&mut self, bound: Bound, source: Source) {
        self.room.counters.refused(bound);
        let limits = &self.shared.config.limits;
        let setting = match bound {
            Bound::PerAddress => {
                format!("limits.handshakes_per_address_max = {}", limits.handshakes_per_address_max)
            }
            Bound::Count | Bound::Bytes | Bound::Connections => {
                format!("limits.handshakes_max = {}, a quarter of connections_max at most,", limits.handshakes_max)
            }
        };
        if let Some(line) = self.complaint.refused(self.now_ms, &source, &setting) {
            self.shared.notices.tell_with(NoticeKind::Refused, self.now_ms, || line);
        }
    }
}
