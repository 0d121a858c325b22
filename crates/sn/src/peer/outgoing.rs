//! What goes to a client: by an id that it knows, or after a REGISTER (6.10).

use crate::{EncodeError, Message, MsgId, Publish, PublishQoS, PublishTopic, QoS, Register, ShortTopic, TopicId};

use super::client::Client;
use super::{Context, Phase, Predefined, Registration, Settings};

/// A message for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing<'a> {
    /// Its topic name.
    pub topic: &'a str,
    /// Quality of service.
    pub qos: QoS,
    /// It was retained.
    pub retain: bool,
    /// It was sent before, on an earlier connection.
    pub dup: bool,
    /// Present exactly when `qos` is 1 or 2.
    pub msg_id: Option<MsgId>,
    /// Its data.
    pub payload: &'a [u8],
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It is sent; with QoS 1 and 2 it is in flight.
    Sent,
    /// Its topic is being registered with the client: again, when that is answered.
    Registering,
    /// Another message is in flight, or the client is asleep: again, when that has changed.
    Wait,
    /// The client has as many topics as it may have: this one it will not hear of.
    TopicsFull,
    /// Nobody is connected.
    NotConnected,
}

/// How a topic is said to a client.
enum Address {
    Known(PublishTopic),
    Untold(TopicId),
    Full,
}

impl Client {
    /// Sends a message, or what must go before it.
    /// # Errors
    /// It does not fit a datagram, or cannot be said: it will not fit later either.
    pub fn deliver(
        &mut self,
        message: &Outgoing<'_>,
        predefined: &Predefined,
        cx: &mut Context<'_>,
    ) -> Result<Delivery, EncodeError> {
        match self.phase() {
            Phase::Active | Phase::Awake => {}
            Phase::Asleep => return Ok(Delivery::Wait),
            Phase::Disconnected | Phase::Lost => return Ok(Delivery::NotConnected),
        }
        match self.address(message.topic, predefined, cx.settings) {
            Address::Full => Ok(Delivery::TopicsFull),
            Address::Untold(_) if !self.in_flight.is_free() => Ok(Delivery::Wait),
            Address::Untold(id) => {
                let register = Register { topic_id: Some(id), msg_id: self.next_id(), topic: message.topic };
                let is_repeated = self.registrations.tell(id);
                self.in_flight.register(register, is_repeated, cx)?;
                Ok(Delivery::Registering)
            }
            Address::Known(topic) => self.send_publish(message, topic, cx),
        }
    }

    fn send_publish(
        &mut self,
        message: &Outgoing<'_>,
        topic: PublishTopic,
        cx: &mut Context<'_>,
    ) -> Result<Delivery, EncodeError> {
        let Outgoing { qos, retain, dup, msg_id, payload, .. } = *message;
        let qos = PublishQoS::Level(qos);
        let publish = Message::Publish(Publish { dup, qos, retain, topic, msg_id, payload });
        if !qos.is_acknowledged() {
            cx.send(publish)?;
            return Ok(Delivery::Sent);
        }
        if !self.in_flight.is_free() {
            return Ok(Delivery::Wait);
        }
        self.in_flight.send(&publish, cx)?;
        Ok(Delivery::Sent)
    }

    /// PUBREL for a message of QoS 2 that the client has received, now or on an earlier connection.
    /// # Errors
    /// It does not fit a datagram.
    pub fn release_to(&mut self, msg_id: MsgId, cx: &mut Context<'_>) -> Result<Delivery, EncodeError> {
        match self.phase() {
            Phase::Active | Phase::Awake if self.in_flight.is_free() => {
                self.in_flight.send(&Message::PubRel(msg_id), cx)?;
                Ok(Delivery::Sent)
            }
            Phase::Active | Phase::Awake | Phase::Asleep => Ok(Delivery::Wait),
            Phase::Disconnected | Phase::Lost => Ok(Delivery::NotConnected),
        }
    }

    /// By the id that the client asked for; else by what both sides know beforehand, which needs no place in a table.
    fn address(&mut self, topic: &str, predefined: &Predefined, settings: &Settings) -> Address {
        if let Some(id) = self.registrations.told(topic) {
            return Address::Known(PublishTopic::Registered(id));
        }
        if let Some(id) = predefined.id(self.id(), topic).filter(|id| !self.unknown.contains(*id)) {
            return Address::Known(PublishTopic::Predefined(id));
        }
        if let Ok(short) = ShortTopic::new(topic) {
            return Address::Known(PublishTopic::Short(short));
        }
        match self.registrations.for_delivery(topic, settings.registrations_max) {
            Registration::Known(id) => Address::Known(PublishTopic::Registered(id)),
            Registration::Untold(id) => Address::Untold(id),
            Registration::Full => Address::Full,
        }
    }
}
