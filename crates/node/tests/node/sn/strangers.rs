//! Datagrams with a made-up source: does one that names another gateway, or the gateway itself, begin nothing that goes on?

use lapwing_sn::{
    Connect, Disconnect, Kind, Message, PingReq, Publish, QoS, Register, SearchGw, Subscribe, SubscribeTopic, WillMsg,
};

use super::{GONE, SN};
use crate::device::{Device, msg_id, publish, short, topic_id};
use crate::node;

const PING: Message<'static> = Message::PingReq(PingReq { client_id: None });

/// What a stranger is answered, with the kind of that.
fn answered() -> [(Message<'static>, Kind); 13] {
    let (topic, msg_id) = (SubscribeTopic::Filter("a"), msg_id(7));
    let connect = Connect { will: false, clean_session: true, duration_s: 60, client_id: "somebody" };
    let message = Publish { topic: short("ab"), ..publish(topic_id(1), QoS::AtMostOnce, 0, b"") };
    [
        (PING, Kind::Disconnect),
        (Message::PingReq(PingReq { client_id: Some("somebody") }), Kind::Disconnect),
        (Message::Publish(message), Kind::Disconnect),
        (Message::PubRel(msg_id), Kind::Disconnect),
        (Message::Register(Register { topic_id: None, msg_id, topic: "a" }), Kind::Disconnect),
        (Message::Subscribe(Subscribe { dup: false, qos: QoS::AtMostOnce, msg_id, topic }), Kind::Disconnect),
        (Message::Unsubscribe(lapwing_sn::Unsubscribe { msg_id, topic }), Kind::Disconnect),
        (Message::WillTopicUpd(None), Kind::Disconnect),
        (Message::WillMsgUpd(WillMsg { payload: b"" }), Kind::Disconnect),
        (Message::Disconnect(Disconnect { duration_s: Some(60) }), Kind::Disconnect),
        (Message::SearchGw(SearchGw { radius: 0 }), Kind::GwInfo),
        (Message::Connect(connect), Kind::ConnAck),
        (Message::Connect(Connect { will: true, ..connect }), Kind::WillTopicReq),
    ]
}

/// 5.4.21: is what a listener answers a stranger with not answered when a stranger says it, as another listener would?
#[test]
fn no_answer_is_answered() {
    let node = node(SN);
    for (message, kind) in answered() {
        let device = Device::new(&node);
        device.say(message);
        let answer = device.hear();
        let heard = lapwing_sn::decode(&answer, &lapwing_sn::Limits::PROTOCOL).expect("MQTT-SN").message;
        assert_eq!(heard.kind(), kind, "{message:?}");
        let other = Device::new(&node);
        other.say_bytes(&answer);
        // This is the first that it hears, and the last.
        other.say(PING);
        other.expect(GONE);
        other.say(Message::SearchGw(SearchGw { radius: 0 }));
        other.take(Kind::GwInfo, |_| ());
    }
}

/// 6.12: is who has not heard the answer to its DISCONNECT answered again, as often as it may say that again, also behind a forwarder;
/// and is the next one not, nor one from another address, so that no two gateways can go on for ever?
#[test]
fn a_goodbye_is_answered_again() {
    let node = node(&SN.replace("\"retry_ms\": 200, \"retries_max\": 20", "\"retry_ms\": 60000, \"retries_max\": 2"));
    let (device, other) = (Device::new(&node), Device::new(&node));
    let expect_no_answer = |device: &Device| {
        device.say(GONE);
        device.say(Message::SearchGw(SearchGw { radius: 0 }));
        device.take(Kind::GwInfo, |_| ());
    };
    for clean_session in [true, false] {
        device.come("device", clean_session);
        (0..3).for_each(|_| device.leave());
        expect_no_answer(&other);
        expect_no_answer(&device);
    }
    let from_behind = |message: &[u8]| device.say_bytes(&[&[4, 0xFE, 0, b'n'], message].concat());
    from_behind(&[7, 4, 4, 1, 0, 60, b'x']);
    assert_eq!(device.hear(), [4, 0xFE, 0, b'n', 3, 5, 0]);
    for _ in 0..3 {
        from_behind(&[2, 0x18]);
        assert_eq!(device.hear(), [4, 0xFE, 0, b'n', 2, 0x18]);
    }
    expect_no_answer(&device);
}
