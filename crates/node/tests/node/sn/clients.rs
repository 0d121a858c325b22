//! A device as a client: its id, its rights.

use lapwing_codec::ReasonCode;
use lapwing_sn::{Connect, Disconnect, Limits, Message, Publish, PublishQoS, QoS, ReturnCode, SubscribeTopic, decode};

use super::{GONE, SN, listen};
use crate::client::Client;
use crate::device::{Device, publish, short, topic_id};
use crate::{connect, eventually, metric, node, packets};

/// Do rules hold for a device by its client id: what it may not publish is refused by code, and what it may not hear of too?
#[test]
fn rules_hold_for_devices() {
    let rules = r#""rules": [{"identity": "anonymous", "may": ["publish"], "topics": ["up/%c/#"]},
        {"identity": "anonymous", "may": ["subscribe"], "topics": ["up/#"]}], "listeners""#;
    let node = node(&SN.replace("\"listeners\"", rules));
    let mut listener = listen(&node, "up/#", QoS::AtMostOnce);
    let device = Device::connect(&node, "device");
    let (up, other) = (device.register("up/device/1"), device.register("up/other"));
    device.say(Message::Publish(publish(other, QoS::AtLeastOnce, 1, b"no")));
    assert_eq!(device.puback(), ReturnCode::NOT_SUPPORTED);
    device.say(Message::Publish(publish(other, QoS::ExactlyOnce, 2, b"no")));
    assert_eq!(device.puback(), ReturnCode::NOT_SUPPORTED);
    device.say(Message::Publish(publish(up, QoS::AtLeastOnce, 3, b"yes")));
    assert_eq!(device.puback(), ReturnCode::ACCEPTED);
    assert_eq!(listener.receive().payload, b"yes");
    assert_eq!(device.subscribe(SubscribeTopic::Filter("down/#"), QoS::AtLeastOnce).code, ReturnCode::NOT_SUPPORTED);
}

/// Is a client of MQTT and a device under one id one client: who comes last has the session?
#[test]
fn a_client_id_is_one_client() {
    let node = node(SN);
    let device = Device::connect(&node, "both");
    let mut client = connect(&node, "both");
    device.expect(GONE);
    let again = Device::connect(&node, "both");
    again.expect_silence();
    client.expect_end(Some(ReasonCode::SessionTakenOver));
}

/// Is the client that speaks for those without a connection nobody else, neither a client of MQTT nor a device?
#[test]
fn nobody_comes_as_nobody() {
    let node = node(SN);
    let (mut listener, device) = (listen(&node, "ab", QoS::AtMostOnce), Device::new(&node));
    let say = || {
        let (qos, topic) = (PublishQoS::MinusOne, short("ab"));
        device.say(Message::Publish(Publish { dup: false, qos, retain: false, topic, msg_id: None, payload: b"x" }));
    };
    say();
    assert_eq!(listener.receive().payload, b"x");
    // The listener of MQTT is the first.
    let theirs = packets::connect("sn-nobody-1");
    assert_eq!(Client::try_connect(&node, &theirs), ReasonCode::ClientIdentifierNotValid);
    let liar = Device::new(&node);
    let client_id = theirs.client_id;
    liar.say(Message::Connect(Connect { will: false, clean_session: true, duration_s: 60, client_id }));
    liar.expect(Message::ConnAck(ReturnCode::NOT_SUPPORTED));
    say();
    assert_eq!(listener.receive().payload, b"x");
    drop(connect(&node, "sn-nobody-0"));
}

/// A CONNECT that differs from the one before, which is not answered yet: is the one it names there, alone?
#[test]
fn of_two_connects_at_once_the_last_one_counts() {
    let rules = r#""rules": [{"identity": "anonymous", "may": ["publish"], "topics": ["%c"]}], "listeners""#;
    let node = node(&SN.replace("\"listeners\"", rules));
    for n in 0..10 {
        let (device, ids) = (Device::new(&node), [format!("a{n}"), format!("b{n}")]);
        for id in &ids {
            device.say(Message::Connect(Connect { will: false, clean_session: true, duration_s: 600, client_id: id }));
        }
        let own = Publish { topic: short(&ids[1]), ..publish(topic_id(1), QoS::AtLeastOnce, 7, b"") };
        eventually("who came last may publish under its own id", || {
            device.say(Message::Publish(own));
            let is_answer = |bytes: &[u8]| matches!(heard(bytes), Message::PubAck(_) | Message::Disconnect(_));
            let answer = std::iter::repeat_with(|| device.hear()).find(|bytes| is_answer(bytes)).expect("endless");
            matches!(heard(&answer), Message::PubAck(ack) if ack.code == ReturnCode::ACCEPTED)
        });
        device.say(Message::Disconnect(Disconnect { duration_s: None }));
    }
    eventually("no session is left", || metric(&node, "lapwing_sessions", "") == 0);
}

fn heard(bytes: &[u8]) -> Message<'_> {
    decode(bytes, &Limits::PROTOCOL).expect("the node speaks MQTT-SN").message
}
