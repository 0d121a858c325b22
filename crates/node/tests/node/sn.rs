//! MQTT-SN over UDP: do its clients and those of MQTT hear each other, by every rule of the specification that crosses rooms?

use std::time::Duration;

use lapwing_codec::{ReasonCode, SubscriptionOptions};
use lapwing_node::Handle;
use lapwing_sn::{
    Connect, Disconnect, Kind, Message, PingReq, Publish, PublishQoS, PublishTopic, QoS, ReturnCode, SearchGw,
    ShortTopic, SubscribeTopic, TopicAck, Unsubscribe, WillMsg, WillTopic,
};

use crate::client::Client;
use crate::device::{Device, msg_id, publish, short, topic_id};
use crate::{connect, eventually, metric, node, packets};

const GONE: Message<'static> = Message::Disconnect(Disconnect { duration_s: None });
const SN: &str = r#"{"shards": 2, "listeners": [{"url": "sn://127.0.0.1:0", "sn": {"retry_ms": 200, "retries_max": 20,
    "predefined": [{"id": 1, "topic": "all/known"}, {"id": 2, "topic": "own/known", "client": "device"}]}}]}"#;

fn dropped(node: &Handle, reason: &str) -> u64 {
    let metrics = node.metrics();
    let is_it =
        |m: &&lapwing_node::Metric| m.name == "lapwing_sn_dropped_total" && m.labels.iter().any(|l| l.1 == reason);
    metrics.iter().filter(is_it).map(|m| m.value as u64).sum()
}

fn listen(node: &Handle, filter: &str, qos: QoS) -> Client {
    let mut client = connect(node, "listener");
    client.subscribe(filter, SubscriptionOptions::new(qos));
    client
}

/// CONNECT with a will at `topic`, to CONNACK.
fn set_up(device: &Device, topic: &str, duration_s: u16) {
    device.say(Message::Connect(Connect { will: true, clean_session: true, duration_s, client_id: topic }));
    device.expect(Message::WillTopicReq);
    device.say(Message::WillTopic(Some(WillTopic { qos: QoS::AtLeastOnce, retain: false, topic })));
    device.expect(Message::WillMsgReq);
    device.say(Message::WillMsg(WillMsg { payload: b"lost" }));
    device.expect(Message::ConnAck(ReturnCode::ACCEPTED));
}

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

/// 6.2, 6.12: is a will asked for, told when the device is lost, and not when it goes?
#[test]
fn a_will_is_for_who_is_lost() {
    let node = node(SN);
    let mut listener = listen(&node, "w/#", QoS::AtLeastOnce);
    let (goes, lost) = (Device::new(&node), Device::new(&node));
    set_up(&goes, "w/goes", 1);
    goes.leave();
    set_up(&lost, "w/lost", 1);
    let will = listener.receive();
    assert_eq!((will.topic.as_str(), &will.payload[..]), ("w/lost", &b"lost"[..]));
    listener.acknowledge(&will);
    listener.expect_silence();
}

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

/// 6.3: does a kept session go on at another address, with its topic ids, and is the old address told that nobody is there?
#[test]
fn a_session_goes_on_at_another_address() {
    let node = node(SN);
    let old = Device::new(&node);
    old.come("device", false);
    let id = old.register("a/b");
    old.subscribe(SubscribeTopic::Filter("c/d"), QoS::AtLeastOnce);
    let new = Device::new(&node);
    new.come("device", false);
    old.expect(GONE);
    connect(&node, "publisher").publish_acked("c/d", b"1");
    // It has not answered: two bytes ask for a word.
    new.expect(Message::PingReq(PingReq { client_id: None }));
    new.say(Message::PingResp);
    assert_eq!(new.learn().0, "c/d");
    assert_eq!(new.receive_acked().1, b"1");
    let mut listener = listen(&node, "a/b", QoS::AtMostOnce);
    new.say(Message::Publish(publish(id, QoS::AtLeastOnce, 1, b"still")));
    assert_eq!(new.puback(), ReturnCode::ACCEPTED);
    assert_eq!(listener.receive().payload, b"still");
    old.say(Message::PingReq(PingReq { client_id: None }));
    old.expect(GONE);
}

/// Is nothing larger than what came sent to an address that has not answered, whatever waits in a session?
#[test]
fn an_address_that_has_not_answered_is_sent_little() {
    let node = node(SN);
    let device = Device::new(&node);
    device.come("device", false);
    device.subscribe(SubscribeTopic::Filter("a/long/topic/name"), QoS::AtLeastOnce);
    device.leave();
    connect(&node, "publisher").publish_acked("a/long/topic/name", &[7; 500]);
    let somebody = Device::new(&node);
    somebody.come("device", false);
    for _ in 0..3 {
        assert_eq!(somebody.hear().len(), 2);
    }
    somebody.say(Message::PingResp);
    while somebody.hear().len() == 2 {}
}

