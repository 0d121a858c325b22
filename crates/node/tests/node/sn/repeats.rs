//! What a device says again, whose answer was lost on the way or here: answered, and counted as often as its QoS allows.

use lapwing_sn::{
    Connect, Disconnect, Kind, Message, PingReq, Publish, QoS, ReturnCode, ShortTopic, Subscribe, SubscribeTopic,
};

use super::{SN, listen};
use crate::client::Client;
use crate::device::{Device, msg_id, publish, short, topic_id};
use crate::{connect, eventually, node};

fn say_connect(device: &Device, client_id: &str) {
    device.say(Message::Connect(Connect { will: false, clean_session: false, duration_s: 600, client_id }));
}

/// Says a message, and hears all that comes before the answer to a PINGREQ behind it: whether one of that is of this kind.
fn is_answered(device: &Device, message: Message<'_>, by: Kind) -> bool {
    device.say(message);
    device.say(Message::PingReq(PingReq { client_id: None }));
    let mut is_answered = false;
    loop {
        match device.take_any_of(&[by, Kind::ConnAck, Kind::PingResp]) {
            Kind::PingResp => return is_answered,
            kind => is_answered |= kind == by,
        }
    }
}

/// Says goodbye. What was said more than once may be answered as often, also behind an answer to a PINGREQ.
fn leave(device: &Device, by: Kind) {
    device.say(Message::Disconnect(Disconnect { duration_s: None }));
    while device.take_any_of(&[by, Kind::ConnAck, Kind::Disconnect]) != Kind::Disconnect {}
}

/// The next message; at QoS 1 there may be repeats of others before it.
fn await_payload(listener: &mut Client, payload: &[u8], qos: QoS) {
    while listener.receive().payload != payload {
        assert_eq!(qos, QoS::AtLeastOnce, "more than once");
    }
}

/// Is a message answered whose first copy has a CONNECT of its device right behind it, a late one or another: QoS 1 at least once,
/// QoS 2 once?
#[test]
fn a_connect_right_behind_a_publish_costs_no_answer() {
    let node = node(SN);
    let mut listener = listen(&node, "ab", QoS::AtMostOnce);
    for (qos, by) in [(QoS::AtLeastOnce, Kind::PubAck), (QoS::ExactlyOnce, Kind::PubRec)] {
        for number in 0..20 {
            let (device, id) = (Device::new(&node), format!("device-{number}"));
            device.come(&id, false);
            let message = Publish { topic: short("ab"), ..publish(topic_id(1), qos, 7, id.as_bytes()) };
            device.say(Message::Publish(message));
            say_connect(&device, &id);
            let again = Publish { dup: true, ..message };
            eventually("it is answered", || is_answered(&device, Message::Publish(again), by));
            leave(&device, by);
            await_payload(&mut listener, id.as_bytes(), qos);
        }
        connect(&node, "last").publish_acked("ab", b"last");
        await_payload(&mut listener, b"last", qos);
    }
    listener.expect_silence();
}

/// A device that begins anew has its first ids again: is what it says by them done, though the first copy was lost?
#[test]
fn who_begins_anew_is_not_answered_from_memory() {
    let node = node(SN);
    let mut listener = listen(&node, "ab", QoS::AtMostOnce);
    let device = Device::new(&node);
    let reading = Publish { topic: short("ab"), ..publish(topic_id(1), QoS::AtLeastOnce, 1, b"20.5") };
    let filter = SubscribeTopic::Short(ShortTopic::new("cd").expect("two bytes"));
    let subscribe = Subscribe { dup: false, qos: QoS::AtLeastOnce, msg_id: msg_id(2), topic: filter };
    for (clean_session, dup) in [(true, false), (false, true)] {
        device.come("device", clean_session);
        device.say(Message::Publish(Publish { dup, ..reading }));
        assert_eq!(device.puback(), ReturnCode::ACCEPTED);
        assert_eq!(listener.receive().payload, b"20.5");
        device.say(Message::Subscribe(Subscribe { dup, ..subscribe }));
        device.take(Kind::SubAck, |_| ());
        connect(&node, "publisher").publish_acked("cd", b"1");
        assert_eq!(device.receive_acked().1, b"1");
    }
}

/// Is there room for messages of QoS 2, and of QoS 1 beside them, for a device that begins one after the other and releases none;
/// and does it hear nothing of those that it gave up?
#[test]
fn what_is_not_released_takes_no_place_for_ever() {
    let node = node(&SN.replace("\"listeners\"", "\"limits\": {\"receive_maximum\": 2}, \"listeners\""));
    let mut listener = listen(&node, "ab", QoS::AtMostOnce);
    let device = Device::new(&node);
    device.come("device", false);
    let message = |qos, id| Publish { topic: short("ab"), ..publish(topic_id(1), qos, id, b"1") };
    for id in 1..=6 {
        device.say(Message::Publish(message(QoS::ExactlyOnce, id)));
        device.expect(Message::PubRec(msg_id(id)));
        assert_eq!(listener.receive().payload, b"1");
    }
    device.say(Message::Publish(message(QoS::AtLeastOnce, 7)));
    assert_eq!(device.puback(), ReturnCode::ACCEPTED);
    device.say(Message::PubRel(msg_id(6)));
    device.expect(Message::PubComp(msg_id(6)));
    device.expect_silence();
}
