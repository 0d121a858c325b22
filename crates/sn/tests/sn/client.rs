//! A client and what its gateway makes of it, message by message.

use lapwing_sn::peer::{Delivery, Event, Phase, Tick, Topic, WillChange};
use lapwing_sn::{MsgId, PublishQoS, QoS, ReturnCode};

use crate::gateway::Gateway;

fn connect(clean_session: bool, will: WillChange) -> Event<'static> {
    Event::Connect { client_id: "abc".into(), clean_session, will }
}

#[test]
fn section_6_2_connect_with_a_will() {
    let mut gateway = Gateway::new();
    gateway.expect("09 04 0C 01 003C 'abc'", Event::Nothing, "02 06");
    gateway.expect("04 07 30 'w'", Event::Nothing, "02 08");
    let will = WillChange::Set { topic: "w".to_owned(), payload: b"bye".to_vec(), qos: QoS::AtLeastOnce, retain: true };
    gateway.expect("05 09 'bye'", connect(true, will), "");
    assert_eq!(gateway.client.phase(), Phase::Disconnected, "nobody said yes yet");
    gateway.expect("09 04 0C 01 003C 'abc'", Event::Nothing, "");
    let opened = gateway.act(|client, cx| client.opened(ReturnCode::ACCEPTED, cx));
    assert_eq!((opened, gateway.client.phase(), gateway.client.id()), (Ok(true), Phase::Active, "abc"));
    gateway.sent("03 05 00");
    gateway.expect("05 09 'bye'", Event::OutOfState, "");
    assert_eq!(gateway.act(|client, cx| client.opened(ReturnCode::ACCEPTED, cx)), Ok(false));
}

#[test]
fn section_6_2_a_set_up_that_nobody_goes_on_with_is_forgotten() {
    let mut gateway = Gateway::new();
    gateway.expect("09 04 0C 01 003C 'abc'", Event::Nothing, "02 06");
    assert_eq!((gateway.client.next_wake_ms(), gateway.tick(29)), (Some(30), Tick::Nothing));
    assert_eq!((gateway.tick(30), gateway.client.next_wake_ms()), (Tick::SetupOver, None));
    gateway.expect("04 07 30 'w'", Event::OutOfState, "");
}

#[test]
fn section_6_2_a_refused_connect_leaves_nobody() {
    let mut gateway = Gateway::new();
    gateway.expect("09 04 00 01 003C 'abc'", connect(false, WillChange::Keep), "");
    let refused = gateway.act(|client, cx| client.opened(ReturnCode::CONGESTION, cx));
    assert_eq!((refused, gateway.client.phase(), gateway.client.id()), (Ok(true), Phase::Disconnected, ""));
    gateway.sent("03 05 01");
    gateway.expect("02 16", Event::Unknown, "02 18");
    gateway.expect("07 0B 0001 0001 00", Event::OutOfState, "");
}

/// Is whose id somebody else says still who it was, until that one is let in?
#[test]
fn section_6_2_nobody_has_an_id_before_it_is_accepted() {
    let mut gateway = Gateway::connected();
    gateway.hear("09 04 04 01 003C 'xyz'", |event| assert!(matches!(event, Event::Connect { .. })));
    assert_eq!((gateway.client.id(), gateway.client.phase()), ("abc", Phase::Active));
    let refused = gateway.act(|client, cx| client.opened(ReturnCode::NOT_SUPPORTED, cx));
    assert_eq!((refused, gateway.client.id(), gateway.client.phase()), (Ok(true), "abc", Phase::Active));
}

#[test]
fn section_6_4_the_will_is_updated() {
    let mut gateway = Gateway::connected();
    gateway.hear("04 1A 00 'w'", |event| assert!(matches!(event, Event::WillTopic(Some(_)))));
    gateway.act(|client, cx| client.will_topic_stored(ReturnCode::ACCEPTED, cx)).unwrap();
    gateway.sent("03 1B 00");
    gateway.expect("02 1A", Event::WillTopic(None), "");
    gateway.expect("05 1C 'bye'", Event::WillMessage(b"bye"), "");
    gateway.expect("06 1C 'bye!'", Event::Refused, "03 1D 03");
}

