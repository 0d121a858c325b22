//! What a client sends again because our answer was lost (6.13): it counts once, and is answered as often as it comes.

use crate::{MsgId, Publish, PublishQoS, QoS, SubAck, Subscribe};

use super::Settings;
use super::content::Content;

mod given_up;

/// The last PUBLISH of QoS 1, the one of QoS 2 that is not released, and the last SUBSCRIBE. A client has one message in
/// flight (6.13): when it begins another, the one before is over for it.
#[derive(Debug, Default)]
pub struct Repeats {
    acknowledged: Option<Exchange>,
    subscribed: Option<(SubAck, Content)>,
    /// From its first message of QoS 2 on: most devices send none.
    exactly: Option<Box<Exactly>>,
}

/// What it has sent with QoS 2.
#[derive(Debug, Default)]
struct Exactly {
    unreleased: Option<Exchange>,
    /// Exchanges that are over, the newest last.
    over: Vec<Over>,
}

#[derive(Clone, Copy, Debug)]
struct Exchange {
    msg_id: MsgId,
    answer: Answer,
    content: Content,
}

/// What became of the answer to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// It is waited for.
    Owed,
    /// It went to the client.
    Sent,
    /// The connection that owed it is over.
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Over {
    msg_id: MsgId,
    content: Content,
    until_ms: u64,
}

/// Whether a message counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It is new: it counts, and is to be answered when that may be said ([`Repeats::answered`]).
    New,
    /// It was heard, and its answer is not sent yet: nothing is to be done.
    Pending,
    /// It was heard, and its answer was lost here: it goes to the session once more, as a copy.
    Unanswered,
    /// It is a copy of a message of QoS 2 that is over, and came late: nothing is to be done. An answer would be one to the
    /// next message of that id.
    Late,
    /// It was answered, and the answer was lost: the same answer again, nothing else.
    Again,
}

impl Repeats {
    /// A PUBLISH that may be taken. Who repeats one of QoS 1 sets DUP, and says the same: another message of that id, whose
    /// first copy was lost, is new. Before its answer the network may have doubled it, without DUP. One of QoS 2 is the same
    /// until it is released.
    pub fn publish(&mut self, publish: &Publish<'_>, settings: &Settings, now_ms: u64) -> Heard {
        let (Some(msg_id), PublishQoS::Level(qos)) = (publish.msg_id, publish.qos) else { return Heard::New };
        let content = Content::of_publish(publish);
        let is_repeat = |exchange: &Exchange| {
            let is_copy = (publish.dup || exchange.answer != Answer::Sent) && exchange.content == content;
            exchange.msg_id == msg_id && (qos == QoS::ExactlyOnce || is_copy)
        };
        if let Some(exchange) = self.slot(qos).as_mut().filter(|exchange| is_repeat(exchange)) {
            return exchange.heard_again();
        }
        if qos == QoS::ExactlyOnce {
            let exactly = self.exactly.get_or_insert_default();
            let is_copy = |over: &Over| over.msg_id == msg_id && over.content == content && now_ms < over.until_ms;
            if exactly.over.iter().any(is_copy) {
                return Heard::Late;
            }
            exactly.remember(exactly.unreleased, settings, now_ms);
        }
        *self.slot(qos) = Some(Exchange { msg_id, answer: Answer::Owed, content });
        Heard::New
    }

