//! What one QoS 0 PUBLISH costs: 20 bytes of topic, 64 bytes of payload.
//!
//! `cargo bench -p lapwing-codec`. Prints nanoseconds per packet, the best of several rounds: the cost itself, not what
//! else the machine did meanwhile.

use std::hint::black_box;
use std::time::{Duration, Instant};

use lapwing_codec::{
    Limits, Packet, PacketId, Publish, PublishProperties, QoS, SubscriptionId, SubscriptionIds, UserPropertiesBuf,
    Version, decode,
};

const TOPIC: &str = "spectrum/dev-0000001";
const PAYLOAD: [u8; 64] = [b'x'; 64];
const ROUNDS: usize = 400;
/// Shorter than a time slice, so that the best round was not interrupted.
const ROUND: Duration = Duration::from_micros(1500);
/// Packets per buffer: what one read from a socket may bring.
const BATCH: usize = 256;

fn main() {
    println!("PUBLISH, {} B topic, {} B payload; ns per packet (best of {ROUNDS})", TOPIC.len(), PAYLOAD.len());
    println!("{:<40}{:>10}{:>10}{:>10}", "", "bytes", "decode", "encode");
    let mut user = UserPropertiesBuf::new();
    user.push("lapwing-sent-at-us", "1575205500000000").expect("short strings fit");
    let id = SubscriptionId::new(7).expect("7 is an identifier");
    let plain = PublishProperties::default();
    let rich = PublishProperties { user: user.as_ref(), subscription_ids: SubscriptionIds::one(id), ..plain };
    row("3.1.1, QoS 0", Version::V311, QoS::AtMostOnce, plain);
    row("5.0, QoS 0", Version::V5, QoS::AtMostOnce, plain);
    row("5.0, QoS 1", Version::V5, QoS::AtLeastOnce, plain);
    row("5.0, QoS 0, user property and id", Version::V5, QoS::AtMostOnce, rich);
}

fn row(name: &str, version: Version, qos: QoS, properties: PublishProperties<'_>) {
    let packet_id = qos.is_acknowledged().then_some(PacketId::MAX);
    let publish = Publish { dup: false, qos, retain: false, topic: TOPIC, packet_id, properties, payload: &PAYLOAD };
    let len = publish.encoded_len(version);
    let (decode, encode) = (decode_ns(&publish, version), encode_ns(&publish, version));
    println!("{name:<40}{len:>10}{decode:>10.1}{encode:>10.1}");
}

fn decode_ns(publish: &Publish<'_>, version: Version) -> f64 {
    let limits = Limits::default();
    let mut bytes = Vec::new();
    for _ in 0..BATCH {
        publish.encode(version, &mut bytes).expect("the packet is valid");
    }
    best_ns(|| {
        let mut rest = black_box(&bytes[..]);
        while let Ok(Some((packet, len))) = decode(rest, version, &limits) {
            if let Packet::Publish(publish) = &packet {
                black_box((publish.topic, publish.payload));
            }
            rest = &rest[len..];
        }
        assert!(rest.is_empty());
    })
}

fn encode_ns(publish: &Publish<'_>, version: Version) -> f64 {
    let mut out = Vec::with_capacity(BATCH * 256);
    best_ns(|| {
        out.clear();
        for _ in 0..BATCH {
            black_box(publish).encode(version, &mut out).expect("the packet is valid");
        }
        black_box(&out);
    })
}

/// The best round's nanoseconds per packet of `batch`, which handles `BATCH` packets.
fn best_ns(mut batch: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let (start, mut packets) = (Instant::now(), 0);
        while start.elapsed() < ROUND {
            batch();
            packets += BATCH;
        }
        best = best.min(start.elapsed().as_nanos() as f64 / packets as f64);
    }
    best
}
