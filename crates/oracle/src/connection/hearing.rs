//! What a client hears: every packet of the broker against the books.

use lapwing_codec::{Ack, ConnAck, Disconnect, Limits, Packet, PacketId, Publish, QoS, ReasonCode, Sender, decode};

use super::books::{Books, Flight, Line};
use crate::packet;

impl Books {
    /// Reads what stands in `out` behind what was read before; returns how many messages that were.
    pub(super) fn hears(&mut self, out: &[u8], now_ms: u64) -> usize {
        let mut messages = 0;
        while self.heard < out.len() {
            let Some(line) = &self.line else { panic!("something is written without a connection") };
            let (version, max) = (line.version, line.packet_bytes_max);
            let bytes = &out[self.heard..];
            let len =
                packet::check_one(bytes, version, &Limits::PROTOCOL).expect("legal bytes").expect("whole packets");
            assert!(len <= max, "[MQTT-3.1.2-24] {len} bytes for a client that takes {max}");
            let (packet, _) = decode(bytes, version, &Limits::PROTOCOL).ok().flatten().expect("as before");
            packet.check_sender(Sender::Server).expect("a server may send it");
            self.hear(&packet, now_ms);
            self.heard += len;
            messages += usize::from(matches!(packet, Packet::Publish(_)));
        }
        messages
    }

    fn hear(&mut self, packet: &Packet<'_>, now_ms: u64) {
        let line = self.line.as_mut().expect("there is a connection");
        assert!(line.farewell.is_none(), "{packet:?} after DISCONNECT");
        assert_eq!(line.greeted, !matches!(packet, Packet::ConnAck(_)), "CONNACK comes first, and once");
        match packet {
            Packet::ConnAck(connack) => line.greet(connack),
            Packet::Publish(publish) => self.message(publish, now_ms),
            Packet::PubAck(ack) => line.acknowledged(QoS::AtLeastOnce, ack),
            Packet::PubRec(ack) => line.acknowledged(QoS::ExactlyOnce, ack),
            Packet::PubRel(ack) => self.released(ack),
            Packet::PubComp(ack) => {
                let owed = line.releases.pop_front();
                assert_eq!(
                    owed.map(|(id, known)| (id, code(known, line))),
                    Some((ack.packet_id, ack.reason)),
                    "PUBCOMP"
                );
            }
            Packet::SubAck(suback) => line.answered(suback.packet_id, true, suback.reasons.len()),
            Packet::UnsubAck(unsuback) => line.answered(unsuback.packet_id, false, unsuback.reasons.len()),
            Packet::PingResp => {
                assert!(line.pings > 0, "PINGRESP without PINGREQ");
                line.pings -= 1;
            }
            Packet::Disconnect(Disconnect { reason, .. }) => line.farewell = Some(*reason),
            other => panic!("{other:?} from a server"),
        }
    }

    fn message(&mut self, publish: &Publish<'_>, _now_ms: u64) {
        let line = self.line.as_mut().expect("there is a connection");
        let topic = line.topic_of(publish).to_owned();
        let publish = &Publish { topic: &topic, ..*publish };
        let Some(packet_id) = publish.packet_id else {
            self.first_sent += 1;
            return;
        };
        // After a crash QoS 1 goes under new packet ids, and with DUP where it may have gone out before.
        let is_anew = self.has_crashed && publish.qos == QoS::AtLeastOnce && !self.flights.contains_key(&packet_id);
        if publish.dup && !is_anew {
            self.repeated(packet_id, publish)
        } else {
            self.sent(packet_id, publish)
        }
        let line = self.line.as_ref().expect("there is a connection");
        let under_way = self.flights.values().filter(|flight| flight.sent_here).count();
        assert!(under_way <= line.window_max, "[MQTT-3.3.4-9] {under_way} messages, at most {}", line.window_max);
    }

    fn sent(&mut self, packet_id: PacketId, publish: &Publish<'_>) {
        assert!(!self.flights.contains_key(&packet_id), "[MQTT-2.2.1-4] packet id {packet_id} is in use");
        self.first_sent += 1;
        self.turns += 1;
        let flight = Flight {
            qos: publish.qos,
            topic: publish.topic.to_owned(),
            payload: publish.payload.to_vec(),
            released: false,
            sent_here: true,
            turn: self.turns,
        };
        self.flights.insert(packet_id, flight);
        self.in_turn(packet_id);
    }

