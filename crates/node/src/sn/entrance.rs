//! What comes: datagrams, by the address that they come from.

use std::io::ErrorKind;
use std::net::SocketAddr;

use lapwing_codec::{Publish, PublishProperties, QoS};
use lapwing_sn::peer::{Client, Event};
use lapwing_sn::{Datagram, DecodeError, Disconnect, Message, PublishQoS, decode, sender};

use super::address::Address;
use super::counters::Dropped;
use super::guest::Guest;
use super::io::Io;
use super::thread::SnThread;

/// Datagrams taken in one turn from one socket; then others have theirs.
const DATAGRAMS_PER_TURN: usize = 1024;
/// What so many have brought goes to the shards: they work on it while the next are read.
const DATAGRAMS_PER_FLUSH: usize = 64;

/// Whether an earlier datagram of ours has met nobody (who that was, its timers find out), or a signal has come: the next one
/// may be read.
const fn is_of_a_datagram(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::Interrupted
    )
}

impl SnThread {
    /// Takes what waits at each socket, a bounded number.
    pub(super) fn receive(&mut self) {
        self.turn = self.turn.wrapping_add(1);
        self.tunnels.begin_turn();
        let mut buffer = std::mem::take(&mut self.buffer);
        for socket in 0..self.sockets.len() {
            let is_sealed = self.tunnels.is_sealed(socket);
            for number in 1..=DATAGRAMS_PER_TURN {
                if !self.is_ready[socket] || (is_sealed && self.tunnels.is_spent()) {
                    break;
                }
                match self.sockets[socket].receive(&mut buffer) {
                    Ok((len, from)) if is_sealed => self.take_sealed(socket, from, &buffer[..len]),
                    Ok((len, from)) => {
                        self.counters.datagrams_in.add(1);
                        self.take_datagram(socket, from, &buffer[..len]);
                    }
                    Err(error) if is_of_a_datagram(error.kind()) => {}
                    // Nothing is there; or the kernel has no memory, or the network is down: the next one makes an event.
                    Err(_) => self.is_ready[socket] = false,
                }
                if number.is_multiple_of(DATAGRAMS_PER_FLUSH) {
                    self.flush_all();
                }
            }
        }
        self.buffer = buffer;
    }

    /// Takes a message, enclosed or not.
    pub(super) fn take_datagram(&mut self, socket: usize, from: SocketAddr, bytes: &[u8]) {
        let door = self.door_of[socket];
        let decoded = decode(bytes, self.doors[door].limits());
        let Datagram { forwarding, message } = match decoded {
            Ok(datagram) => datagram,
            Err(error) => return self.refuse_bytes(socket, from, bytes, &error),
        };
        let address = Address::new(socket, from, forwarding);
        match (self.table.find(&address), &message) {
            (_, Message::SearchGw(_)) => self.answer_search(door, &address),
            (_, Message::Advertise(_) | Message::GwInfo(_)) => self.counters.dropped(Dropped::OutOfState),
            (Some(_), Message::Connect(_)) if !self.is_paced(door, &address) => {}
            (Some(index), _) => self.hear(index, &message),
            (None, Message::Connect(_)) => self.meet(door, &address, &message),
            (None, _) => self.hear_nobody(door, &address, &message),
        }
    }

    /// Bytes that are no message. Who is connected is told what the specification has to say of it, and so is whoever wants to
    /// connect in a way that there is not (6.2): CONNACK is shorter than any CONNECT.
    fn refuse_bytes(&mut self, socket: usize, from: SocketAddr, bytes: &[u8], error: &DecodeError) {
        self.counters.malformed(error.reason);
        let Some(answer) = error.answer else { return };
        let door = self.door_of[socket];
        let address = Address::new(socket, from, sender(bytes, self.doors[door].limits()));
        let index = self.table.find(&address);
        if error.ends_setup {
            return index.into_iter().for_each(|index| self.refuse_setup(index, &answer));
        }
        let is_there = index.and_then(|index| self.table.get(index)).is_some_and(|guest| guest.has_answered);
        let may_hear = is_there || (matches!(answer, Message::ConnAck(_)) && self.is_paced(door, &address));
        let settings = self.doors[door].settings(&address);
        if may_hear && answer.encode(&settings.limits, &mut self.out).is_ok() {
            self.send(&address);
        }
    }

