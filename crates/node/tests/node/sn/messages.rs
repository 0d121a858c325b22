//! Messages both ways, in each QoS and by each kind of topic id.

use lapwing_sn::{
    Kind, Message, PingReq, Publish, PublishQoS, PublishTopic, QoS, ReturnCode, ShortTopic, SubscribeTopic, TopicAck,
    Unsubscribe,
};

use super::{GONE, SN, dropped, listen};
use crate::device::{Device, msg_id, publish, short, topic_id};
use crate::{connect, eventually, metric, node};

/// 6.5, 6.6, 6.7, 6.8: does a message of each QoS, by each kind of topic id, reach a client of MQTT?
#[test]
fn what_a_device_publishes_arrives() {
    let node = node(SN);
    let mut listener = listen(&node, "#", QoS::AtMostOnce);
    let mut received = || {
        let received = listener.receive();
        (received.topic, received.payload)
    };
    let device = Device::connect(&node, "device");
    let id = device.register("a/b");
    device.say(Message::Publish(publish(id, QoS::AtMostOnce, 0, b"zero")));
    assert_eq!(received(), ("a/b".into(), b"zero".to_vec()));
    device.say(Message::Publish(publish(id, QoS::AtLeastOnce, 5, b"one")));
    assert_eq!(device.puback(), ReturnCode::ACCEPTED);
    assert_eq!(received(), ("a/b".into(), b"one".to_vec()));
    let two = Publish { topic: short("ab"), ..publish(id, QoS::ExactlyOnce, 6, b"two") };
    device.say(Message::Publish(two));
    device.expect(Message::PubRec(msg_id(6)));
    device.say(Message::Publish(Publish { dup: true, ..two }));
    device.expect(Message::PubRec(msg_id(6)));
    device.say(Message::PubRel(msg_id(6)));
    device.expect(Message::PubComp(msg_id(6)));
    device.say(Message::PubRel(msg_id(6)));
    device.expect(Message::PubComp(msg_id(6)));
    assert_eq!(received(), ("ab".into(), b"two".to_vec()));
    device.say(Message::Publish(Publish {
        topic: PublishTopic::Predefined(topic_id(2)),
        ..publish(id, QoS::AtLeastOnce, 7, b"own")
    }));
    assert_eq!(device.puback(), ReturnCode::ACCEPTED);
    assert_eq!(received(), ("own/known".into(), b"own".to_vec()));
    device.say(Message::Publish(publish(topic_id(99), QoS::AtLeastOnce, 8, b"?")));
    assert_eq!(device.puback(), ReturnCode::INVALID_TOPIC_ID);
    device.leave();
    let minus_one = Publish {
        qos: PublishQoS::MinusOne,
        topic: PublishTopic::Predefined(topic_id(1)),
        ..publish(id, QoS::AtMostOnce, 0, b"nobody")
    };
    Device::new(&node).say(Message::Publish(minus_one));
    assert_eq!(received(), ("all/known".into(), b"nobody".to_vec()));
    assert_eq!(metric(&node, "lapwing_sn_published_without_connect_total", ""), 1);
}

/// 6.9, 6.10: does a device get what it subscribed to by name, short name, id and wildcard, in each QoS, and no more once it has
/// unsubscribed?
#[test]
fn what_a_device_subscribes_to_arrives() {
    let node = node(SN);
    let mut publisher = connect(&node, "publisher");
    let device = Device::connect(&node, "device");
    let named = device.subscribe(SubscribeTopic::Filter("a/b"), QoS::ExactlyOnce);
    assert_eq!((named.code, named.qos), (ReturnCode::ACCEPTED, QoS::ExactlyOnce));
    let id = named.topic_id.expect("a name gets an id");
    publisher.publish("a/b", b"0", QoS::AtMostOnce, None);
    assert_eq!(
        device.receive(),
        (PublishTopic::Registered(id), PublishQoS::Level(QoS::AtMostOnce), None, b"0".to_vec())
    );
    publisher.publish_acked("a/b", b"1");
    assert_eq!(device.receive_acked(), (PublishTopic::Registered(id), b"1".to_vec()));

    publisher.publish("a/b", b"2", QoS::ExactlyOnce, Some(3));
    let (_, qos, received, _) = device.receive();
    assert_eq!(qos, PublishQoS::Level(QoS::ExactlyOnce));
    let received = received.expect("an id");
    device.say(Message::PubRec(received));
    device.expect(Message::PubRel(received));
    device.say(Message::PubComp(received));

    let shorty = ShortTopic::new("xy").expect("short");
    device.subscribe(SubscribeTopic::Short(shorty), QoS::AtLeastOnce);
    device.subscribe(SubscribeTopic::Predefined(topic_id(1)), QoS::AtLeastOnce);
    let wild = device.subscribe(SubscribeTopic::Filter("w/+"), QoS::AtLeastOnce);
    assert_eq!((wild.code, wild.topic_id), (ReturnCode::ACCEPTED, None));
    let mut publisher = connect(&node, "publisher-2");
    for topic in ["xy", "all/known", "w/1", "w/1"] {
        publisher.publish_acked(topic, topic.as_bytes());
    }
    assert_eq!(device.receive_acked(), (PublishTopic::Short(shorty), b"xy".to_vec()));
    assert_eq!(device.receive_acked().0, PublishTopic::Predefined(topic_id(1)));
    let (topic, id) = device.learn();
    assert_eq!(topic, "w/1");
    for _ in 0..2 {
        assert_eq!(device.receive_acked(), (PublishTopic::Registered(id), b"w/1".to_vec()));
    }
    let unsubscribe = Unsubscribe { msg_id: msg_id(9), topic: SubscribeTopic::Filter("w/+") };
    device.say(Message::Unsubscribe(unsubscribe));
    device.expect(Message::UnsubAck(msg_id(9)));
    publisher.publish_acked("w/1", b"unheard");
    device.expect_silence();
}

