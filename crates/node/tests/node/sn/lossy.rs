//! A fifth of the datagrams is lost, a fifth doubled, a fifth overtaken, both ways, and the broker is killed in the middle: is QoS 1
//! at least once, and QoS 2 exactly once?

use std::collections::BTreeSet;

use lapwing_codec::{Ack, Packet, SubscriptionOptions};
use lapwing_node::Handle;
use lapwing_sn::QoS;

use super::SN;
use super::sensor::Sensor;
use crate::client::Client;
use crate::device::sn_url;
use crate::packets::{id, lasting};
use crate::{connect, node};

/// Messages of each QoS each way.
const MESSAGES: u16 = 12;
/// Where the ids of those of QoS 2 begin.
const TWICE_SURE: u16 = 100;

fn port(node: &Handle) -> u16 {
    sn_url(node).rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port")
}

/// A message of QoS 2, to its end.
fn publish_twice_sure(client: &mut Client, topic: &str, payload: &[u8]) {
    client.publish(topic, payload, QoS::ExactlyOnce, Some(5));
    client.expect("PUBREC", |packet| matches!(packet, Packet::PubRec(_)).then_some(()));
    client.send(&Packet::PubRel(Ack::success(id(5))));
    client.expect("PUBCOMP", |packet| matches!(packet, Packet::PubComp(_)).then_some(()));
}

/// Payloads that the device sends, and gets: numbers.
fn numbers() -> impl Iterator<Item = (QoS, u16)> {
    let of = |qos, first| (first..first + MESSAGES).map(move |number| (qos, number));
    of(QoS::AtLeastOnce, 1).zip(of(QoS::ExactlyOnce, TWICE_SURE)).flat_map(|(one, two)| [one, two])
}

/// Everything that the keeper's session has, to the end.
fn drain(node: &Handle) -> Vec<u16> {
    connect(node, "last").publish_acked("up", b"the end");
    let mut keeper = Client::connect_with(node, &lasting("keeper")).0;
    let mut all = Vec::new();
    loop {
        let received = keeper.receive();
        keeper.acknowledge(&received);
        match received.payload.try_into() {
            Ok(number) => all.push(u16::from_be_bytes(number)),
            Err(end) => {
                assert_eq!(end, b"the end");
                return all;
            }
        }
    }
}

fn is_once(numbers: &[u16]) -> bool {
    let different: BTreeSet<_> = numbers.iter().collect();
    different.len() == numbers.len()
}

fn check(seed: u64) {
    let dir = tempfile::tempdir().expect("a folder");
    let on_disk = format!("\"data_dir\": {:?}, \"durability\": \"disk\", \"listeners\"", dir.path());
    let json = SN.replace("\"listeners\"", &on_disk).replace("\"retry_ms\": 200", "\"retry_ms\": 80");
    let first = node(&json);
    Client::connect_with(&first, &lasting("keeper")).0.subscribe("up", SubscriptionOptions::new(QoS::AtLeastOnce));
    let (mut sensor, relay) = Sensor::new("device", port(&first), seed);
    sensor.subscribe("down/#", QoS::ExactlyOnce);
    sensor.run("it subscribes", |sensor| sensor.owes() == 0);
    let mut publisher = connect(&first, "publisher");
    for (qos, number) in numbers() {
        sensor.publish(qos, number);
        match qos {
            QoS::ExactlyOnce => publish_twice_sure(&mut publisher, "down/two", &number.to_be_bytes()),
            _ => publisher.publish_acked("down/one", &number.to_be_bytes()),
        }
    }
    let (half, all) = (usize::from(MESSAGES) / 2, usize::from(MESSAGES));
    // In the middle of whatever is under way.
    sensor.run("half of it", |sensor| sensor.different(QoS::ExactlyOnce) >= half || sensor.owes() <= all);
    drop(first);
    let second = node(&json);
    relay.lead_to(port(&second));
    sensor.begin_anew();
    let has_all =
        |sensor: &Sensor| [QoS::AtLeastOnce, QoS::ExactlyOnce].iter().all(|qos| sensor.different(*qos) == all);
    sensor.run("all of it", |sensor| sensor.owes() == 0 && has_all(sensor));
    // Whatever would come once more has come by then.
    sensor.publish(QoS::AtLeastOnce, TWICE_SURE - 1);
    sensor.run("the last word", |sensor| sensor.owes() == 0);
    let twice_sure = |number: &u16| *number >= TWICE_SURE;
    let up = drain(&second);
    assert_eq!(up.iter().collect::<BTreeSet<_>>().len(), 2 * all + 1, "{seed}: {up:?}");
    assert!(is_once(&up.iter().copied().filter(twice_sure).collect::<Vec<_>>()), "{seed}: up {up:?}");
    let down: Vec<_> =
        sensor.payloads(QoS::ExactlyOnce).map(|number| u16::from_be_bytes([number[0], number[1]])).collect();
    assert!(is_once(&down), "{seed}: down {down:?}");
}

#[test]
fn of_one_seed() {
    check(1);
}

#[test]
fn of_another_seed() {
    check(2);
}
