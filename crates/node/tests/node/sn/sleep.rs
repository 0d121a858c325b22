//! Devices that sleep.

use lapwing_sn::{Connect, Disconnect, Kind, Message, PingReq, QoS, ReturnCode, SubscribeTopic, TopicAck};

use super::{SN, listen, set_up};
use crate::device::{Device, topic_id};
use crate::{connect, eventually, metric, node};

/// 6.14: does what comes for a sleeping device wait, come when it awakes, in order, and then PINGRESP; and is it active again
/// after CONNECT?
#[test]
fn a_sleeping_device_gets_everything_when_it_awakes() {
    let node = node(SN);
    let device = Device::connect(&node, "device");
    device.subscribe(SubscribeTopic::Filter("a/#"), QoS::AtLeastOnce);
    device.sleep(60);
    assert_eq!(metric(&node, "lapwing_sn_clients_asleep", ""), 1);
    let mut publisher = connect(&node, "publisher");
    for n in 0..5 {
        publisher.publish_acked("a/x", &[n]);
    }
    publisher.publish("a/x", b"0", QoS::AtMostOnce, None);
    publisher.expect_silence();
    device.say(Message::PingReq(PingReq { client_id: Some("device") }));
    let (_, id) = device.learn();
    let mut came = Vec::new();
    loop {
        let bytes = device.hear();
        match lapwing_sn::decode(&bytes, &lapwing_sn::Limits::PROTOCOL).expect("MQTT-SN").message {
            Message::Publish(publish) => {
                came.push(publish.payload.to_vec());
                if publish.msg_id.is_some() {
                    let ack = TopicAck { topic: id.get(), msg_id: publish.msg_id, code: ReturnCode::ACCEPTED };
                    device.say(Message::PubAck(ack));
                }
            }
            Message::PingResp => break,
            other => panic!("{other:?}"),
        }
    }
    let acknowledged: Vec<_> = came.iter().filter(|payload| payload[..] != b"0"[..]).cloned().collect();
    assert_eq!(acknowledged, (0..5).map(|n| vec![n]).collect::<Vec<_>>());
    assert_eq!(came.len(), 6, "QoS 0 waits too");
    publisher.publish_acked("a/x", b"later");
    device.say(Message::Connect(Connect { will: false, clean_session: false, duration_s: 60, client_id: "device" }));
    device.expect(Message::ConnAck(ReturnCode::ACCEPTED));
    assert_eq!(device.receive_acked().1, b"later");
    assert_eq!(metric(&node, "lapwing_sn_clients_asleep", ""), 0);
}

/// 6.14: is what waited without acknowledgement for a sleeping device counted when that goes, and only what its session has not?
#[test]
fn what_waited_for_who_does_not_come_back_is_counted() {
    let node = node(&SN.replace("\"retries_max\"", "\"waiting_messages_max\": 3, \"retries_max\""));
    let device = Device::connect(&node, "device");
    device.subscribe(SubscribeTopic::Filter("a/#"), QoS::AtLeastOnce);
    device.sleep(60);
    let mut publisher = connect(&node, "publisher");
    publisher.publish_acked("a/x", b"kept");
    for n in 0..3 {
        publisher.publish("a/x", &[n], QoS::AtMostOnce, None);
    }
    eventually("two more wait", || super::dropped(&node, "waiting_messages_max") == 1);
    assert_eq!(super::dropped(&node, "client_gone"), 0);
    device.say(Message::Disconnect(Disconnect { duration_s: None }));
    eventually("both are lost", || super::dropped(&node, "client_gone") == 2);
}

/// 6.6, 6.14: has a device that goes to sleep with its PUBREC the message once: does PUBREL come when it awakes, and no PUBLISH?
#[test]
fn what_a_device_has_received_does_not_come_again_after_sleep() {
    let node = node(SN);
    let device = Device::connect(&node, "device");
    device.subscribe(SubscribeTopic::Predefined(topic_id(1)), QoS::ExactlyOnce);
    let mut publisher = connect(&node, "publisher");
    publisher.publish("all/known", b"once", QoS::ExactlyOnce, Some(1));
    let (_, _, msg_id, payload) = device.receive();
    assert_eq!(payload, b"once");
    device.say(Message::PubRec(msg_id.expect("QoS 2")));
    device.say(Message::Disconnect(Disconnect { duration_s: Some(60) }));
    // The session may be the faster.
    while device.take_any_of(&[Kind::PubRel, Kind::Disconnect]) == Kind::PubRel {}
    device.say(Message::PingReq(PingReq { client_id: Some("device") }));
    let released = device.take(Kind::PubRel, |message| matches!(message, Message::PubRel(id) if Some(*id) == msg_id));
    assert!(released);
    device.say(Message::PubComp(msg_id.expect("QoS 2")));
    device.expect(Message::PingResp);
}

/// 6.14: is a device that came back from sleep, and says its CONNECT again because CONNACK was lost, still there: its will not told?
#[test]
fn a_device_that_came_back_and_says_so_again_is_there() {
    let node = node(SN);
    let mut listener = listen(&node, "w/#", QoS::AtMostOnce);
    let device = Device::new(&node);
    set_up(&device, "w/sleeps", 600);
    device.sleep(600);
    (0..3).for_each(|_| device.knock("w/sleeps", false));
    device.expect_silence();
    device.leave();
    eventually("its connection is over", || metric(&node, "lapwing_connections", "") == 1);
    listener.expect_silence();
    assert_eq!(metric(&node, "lapwing_wills_published_total", ""), 0);
}

/// 6.14: is a device for which nothing waits told so when it awakes, and is its will told when it does not awake again?
#[test]
fn a_sleeping_device_whose_will_is_told() {
    let node = node(SN);
    let mut listener = listen(&node, "w/#", QoS::AtMostOnce);
    let device = Device::new(&node);
    set_up(&device, "w/sleeps", 600);
    device.sleep(1);
    device.say(Message::PingReq(PingReq { client_id: Some("w/sleeps") }));
    device.expect(Message::PingResp);
    assert_eq!(metric(&node, "lapwing_sn_clients_asleep", ""), 1);
    let will = listener.receive();
    assert_eq!((will.topic.as_str(), &will.payload[..]), ("w/sleeps", &b"lost"[..]));
    assert_eq!(metric(&node, "lapwing_sn_clients_lost_total", ""), 1);
}
