//! What a client sends again because our answer was lost (6.13): it counts once, and is answered as often as it comes.

use crate::{MsgId, Publish, PublishQoS, QoS, SubAck, Subscribe};

/// The last PUBLISH of QoS 1, the one of QoS 2 that is not released, and the last SUBSCRIBE. A client has one message in
/// flight (6.13): when it begins another, the one before is over for it.
#[derive(Debug, Default)]
pub struct Repeats {
    acknowledged: Option<Exchange>,
    unreleased: Option<Exchange>,
    subscribed: Option<SubAck>,
}

#[derive(Clone, Copy, Debug)]
struct Exchange {
    msg_id: MsgId,
    is_answered: bool,
}

/// Whether a message counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It is new: it counts, and is to be answered when that may be said ([`Repeats::answered`]).
    New,
    /// It was heard, and its answer is not sent yet: nothing is to be done.
    Pending,
    /// It was answered, and the answer was lost: the same answer again, nothing else.
    Again,
}

impl Repeats {
    /// A PUBLISH that may be taken. Who repeats one of QoS 1 sets DUP; one of QoS 2 is the same until it is released.
    pub fn publish(&mut self, publish: &Publish<'_>) -> Heard {
        let (Some(msg_id), PublishQoS::Level(qos)) = (publish.msg_id, publish.qos) else { return Heard::New };
        let is_repeat = publish.dup || qos == QoS::ExactlyOnce;
        let slot = self.slot(qos);
        match *slot {
            Some(exchange) if is_repeat && exchange.msg_id == msg_id => {
                if exchange.is_answered {
                    Heard::Again
                } else {
                    Heard::Pending
                }
            }
            _ => {
                *slot = Some(Exchange { msg_id, is_answered: false });
                Heard::New
            }
        }
    }

    /// PUBACK (QoS 1) or PUBREC (QoS 2) goes to the client.
    pub fn answered(&mut self, qos: QoS, msg_id: MsgId) {
        if let Some(exchange) = self.slot(qos).as_mut().filter(|exchange| exchange.msg_id == msg_id) {
            exchange.is_answered = true;
        }
    }

    /// A refusal goes to the client instead: sent again, the message is a new one.
    pub fn refused(&mut self, qos: QoS, msg_id: MsgId) {
        let slot = self.slot(qos);
        if slot.is_some_and(|exchange| exchange.msg_id == msg_id) {
            *slot = None;
        }
    }

    /// PUBREL: whether it releases a message. PUBCOMP is the answer either way: it may have been lost.
    pub fn release(&mut self, msg_id: MsgId) -> bool {
        let is_held = self.unreleased.is_some_and(|exchange| exchange.msg_id == msg_id);
        if is_held {
            self.unreleased = None;
        }
        is_held
    }

    /// The answer that a SUBSCRIBE had already, when it comes again.
    pub fn subscribe(&self, subscribe: &Subscribe<'_>) -> Option<SubAck> {
        self.subscribed.filter(|ack| subscribe.dup && ack.msg_id == subscribe.msg_id)
    }

    /// SUBACK goes to the client.
    pub fn subscribed(&mut self, ack: SubAck) {
        self.subscribed = Some(ack);
    }

    /// A clean session: whatever comes is new.
    pub fn clear(&mut self) {
        *self = Repeats::default();
    }

    fn slot(&mut self, qos: QoS) -> &mut Option<Exchange> {
        if qos == QoS::ExactlyOnce { &mut self.unreleased } else { &mut self.acknowledged }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PublishTopic, ReturnCode, SubscribeTopic, TopicId};

    fn id(id: u16) -> MsgId {
        MsgId::new(id).unwrap()
    }

    fn publish(qos: QoS, msg_id: u16, dup: bool) -> Publish<'static> {
        let topic = PublishTopic::Predefined(TopicId::MIN);
        Publish { dup, qos: PublishQoS::Level(qos), retain: false, topic, msg_id: Some(id(msg_id)), payload: b"" }
    }

    #[test]
    fn section_6_13_a_repeated_publish_of_qos_1_counts_once() {
        let (mut repeats, qos) = (Repeats::default(), QoS::AtLeastOnce);
        assert_eq!(repeats.publish(&publish(qos, 7, false)), Heard::New);
        assert_eq!(repeats.publish(&publish(qos, 7, true)), Heard::Pending);
        repeats.answered(qos, id(7));
        assert_eq!(repeats.publish(&publish(qos, 7, true)), Heard::Again);
        assert_eq!(repeats.publish(&publish(qos, 7, false)), Heard::New, "without DUP it is another");
        assert_eq!(repeats.publish(&publish(qos, 8, true)), Heard::New, "the first was lost on its way");
    }

    #[test]
    fn section_6_13_a_publish_of_qos_2_counts_once_until_it_is_released() {
        let (mut repeats, qos) = (Repeats::default(), QoS::ExactlyOnce);
        assert_eq!(repeats.publish(&publish(qos, 7, false)), Heard::New);
        assert_eq!(repeats.publish(&publish(qos, 7, false)), Heard::Pending);
        repeats.answered(qos, id(7));
        assert_eq!(repeats.publish(&publish(qos, 7, true)), Heard::Again);
        assert_eq!(repeats.publish(&publish(QoS::AtLeastOnce, 7, true)), Heard::New, "another exchange");
        assert!(!repeats.release(id(8)) && repeats.release(id(7)) && !repeats.release(id(7)));
        assert_eq!(repeats.publish(&publish(qos, 7, false)), Heard::New);
    }

    #[test]
    fn section_6_13_what_was_refused_is_new_again() {
        for qos in [QoS::AtLeastOnce, QoS::ExactlyOnce] {
            let mut repeats = Repeats::default();
            repeats.publish(&publish(qos, 7, false));
            repeats.refused(qos, id(8));
            assert_eq!(repeats.publish(&publish(qos, 7, true)), Heard::Pending);
            repeats.refused(qos, id(7));
            assert_eq!(repeats.publish(&publish(qos, 7, true)), Heard::New);
        }
    }

    #[test]
    fn section_6_13_qos_0_and_minus_1_are_never_repeats() {
        let mut repeats = Repeats::default();
        for qos in [PublishQoS::MinusOne, PublishQoS::Level(QoS::AtMostOnce)] {
            let message = Publish { qos, msg_id: None, ..publish(QoS::AtMostOnce, 7, false) };
            assert_eq!((repeats.publish(&message), repeats.publish(&message)), (Heard::New, Heard::New));
        }
    }

    #[test]
    fn section_6_13_a_repeated_subscribe_has_the_same_answer() {
        let mut repeats = Repeats::default();
        let subscribe =
            Subscribe { dup: true, qos: QoS::AtMostOnce, msg_id: id(7), topic: SubscribeTopic::Filter("a") };
        assert_eq!(repeats.subscribe(&subscribe), None);
        let ack = SubAck { qos: QoS::AtMostOnce, topic_id: None, msg_id: id(7), code: ReturnCode::ACCEPTED };
        repeats.subscribed(ack);
        assert_eq!(repeats.subscribe(&subscribe), Some(ack));
        assert_eq!(repeats.subscribe(&Subscribe { dup: false, ..subscribe }), None);
        assert_eq!(repeats.subscribe(&Subscribe { msg_id: id(8), ..subscribe }), None);
        repeats.clear();
        assert_eq!(repeats.subscribe(&subscribe), None);
    }
}
