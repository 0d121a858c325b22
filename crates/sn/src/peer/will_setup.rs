//! CONNECT with will set-up (6.2, 6.3): the gateway asks for topic and message before it says CONNACK.

use crate::{Message, QoS, ReturnCode, WillTopic};

/// What a CONNECT, and what came after it, makes of the will that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WillChange {
    /// It stays as it is: neither clean session nor will.
    Keep,
    /// There is none any more.
    Delete,
    /// This one from now on.
    Set {
        /// Its topic.
        topic: String,
        /// Its payload.
        payload: Vec<u8>,
        /// Its quality of service.
        qos: QoS,
        /// Whether it is retained.
        retain: bool,
    },
}

/// A CONNECT that waits for the client's will. What is sent again, because a message was lost, is asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WillSetup {
    topic: Option<(String, QoS, bool)>,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// This goes to the client, and the set-up goes on.
    Ask(Message<'static>),
    /// The set-up is over: open the session with this, then CONNACK.
    Done(WillChange),
    /// The set-up is over, and so is the CONNECT: CONNACK with this code.
    Refuse(ReturnCode),
    /// It has nothing to do with the set-up.
    Nothing,
}

impl WillSetup {
    /// What a CONNECT with these flags begins, and the first that comes of it. `None`: nothing is asked.
    pub fn begin(will: bool, clean_session: bool) -> (Option<WillSetup>, Prompt) {
        match (will, clean_session) {
            (true, _) => (Some(WillSetup { topic: None }), Prompt::Ask(Message::WillTopicReq)),
            (false, true) => (None, Prompt::Done(WillChange::Delete)),
            (false, false) => (None, Prompt::Done(WillChange::Keep)),
        }
    }

    /// WILLTOPIC. An empty one deletes the will, and ends the set-up.
    pub fn topic(&mut self, will: Option<WillTopic<'_>>) -> Prompt {
        let Some(will) = will else { return Prompt::Done(WillChange::Delete) };
        self.topic = Some((will.topic.to_owned(), will.qos, will.retain));
        Prompt::Ask(Message::WillMsgReq)
    }

    /// WILLMSG; before its topic it is not what was asked for.
    pub fn message(&mut self, payload: &[u8], will_bytes_max: usize) -> Prompt {
        let Some((topic, qos, retain)) = self.topic.take() else { return Prompt::Nothing };
        if payload.len() > will_bytes_max {
            return Prompt::Refuse(ReturnCode::NOT_SUPPORTED);
        }
        Prompt::Done(WillChange::Set { topic, payload: payload.to_owned(), qos, retain })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOPIC: WillTopic<'_> = WillTopic { qos: QoS::AtLeastOnce, retain: true, topic: "w" };

    fn begun() -> WillSetup {
        let (setup, prompt) = WillSetup::begin(true, true);
        assert_eq!(prompt, Prompt::Ask(Message::WillTopicReq));
        setup.expect("it asks")
    }

    fn set(payload: &[u8]) -> Prompt {
        let (topic, payload) = ("w".to_owned(), payload.to_owned());
        Prompt::Done(WillChange::Set { topic, payload, qos: QoS::AtLeastOnce, retain: true })
    }

    #[test]
    fn section_6_2_topic_then_message_then_connack() {
        let mut setup = begun();
        assert_eq!(setup.topic(Some(TOPIC)), Prompt::Ask(Message::WillMsgReq));
        assert_eq!(setup.message(b"bye", 3), set(b"bye"));
    }

    #[test]
    fn section_6_2_what_is_sent_again_is_asked_again() {
        let mut setup = begun();
        assert_eq!(setup.message(b"bye", 3), Prompt::Nothing, "nobody asked");
        assert_eq!(setup.topic(Some(TOPIC)), Prompt::Ask(Message::WillMsgReq));
        assert_eq!(setup.topic(Some(TOPIC)), Prompt::Ask(Message::WillMsgReq));
        assert_eq!(setup.message(b"", 3), set(b""));
    }

    #[test]
    fn section_6_2_a_will_has_a_limit() {
        let mut setup = begun();
        setup.topic(Some(TOPIC));
        assert_eq!(setup.message(b"bye!", 3), Prompt::Refuse(ReturnCode::NOT_SUPPORTED));
    }

    #[test]
    fn section_6_3_clean_session_covers_the_will() {
        assert_eq!(WillSetup::begin(false, true), (None, Prompt::Done(WillChange::Delete)));
        assert_eq!(WillSetup::begin(false, false), (None, Prompt::Done(WillChange::Keep)));
        assert_eq!(WillSetup::begin(true, false), WillSetup::begin(true, true));
    }

    #[test]
    fn section_6_3_an_empty_willtopic_deletes_the_will() {
        assert_eq!(begun().topic(None), Prompt::Done(WillChange::Delete));
        let mut setup = begun();
        setup.topic(Some(TOPIC));
        assert_eq!(setup.topic(None), Prompt::Done(WillChange::Delete));
    }
}
