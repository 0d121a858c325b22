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

/// Is the place of what was in flight there for the next message, and given back when time passes without any?
#[test]
fn an_idle_client_has_no_place() {
    let mut client = Client::new();
    assert!(client.in_flight.place.is_none());
    client.send(QOS_1, 0).unwrap();
    assert!(client.hear("07 0D 0102 0007 00").is_some() && client.in_flight.place.is_some());
    assert_eq!((client.tick(1), client.in_flight.place.is_none()), (Overdue::Nothing, true));
}

#[test]
fn section_5_3_7_ids_go_round() {
    let mut in_flight = InFlight::default();
    assert_eq!((in_flight.next_id().get(), in_flight.next_id().get()), (1, 2));
    in_flight.last_id = Some(MsgId::MAX);
    assert_eq!(in_flight.next_id(), MsgId::MIN);
}
