//! What a client publishes, registers and subscribes to (6.5 to 6.9).

use crate::{
    EncodeError, Message, MsgId, Publish, PublishQoS, QoS, Register, ReturnCode, SubAck, Subscribe, SubscribeTopic,
    TopicAck, TopicId, Unsubscribe,
};

use super::client::Client;
use super::content::Content;
use super::event::{TopicOf, is_plain};
use super::topic::meant;
use super::{Context, Event, Heard, Predefined, Receipt, Registration, Settings, SubscribeRequest, Topic};

impl Client {
    pub(super) fn publish<'a>(
        &'a mut self,
        publish: &Publish<'a>,
        predefined: &'a Predefined,
        cx: &mut Context<'_>,
    ) -> Result<Event<'a>, EncodeError> {
        let Some(topic) = meant(publish.topic, self.id(), &self.registrations, predefined) else {
            return refuse_topic(publish, cx);
        };
        let receipt = receipt(publish);
        let given_up = self.repeats.given_up(publish);
        let heard = self.repeats.publish(publish, cx.settings, cx.now_ms);
        match (heard, receipt) {
            (Heard::Pending | Heard::Late, _) => return Ok(Event::Nothing),
            (Heard::Again, Some(receipt)) => {
                cx.send(acknowledgement(receipt, ReturnCode::ACCEPTED))?;
                return Ok(Event::Nothing);
            }
            _ => {}
        }
        let Publish { qos, retain, payload, .. } = *publish;
        let dup = publish.dup || heard == Heard::Unanswered;
        Ok(Event::Publish { topic, qos, retain, dup, payload, receipt, given_up })
    }

    /// The answer to [`Event::Publish`]: PUBACK, or PUBREC for QoS 2; PUBACK with the code for either when it is refused.
    /// # Errors
    /// As for [`Client::handle`].
    pub fn published(&mut self, receipt: Receipt, code: ReturnCode, cx: &mut Context<'_>) -> Result<(), EncodeError> {
        cx.send(acknowledgement(receipt, code))?;
        if code.is_accepted() {
            self.repeats.answered(receipt.qos, receipt.msg_id);
        } else {
            self.repeats.refused(receipt.qos, receipt.msg_id);
        }
        Ok(())
    }

    /// The session could not be told of the message that an [`Event::Publish`] gives up: it keeps that. For behind
    /// [`Client::published`], by which the new one is refused.
    pub fn not_given_up(&mut self, msg_id: MsgId) {
        self.repeats.not_given_up(msg_id);
    }

    /// PUBREL. One that releases nothing here is a repeat, whose PUBCOMP was lost; or the session has the message from before
    /// this gateway began, and must hear of it.
    pub(super) fn release(&mut self, msg_id: MsgId, cx: &Context<'_>) -> Event<'static> {
        self.repeats.release(msg_id, cx.settings, cx.now_ms);
        Event::Release(msg_id)
    }

    /// The answer to [`Event::Release`].
    /// # Errors
    /// As for [`Client::handle`].
    pub fn completed(&self, msg_id: MsgId, cx: &mut Context<'_>) -> Result<(), EncodeError> {
        cx.send(Message::PubComp(msg_id))
    }

    /// REGISTER of a client: the same id as often as it asks, or congestion when there are too many.
    pub(super) fn register(
        &mut self,
        register: &Register<'_>,
        cx: &mut Context<'_>,
    ) -> Result<Event<'static>, EncodeError> {
        let id = self.registrations.known(register.topic, cx.settings.registrations_max);
        let (code, event) = match id {
            Some(_) => (ReturnCode::ACCEPTED, Event::Nothing),
            None => (ReturnCode::CONGESTION, Event::Refused),
        };
        let ack = TopicAck { topic: id.map_or(0, TopicId::get), msg_id: Some(register.msg_id), code };
        cx.send(Message::RegAck(ack)).map(|()| event)
    }

    pub(super) fn subscribe<'a>(
        &'a mut self,
        subscribe: &Subscribe<'a>,
        predefined: &'a Predefined,
        cx: &mut Context<'_>,
    ) -> Result<Event<'a>, EncodeError> {
        let msg_id = subscribe.msg_id;
        if let Some(ack) = self.repeats.subscribe(subscribe) {
            return cx.send(Message::SubAck(ack)).map(|()| Event::Nothing);
        }
        let (filter, topic) = match (subscribe.topic, self.reserve(subscribe.topic, cx.settings)) {
            (_, Err(code)) => return refuse_subscription(msg_id, code, cx),
            (SubscribeTopic::Filter(filter), Ok(id)) => {
                (Topic::Name(filter), id.map_or(TopicOf::None, TopicOf::Registered))
            }
            (SubscribeTopic::Short(short), Ok(_)) => (Topic::Short(short), TopicOf::None),
            (SubscribeTopic::Predefined(id), Ok(_)) => match predefined.topic(self.id(), id) {
                Some(topic) => (Topic::Name(topic), TopicOf::Predefined(id)),
                None => return refuse_subscription(msg_id, ReturnCode::INVALID_TOPIC_ID, cx),
            },
        };
        let content = Content::of_subscribe(subscribe.topic, subscribe.qos);
        Ok(Event::Subscribe { filter, qos: subscribe.qos, request: SubscribeRequest { msg_id, topic, content } })
    }

    /// An id for a topic name without wildcards, which the client knows once it has its SUBACK.
    fn reserve(&mut self, topic: SubscribeTopic<'_>, settings: &Settings) -> Result<Option<TopicId>, ReturnCode> {
        let SubscribeTopic::Filter(name) = topic else { return Ok(None) };
        if !is_plain(topic) {
            return Ok(None);
        }
        match self.registrations.for_delivery(name, settings.registrations_max) {
            Registration::Known(id) | Registration::Untold(id) => Ok(Some(id)),
            Registration::Full => Err(ReturnCode::CONGESTION),
        }
    }

    /// The answer to [`Event::Subscribe`]: the QoS that is granted, or why it is refused.
    /// # Errors
    /// As for [`Client::handle`].
    pub fn subscribed(
        &mut self,
        request: SubscribeRequest,
        granted: Result<QoS, ReturnCode>,
        cx: &mut Context<'_>,
    ) -> Result<(), EncodeError> {
        let SubscribeRequest { msg_id, topic, content } = request;
        let ack = match granted {
            Ok(qos) => SubAck { qos, topic_id: topic.id(), msg_id, code: ReturnCode::ACCEPTED },
            Err(code) => SubAck { qos: QoS::AtMostOnce, topic_id: None, msg_id, code },
        };
        cx.send(Message::SubAck(ack))?;
        match topic {
            TopicOf::Registered(id) if granted.is_ok() => self.registrations.confirm(id),
            // Who says it knows it. The registered id of that number is another topic's.
            TopicOf::Predefined(id) => self.unknown.remove(id),
            TopicOf::Registered(_) | TopicOf::None => {}
        }
        // One that was refused is worth another try.
        if granted.is_ok() {
            self.repeats.subscribed(ack, content);
        }
        Ok(())
    }

    /// UNSUBSCRIBE. From a predefined id that nobody defined there is no subscription: that is so already.
    pub(super) fn unsubscribe<'a>(
        &'a mut self,
        unsubscribe: &Unsubscribe<'a>,
        predefined: &'a Predefined,
        cx: &mut Context<'_>,
    ) -> Result<Event<'a>, EncodeError> {
        let msg_id = unsubscribe.msg_id;
        self.repeats.unsubscribed();
        let filter = match unsubscribe.topic {
            SubscribeTopic::Filter(filter) => Topic::Name(filter),
            SubscribeTopic::Short(short) => Topic::Short(short),
            SubscribeTopic::Predefined(id) => match predefined.topic(self.id(), id) {
                Some(topic) => Topic::Name(topic),
                None => return cx.send(Message::UnsubAck(msg_id)).map(|()| Event::Nothing),
            },
        };
        Ok(Event::Unsubscribe { filter, msg_id })
    }

    /// The answer to [`Event::Unsubscribe`].
    /// # Errors
    /// As for [`Client::handle`].
    pub fn unsubscribed(&self, msg_id: MsgId, cx: &mut Context<'_>) -> Result<(), EncodeError> {
        cx.send(Message::UnsubAck(msg_id))
    }
}

