//! Who has not answered has nothing: no session that is kept, and nobody's place.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lapwing_codec::ReasonCode;
use lapwing_node::{Handle, HookAnswer, HookCall, HookName};
use lapwing_sn::{Connect, Kind, Message, PingReq, Publish, QoS, ReturnCode, ShortTopic, SubscribeTopic};

use super::{GONE, SN, dropped, listen, set_up_with};
use crate::device::{Device, publish, short, topic_id};
use crate::hook_double::{Barrier, Double};
use crate::{connect, eventually, hook_double, metric, node};

/// Do CONNECTs of made-up addresses leave no session, each with its CONNACK, and does whoever speaks up have one?
#[test]
fn a_kept_session_is_opened_for_who_answers() {
    let node = node(SN);
    let devices: Vec<Device> = (0..20).map(|_| Device::new(&node)).collect();
    for (number, device) in devices.iter().enumerate() {
        device.knock(&format!("kept-{number}"), false);
    }
    assert_eq!((metric(&node, "lapwing_sessions", ""), metric(&node, "lapwing_sn_clients", "")), (0, 20));
    devices[7].expect_silence();
    devices[8].subscribe(SubscribeTopic::Filter("a/b"), QoS::AtLeastOnce);
    eventually("two have one", || metric(&node, "lapwing_sessions", "") == 2);
    assert_eq!(metric(&node, "lapwing_sessions_opened_total", ""), 2);
}

/// Does who has a client id go on, as a device and as a client of MQTT, whoever says a CONNECT with it, until that one answers?
#[test]
fn who_is_there_stays_until_the_newcomer_answers() {
    let node = node(SN);
    let old = Device::new(&node);
    old.come("device", false);
    let mut client = connect(&node, "client");
    let newcomers = [true, false].map(|clean_session| {
        ["device", "client"].map(|id| {
            let newcomer = Device::new(&node);
            newcomer.knock(id, clean_session);
            newcomer
        })
    });
    old.subscribe(SubscribeTopic::Filter("ab"), QoS::AtLeastOnce);
    client.publish_acked("ab", b"1");
    assert_eq!(old.receive_acked().1, b"1");
    client.expect_silence();
    let [[to_device, to_client], _] = &newcomers;
    to_device.expect_silence();
    old.expect(GONE);
    to_client.expect_silence();
    client.expect_end(Some(ReasonCode::SessionTakenOver));
}

/// Is a first word as good as any other: is what it asks for done, in the session, and the next one too?
#[test]
fn a_first_word_counts() {
    let node = node(SN);
    let mut listener = listen(&node, "ab", QoS::AtMostOnce);
    for (number, qos) in [QoS::AtMostOnce, QoS::AtLeastOnce].into_iter().enumerate() {
        let device = Device::new(&node);
        device.knock(&format!("device-{number}"), false);
        for payload in [b"1", b"2"] {
            let message = Publish { topic: short("ab"), ..publish(topic_id(1), qos, 1, payload) };
            device.say(Message::Publish(message));
            if qos == QoS::AtLeastOnce {
                assert_eq!(device.puback(), ReturnCode::ACCEPTED);
            }
            assert_eq!(listener.receive().payload, payload);
        }
    }
    // An end is a word too, of who was not asked: this one takes a session away.
    let device = Device::new(&node);
    eventually("one is left", || {
        let is_over = metric(&node, "lapwing_sessions", "") == 2;
        if !is_over {
            device.knock("device-0", true);
            device.leave();
        }
        is_over
    });
}

/// A CONNECT whose made-up source is another gateway, which answers PINGREQ by DISCONNECT (6.12): is nobody's session taken or wiped by
/// that, and nobody left waiting?
#[test]
fn what_another_gateway_answers_is_no_word() {
    let node = node(SN);
    let device = Device::new(&node);
    device.come("device", false);
    device.subscribe(SubscribeTopic::Short(ShortTopic::new("ab").expect("two bytes")), QoS::AtLeastOnce);
    for clean_session in [true, false] {
        let gateway = Device::new(&node);
        gateway.knock("device", clean_session);
        assert_eq!(gateway.hear(), [2, 0x16], "it is asked");
        gateway.say(GONE);
        gateway.expect(GONE);
        eventually("it is forgotten", || metric(&node, "lapwing_sn_clients", "") == 1);
    }
    connect(&node, "publisher").publish_acked("ab", b"1");
    assert_eq!(device.receive_acked().1, b"1");
    assert_eq!((metric(&node, "lapwing_sessions_opened_total", ""), dropped(&node, "unanswered")), (2, 2));
}