#[test]
fn section_6_5_register_and_publish() {
    let mut gateway = Gateway::connected();
    gateway.expect("09 0A 0000 0001 'a/b'", Event::Nothing, "07 0B 0001 0001 00");
    gateway.expect("09 0A 0000 0002 'a/b'", Event::Nothing, "07 0B 0001 0002 00");
    gateway.expect("09 0A 0000 0003 'a/c'", Event::Nothing, "07 0B 0002 0003 00");
    gateway.expect("09 0A 0000 0004 'a/d'", Event::Refused, "07 0B 0000 0004 01");
    let receipt = gateway.hear("09 0C 20 0001 0007 '23'", |event| match event {
        Event::Publish { topic: Topic::Name("a/b"), payload: b"23", receipt, .. } => receipt.expect("QoS 1"),
        other => panic!("{other:?}"),
    });
    gateway.expect("09 0C A0 0001 0007 '23'", Event::Nothing, "");
    gateway.act(|client, cx| client.published(receipt, ReturnCode::ACCEPTED, cx)).unwrap();
    gateway.sent("07 0D 0001 0007 00");
    gateway.expect("09 0C A0 0001 0007 '23'", Event::Nothing, "07 0D 0001 0007 00");
}

#[test]
fn section_6_6_publish_of_an_id_that_there_is_not() {
    let mut gateway = Gateway::connected();
    gateway.expect("09 0C 20 0001 0007 '23'", Event::Refused, "07 0D 0001 0007 02");
    gateway.expect("09 0C 00 0001 0000 '23'", Event::Refused, "07 0D 0001 0000 02");
    gateway.expect("09 0C 21 0009 0007 '23'", Event::Refused, "07 0D 0009 0007 02");
}

#[test]
fn section_6_6_publish_of_qos_2() {
    let mut gateway = Gateway::connected();
    let receipt = gateway.hear("09 0C 42 'ab' 0007 '23'", |event| match event {
        Event::Publish { topic, receipt, .. } if topic.as_str() == "ab" => receipt.expect("QoS 2"),
        other => panic!("{other:?}"),
    });
    gateway.act(|client, cx| client.published(receipt, ReturnCode::ACCEPTED, cx)).unwrap();
    gateway.sent("04 0F 0007");
    gateway.expect("09 0C C2 'ab' 0007 '23'", Event::Nothing, "04 0F 0007");
    gateway.expect("04 10 0007", Event::Release(MsgId::new(7).unwrap()), "");
    gateway.act(|client, cx| client.completed(MsgId::new(7).unwrap(), cx)).unwrap();
    gateway.sent("04 0E 0007");
    gateway.expect("04 10 0007", Event::Release(MsgId::new(7).unwrap()), "");
}

#[test]
fn section_6_7_predefined_ids_are_those_of_the_client() {
    let mut gateway = Gateway::connected();
    for (id, name) in [("0001", "all"), ("0002", "own")] {
        gateway.hear(&format!("07 0C 01 {id} 0000"), |event| match event {
            Event::Publish { topic: Topic::Name(topic), receipt: None, .. } => assert_eq!(topic, name),
            other => panic!("{other:?}"),
        });
    }
}

#[test]
fn section_6_8_qos_minus_1_needs_no_connection() {
    let mut gateway = Gateway::new();
    gateway.hear("07 0C 61 0001 0000", |event| match event {
        Event::Publish { topic: Topic::Name("all"), qos: PublishQoS::MinusOne, receipt: None, .. } => {}
        other => panic!("{other:?}"),
    });
    gateway.expect("07 0C 61 0002 0000", Event::Refused, "");
    gateway.expect("07 0C 01 0001 0000", Event::Unknown, "02 18");
}

#[test]
fn section_6_9_subscribe_and_unsubscribe() {
    let mut gateway = Gateway::connected();
    for (hex, filter, answer) in [
        ("08 12 20 0007 'a/b'", "a/b", "08 13 20 0001 0007 00"),
        ("08 12 20 0008 'a/+'", "a/+", "08 13 20 0000 0008 00"),
        ("07 12 21 0009 0001", "all", "08 13 20 0001 0009 00"),
        ("07 12 22 000A 'ab'", "ab", "08 13 20 0000 000A 00"),
    ] {
        let request = gateway.hear(hex, |event| match event {
            Event::Subscribe { filter: seen, qos: QoS::AtLeastOnce, request } if seen.as_str() == filter => request,
            other => panic!("{other:?}"),
        });
        let granted = Ok(QoS::AtLeastOnce);
        gateway.act(|client, cx| client.subscribed(request, granted, cx)).unwrap();
        gateway.sent(answer);
    }
    gateway.expect("07 12 A2 000A 'ab'", Event::Nothing, "08 13 20 0000 000A 00");
    gateway.expect("07 12 21 000B 0009", Event::Refused, "08 13 00 0000 000B 02");
    gateway.hear("08 14 00 000C 'a/+'", |event| assert!(matches!(event, Event::Unsubscribe { .. })));
    gateway.act(|client, cx| client.unsubscribed(MsgId::new(12).unwrap(), cx)).unwrap();
    gateway.sent("04 15 000C");
    gateway.expect("07 14 01 000D 0009", Event::Nothing, "04 15 000D");
}

