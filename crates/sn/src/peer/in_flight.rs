//! The one message in flight to a client (6.10), sent again until it is answered (6.13).

use crate::{EncodeError, Message, MsgId, PublishQoS, QoS, Register, ReturnCode, TopicId};

use super::Context;

/// The message that waits for its answer.
#[derive(Debug, Default)]
pub struct InFlight {
    waiting: Option<Waiting>,
    last_id: Option<MsgId>,
}

#[derive(Debug)]
struct Waiting {
    awaited: Awaited,
    msg_id: MsgId,
    /// The message as it was sent, without a forwarder.
    bytes: Box<[u8]>,
    retries: u32,
    due_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    RegAck {
        topic_id: Option<TopicId>,
        /// The client was told before, and may have heard it.
        is_repeated: bool,
    },
    PubAck,
    PubRec,
    PubComp,
}

/// What the client said of the message in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// REGACK to the REGISTER of this id. Some clients refuse by 0x02 what they know already: of a REGISTER that was said before
    /// that is no refusal. Who does not know the id will say so of the PUBLISH.
    Registered(Option<TopicId>, ReturnCode),
    /// PUBACK: the PUBLISH is over. To one of QoS 2 it can only be a refusal.
    Published(ReturnCode),
    /// PUBREC: it has the message. PUBREL goes once that is kept; till then nothing is in flight.
    Received,
    /// PUBCOMP: the exchange is over.
    Completed,
}

/// What became of a message whose answer is overdue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overdue {
    /// There is none.
    Nothing,
    /// It was sent again.
    Resent,
    /// It was sent often enough: the client is lost.
    Lost,
}

impl InFlight {
    /// Whether nothing is in flight: the next message may go.
    pub const fn is_free(&self) -> bool {
        self.waiting.is_none()
    }

    /// The id for the next message; 65535 is followed by 1.
    pub fn next_id(&mut self) -> MsgId {
        let id = self.last_id.map_or(MsgId::MIN, MsgId::next);
        self.last_id = Some(id);
        id
    }

    /// Sends `message` and waits for its answer: a REGISTER, a PUBLISH of QoS 1 or 2 or a PUBREL, when nothing
    /// else is in flight. Anything else is the caller's mistake and refused.
    /// # Errors
    /// It cannot be written, or nothing would answer it; nothing is in flight that was not.
    pub fn send(&mut self, message: &Message<'_>, cx: &mut Context<'_>) -> Result<usize, EncodeError> {
        let Some((awaited, msg_id)) = awaited(message) else {
            return Err(EncodeError::NotRepresentable("a wait for a message that nothing answers"));
        };
        self.begin(message, awaited, msg_id, cx)
    }

    /// The same for a REGISTER; `is_repeated`: the client was told of this id before, and may have heard it.
    /// # Errors
    /// As for [`InFlight::send`].
    pub(super) fn register(
        &mut self,
        register: Register<'_>,
        is_repeated: bool,
        cx: &mut Context<'_>,
    ) -> Result<usize, EncodeError> {
        let awaited = Awaited::RegAck { topic_id: register.topic_id, is_repeated };
        self.begin(&Message::Register(register), awaited, register.msg_id, cx)
    }

    fn begin(
        &mut self,
        message: &Message<'_>,
        awaited: Awaited,
        msg_id: MsgId,
        cx: &mut Context<'_>,
    ) -> Result<usize, EncodeError> {
        if !self.is_free() {
            return Err(EncodeError::NotRepresentable("a second message in flight"));
        }
        let start = cx.out.len();
        let len = message.encode(&cx.settings.limits, cx.out)?;
        let bytes = cx.out[start..].into();
        self.waiting = Some(Waiting { awaited, msg_id, bytes, retries: 0, due_ms: cx.now_ms + cx.settings.retry_ms });
        Ok(len)
    }

    /// What a message of the client says of the one in flight; `None`: nothing, it is late or of somebody else.
    ///
    /// PUBREC ends the first half of a message of QoS 2: whoever keeps its state sends PUBREL when that is safe. A PUBREC that
    /// comes again while PUBREL waits is answered with it again: the first was lost.
    pub fn answered(&mut self, message: &Message<'_>, cx: &mut Context<'_>) -> Option<Answer> {
        let waiting = self.waiting.as_ref()?;
        let (id, awaited) = (waiting.msg_id, waiting.awaited);
        let answer = match (message, awaited) {
            (Message::RegAck(ack), Awaited::RegAck { topic_id, is_repeated }) if ack.msg_id == Some(id) => {
                let has_it = is_repeated && ack.code == ReturnCode::INVALID_TOPIC_ID;
                Answer::Registered(topic_id, if has_it { ReturnCode::ACCEPTED } else { ack.code })
            }
            (Message::PubAck(ack), Awaited::PubAck) if ack.msg_id == Some(id) => Answer::Published(ack.code),
            (Message::PubAck(ack), Awaited::PubRec) if ack.msg_id == Some(id) && !ack.code.is_accepted() => {
                Answer::Published(ack.code)
            }
            (Message::PubRec(of), Awaited::PubRec) if *of == id => Answer::Received,
            (Message::PubRec(of), Awaited::PubComp) if *of == id => {
                cx.out.extend_from_slice(&waiting.bytes);
                return None;
            }
            (Message::PubComp(of), Awaited::PubComp) if *of == id => Answer::Completed,
            _ => return None,
        };
        self.waiting = None;
        Some(answer)
    }