/// 6.13: does a message that is not answered come again, with DUP, until it is; and is who never answers lost?
#[test]
fn what_is_not_answered_comes_again() {
    let node = node(&SN.replace("\"retries_max\": 20", "\"retries_max\": 2"));
    let device = Device::connect(&node, "device");
    device.subscribe(SubscribeTopic::Short(ShortTopic::new("xy").expect("short")), QoS::AtLeastOnce);
    connect(&node, "publisher").publish_acked("xy", b"1");
    let is_dup = |device: &Device| device.take(Kind::Publish, |m| matches!(m, Message::Publish(p) if p.dup));
    assert_eq!([is_dup(&device), is_dup(&device), is_dup(&device)], [false, true, true]);
    eventually("the device is gone", || metric(&node, "lapwing_sn_clients", "") == 0);
    assert_eq!(metric(&node, "lapwing_sn_clients_lost_total", ""), 1);
    assert_eq!(metric(&node, "lapwing_sn_retransmissions_total", ""), 2);
    device.say(Message::PingReq(PingReq { client_id: None }));
    device.expect(GONE);
}

/// 5.3.4: is a message that a device retains there for who subscribes later, and marked as retained for a device?
#[test]
fn retained_messages_go_both_ways() {
    let node = node(SN);
    let sender = Device::connect(&node, "sender");
    let id = sender.register("a/b");
    let retained = Publish { retain: true, ..publish(id, QoS::AtLeastOnce, 1, b"kept") };
    sender.say(Message::Publish(retained));
    assert_eq!(sender.puback(), ReturnCode::ACCEPTED);
    let received = listen(&node, "a/b", QoS::AtMostOnce).receive();
    assert_eq!((&received.payload[..], received.retain), (&b"kept"[..], true));
    let late = Device::connect(&node, "late");
    late.subscribe(SubscribeTopic::Filter("a/b"), QoS::AtMostOnce);
    late.take(Kind::Publish, |m| assert!(matches!(m, Message::Publish(p) if p.retain && p.payload == b"kept")));
    // An empty one takes it away.
    sender.say(Message::Publish(Publish { payload: b"", msg_id: Some(msg_id(2)), ..retained }));
    assert_eq!(sender.puback(), ReturnCode::ACCEPTED);
    late.take(Kind::Publish, |m| assert!(matches!(m, Message::Publish(p) if !p.retain)));
    let later = Device::connect(&node, "later");
    later.subscribe(SubscribeTopic::Filter("a/b"), QoS::AtMostOnce);
    later.expect_silence();
}

/// 6.10: is a message whose topic a device does not take dropped for that device and counted, and does the next one come?
#[test]
fn a_topic_that_a_device_refuses_costs_its_message() {
    let node = node(SN);
    let device = Device::connect(&node, "device");
    device.subscribe(SubscribeTopic::Filter("+/+"), QoS::AtLeastOnce);
    let mut publisher = connect(&node, "publisher");
    publisher.publish_acked("not/wanted", b"1");
    publisher.publish_acked("is/wanted", b"2");
    let msg_id = device.take(Kind::Register, |m| match m {
        Message::Register(register) => register.msg_id,
        other => panic!("{other:?}"),
    });
    let code = ReturnCode::NOT_SUPPORTED;
    device.say(Message::RegAck(TopicAck { topic: 1, msg_id: Some(msg_id), code }));
    assert_eq!(device.learn().0, "is/wanted");
    assert_eq!(device.receive_acked().1, b"2");
    assert_eq!(dropped(&node, "refused_by_client"), 1);
}
