//! What is not taken.

use lapwing_sn::{Message, PingReq, Publish, PublishQoS, QoS, ReturnCode, SubscribeTopic, TopicAck};

use super::{GONE, SN, dropped};
use crate::device::{Device, msg_id, short};
use crate::{connect, metric, node};

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

/// 6.2, 5.5: is a CONNECT that cannot be accepted answered by its code, whoever it comes from, and to the node behind a
/// forwarder; and is nothing else that is wrong answered to a stranger?
#[test]
fn a_connect_that_cannot_be_is_answered() {
    let node = node(SN);
    let device = Device::new(&node);
    let another_protocol = [7, 4, 4, 2, 0, 60, b'x'];
    device.say_bytes(&another_protocol);
    assert_eq!(device.hear(), [3, 5, 3]);
    device.say_bytes(&[&[4, 0xFE, 0, b'n'][..], &another_protocol].concat());
    assert_eq!(device.hear(), [4, 0xFE, 0, b'n', 3, 5, 3]);
    let long_id = [&[30, 4, 4, 1, 0, 60][..], &[b'x'; 24]].concat();
    device.say_bytes(&long_id);
    assert_eq!(device.hear(), [3, 5, 3]);
    // SUBSCRIBE of a reserved kind of topic: 0x03 to whoever is connected, to nobody else.
    device.say_bytes(&[7, 0x12, 3, 0, 1, 0, 1]);
    device.say(Message::PingReq(PingReq { client_id: None }));
    device.expect(GONE);
    assert_eq!(dropped(&node, "not_supported"), 4);
    assert_eq!(metric(&node, "lapwing_sn_clients", ""), 0);
}