/// Does SUBSCRIBE by a predefined id say nothing of the registered topic of that number, which the client does not know yet?
#[test]
fn section_6_9_a_predefined_id_is_no_registered_one() {
    let mut gateway = Gateway::connected();
    assert_eq!(gateway.deliver("a/b", QoS::AtMostOnce, 0), Delivery::Registering);
    gateway.sent("09 0A 0001 0001 'a/b'");
    let request = gateway.hear("07 12 01 0007 0001", |event| match event {
        Event::Subscribe { filter: Topic::Name("all"), request, .. } => request,
        other => panic!("{other:?}"),
    });
    gateway.act(|client, cx| client.subscribed(request, Ok(QoS::AtMostOnce), cx)).unwrap();
    gateway.sent("08 13 00 0001 0007 00");
    assert_eq!(gateway.deliver("a/b", QoS::AtMostOnce, 0), Delivery::Wait, "its REGISTER is not answered");
    gateway.expect("07 0D 0001 0000 02", Event::Nothing, "");
    let request = gateway.hear("07 12 01 0008 0001", |event| match event {
        Event::Subscribe { request, .. } => request,
        other => panic!("{other:?}"),
    });
    gateway.act(|client, cx| client.subscribed(request, Ok(QoS::AtMostOnce), cx)).unwrap();
    gateway.sent("08 13 00 0001 0008 00");
    assert_eq!(gateway.deliver("all", QoS::AtMostOnce, 0), Delivery::Sent, "who subscribes to it knows it");
    gateway.sent("09 0C 01 0001 0000 '23'");
}

/// Is a SUBSCRIBE that comes again behind UNSUBSCRIBE a new one?
#[test]
fn section_6_13_a_subscribe_behind_unsubscribe_is_new() {
    let mut gateway = Gateway::connected();
    let request = gateway.hear("06 12 00 0007 'a'", |event| match event {
        Event::Subscribe { request, .. } => request,
        other => panic!("{other:?}"),
    });
    gateway.act(|client, cx| client.subscribed(request, Ok(QoS::AtMostOnce), cx)).unwrap();
    gateway.sent("08 13 00 0001 0007 00");
    gateway.expect("06 12 80 0007 'a'", Event::Nothing, "08 13 00 0001 0007 00");
    gateway.hear("06 14 00 0007 'a'", |event| assert!(matches!(event, Event::Unsubscribe { .. })));
    gateway.hear("06 12 80 0007 'a'", |event| assert!(matches!(event, Event::Subscribe { .. })));
}

#[test]
fn section_6_13_who_does_not_answer_is_lost() {
    let mut gateway = Gateway::connected();
    gateway.deliver("own", QoS::AtLeastOnce, 7);
    gateway.sent("09 0C 21 0002 0007 '23'");
    for now_ms in [10, 20] {
        assert_eq!(gateway.tick(now_ms), Tick::Nothing);
        gateway.sent("09 0C A1 0002 0007 '23'");
    }
    assert_eq!((gateway.tick(30), gateway.client.phase()), (Tick::Lost, Phase::Lost));
    assert_eq!(gateway.deliver("own", QoS::AtMostOnce, 0), Delivery::NotConnected);
    gateway.expect("02 16", Event::Unknown, "02 18");
}