    /// PUBACK (QoS 1) or PUBREC (QoS 2) goes to the client.
    pub fn answered(&mut self, qos: QoS, msg_id: MsgId) {
        if let Some(exchange) = self.slot(qos).as_mut().filter(|exchange| exchange.msg_id == msg_id) {
            exchange.answer = Answer::Sent;
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
    pub fn release(&mut self, msg_id: MsgId, settings: &Settings, now_ms: u64) -> bool {
        let Some(exactly) = &mut self.exactly else { return false };
        let released = exactly.unreleased.take_if(|exchange| exchange.msg_id == msg_id);
        exactly.remember(released, settings, now_ms);
        released.is_some()
    }

    /// The answer that a SUBSCRIBE had already, when it comes again.
    pub fn subscribe(&self, subscribe: &Subscribe<'_>) -> Option<SubAck> {
        let is_it = |(ack, content): &(SubAck, Content)| {
            ack.msg_id == subscribe.msg_id && *content == Content::of_subscribe(subscribe.topic, subscribe.qos)
        };
        self.subscribed.filter(|_| subscribe.dup).filter(is_it).map(|(ack, _)| ack)
    }

    /// SUBACK goes to the client, for a SUBSCRIBE of this content.
    pub(super) fn subscribed(&mut self, ack: SubAck, content: Content) {
        self.subscribed = Some((ack, content));
    }

    /// UNSUBSCRIBE: whatever is subscribed to after it is so anew.
    pub(super) fn unsubscribed(&mut self) {
        self.subscribed = None;
    }

    /// The connection to the session is over, and with it the answers that it owed; the next one may be of a client that has
    /// forgotten what it said, and says as much by the same ids. What comes of QoS 1 and of subscriptions is new; of QoS 2 the
    /// session is asked whether it has it.
    pub fn cut_off(&mut self) {
        (self.acknowledged, self.subscribed) = (None, None);
        let unreleased = self.exactly.as_mut().and_then(|exactly| exactly.unreleased.as_mut());
        if let Some(exchange) = unreleased.filter(|exchange| exchange.answer == Answer::Owed) {
            exchange.answer = Answer::Lost;
        }
    }

    /// A clean session: whatever comes is new.
    pub fn clear(&mut self) {
        *self = Repeats::default();
    }

    fn slot(&mut self, qos: QoS) -> &mut Option<Exchange> {
        match qos {
            QoS::ExactlyOnce => &mut self.exactly.get_or_insert_default().unreleased,
            _ => &mut self.acknowledged,
        }
    }
}

impl Exchange {
    /// It comes once more.
    fn heard_again(&mut self) -> Heard {
        match self.answer {
            Answer::Owed => Heard::Pending,
            Answer::Sent => Heard::Again,
            Answer::Lost => {
                self.answer = Answer::Owed;
                Heard::Unanswered
            }
        }
    }
}

impl Exactly {
    /// An exchange is over: released, or given up by the client for another.
    fn remember(&mut self, exchange: Option<Exchange>, settings: &Settings, now_ms: u64) {
        let Some(Exchange { msg_id, content, .. }) = exchange else { return };
        self.over.retain(|over| now_ms < over.until_ms);
        let max = settings.lingering_max.max(1);
        if self.over.len() >= max {
            self.over.drain(..=self.over.len() - max);
        }
        self.over.push(Over { msg_id, content, until_ms: now_ms + settings.linger_ms });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PublishTopic, ReturnCode, SubscribeTopic, TopicId};

    fn id(id: u16) -> MsgId {
        MsgId::new(id).unwrap()
    }

    fn settings() -> Settings {
        Settings { linger_ms: 100, ..Settings::default() }
    }

    fn publish(qos: QoS, msg_id: u16, dup: bool) -> Publish<'static> {
        let topic = PublishTopic::Predefined(TopicId::MIN);
        Publish { dup, qos: PublishQoS::Level(qos), retain: false, topic, msg_id: Some(id(msg_id)), payload: b"" }
    }

    #[test]
    fn section_6_13_a_repeated_publish_of_qos_1_counts_once() {
        let (mut repeats, qos) = (Repeats::default(), QoS::AtLeastOnce);
        assert_eq!(repeats.publish(&publish(qos, 7, false), &settings(), 0), Heard::New);
        assert_eq!(repeats.publish(&publish(qos, 7, true), &settings(), 0), Heard::Pending);
        assert_eq!(repeats.publish(&publish(qos, 7, false), &settings(), 0), Heard::Pending, "the network doubled it");
        repeats.answered(qos, id(7));
        assert_eq!(repeats.publish(&publish(qos, 7, true), &settings(), 0), Heard::Again);
        assert_eq!(repeats.publish(&publish(qos, 7, false), &settings(), 0), Heard::New, "without DUP it is another");
        repeats.answered(qos, id(7));
        let other = Publish { payload: b"other", ..publish(qos, 7, true) };
        assert_eq!(
            repeats.publish(&other, &settings(), 0),
            Heard::New,
            "a client with one id for all: the first was lost"
        );
        assert_eq!(repeats.publish(&other, &settings(), 0), Heard::Pending);
        assert_eq!(
            repeats.publish(&publish(qos, 8, true), &settings(), 0),
            Heard::New,
            "the first was lost on its way"
        );
    }

    #[test]
    fn section_6_13_a_publish_of_qos_2_counts_once_until_it_is_released() {
        let (mut repeats, qos) = (Repeats::default(), QoS::ExactlyOnce);
        assert_eq!(repeats.publish(&publish(qos, 7, false), &settings(), 0), Heard::New);
        assert_eq!(repeats.publish(&publish(qos, 7, false), &settings(), 0), Heard::Pending);
        repeats.answered(qos, id(7));
        assert_eq!(repeats.publish(&publish(qos, 7, true), &settings(), 0), Heard::Again);
        assert_eq!(
            repeats.publish(&publish(QoS::AtLeastOnce, 7, true), &settings(), 0),
            Heard::New,
            "another exchange"
        );
        assert!(
            !repeats.release(id(8), &settings(), 0)
                && repeats.release(id(7), &settings(), 0)
                && !repeats.release(id(7), &settings(), 0)
        );
        assert_eq!(repeats.publish(&publish(qos, 7, false), &settings(), 100), Heard::New);
    }

    #[test]
    fn section_6_13_a_late_copy_of_qos_2_does_not_count() {
        let (mut repeats, qos) = (Repeats::default(), QoS::ExactlyOnce);
        repeats.publish(&publish(qos, 7, false), &settings(), 0);
        assert!(repeats.release(id(7), &settings(), 50));
        assert_eq!(repeats.publish(&publish(qos, 7, true), &settings(), 149), Heard::Late);
        let other = Publish { payload: b"other", ..publish(qos, 7, false) };
        assert_eq!(repeats.publish(&other, &settings(), 149), Heard::New, "a client with one id for all");
        assert_eq!(repeats.publish(&publish(qos, 8, false), &settings(), 149), Heard::New, "it gave up the one before");
        assert_eq!(repeats.publish(&other, &settings(), 149), Heard::Late);
        assert_eq!(repeats.publish(&publish(qos, 8, false), &settings(), 149), Heard::Pending);
        assert!(repeats.release(id(8), &settings(), 149));
        assert_eq!(repeats.publish(&publish(qos, 7, true), &settings(), 150), Heard::New, "sent again, it is meant");
        for id in 10..40 {
            repeats.publish(&publish(qos, id, false), &settings(), 150);
        }
        assert_eq!(repeats.exactly.map(|exactly| exactly.over.len()), Some(settings().lingering_max));
    }

    #[test]
    fn section_6_13_what_was_refused_is_new_again() {
        for qos in [QoS::AtLeastOnce, QoS::ExactlyOnce] {
            let mut repeats = Repeats::default();
            repeats.publish(&publish(qos, 7, false), &settings(), 0);
            repeats.refused(qos, id(8));
            assert_eq!(repeats.publish(&publish(qos, 7, true), &settings(), 0), Heard::Pending);
            repeats.refused(qos, id(7));
            assert_eq!(repeats.publish(&publish(qos, 7, true), &settings(), 0), Heard::New);
        }
    }

    /// Is a message whose answer will not come waited for no more?
    #[test]
    fn section_6_13_an_answer_that_is_lost_here_is_asked_for_again() {
        let mut repeats = Repeats::default();
        for (qos, heard) in [(QoS::AtLeastOnce, Heard::New), (QoS::ExactlyOnce, Heard::Unanswered)] {
            assert_eq!(repeats.publish(&publish(qos, 7, false), &settings(), 0), Heard::New);
            repeats.cut_off();
            assert_eq!(repeats.publish(&publish(qos, 7, true), &settings(), 0), heard);
            assert_eq!(repeats.publish(&publish(qos, 7, true), &settings(), 0), Heard::Pending);
            repeats.answered(qos, id(7));
            assert_eq!(repeats.publish(&publish(qos, 7, true), &settings(), 0), Heard::Again);
        }
        repeats.cut_off();
        let known = publish(QoS::AtLeastOnce, 7, true);
        assert_eq!(repeats.publish(&known, &settings(), 0), Heard::New, "perhaps of a client that has begun anew");
        let unreleased = publish(QoS::ExactlyOnce, 7, true);
        assert_eq!(repeats.publish(&unreleased, &settings(), 0), Heard::Again, "it was answered");
    }

    #[test]
    fn section_6_13_qos_0_and_minus_1_are_never_repeats() {
        let mut repeats = Repeats::default();
        for qos in [PublishQoS::MinusOne, PublishQoS::Level(QoS::AtMostOnce)] {
            let message = Publish { qos, msg_id: None, ..publish(QoS::AtMostOnce, 7, false) };
            assert_eq!(
                (repeats.publish(&message, &settings(), 0), repeats.publish(&message, &settings(), 0)),
                (Heard::New, Heard::New)
            );
        }
    }

    #[test]
    fn section_6_13_a_repeated_subscribe_has_the_same_answer() {
        let mut repeats = Repeats::default();
        let subscribe =
            Subscribe { dup: true, qos: QoS::AtMostOnce, msg_id: id(7), topic: SubscribeTopic::Filter("a") };
        assert_eq!(repeats.subscribe(&subscribe), None);
        let ack = SubAck { qos: QoS::AtMostOnce, topic_id: None, msg_id: id(7), code: ReturnCode::ACCEPTED };
        repeats.subscribed(ack, Content::of_subscribe(subscribe.topic, subscribe.qos));
        assert_eq!(repeats.subscribe(&subscribe), Some(ack));
        let other = SubscribeTopic::Filter("b");
        assert_eq!(repeats.subscribe(&Subscribe { topic: other, ..subscribe }), None, "a client with one id for all");
        assert_eq!(repeats.subscribe(&Subscribe { qos: QoS::AtLeastOnce, ..subscribe }), None);
        assert_eq!(repeats.subscribe(&Subscribe { dup: false, ..subscribe }), None);
        assert_eq!(repeats.subscribe(&Subscribe { msg_id: id(8), ..subscribe }), None);
        for forget in [Repeats::unsubscribed, Repeats::cut_off] {
            assert_eq!(repeats.subscribe(&subscribe), Some(ack));
            forget(&mut repeats);
            assert_eq!(repeats.subscribe(&subscribe), None);
            repeats.subscribed(ack, Content::of_subscribe(subscribe.topic, subscribe.qos));
        }
    }
}
