//! The broker is killed in between.

use lapwing_codec::SubscriptionOptions;
use lapwing_sn::{Message, Publish, QoS};

use super::SN;
use crate::client::Client;
use crate::device::{Device, msg_id, publish, short, topic_id};
use crate::node;

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
