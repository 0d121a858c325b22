//! Reading a connection, and what a packet of a client does.

use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;

use lapwing_codec::{Packet, Publish, QoS, Version};
use lapwing_session::{Accepted, Inbound, Routed, SessionKey, Step};
use lapwing_transport::Refusal;

use crate::hooks::HookClient;
use crate::shard::Shard;
use crate::shard::connections::connection::{Pause, Stage};
use crate::shard::connections::in_hand::InHand;
use crate::shard::publish::route::Publisher;
use crate::signals::REPORT_TOPIC;

/// What happens to the connection after a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::shard) enum Flow {
    /// The next packet, please.
    Continue,
    /// It is not read on until there is room.
    Paused,
    /// The same until there is a verdict: the packet is not handled yet, and its bytes are kept.
    Asked,
    /// A part of the packet is done: its bytes are kept for the rest.
    Partly,
    /// It is over, or no longer here.
    Gone,
}

/// What one read brought.
enum Input {
    /// This many bytes lie in the buffer.
    Filled(usize),
    /// The peer has ended, or the connection broke; so many bytes came before.
    Over(usize),
    /// What carries MQTT does not go on; so many bytes came before.
    Refused(usize, Refusal),
}

impl Shard {
    /// Serves each connection that stood in the list when the turn began, once.
    pub(in crate::shard) fn serve_ready(&mut self) {
        let mut buffer = std::mem::take(&mut self.connections.read_buffer);
        for _ in 0..self.clients.ready_count() {
            if self.mail.post.is_overfull() {
                break;
            }
            let Some(index) = self.clients.next_ready() else { break };
            self.connections.in_hand = InHand::Packet(index);
            self.serve(index, &mut buffer);
        }
        self.connections.in_hand = InHand::Nobody;
        self.connections.read_buffer = buffer;
    }

    pub(in crate::shard) fn serve(&mut self, index: usize, buffer: &mut [u8]) {
        let Some(connection) = self.clients.connection(index) else { return };
        if let Stage::Closing = connection.stage {
            if self.is_delayed(index) {
                return;
            }
            return self.discard_input(index, buffer);
        }
        let is_large = connection.input.len() > buffer.len() / 2;
        if self.must_wait_for_rate(index) || (is_large && self.must_wait_for_memory(index)) {
            return;
        }
        let Some(connection) = self.clients.connection(index) else { return };
        let left = std::mem::take(&mut connection.input);
        // A packet larger than half the shared buffer is gathered in a buffer of its own.
        if is_large {
            return self.serve_large(index, left, buffer.len());
        }
        buffer[..left.len()].copy_from_slice(&left);
        let input = self.read(index, buffer, left.len());
        let rest = self.handle_input(index, buffer, &input);
        self.keep_input(index, rest.map_or_else(Vec::new, |rest| buffer[rest].to_vec()));
    }

    /// Like `serve`, with what is left of earlier reads already long.
    fn serve_large(&mut self, index: usize, mut left: Vec<u8>, chunk: usize) {
        let begun = left.len();
        left.resize(begun + chunk, 0);
        let input = self.read(index, &mut left, begun);
        let Some(rest) = self.handle_input(index, &left, &input) else {
            return self.keep_input(index, Vec::new());
        };
        // Nothing is copied while a large packet grows: that would cost the square of its length.
        left.truncate(rest.end);
        left.drain(..rest.start);
        self.keep_input(index, left);
    }

    fn keep_input(&mut self, index: usize, input: Vec<u8>) {
        if self.clients.keep_input(index, input) {
            self.note_stranger(index);
        }
    }

    /// Reads into `buffer` behind the `filled` bytes that lie there.
    fn read(&mut self, index: usize, buffer: &mut [u8], filled: usize) -> Input {
        let Some(connection) = self.clients.connection(index) else { return Input::Filled(filled) };
        if connection.unhandled || !connection.readable {
            // What was held back is handled before more is read.
            connection.unhandled = false;
            return Input::Filled(filled);
        }
        let mut room = connection.read_allowance(buffer.len() - filled);
        if let Some(stranger) = &connection.stranger {
            room = room.min(stranger.read_allowance(filled));
        }
        match connection.socket.read(&mut buffer[filled..filled + room]) {
            Ok(0) => Input::Over(filled),
            Ok(n) => {
                connection.charge_bytes(n);
                connection.bytes_in += n as u64;
                // A short read has emptied the socket: its next bytes make a new event. Not so an end that was reported
                // already, nor what lies above the kernel.
                connection.readable = connection.ended || n == room || connection.socket.may_hold_more();
                self.counters.bytes_in.add(n as u64);
                self.clients.now_us = self.shared.now_us();
                Input::Filled(filled + n)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                connection.readable = connection.socket.may_hold_more();
                Input::Filled(filled)
            }
            Err(error) => Refusal::of(&error).map_or(Input::Over(filled), |refusal| Input::Refused(filled, refusal)),
        }
    }