    /// When [`InFlight::tick`] has something to do.
    pub fn next_wake_ms(&self) -> Option<u64> {
        self.waiting.as_ref().map(|waiting| waiting.due_ms)
    }

    /// Sends again, with DUP where there is one, what is overdue; after the last time nothing is in flight any more.
    pub fn tick(&mut self, cx: &mut Context<'_>) -> Overdue {
        let Some(waiting) = self.waiting.as_mut().filter(|waiting| cx.now_ms >= waiting.due_ms) else {
            return Overdue::Nothing;
        };
        if waiting.retries >= cx.settings.retries_max {
            self.waiting = None;
            return Overdue::Lost;
        }
        waiting.retries += 1;
        waiting.due_ms = cx.now_ms + cx.settings.retry_ms;
        match &mut waiting.awaited {
            Awaited::PubAck | Awaited::PubRec => crate::publish::set_dup(&mut waiting.bytes),
            Awaited::RegAck { is_repeated, .. } => *is_repeated = true,
            Awaited::PubComp => {}
        }
        cx.out.extend_from_slice(&waiting.bytes);
        Overdue::Resent
    }

    /// Forgets what is in flight: the connection is over, and its session knows what to send again.
    pub fn clear(&mut self) {
        self.waiting = None;
    }
}

fn awaited(message: &Message<'_>) -> Option<(Awaited, MsgId)> {
    match message {
        Message::Register(register) => {
            Some((Awaited::RegAck { topic_id: register.topic_id, is_repeated: false }, register.msg_id))
        }
        Message::Publish(publish) => {
            let awaited =
                if publish.qos == PublishQoS::Level(QoS::ExactlyOnce) { Awaited::PubRec } else { Awaited::PubAck };
            publish.msg_id.map(|id| (awaited, id))
        }
        Message::PubRel(id) => Some((Awaited::PubComp, *id)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{bytes, decoded};
    use crate::peer::Settings;

    /// One client, and what went to it.
    struct Client {
        in_flight: InFlight,
        settings: Settings,
        out: Vec<u8>,
    }

    impl Client {
        fn new() -> Self {
            let settings = Settings { retry_ms: 10, retries_max: 2, ..Settings::default() };
            Client { in_flight: InFlight::default(), settings, out: Vec::new() }
        }

        fn send(&mut self, hex: &str, now_ms: u64) -> Result<usize, EncodeError> {
            let cx = &mut Context { settings: &self.settings, now_ms, out: &mut self.out };
            self.in_flight.send(&decoded(hex), cx)
        }

        fn hear(&mut self, hex: &str) -> Option<Answer> {
            let cx = &mut Context { settings: &self.settings, now_ms: 0, out: &mut self.out };
            self.in_flight.answered(&decoded(hex), cx)
        }

        fn tick(&mut self, now_ms: u64) -> Overdue {
            self.in_flight.tick(&mut Context { settings: &self.settings, now_ms, out: &mut self.out })
        }

        #[track_caller]
        fn sent(&mut self, hex: &str) {
            assert_eq!(std::mem::take(&mut self.out), bytes(hex));
        }
    }

    const QOS_1: &str = "09 0C 20 0102 0007 '23'";
    const QOS_2: &str = "09 0C 40 0102 0007 '23'";

    #[test]
    fn section_6_10_one_message_is_in_flight() {
        let mut client = Client::new();
        assert_eq!((client.send(QOS_1, 0), client.in_flight.is_free()), (Ok(9), false));
        assert!(client.send(QOS_1, 0).is_err());
        client.sent(QOS_1);
        assert_eq!(client.hear("07 0D 0102 0008 00"), None, "of another message");
        assert_eq!(client.hear("04 0F 0007"), None, "of another QoS");
        assert_eq!(client.hear("07 0D 0102 0007 00"), Some(Answer::Published(ReturnCode::ACCEPTED)));
        assert_eq!((client.hear("07 0D 0102 0007 00"), client.in_flight.is_free()), (None, true));
        client.sent("");
    }

    #[test]
    fn section_6_10_a_refused_publish_is_over() {
        for qos in [QOS_1, QOS_2] {
            let mut client = Client::new();
            client.send(qos, 0).unwrap();
            let answer = client.hear("07 0D 0102 0007 02");
            assert_eq!(answer, Some(Answer::Published(ReturnCode::INVALID_TOPIC_ID)));
            assert!(client.in_flight.is_free());
        }
        let mut client = Client::new();
        client.send(QOS_2, 0).unwrap();
        assert_eq!(client.hear("07 0D 0102 0007 00"), None, "PUBACK cannot accept QoS 2");
    }

    #[test]
    fn section_6_10_register_before_publish() {
        let mut client = Client::new();
        client.send("09 0A 0102 0001 'a/b'", 0).unwrap();
        assert_eq!(client.tick(10), Overdue::Resent);
        client.sent("09 0A 0102 0001 'a/b' 09 0A 0102 0001 'a/b'");
        let answer = Answer::Registered(TopicId::new(0x0102), ReturnCode::ACCEPTED);
        assert_eq!(client.hear("07 0B 0102 0001 00"), Some(answer));
    }

    /// Is a client that refuses what it knows already taken to know it, and one that refuses the first REGISTER at its word?
    #[test]
    fn section_6_10_a_refusal_of_a_repeated_register_is_none() {
        let mut client = Client::new();
        let refused = Answer::Registered(TopicId::new(0x0102), ReturnCode::INVALID_TOPIC_ID);
        let accepted = Answer::Registered(TopicId::new(0x0102), ReturnCode::ACCEPTED);
        client.send("09 0A 0102 0001 'a/b'", 0).unwrap();
        assert_eq!(client.hear("07 0B 0102 0001 02"), Some(refused));
        client.send("09 0A 0102 0001 'a/b'", 0).unwrap();
        assert_eq!(client.tick(10), Overdue::Resent);
        assert_eq!(client.hear("07 0B 0102 0001 02"), Some(accepted));
        client.send("09 0A 0102 0001 'a/b'", 0).unwrap();
        assert_eq!(client.tick(10), Overdue::Resent);
        let unwanted = Answer::Registered(TopicId::new(0x0102), ReturnCode::NOT_SUPPORTED);
        assert_eq!(client.hear("07 0B 0102 0001 03"), Some(unwanted));
    }

    #[test]
    fn section_6_13_what_is_not_answered_is_sent_again_with_dup() {
        let mut client = Client::new();
        client.send(QOS_1, 0).unwrap();
        assert_eq!((client.in_flight.next_wake_ms(), client.tick(9)), (Some(10), Overdue::Nothing));
        client.sent(QOS_1);
        for now_ms in [10, 20] {
            assert_eq!(client.tick(now_ms), Overdue::Resent);
            client.sent("09 0C A0 0102 0007 '23'");
        }
        assert_eq!((client.tick(29), client.tick(30)), (Overdue::Nothing, Overdue::Lost));
        assert_eq!((client.in_flight.is_free(), client.in_flight.next_wake_ms()), (true, None));
        assert_eq!(client.tick(40), Overdue::Nothing);
        client.sent("");
    }

    #[test]
    fn section_6_13_dup_is_set_behind_a_long_header_too() {
        let mut client = Client::new();
        let payload = "61".repeat(300);
        client.send(&format!("01 0135 0C 20 0102 0007 {payload}"), 0).unwrap();
        client.out.clear();
        assert_eq!(client.tick(10), Overdue::Resent);
        client.sent(&format!("01 0135 0C A0 0102 0007 {payload}"));
    }

    #[test]
    fn section_6_10_qos_2_goes_in_two_steps() {
        let mut client = Client::new();
        client.send(QOS_2, 0).unwrap();
        assert_eq!(client.tick(10), Overdue::Resent);
        assert_eq!(client.hear("04 0F 0007"), Some(Answer::Received));
        client.sent("09 0C 40 0102 0007 '23' 09 0C C0 0102 0007 '23'");
        assert_eq!(client.hear("04 0F 0007"), None, "what was received is not kept yet");
        client.send("04 10 0007", 15).unwrap();
        client.sent("04 10 0007");
        assert_eq!(
            (client.hear("04 0F 0007"), client.tick(24), client.tick(25)),
            (None, Overdue::Nothing, Overdue::Resent)
        );
        client.sent("04 10 0007 04 10 0007");
        assert_eq!(client.hear("04 0E 0007"), Some(Answer::Completed));
        assert!(client.in_flight.is_free());
    }

    #[test]
    fn section_6_13_nothing_waits_for_what_is_not_answered() {
        let mut client = Client::new();
        for hex in ["09 0C 00 0102 0000 '23'", "02 17", "04 0F 0007"] {
            assert!(client.send(hex, 0).is_err());
        }
        client.sent("");
        client.settings.limits.datagram_bytes_max = 8;
        assert_eq!(client.send(QOS_1, 0), Err(EncodeError::TooLarge { len: 9, max: 8 }));
        assert!(client.in_flight.is_free());
    }

    #[test]
    fn section_5_3_7_ids_go_round() {
        let mut in_flight = InFlight::default();
        assert_eq!((in_flight.next_id().get(), in_flight.next_id().get()), (1, 2));
        in_flight.last_id = Some(MsgId::MAX);
        assert_eq!(in_flight.next_id(), MsgId::MIN);
    }
}