fn receipt(publish: &Publish<'_>) -> Option<Receipt> {
    match (publish.qos, publish.msg_id) {
        (PublishQoS::Level(qos), Some(msg_id)) => Some(Receipt { qos, topic: publish.topic, msg_id }),
        _ => None,
    }
}

/// PUBREC for an accepted PUBLISH of QoS 2, PUBACK for any other.
fn acknowledgement(receipt: Receipt, code: ReturnCode) -> Message<'static> {
    if receipt.qos == QoS::ExactlyOnce && code.is_accepted() {
        return Message::PubRec(receipt.msg_id);
    }
    Message::PubAck(TopicAck { topic: receipt.topic.field(), msg_id: Some(receipt.msg_id), code })
}

/// The client means a topic that there is not. It hears so in every QoS but -1, where nobody listens.
fn refuse_topic<'a>(publish: &Publish<'_>, cx: &mut Context<'_>) -> Result<Event<'a>, EncodeError> {
    if publish.qos == PublishQoS::MinusOne {
        return Ok(Event::Refused);
    }
    let (topic, code) = (publish.topic.field(), ReturnCode::INVALID_TOPIC_ID);
    cx.send(Message::PubAck(TopicAck { topic, msg_id: publish.msg_id, code }))?;
    Ok(Event::Refused)
}

fn refuse_subscription<'a>(msg_id: MsgId, code: ReturnCode, cx: &mut Context<'_>) -> Result<Event<'a>, EncodeError> {
    cx.send(Message::SubAck(SubAck { qos: QoS::AtMostOnce, topic_id: None, msg_id, code }))?;
    Ok(Event::Refused)
}

impl Client {
    /// A client that refuses a message for its topic id has forgotten it, and is told again. One that never knew a predefined
    /// id gets another, by REGISTER; which of the two it means by a number it does not say.
    pub(super) fn forget_id(&mut self, ack: &TopicAck, predefined: &Predefined) {
        if let (ReturnCode::INVALID_TOPIC_ID, Some(id)) = (ack.code, ack.topic_id()) {
            self.registrations.deny(id);
            if predefined.topic(self.id(), id).is_some() {
                self.unknown.add(id);
            }
        }
    }
}