    /// Handles what was read; returns which part of it is to be kept, if the connection goes on and any is.
    fn handle_input(&mut self, index: usize, buffer: &[u8], input: &Input) -> Option<Range<usize>> {
        let (Input::Filled(filled) | Input::Over(filled) | Input::Refused(filled, _)) = *input;
        let (handled, flow) = self.handle_packets(index, &buffer[..filled]);
        if flow == Flow::Gone {
            return None;
        }
        match (input, flow) {
            (Input::Over(_), Flow::Continue) => {
                self.broken(index);
                return None;
            }
            (Input::Refused(_, refusal), Flow::Continue) => {
                self.refused(index, *refusal);
                return None;
            }
            _ => {}
        }
        let connection = self.clients.connection(index)?;
        connection.unhandled = flow != Flow::Continue;
        if flow == Flow::Continue {
            if connection.readable {
                self.clients.queue_read(index);
            } else if connection.write_failed {
                self.broken(index);
                return None;
            }
        }
        (handled < filled).then_some(handled..filled)
    }

    /// The client of a connection whose CONNECT is through.
    pub(in crate::shard) fn client_of(&mut self, index: usize) -> Option<Client> {
        let Stage::Open { session, version } = self.clients.connection(index)?.stage else { return None };
        let has_permissions = self.clients.connection(index)?.permissions.is_some();
        let row = self.clients.row(session)?;
        let (id, who) = (row.session.shared_client_id().clone(), row.standing.who.clone());
        Some(Client { session, version, id, who, has_permissions })
    }

    pub(in crate::shard) fn handle_packet(&mut self, index: usize, client: &Client, packet: &Packet<'_>) -> Flow {
        #[cfg(debug_assertions)]
        crate::shard::faults::strike(packet);
        if let Packet::Connect(connect) = packet
            && self.is_spoken_for(index)
        {
            return self.another_will(index, client, connect);
        }
        let now_ms = self.now_ms;
        let step = self.clients.with(client.session, |session, io| session.handle(packet, now_ms, io));
        match step {
            Some(Ok(Step::Done)) => {
                self.hear_acknowledgement(client, packet);
                // An acknowledgement may have made room.
                self.retained.replays.wake(client.session);
                self.check_output(index)
            }
            Some(Ok(Step::Publish(inbound))) => {
                if let Some(beyond) = inbound.beyond {
                    return self.refuse_beyond(index, client, &inbound, beyond);
                }
                let publish = inbound.publish();
                if publish.topic == REPORT_TOPIC {
                    return self.take_report(index, client, &inbound, &publish);
                }
                if self.may_publish(index, client, publish.topic) {
                    self.publish(index, client, &inbound, publish)
                } else {
                    self.forbid_publish(index, client, &inbound)
                }
            }
            Some(Ok(Step::Subscribe(request))) => self.subscribe(index, client, &request),
            Some(Ok(Step::Unsubscribe(request))) => self.unsubscribe(index, client, &request),
            Some(Ok(Step::Authenticate(question))) => self.authenticate_again(index, client, &question),
            Some(Err(close)) => {
                self.close(index, &close);
                Flow::Gone
            }
            None => Flow::Gone,
        }
    }

    /// Routes `publish`: the message of `inbound`, or what a hook has made of it.
    pub(in crate::shard) fn publish(
        &mut self,
        index: usize,
        client: &Client,
        inbound: &Inbound<'_>,
        publish: Publish<'_>,
    ) -> Flow {
        self.counters.publishes_in[publish.qos as usize].add(1);
        let charged = self.charge_message(index);
        let mut publisher = Publisher::named(&client.id);
        if publish.qos.is_acknowledged() {
            match self.take_room_for(index, client, inbound) {
                Ok(reserved_room) => publisher.reserved_room = reserved_room,
                Err(flow) => return if charged == Flow::Paused { charged } else { flow },
            }
        }
        if self.refuses_unacknowledged(publish.qos) {
            return charged;
        }
        publisher.origin = self.origin_of(client.session, inbound);
        let accepted = self.route(&Routed::new(publish, client.session, self.now_ms), &mut publisher);
        if publish.qos != QoS::AtMostOnce {
            self.clients.with(client.session, |session, io| session.accept(inbound.receipt, accepted, io));
        }
        if let Some(who) = &client.who {
            if let Some(connection) = self.clients.connection(index) {
                connection.published += 1;
            }
            self.observe_published(who, &publish);
        }
        let is_kept = matches!(accepted, Accepted::Later(_));
        if is_kept && self.durable.log.as_ref().is_some_and(|log| !log.has_credit()) {
            return self.pause(index, Pause::Log);
        }
        if !self.mail.post.has_credit() {
            return self.pause(index, Pause::Mail);
        }
        charged
    }
}

/// The client of an open connection.
pub(in crate::shard) struct Client {
    pub(in crate::shard) session: SessionKey,
    pub(in crate::shard) version: Version,
    pub(in crate::shard) id: Arc<str>,
    /// The same for hooks and events, if there are any.
    pub(in crate::shard) who: Option<Arc<HookClient>>,
    /// Whether there are rules for it.
    pub(in crate::shard) has_permissions: bool,
}