    fn repeated(&mut self, packet_id: PacketId, publish: &Publish<'_>) {
        let flight = self.flights.get_mut(&packet_id).expect("only what was sent before comes with DUP");
        assert!(!flight.released, "[MQTT-4.3.3-6] a message that the client has is not sent again");
        assert!(!flight.sent_here, "[MQTT-4.4.0-1] sent again without a new connection");
        assert_eq!((flight.qos, &*flight.topic, &*flight.payload), (publish.qos, publish.topic, publish.payload));
        flight.sent_here = true;
        self.in_turn(packet_id);
    }

    /// PUBREL: the answer to a PUBREC, or a repetition on a new connection.
    fn released(&mut self, ack: &Ack<'_>) {
        let line = self.line.as_mut().expect("there is a connection");
        if let Some(&(packet_id, known)) = line.receipts.front()
            && packet_id == ack.packet_id
        {
            line.receipts.pop_front();
            let is_lost =
                ack.reason == ReasonCode::PacketIdentifierNotFound && line.packet_bytes_max < u32::MAX as usize;
            if known && is_lost {
                // It was too large to be sent again on this connection, and given up [MQTT-3.1.2-25].
                self.flights.remove(&packet_id);
                return;
            }
            assert_eq!(ack.reason, code(known, line), "PUBREL");
            // The client may say PUBREC before the repetition has reached it: then that is still to come.
            return;
        }
        let flight = self.flights.get_mut(&ack.packet_id).expect("a PUBREL that nobody waits for");
        assert!(flight.released && !flight.sent_here, "a PUBREL that nobody waits for");
        flight.sent_here = true;
        self.in_turn(ack.packet_id);
    }

    /// [MQTT-4.6.0-1] Messages are first sent, and sent again, in one order.
    fn in_turn(&mut self, packet_id: PacketId) {
        let line = self.line.as_mut().expect("there is a connection");
        let turn = self.flights[&packet_id].turn;
        assert!(turn > line.last_turn, "[MQTT-4.6.0-1] packet id {packet_id} out of its turn");
        line.last_turn = turn;
    }
}

impl Line {
    fn greet(&mut self, connack: &ConnAck<'_>) {
        self.greeted = true;
        assert_eq!((connack.reason, connack.session_present), (ReasonCode::Success, self.session_present), "CONNACK");
        if self.version.has_properties() {
            assert_eq!(connack.properties.assigned_client_id.is_some(), self.assigned, "the assigned client id");
        }
    }

    /// The whole topic of a message [MQTT-3.3.2-10, MQTT-3.3.2-11].
    fn topic_of<'a>(&'a mut self, publish: &Publish<'a>) -> &'a str {
        let Some(alias) = publish.properties.topic_alias else {
            assert!(!publish.topic.is_empty(), "a message without a topic");
            return publish.topic;
        };
        assert!((1..=self.alias_max).contains(&alias), "alias {alias}, at most {}", self.alias_max);
        assert!(!publish.dup, "a message that is sent again has its whole topic");
        if !publish.topic.is_empty() {
            self.aliases.insert(alias, publish.topic.to_owned());
        }
        self.aliases.get(&alias).expect("an alias that was set on this connection")
    }

    fn acknowledged(&mut self, qos: QoS, ack: &Ack<'_>) {
        let owed = (qos, ack.packet_id);
        let at = self.unacked.iter().position(|other| *other == owed).expect("an acknowledgement of nothing");
        assert!(
            at == 0 || !self.in_order,
            "[MQTT-4.6.0-2, MQTT-4.6.0-3] acknowledgements in the order of the messages"
        );
        self.unacked.remove(at);
    }

    fn answered(&mut self, packet_id: PacketId, is_subscribe: bool, codes: usize) {
        let asked = self.asked.pop_front().expect("an answer to nothing");
        let answering = self.answering.pop_front().expect("an answer before the broker gave it");
        assert_eq!((packet_id, is_subscribe), (asked.packet_id, asked.is_subscribe), "answers come in order");
        assert_eq!(answering, asked.filters, "[MQTT-3.8.4-6, MQTT-3.11.3-1] one code for each filter");
        let is_without = !is_subscribe && !self.version.has_properties();
        assert_eq!(codes, if is_without { 0 } else { asked.filters });
    }
}

/// The reason code for a packet id that is known or not; 3.1.1 has none.
fn code(known: bool, line: &Line) -> ReasonCode {
    if known || !line.version.has_properties() { ReasonCode::Success } else { ReasonCode::PacketIdentifierNotFound }
}
