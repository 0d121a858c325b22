//! Addresses: a session goes on at another one, and none is an identity.

use lapwing_sn::{Connect, Message, PingReq, QoS, ReturnCode, SubscribeTopic, WillMsg, WillTopic};

use super::{GONE, SN, dropped, listen, set_up};
use crate::device::{Device, publish};
use crate::{connect, eventually, metric, node};

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
    assert_eq!(new.learn().0, "c/d");
    assert_eq!(new.receive_acked().1, b"1");
    let mut listener = listen(&node, "a/b", QoS::AtMostOnce);
    new.say(Message::Publish(publish(id, QoS::AtLeastOnce, 1, b"still")));
    assert_eq!(new.puback(), ReturnCode::ACCEPTED);
    assert_eq!(listener.receive().payload, b"still");
    old.say(Message::PingReq(PingReq { client_id: None }));
    old.expect(GONE);
}

/// Is no more sent to an address that has not answered than came from it, whatever waits in a session?
#[test]
fn an_address_that_has_not_answered_is_sent_little() {
    let node = node(SN);
    let device = Device::new(&node);
    device.come("device", false);
    device.subscribe(SubscribeTopic::Filter("a/long/topic/name"), QoS::AtLeastOnce);
    device.leave();
    connect(&node, "publisher").publish_acked("a/long/topic/name", &[7; 500]);
    let somebody = Device::new(&node);
    somebody.knock("device", false);
    let asked = [somebody.hear(), somebody.hear()];
    assert_eq!(asked, [[2, 0x16]; 2], "CONNACK and this are shorter than CONNECT");
    somebody.say(Message::PingResp);
    assert_eq!(somebody.learn().0, "a/long/topic/name");
    assert_eq!(somebody.receive_acked().1, [7; 500]);
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
    plain.knock("plain", false);
    plain.knock("plain", false);
    assert_eq!(metric(&node, "lapwing_sn_clients", ""), 2);
    plain.expect_silence();
    device.leave();
    listener.expect_silence();
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

/// Do devices that nobody has heard leave half of the node's places to clients of MQTT?
#[test]
fn addresses_that_are_made_up_keep_no_client_out() {
    let node = node(&SN.replace("\"listeners\": [{", "\"limits\": {\"connections_max\": 4}, \"listeners\": [{"));
    let _devices: Vec<Device> = (1..=5).map(|number| Device::connect(&node, &format!("device-{number}"))).collect();
    let places = || metric(&node, "lapwing_connections", "");
    eventually("three have given way", || places() == 2);
    let _clients = [connect(&node, "first"), connect(&node, "second")];
    assert_eq!(places(), 4);
}

/// Do those whom nobody waits for any more, and who have no connection, leave half of the node's places to clients of MQTT too: does
/// a newcomer take the place of one that has?
#[test]
fn who_has_no_connection_makes_no_room_for_one() {
    let limits = "\"limits\": {\"connections_max\": 4, \"connect_timeout_ms\": 1000}, \"listeners\": [{";
    let node = node(&SN.replace("\"listeners\": [{", limits));
    let places = || metric(&node, "lapwing_connections", "");
    let _kept = ["first", "second"].map(|id| {
        let device = Device::new(&node);
        device.knock(id, false);
        device
    });
    eventually("nobody waits for them", || places() == 0);
    assert_eq!(metric(&node, "lapwing_sn_clients", ""), 2);
    let devices: Vec<Device> = (1..=4).map(|number| Device::connect(&node, &format!("device-{number}"))).collect();
    eventually("two have given way", || places() == 2);
    let _clients = [connect(&node, "a client"), connect(&node, "another")];
    assert_eq!(places(), 4);
    devices[3].expect_silence();
}

/// Does a listener that is full take nobody's place at another one; and where the node is full, is a place of another listener one
/// of the node, and no more than that?
#[test]
fn a_full_listener_takes_its_own_places() {
    let node = node(
        r#"{"shards": 2, "limits": {"connections_max": 3}, "listeners": [
        {"url": "sn://127.0.0.1:0", "connections_max": 1}, {"url": "sn://127.0.0.1:0", "connections_max": 2}]}"#,
    );
    let urls: Vec<String> = node.listeners().into_iter().filter(|url| url.starts_with("sn://")).collect();
    let come = |url: &str, id: &str| {
        let device = Device::at(url);
        device.come(id, true);
        device
    };
    let places = || {
        let [one, other] = [&urls[0], &urls[1]].map(|url| metric(&node, "lapwing_listener_connections", url));
        (one, other, metric(&node, "lapwing_connections", ""))
    };
    let first = come(&urls[1], "first");
    let _crowd = ["a", "b", "c"].map(|id| come(&urls[0], id));
    eventually("one is left of three", || places() == (1, 1, 2));
    first.expect_silence();
    let _client = connect(&node, "client");
    assert_eq!(places(), (1, 1, 3));
    let _second = come(&urls[1], "second");
    eventually("it has the place of one at the other listener", || places() == (0, 2, 3));
    let _third = come(&urls[1], "third");
    eventually("it has the place of the one before it", || places() == (0, 2, 3));
    first.expect_silence();
}

/// Do those who were asked for a will, and do not go on, keep nobody out; and does nothing stay of a CONNECT whose will is
/// refused?
#[test]
fn who_was_asked_for_a_will_makes_room() {
    let node = node(&SN.replace("\"listeners\": [{", "\"limits\": {\"connections_max\": 4}, \"listeners\": [{"));
    let clients = || metric(&node, "lapwing_sn_clients", "");
    let ask = |client_id| {
        let device = Device::new(&node);
        device.say(Message::Connect(Connect { will: true, clean_session: true, duration_s: 60, client_id }));
        device.expect(Message::WillTopicReq);
        device
    };
    for wrong in [&[4, 0x07, 0, b'#'][..], &[6, 0x07, 0x60, b'w', b'/', b't']] {
        let device = ask("wrong");
        device.say_bytes(wrong);
        device.expect(Message::ConnAck(ReturnCode::NOT_SUPPORTED));
        eventually("nothing is left", || clients() == 0);
    }
    let large = ask("large");
    large.say(Message::WillTopic(Some(WillTopic { qos: QoS::AtMostOnce, retain: false, topic: "w" })));
    large.expect(Message::WillMsgReq);
    large.say(Message::WillMsg(WillMsg { payload: &[0; 1025] }));
    large.expect(Message::ConnAck(ReturnCode::NOT_SUPPORTED));
    eventually("nothing is left", || clients() == 0);
    let asked: Vec<Device> = (0..6).map(|_| ask("asked")).collect();
    assert_eq!((clients(), dropped(&node, "connections_max")), (4, 2));
    let device = Device::connect(&node, "device");
    device.expect_silence();
    assert_eq!(clients(), 4);
    asked[5].say(Message::WillTopic(None));
    asked[5].expect(Message::ConnAck(ReturnCode::ACCEPTED));
}

/// 6.12: is who says DISCONNECT right behind its CONNECT gone, and nobody's session left open?
#[test]
fn who_says_goodbye_before_its_connack_is_gone() {
    let node = node(SN);
    let device = Device::new(&node);
    for clean_session in [true, false] {
        device.say(Message::Connect(Connect { will: false, clean_session, duration_s: 0, client_id: "brief" }));
        device.say(GONE);
        while device.hear() != [2, 0x18] {}
        let there = || metric(&node, "lapwing_connections", "") + metric(&node, "lapwing_sn_clients", "");
        eventually("nobody is there", || there() == 0);
    }
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