    /// What a client says of its will is no message: its CONNECT is refused, if it has begun one.
    fn refuse_setup(&mut self, index: usize, answer: &Message<'_>) {
        let SnThread { table, doors, counters, out, now_ms, .. } = self;
        let (Some(guest), Message::ConnAck(code)) = (table.get(index), answer) else { return };
        let io = &mut Io { terms: &doors[guest.door()], counters, now_ms: *now_ms, out };
        let then = guest.refuse_setup(*code, io);
        self.finish(index, then);
    }

    /// The first message of somebody: a CONNECT, which makes an entry.
    fn meet(&mut self, door: usize, address: &Address<'_>, message: &Message<'_>) {
        if !self.may_meet(door, address) {
            return;
        }
        let peer = address.source();
        let is_sealed = self.tunnels.is_sealed(peer.0);
        let index = self.table.add(Guest::new(address, is_sealed, door));
        self.counters.clients.set(self.table.len() as u64);
        let born = self.table.get(index).map_or(0, |guest| guest.born);
        if is_sealed && !self.tunnels.joined(peer, (index, born)) {
            return self.remove(index);
        }
        self.hear(index, message);
        self.table.note_beginner(index, born);
    }

    /// A message of a client, or of one that connects.
    fn hear(&mut self, index: usize, message: &Message<'_>) {
        let SnThread { table, doors, counters, turn, .. } = self;
        let Some(guest) = table.get(index) else { return };
        let terms = &doors[guest.door()];
        let count = if guest.heard_in == *turn { guest.heard_times.saturating_add(1) } else { 1 };
        (guest.heard_in, guest.heard_times) = (*turn, count);
        if u32::from(count) > terms.config.datagrams_per_turn_max {
            return counters.dropped(Dropped::TurnFull);
        }
        if guest.note_word(message) {
            self.enter(index);
        }
        let SnThread { table, doors, counters, out, now_ms, .. } = self;
        let Some(guest) = table.get(index) else { return };
        let terms = &doors[guest.door()];
        let then = guest.hear(message, &mut Io { terms, counters, now_ms: *now_ms, out });
        self.finish(index, then);
    }

    /// Whether this is the DISCONNECT of somebody who has gone, and has not heard the answer: it goes again.
    fn answers_goodbye(&mut self, door: usize, address: &Address<'_>, message: &Message<'_>) -> bool {
        let goodbye = Message::Disconnect(Disconnect { duration_s: None });
        if *message != goodbye || !self.goodbyes.answers_again(address, self.now_ms) {
            return false;
        }
        if goodbye.encode(&self.doors[door].settings(address).limits, &mut self.out).is_ok() {
            self.send(address);
        }
        true
    }

    /// A message from where nobody is connected: only QoS -1 has something to say, where the listener allows it.
    fn hear_nobody(&mut self, door: usize, address: &Address<'_>, message: &Message<'_>) {
        if self.answers_goodbye(door, address, message) {
            return;
        }
        let SnThread { doors, counters, out, now_ms, .. } = self;
        let terms = &doors[door];
        let mut client = Client::default();
        let io = &mut Io { terms, counters, now_ms: *now_ms, out };
        let event = client.handle(message, &terms.predefined, &mut io.of(address));
        let Ok(event) = event else { return counters.dropped(Dropped::TooLargeOut) };
        match event {
            Event::Publish { topic, qos: PublishQoS::MinusOne, retain, payload, .. } => {
                let topic = topic.as_str();
                if !terms.takes_from_nobody(topic) {
                    return counters.dropped(Dropped::NotForNobody);
                }
                let properties = PublishProperties::EMPTY;
                let (qos, dup, packet_id) = (QoS::AtMostOnce, false, None);
                let (topic, payload) = (topic.to_owned(), payload.to_vec());
                self.publish_of_nobody(
                    door,
                    &Publish { topic: &topic, qos, dup, retain, packet_id, payload: &payload, properties },
                );
            }
            Event::Unknown => {
                counters.dropped(Dropped::Unknown);
                self.send(address);
            }
            Event::Refused => counters.dropped(Dropped::Refused),
            _ => counters.dropped(Dropped::OutOfState),
        }
        self.out.clear();
    }
}
