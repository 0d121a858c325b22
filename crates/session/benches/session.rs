//! What one message costs a session. `cargo bench -p lapwing-session`.

use std::hint::black_box;
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_codec::{
    Ack, Connect, ConnectProperties, Limits, Packet, PacketId, Publish, PublishProperties, QoS, SubscriptionOptions,
    Version, decode,
};
use lapwing_session::{
    Accepted, Admission, Counters, Delivered, Grant, Io, Routed, Session, SessionKey, Settings, Step,
};
use lapwing_stopwatch::best_ns;

const ROUNDS: u32 = 1_000_000;

fn open(version: Version, out: &mut Vec<u8>, counters: &mut Counters) -> Session {
    let connect = Connect {
        version,
        is_bridge: false,
        clean_start: true,
        keep_alive_s: 60,
        client_id: "device-000123",
        will: None,
        username: None,
        password: None,
        properties: ConnectProperties::default(),
    };
    let admission = Admission::new(connect.client_id, false);
    let settings = Arc::new(Settings::default());
    Session::open(&connect, &admission, SessionKey(1), &settings, None, 0, &mut Io::new(out, counters)).session
}

fn message(qos: QoS) -> Publish<'static> {
    Publish {
        dup: false,
        qos,
        retain: false,
        topic: "spectrum/device-000123/readings",
        packet_id: PacketId::new(7).filter(|_| qos.is_acknowledged()),
        properties: PublishProperties::default(),
        payload: &[b'x'; 100],
    }
}

fn deliver(version: Version, qos: QoS) {
    let (mut out, mut counters) = (Vec::with_capacity(1 << 16), Counters::default());
    let mut session = open(version, &mut out, &mut counters);
    let grants = [Grant { options: SubscriptionOptions::new(qos), subscription_id: None }];
    let mut next = PacketId::MIN;
    let ns = best_ns(ROUNDS, |_| {
        out.clear();
        let mut io = Io::new(&mut out, &mut counters);
        let routed = Routed::new(black_box(message(qos)), SessionKey(2), 0);
        assert_eq!(session.deliver(&routed, grants.iter(), None, 0, &mut io), Delivered::Sent);
        if qos == QoS::AtLeastOnce {
            let puback = Packet::PubAck(Ack::success(next));
            let step = session.handle(&puback, 0, &mut io);
            assert!(matches!(step, Ok(Step::Done)));
            next = next.next();
        }
    });
    println!(
        "deliver QoS {} in {version:?}{:<20} {ns:>8.1} ns",
        qos as u8,
        if qos as u8 == 1 { " with its PUBACK" } else { "" }
    );
}

/// The same for a session that is kept: what it tells is taken.
fn deliver_kept(qos: QoS) {
    let (mut out, mut counters) = (Vec::with_capacity(1 << 16), Counters::default());
    let mut session = open(Version::V5, &mut out, &mut counters);
    session.keep(NonZeroU64::MIN);
    let grants = [Grant { options: SubscriptionOptions::new(qos), subscription_id: None }];
    let (mut next, mut entry, mut facts) = (PacketId::MIN, NonZeroU64::MIN, Vec::with_capacity(16));
    let ns = best_ns(ROUNDS, |_| {
        out.clear();
        facts.clear();
        let mut io = Io::new(&mut out, &mut counters);
        let routed = Routed::new(black_box(message(qos)), SessionKey(2), 0);
        assert_eq!(session.deliver(&routed, grants.iter(), Some(entry), 0, &mut io), Delivered::Sent);
        black_box(session.kept_options(entry));
        let acks = [
            Packet::PubAck(Ack::success(next)),
            Packet::PubRec(Ack::success(next)),
            Packet::PubComp(Ack::success(next)),
        ];
        let needed = if qos == QoS::AtLeastOnce { &acks[..1] } else { &acks[1..] };
        for ack in needed {
            assert!(matches!(session.handle(ack, 0, &mut io), Ok(Step::Done)));
            session.take_facts(&mut facts);
        }
        (next, entry) = (next.next(), entry.saturating_add(1));
    });
    println!("deliver QoS {} to a kept session with its acknowledgements {ns:>8.1} ns", qos as u8);
}

fn receive(version: Version, qos: QoS) {
    let (mut out, mut counters) = (Vec::with_capacity(1 << 16), Counters::default());
    let mut session = open(version, &mut out, &mut counters);
    let (mut bytes, limits) = (Vec::new(), Limits::default());
    message(qos).encode(version, &mut bytes).expect("it fits");
    let ns = best_ns(ROUNDS, |_| {
        out.clear();
        let mut io = Io::new(&mut out, &mut counters);
        let Ok(Some((packet, _))) = decode(black_box(&bytes), version, &limits) else { return };
        if let Ok(Step::Publish(inbound)) = session.handle(&packet, 0, &mut io) {
            black_box(inbound.publish());
            session.accept(inbound.receipt, Accepted::Now, &mut io);
        }
    });
    println!("decode + handle + accept QoS {} in {version:?}{:<7} {ns:>8.1} ns", qos as u8, "");
}

fn main() {
    println!("session: {} bytes, without what it keeps", size_of::<Session>());
    for version in [Version::V311, Version::V5] {
        for qos in [QoS::AtMostOnce, QoS::AtLeastOnce] {
            deliver(version, qos);
            receive(version, qos);
        }
    }
    deliver_kept(QoS::AtLeastOnce);
    deliver_kept(QoS::ExactlyOnce);
}