/// Does what came before CONNACK show nothing, whoever writes it behind a CONNECT; and is `on_connect` asked once, and not again when the
/// client has answered?
#[test]
fn what_came_before_connack_shows_nothing() {
    let (barrier, calls) = (Barrier::default(), Arc::new(AtomicUsize::new(0)));
    let (held, counted) = (barrier.clone(), calls.clone());
    let answer = move |call: &HookCall| {
        assert!(matches!(call, HookCall::Connect(_)));
        counted.fetch_add(1, Ordering::SeqCst);
        held.pass();
        HookAnswer::Pass
    };
    let node = hook_double::node(SN, Double::new(&[HookName::Connect], answer));
    let device = Device::new(&node);
    device.say(Message::Connect(Connect { will: false, clean_session: false, duration_s: 600, client_id: "device" }));
    barrier.somebody_waits();
    device.say(Message::Publish(Publish { topic: short("ab"), ..publish(topic_id(1), QoS::AtLeastOnce, 1, b"x") }));
    device.expect(GONE);
    barrier.open();
    device.expect(Message::ConnAck(ReturnCode::ACCEPTED));
    assert_eq!(metric(&node, "lapwing_sessions", ""), 0);
    device.expect_silence();
    assert_eq!(metric(&node, "lapwing_sessions", ""), 1);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// A configuration by which a connection waits for its CONNECT for a tenth of a second.
fn impatient() -> String {
    SN.replace("\"listeners\"", "\"limits\": {\"connect_timeout_ms\": 100}, \"listeners\"")
}

/// CONNECT to its CONNACK, until the broker was no slower than that; then nobody waits for the device's word any more.
fn be_judged(node: &Handle, device: &Device) {
    eventually("it is judged in time", || {
        let connect = Connect { will: false, clean_session: false, duration_s: 600, client_id: "device" };
        device.say(Message::Connect(connect));
        device.take(Kind::ConnAck, |answer| *answer == Message::ConnAck(ReturnCode::ACCEPTED))
    });
    eventually("nobody waits for it", || metric(node, "lapwing_connections", "") == 0);
}

/// Is a client that has nothing to say for longer than a connection waits for its CONNECT let in when it has?
#[test]
fn a_late_first_word_counts() {
    let node = node(&impatient());
    let device = Device::new(&node);
    be_judged(&node, &device);
    assert_eq!(metric(&node, "lapwing_sessions", ""), 0);
    eventually("the broker is fast enough", || {
        device.say(Message::PingReq(PingReq { client_id: None }));
        let is_in = device.take_any_of(&[Kind::PingResp, Kind::Disconnect]) == Kind::PingResp;
        if !is_in {
            be_judged(&node, &device);
        }
        is_in
    });
    assert_eq!(metric(&node, "lapwing_sessions", ""), 1);
}

/// Is a client that was let in, and may not come any more when it has answered, told so?
#[test]
fn who_may_not_come_any_more_is_told() {
    let is_closed = Arc::new(AtomicBool::new(false));
    let closed = is_closed.clone();
    let answer = move |_: &HookCall| match closed.load(Ordering::SeqCst) {
        true => HookAnswer::Refuse { reason: ReasonCode::NotAuthorized, text: None },
        false => HookAnswer::Pass,
    };
    let node = hook_double::node(&impatient(), Double::new(&[HookName::Connect], answer));
    let device = Device::new(&node);
    be_judged(&node, &device);
    is_closed.store(true, Ordering::SeqCst);
    device.say(Message::PingResp);
    device.expect(GONE);
    eventually("it is forgotten", || metric(&node, "lapwing_sn_clients", "") == 0);
    assert_eq!(metric(&node, "lapwing_sessions", ""), 0);
}

/// Is who comes again at its address, and only listens, asked as a newcomer is, and has then what waits for it?
#[test]
fn who_comes_again_and_says_nothing_is_asked() {
    let node = node(SN);
    let device = Device::new(&node);
    device.come("device", false);
    device.subscribe(SubscribeTopic::Short(ShortTopic::new("ab").expect("two bytes")), QoS::AtLeastOnce);
    device.knock("device", false);
    connect(&node, "publisher").publish_acked("ab", b"1");
    assert_eq!([device.hear(), device.hear()], [[2, 0x16]; 2], "CONNACK and this are shorter than CONNECT");
    device.say(Message::PingResp);
    assert_eq!(device.receive_acked().1, b"1");
    // A sleeper that wants another will begins anew too.
    set_up_with(&device, Connect { will: true, clean_session: false, duration_s: 600, client_id: "device" }, "w/t");
    device.expect_silence();
    device.sleep(60);
    connect(&node, "publisher").publish_acked("ab", b"2");
    set_up_with(&device, Connect { will: true, clean_session: false, duration_s: 600, client_id: "device" }, "w/t");
    assert_eq!(device.receive_acked().1, b"2");
}

/// Does a PUBREL that was under way when its device came again go to it with its first word, and what waits behind it?
#[test]
fn a_release_waits_for_a_word() {
    let node = node(SN);
    let device = Device::new(&node);
    device.come("device", false);
    device.subscribe(SubscribeTopic::Short(ShortTopic::new("ab").expect("two bytes")), QoS::ExactlyOnce);
    let mut publisher = connect(&node, "publisher");
    publisher.publish("ab", b"1", QoS::ExactlyOnce, Some(1));
    let received = device.receive().2.expect("QoS 2");
    device.say(Message::PubRec(received));
    device.expect(Message::PubRel(received));
    device.knock("device", false);
    // By then all that its session has is there, and nothing else is due that could send it.
    assert_eq!([device.hear(), device.hear()], [[2, 0x16]; 2]);
    device.say(Message::PingReq(PingReq { client_id: None }));
    let kinds = [(); 2].map(|()| device.take_any_of(&[Kind::PingResp, Kind::PubRel]));
    assert!(kinds.contains(&Kind::PubRel) && kinds.contains(&Kind::PingResp), "{kinds:?}");
    device.say(Message::PubComp(received));
    device.expect_silence();
}

/// Is a CONNECT that nothing has come after counted, when its place goes to another?
#[test]
fn who_never_answers_is_counted() {
    let node = node(&SN.replace("\"sn://127.0.0.1:0\",", "\"sn://127.0.0.1:0\", \"connections_max\": 2,"));
    let _devices = ["a", "b", "c"].map(|id| {
        let device = Device::new(&node);
        device.knock(id, false);
        device
    });
    assert_eq!(dropped(&node, "unanswered"), 1);
    assert_eq!(metric(&node, "lapwing_sessions", ""), 0);
}
