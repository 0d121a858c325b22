//! The gateway: how it is found, what it passes through, how it goes.

use std::time::Duration;

use lapwing_sn::{Connect, Message, Publish, PublishQoS, QoS, ReturnCode, SearchGw};

use super::{GONE, SN};
use crate::device::{Device, publish, short, topic_id};
use crate::{eventually, metric, node};

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
