//! CONNECT, its will, CONNACK (6.2, 6.3).

use lapwing_codec as codec;
use lapwing_codec::{ConnAckProperties, Packet, QoS, ReasonCode};

use crate::{Connect, Message, ReturnCode, WillMsg, WillTopic};

use super::exchange::Awaited;
use super::translator::{Phase, Translator};
use super::{Error, check_will};

/// The client's will, until the gateway has asked for it.
#[derive(Debug)]
pub(super) struct Will {
    topic: String,
    payload: Vec<u8>,
    qos: QoS,
    retain: bool,
}

impl Translator {
    /// CONNECT of the client.
    pub(super) fn connect(&mut self, connect: &codec::Connect<'_>, now_ms: u64) -> Result<(), Error> {
        if connect.version.has_properties() {
            return Err(Error::NotSayable("MQTT-SN carries MQTT 3.1.1, and not 5.0: connect with version 4"));
        }
        if connect.username.is_some() || connect.password.is_some() {
            return Err(Error::NotSayable("MQTT-SN has no user name and no password: leave them out"));
        }
        if connect.client_id.is_empty() {
            return Err(Error::NotSayable("MQTT-SN has no client without a client id: give one"));
        }
        if let Some(will) = &connect.will {
            check_will(will.topic, will.payload, &self.settings.limits)?;
        }
        self.will = connect.will.map(|will| Will {
            topic: will.topic.to_owned(),
            payload: will.payload.to_owned(),
            qos: will.qos,
            retain: will.retain,
        });
        self.clean_session = connect.clean_start;
        self.client_id = connect.client_id.into();
        let message = Message::Connect(Connect {
            // A session that is kept has its will for good there (6.3), and in MQTT no longer than one connection: who has
            // none says so, by an empty WILLTOPIC.
            will: connect.will.is_some() || !connect.clean_start,
            clean_session: connect.clean_start,
            duration_s: connect.keep_alive_s,
            client_id: connect.client_id,
        });
        self.begin(Awaited::ConnAck, &message, "a client id of this length", now_ms)
    }

    /// WILLTOPICREQ. What the gateway asks for may be asked again: a datagram was lost, and CONNECT went again.
    pub(super) fn will_topic_asked(&mut self, now_ms: u64) -> Result<(), Error> {
        let will = self.will.take();
        let place = will.as_ref().map(|will| WillTopic { qos: will.qos, retain: will.retain, topic: &will.topic });
        let said = self.prompted(&Message::WillTopic(place), now_ms);
        self.will = will;
        said
    }

    /// WILLMSGREQ.
    pub(super) fn will_message_asked(&mut self, now_ms: u64) -> Result<(), Error> {
        let will = self.will.take();
        let payload = will.as_ref().map_or(&[][..], |will| &will.payload);
        let said = self.prompted(&Message::WillMsg(WillMsg { payload }), now_ms);
        self.will = will;
        said
    }

    fn prompted(&mut self, answer: &Message<'_>, now_ms: u64) -> Result<(), Error> {
        let is_connecting = self.phase == Phase::Connecting;
        let Some(exchange) = self.in_flight.as_mut().filter(|one| is_connecting && one.what == Awaited::ConnAck) else {
            self.dropped += 1;
            return Ok(());
        };
        exchange.encouraged(&self.settings, now_ms);
        self.send(answer, "a will")
    }

    /// CONNACK. It does not say whether there was a session: who asked to go on with one is told that it does, so that
    /// nothing of QoS 2 begins anew.
    pub(super) fn connected(&mut self, code: ReturnCode, input: &mut Vec<u8>) -> Result<(), Error> {
        if self.phase != Phase::Connecting || self.in_flight.is_none() {
            self.dropped += 1;
            return Ok(());
        }
        if !code.is_accepted() {
            return Err(Error::Refused(code));
        }
        (self.phase, self.will) = (Phase::Connected, None);
        self.through();
        let session_present = !self.clean_session;
        let properties = ConnAckProperties::default();
        let ack = codec::ConnAck { session_present, reason: ReasonCode::Success, properties };
        say(&Packet::ConnAck(ack), input)
    }
}

/// A packet for the client.
pub(super) fn say(packet: &Packet<'_>, input: &mut Vec<u8>) -> Result<(), Error> {
    packet
        .encode(super::translator::VERSION, input)
        .map_err(|_| Error::NotSayable("what the gateway said cannot be said in MQTT 3.1.1"))
}