/// Is a repeated CONNECT, whose CONNACK was lost, answered again, its session left alone and its will not told?
#[test]
fn a_lost_connack_comes_again() {
    let node = node(SN);
    let mut listener = listen(&node, "#", QoS::AtMostOnce);
    let device = Device::new(&node);
    for _ in 0..3 {
        set_up(&device, "w/lost", 60);
    }
    let plain = Device::new(&node);
    plain.come("plain", false);
    plain.come("plain", false);
    assert_eq!(metric(&node, "lapwing_sn_clients", ""), 2);
    plain.expect_silence();
    device.leave();
    listener.expect_silence();
}

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
    client.expect_end(Some(ReasonCode::SessionTakenOver));
    again.expect_silence();
}

/// Is QoS -1 only for topics that the listener names, and are datagrams that are nothing counted by what they are?
#[test]
fn what_is_not_taken_is_counted() {
    let own = "\"sn\": {\"publish_without_connect\": [\"ok/#\", \"ab\"], \"datagram_bytes_max\": 200, ";
    let node = node(&SN.replace("\"sn\": {", own));
    let device = Device::new(&node);
    let minus_one = |topic| {
        let qos = PublishQoS::MinusOne;
        Message::Publish(Publish { dup: false, qos, retain: false, topic, msg_id: None, payload: b"x" })
    };
    device.say(minus_one(short("ab")));
    device.say(minus_one(short("no")));
    device.say_bytes(&[3, 0x0C]);
    device.say_bytes(&[0; 7]);
    device.say_bytes(&[9; 300]);
    device.say(Message::PubAck(TopicAck { topic: 1, msg_id: Some(msg_id(1)), code: ReturnCode::ACCEPTED }));
    device.say(Message::PingReq(PingReq { client_id: None }));
    device.expect(GONE);
    for reason in ["publish_without_connect", "cut_short", "wrong_length", "too_large", "out_of_state", "not_connected"]
    {
        assert_eq!(dropped(&node, reason), 1, "{reason}");
    }
    assert_eq!(metric(&node, "lapwing_sn_published_without_connect_total", ""), 1);
    assert_eq!(metric(&node, "lapwing_sn_clients", ""), 0);
    assert_eq!(metric(&node, "lapwing_sn_datagrams_in_total", ""), 7);
    // A message that no datagram can hold is not waited for.
    let device = Device::connect(&node, "device");
    device.subscribe(SubscribeTopic::Filter("a"), QoS::AtLeastOnce);
    let mut publisher = connect(&node, "publisher");
    publisher.publish_acked("a", &[1; 500]);
    publisher.publish_acked("a", b"small");
    assert_eq!(device.receive_acked().1, b"small");
    assert_eq!(dropped(&node, "too_large_to_send"), 1);
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

/// Does the rate of an address hold for who is connected there already, and comes under another client id each time?
#[test]
fn an_address_connects_so_often_whoever_it_is() {
    let node = node(&SN.replace("\"sn://127.0.0.1:0\",", "\"sn://127.0.0.1:0\", \"connects_per_address_per_s\": 1,"));
    let device = Device::connect(&node, "first");
    let mut number = 0;
    eventually("one too many", || {
        number += 1;
        let client_id = &format!("other-{number}");
        device.say(Message::Connect(Connect { will: false, clean_session: true, duration_s: 60, client_id }));
        dropped(&node, "address_rate") > 0
    });
}

/// Is there a place for who comes when all others have not answered, and none when they have?
#[test]
fn who_has_not_answered_makes_room() {
    let node = node(&SN.replace("\"sn://127.0.0.1:0\",", "\"sn://127.0.0.1:0\", \"connections_max\": 2,"));
    let (first, second) = (Device::connect(&node, "first"), Device::connect(&node, "second"));
    first.expect_silence();
    let third = Device::connect(&node, "third");
    third.expect_silence();
    second.say(Message::PingReq(PingReq { client_id: None }));
    second.expect(GONE);
    let fourth = Device::new(&node);
    fourth.say(Message::Connect(Connect { will: false, clean_session: true, duration_s: 60, client_id: "fourth" }));
    fourth.expect(Message::ConnAck(ReturnCode::CONGESTION));
    first.expect_silence();
    assert_eq!(metric(&node, "lapwing_sn_clients", ""), 2);
}

/// 6.1, 5.5: is a search answered, with the id of the listener; and does a node behind a forwarder have its own session?
#[test]
fn gateways_are_found_and_forwarders_pass() {
    let node = node(&SN.replace("\"sn\": {", "\"sn\": {\"gateway_id\": 9, "));
    let device = Device::new(&node);
    device.say(Message::SearchGw(SearchGw { radius: 0 }));
    assert_eq!(device.hear(), [3, 2, 9]);
    // Two nodes behind one address: Ctrl 0, one byte of id, then CONNECT.
    for node_id in [b'x', b'y'] {
        device.say_bytes(&[&[4, 0xFE, 0, node_id][..], &[7, 4, 4, 1, 0, 60, node_id]].concat());
        assert_eq!(device.hear(), [&[4, 0xFE, 0, node_id][..], &[3, 5, 0]].concat());
    }
    assert_eq!(metric(&node, "lapwing_sn_clients", ""), 2);
    device.say_bytes(&[4, 0xFE, 0, b'x', 2, 0x16]);
    assert_eq!(device.hear(), [4, 0xFE, 0, b'x', 2, 0x17]);
}

/// Is a message of QoS 2 one message, whichever half of it the broker was killed in?
#[test]
fn qos_2_is_one_message_over_a_kill() {
    let dir = tempfile::tempdir().expect("a folder");
    let on_disk = format!("\"data_dir\": {:?}, \"durability\": \"disk\", \"listeners\"", dir.path());
    let json = SN.replace("\"listeners\"", &on_disk);
    let first = node(&json);
    let again = json.replace("sn://127.0.0.1:0", &crate::device::sn_url(&first));
    let keeper = crate::packets::lasting("keeper");
    let mut listener = Client::connect_with(&first, &keeper).0;
    listener.subscribe("ab", SubscriptionOptions::new(QoS::AtLeastOnce));
    let device = Device::new(&first);
    device.come("device", false);
    let message = Publish { topic: short("ab"), ..publish(topic_id(1), QoS::ExactlyOnce, 7, b"once") };
    device.say(Message::Publish(message));
    device.expect(Message::PubRec(msg_id(7)));
    drop(first);
    let second = node(&again);
    // It has not heard PUBREC: nobody knows it, it comes back, and says it again.
    device.say(Message::Publish(Publish { dup: true, ..message }));
    device.come_back("device");
    device.say(Message::Publish(Publish { dup: true, ..message }));
    device.expect(Message::PubRec(msg_id(7)));
    drop(second);
    let third = node(&again);
    device.come_back("device");
    device.say(Message::PubRel(msg_id(7)));
    device.expect(Message::PubComp(msg_id(7)));
    // Released, the id is free for another one.
    device.say(Message::Publish(Publish { payload: b"another", ..message }));
    device.expect(Message::PubRec(msg_id(7)));
    let mut listener = Client::connect_with(&third, &keeper).0;
    for payload in [&b"once"[..], b"another"] {
        let received = listener.receive();
        assert_eq!(received.payload, payload);
        listener.acknowledge(&received);
    }
    listener.expect_silence();
}

/// 6.1: does a gateway say from time to time that it is there, where it is told to?
#[test]
fn a_gateway_advertises_itself() {
    let everybody = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    everybody.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    let own =
        format!("\"sn\": {{\"advertise_to\": \"{}\", \"advertise_interval_s\": 1, ", everybody.local_addr().unwrap());
    let node = node(&SN.replace("\"sn\": {", &own));
    let mut bytes = [0; 16];
    for _ in 0..2 {
        let (len, from) = everybody.recv_from(&mut bytes).expect("it says so");
        assert_eq!((&bytes[..len], format!("sn://{from}")), (&[5, 0, 1, 0, 1][..], crate::device::sn_url(&node)));
    }
}

/// Are devices told when the broker goes, and is that no wait?
#[test]
fn a_drain_tells_devices() {
    let node = node(SN);
    let device = Device::connect(&node, "device");
    let minus_one =
        Publish { topic: short("ab"), qos: PublishQoS::MinusOne, ..publish(topic_id(1), QoS::AtMostOnce, 0, b"x") };
    Device::new(&node).say(Message::Publish(minus_one));
    eventually("it is taken", || metric(&node, "lapwing_sn_published_without_connect_total", "") == 1);
    node.drain(Duration::from_secs(30)).unwrap();
    device.expect(GONE);
    device.say(Message::Connect(Connect { will: false, clean_session: true, duration_s: 60, client_id: "device" }));
    device.expect(Message::ConnAck(ReturnCode::CONGESTION));
    node.stop().unwrap();
}
