//! MQTT-SN over UDP: do its clients and those of MQTT hear each other, by every rule of the specification that crosses rooms?

mod addresses;
mod clients;
mod dice;
mod first_words;
mod flood;
mod gateways;
mod hostile;
mod kills;
mod lossy;
mod messages;
mod refused;
mod relay;
mod repeats;
mod sensor;
mod sleep;
mod strangers;
mod wills;

use lapwing_codec::SubscriptionOptions;
use lapwing_node::Handle;
use lapwing_sn::{Connect, Disconnect, Message, QoS, ReturnCode, WillMsg, WillTopic};

use crate::client::Client;
use crate::connect;
use crate::device::Device;

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

/// CONNECT with a will at `topic`, to CONNACK, and a clean session under the same id.
fn set_up(device: &Device, topic: &str, duration_s: u16) {
    set_up_with(device, Connect { will: true, clean_session: true, duration_s, client_id: topic }, topic);
}

/// That CONNECT, which wants a will, at `topic`.
fn set_up_with(device: &Device, connect: Connect<'_>, topic: &str) {
    device.say(Message::Connect(connect));
    device.expect(Message::WillTopicReq);
    device.say(Message::WillTopic(Some(WillTopic { qos: QoS::AtLeastOnce, retain: false, topic })));
    device.expect(Message::WillMsgReq);
    device.say(Message::WillMsg(WillMsg { payload: b"lost" }));
    device.expect(Message::ConnAck(ReturnCode::ACCEPTED));
}