#[test]
fn section_6_14_a_sleeping_client_awakes_drains_and_sleeps() {
    let mut gateway = Gateway::connected();
    gateway.expect("02 16", Event::Nothing, "02 17");
    gateway.expect("05 16 'abc'", Event::Nothing, "02 17");
    gateway.expect("04 18 0064", Event::Asleep, "02 18");
    assert_eq!(gateway.deliver("own", QoS::AtMostOnce, 0), Delivery::Wait);
    gateway.expect("05 16 'xyz'", Event::Unknown, "02 18");
    gateway.expect("05 16 'abc'", Event::Awake, "");
    assert_eq!(gateway.deliver("own", QoS::AtMostOnce, 0), Delivery::Sent);
    gateway.now_ms = 5;
    gateway.act(|client, cx| client.drained(cx)).unwrap();
    gateway.sent("09 0C 01 0002 0000 '23' 02 17");
    assert_eq!(gateway.client.phase(), Phase::Asleep);
    assert_eq!((gateway.tick(110_004), gateway.tick(110_005)), (Tick::Nothing, Tick::Lost));
}

#[test]
fn section_6_14_who_has_nothing_waiting_sleeps_at_once() {
    let mut gateway = Gateway::connected();
    gateway.expect("04 18 0064", Event::Asleep, "02 18");
    gateway.expect("05 16 'abc'", Event::Awake, "");
    gateway.act(|client, cx| client.drained(cx)).unwrap();
    gateway.sent("02 17");
    assert_eq!(gateway.client.phase(), Phase::Asleep);
}

#[test]
fn section_6_14_who_does_not_take_what_waits_sleeps_on() {
    let mut gateway = Gateway::connected();
    gateway.expect("04 18 0064", Event::Asleep, "02 18");
    gateway.expect("05 16 'abc'", Event::Awake, "");
    gateway.deliver("own", QoS::AtLeastOnce, 7);
    assert_eq!((gateway.tick(10), gateway.tick(20), gateway.tick(30)), (Tick::Nothing, Tick::Nothing, Tick::Asleep));
    assert_eq!(gateway.client.phase(), Phase::Asleep);
}

#[test]
fn section_6_14_a_sleeping_client_comes_back() {
    let mut gateway = Gateway::connected();
    gateway.expect("04 18 0064", Event::Asleep, "02 18");
    gateway.expect("09 04 00 01 003C 'abc'", Event::Returned, "03 05 00");
    assert_eq!(gateway.client.phase(), Phase::Active);
    gateway.expect("04 18 0064", Event::Asleep, "02 18");
    gateway.expect("09 04 04 01 003C 'abc'", connect(true, WillChange::Delete), "");
}

#[test]
fn section_6_3_ids_outlive_a_connection_and_are_told_again() {
    let mut gateway = Gateway::connected();
    gateway.expect("09 0A 0000 0001 'a/b'", Event::Nothing, "07 0B 0001 0001 00");
    gateway.expect("02 18", Event::Gone, "02 18");
    gateway.connect("09 04 00 01 003C 'abc'");
    assert_eq!(gateway.deliver("a/b", QoS::AtMostOnce, 0), Delivery::Registering);
    gateway.sent("09 0A 0001 0001 'a/b'");
    gateway.hear("07 0C 00 0001 0000", |event| assert!(matches!(event, Event::Publish { .. })));
    gateway.connect("09 04 04 01 003C 'abc'");
    gateway.expect("07 0C 00 0001 0000", Event::Refused, "07 0D 0001 0000 02");
}

/// Does whoever comes from an address under another client id know nothing of what the one before did?
#[test]
fn section_6_5_ids_are_of_one_client() {
    let mut gateway = Gateway::connected();
    gateway.expect("09 0A 0000 0001 'a/b'", Event::Nothing, "07 0B 0001 0001 00");
    gateway.client.forget();
    gateway.connect("09 04 00 01 003C 'xyz'");
    gateway.expect("07 0C 00 0001 0000", Event::Refused, "07 0D 0001 0000 02");
}

/// Does a client that comes from another address mean the same by the ids that it had, and is each told again before a
/// message has it?
#[test]
fn section_6_3_ids_go_with_the_session() {
    let mut old = Gateway::connected();
    old.expect("09 0A 0000 0007 'a/b'", Event::Nothing, "07 0B 0001 0007 00");
    let mut new = Gateway::connected();
    new.client.inherit(old.client.ids());
    assert!(new.client.is_idle());
    let receipt = new.hear("09 0C 20 0001 0007 '23'", |event| match event {
        Event::Publish { topic: Topic::Name("a/b"), dup: false, receipt, .. } => receipt.expect("QoS 1"),
        other => panic!("{other:?}"),
    });
    assert_eq!((receipt.msg_id(), receipt.qos()), (MsgId::new(7).unwrap(), QoS::AtLeastOnce));
}
