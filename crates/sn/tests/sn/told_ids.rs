//! The ids by which a client is told the topics of what it hears: which it knows, which it is told, which it refuses.

use lapwing_sn::peer::{Answer, Delivery, Event};
use lapwing_sn::{QoS, ReturnCode, TopicId};

use crate::gateway::Gateway;

#[test]
fn section_6_10_delivery_registers_first() {
    let mut gateway = Gateway::connected();
    assert_eq!(gateway.deliver("a/b", QoS::AtLeastOnce, 7), Delivery::Registering);
    gateway.sent("09 0A 0001 0001 'a/b'");
    assert_eq!(gateway.deliver("a/b", QoS::AtLeastOnce, 7), Delivery::Wait);
    assert_eq!(gateway.deliver("ab", QoS::AtMostOnce, 0), Delivery::Sent);
    gateway.sent("09 0C 02 'ab' 0000 '23'");
    let registered = Event::Answered(Answer::Registered(TopicId::new(1), ReturnCode::ACCEPTED));
    gateway.expect("07 0B 0001 0001 00", registered, "");
    assert_eq!(gateway.deliver("a/b", QoS::AtLeastOnce, 7), Delivery::Sent);
    assert_eq!(gateway.deliver("own", QoS::AtLeastOnce, 8), Delivery::Wait);
    gateway.sent("09 0C 20 0001 0007 '23'");
    let published = Event::Answered(Answer::Published(ReturnCode::INVALID_TOPIC_ID));
    gateway.expect("07 0D 0001 0007 02", published, "");
    assert_eq!(gateway.deliver("a/b", QoS::AtLeastOnce, 7), Delivery::Registering, "the client has forgotten it");
}

/// A client goes to sleep with a REGACK on its way, and refuses to be told again what it knows: is it sent the message, and
/// believed once it says that it does not know the id?
#[test]
fn section_6_14_an_id_that_was_told_before_sleep_is_known_behind_it() {
    let mut gateway = Gateway::connected();
    assert_eq!(gateway.deliver("a/b", QoS::AtLeastOnce, 7), Delivery::Registering);
    gateway.sent("09 0A 0001 0001 'a/b'");
    gateway.expect("04 18 0064", Event::Asleep, "02 18");
    gateway.expect("07 0B 0001 0001 00", Event::Nothing, "");
    gateway.expect("05 16 'abc'", Event::Awake, "");
    assert_eq!(gateway.deliver("a/b", QoS::AtLeastOnce, 7), Delivery::Registering);
    gateway.sent("09 0A 0001 0002 'a/b'");
    let registered = Event::Answered(Answer::Registered(TopicId::new(1), ReturnCode::ACCEPTED));
    gateway.expect("07 0B 0001 0002 02", registered, "");
    assert_eq!(gateway.deliver("a/b", QoS::AtLeastOnce, 7), Delivery::Sent);
    gateway.sent("09 0C 20 0001 0007 '23'");
    let unknown = Event::Answered(Answer::Published(ReturnCode::INVALID_TOPIC_ID));
    gateway.expect("07 0D 0001 0007 02", unknown, "");
    for msg_id in [3, 4] {
        assert_eq!(gateway.deliver("a/b", QoS::AtLeastOnce, 7), Delivery::Registering);
        gateway.sent(&format!("09 0A 0001 000{msg_id} 'a/b'"));
        let refused = Event::Answered(Answer::Registered(TopicId::new(1), ReturnCode::INVALID_TOPIC_ID));
        gateway.expect(&format!("07 0B 0001 000{msg_id} 02"), refused, "");
    }
}

#[test]
fn section_6_10_topics_of_a_client_are_bounded() {
    let mut gateway = Gateway::connected();
    gateway.expect("09 0A 0000 0001 'a/b'", Event::Nothing, "07 0B 0001 0001 00");
    gateway.expect("09 0A 0000 0001 'a/c'", Event::Nothing, "07 0B 0002 0001 00");
    assert_eq!(gateway.deliver("a/d", QoS::AtMostOnce, 0), Delivery::TopicsFull);
    assert_eq!(gateway.deliver("own", QoS::AtMostOnce, 0), Delivery::Sent);
    gateway.sent("09 0C 01 0002 0000 '23'");
}

/// Does a client that has no table of predefined ids get its messages, and one that has it no REGISTER?
#[test]
fn section_6_7_who_does_not_know_a_predefined_id_is_told_another() {
    let mut gateway = Gateway::connected();
    assert_eq!(gateway.deliver("all", QoS::AtLeastOnce, 7), Delivery::Sent);
    gateway.sent("09 0C 21 0001 0007 '23'");
    let unknown = Event::Answered(Answer::Published(ReturnCode::INVALID_TOPIC_ID));
    gateway.expect("07 0D 0001 0007 02", unknown, "");
    assert_eq!(gateway.deliver("all", QoS::AtLeastOnce, 7), Delivery::Registering);
    gateway.sent("09 0A 0001 0001 'all'");
    let registered = Event::Answered(Answer::Registered(TopicId::new(1), ReturnCode::ACCEPTED));
    gateway.expect("07 0B 0001 0001 00", registered, "");
    assert_eq!(gateway.deliver("all", QoS::AtLeastOnce, 7), Delivery::Sent);
    gateway.sent("09 0C 20 0001 0007 '23'");
    // When this is no late copy of its CONNECT any more.
    gateway.now_ms = gateway.settings.linger_ms;
    gateway.connect("09 04 04 01 003C 'abc'");
    assert_eq!(gateway.deliver("all", QoS::AtMostOnce, 0), Delivery::Sent);
    gateway.sent("09 0C 01 0001 0000 '23'");
}
