//! Messages of QoS 2 that a client has not released, and gives up by beginning another (6.6, 6.13).

use crate::{MsgId, Publish, PublishQoS, QoS};

use super::{Answer, Exchange, Repeats};

impl Repeats {
    /// The message of QoS 2 that the client gives up with this PUBLISH, if that is new.
    pub fn given_up(&self, publish: &Publish<'_>) -> Option<MsgId> {
        let unreleased = self.exactly.as_ref()?.unreleased.map(|exchange| exchange.msg_id);
        let is_exactly = publish.qos == PublishQoS::Level(QoS::ExactlyOnce);
        unreleased.filter(|msg_id| is_exactly && publish.msg_id != Some(*msg_id))
    }

    /// The session could not be told of the message that was given up, and keeps it: with the next PUBLISH it is given up again.
    /// For behind [`Repeats::refused`] of the one that gave it up.
    pub fn not_given_up(&mut self, msg_id: MsgId) {
        let Some(exactly) = self.exactly.as_mut().filter(|exactly| exactly.unreleased.is_none()) else { return };
        let over = exactly.over.pop_if(|over| over.msg_id == msg_id);
        // Should it come again after all, the session says whether it has it.
        exactly.unreleased = over.map(|over| Exchange { msg_id, answer: Answer::Lost, content: over.content });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::{Heard, Settings};
    use crate::{PublishTopic, TopicId};

    fn id(id: u16) -> MsgId {
        MsgId::new(id).unwrap()
    }

    fn publish(qos: QoS, msg_id: u16, dup: bool) -> Publish<'static> {
        let topic = PublishTopic::Predefined(TopicId::MIN);
        Publish { dup, qos: PublishQoS::Level(qos), retain: false, topic, msg_id: Some(id(msg_id)), payload: b"" }
    }

    #[test]
    fn section_6_6_who_begins_another_gives_up_what_it_has_not_released() {
        let (mut repeats, qos) = (Repeats::default(), QoS::ExactlyOnce);
        assert_eq!(repeats.given_up(&publish(qos, 7, false)), None);
        repeats.publish(&publish(qos, 7, false), &Settings::default(), 0);
        assert_eq!(repeats.given_up(&publish(qos, 7, true)), None, "the same");
        assert_eq!(repeats.given_up(&publish(QoS::AtLeastOnce, 8, false)), None);
        assert_eq!(repeats.given_up(&publish(qos, 8, false)), Some(id(7)));
        assert!(repeats.release(id(7), &Settings::default(), 0));
        assert_eq!(repeats.given_up(&publish(qos, 8, false)), None);
    }

    /// Is what could not be given up, since its session took nothing, given up with the next message; and is it the client's until
    /// then?
    #[test]
    fn section_6_6_what_could_not_be_given_up_is_so_later() {
        let (mut repeats, qos, settings) = (Repeats::default(), QoS::ExactlyOnce, Settings::default());
        repeats.publish(&publish(qos, 7, false), &settings, 0);
        repeats.answered(qos, id(7));
        for _ in 0..2 {
            assert_eq!(repeats.given_up(&publish(qos, 8, false)), Some(id(7)));
            assert_eq!(repeats.publish(&publish(qos, 8, false), &settings, 0), Heard::New);
            repeats.refused(qos, id(8));
            repeats.not_given_up(id(7));
        }
        assert_eq!(repeats.publish(&publish(qos, 7, true), &settings, 0), Heard::Unanswered, "the session is asked");
        assert!(repeats.release(id(7), &settings, 0));
        assert_eq!(repeats.given_up(&publish(qos, 8, false)), None);
    }
}
