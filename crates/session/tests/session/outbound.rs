//! Messages to the client: what a PUBLISH looks like, windows, retransmission.

use std::sync::Arc;

use lapwing_codec::{
    Ack, Connect, ConnectProperties, Packet, Publish, PublishProperties, QoS, ReasonCode, UserPropertiesBuf, Version,
};
use lapwing_session::{Delivered, DropReason, Grant, Message, Routed, Settings};

use crate::rig::{ME, OTHER, Rig, connect, connect_persistent, grant, grant_with_id, id, publish};

fn window_of(receive_max: u16, version: Version) -> Connect<'static> {
    let connect = connect_persistent(version);
    Connect { properties: ConnectProperties { receive_max, ..connect.properties }, ..connect }
}

/// The QoS of a copy is the lower one of what was published and what was granted [MQTT-3.8.4-8].
#[test]
fn qos_is_the_lower_of_published_and_granted() {
    let all = [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce];
    for published in all {
        for granted in all {
            let mut rig = Rig::v5();
            assert_eq!(rig.deliver(publish("t", published, 9), &[grant(granted)]), Delivered::Sent);
            let qos = rig.sent_one(|packet| match packet {
                Packet::Publish(publish) => publish.qos,
                other => panic!("{other:?}"),
            });
            assert_eq!(qos, published.min(granted));
        }
    }
}

/// Everything a publisher said arrives; what belongs to its connection does not.
#[test]
fn properties_are_passed_on() {
    let mut user = UserPropertiesBuf::new();
    [("a", "1"), ("b", "2"), ("a", "3")].iter().for_each(|(name, value)| user.push(name, value).unwrap());
    let properties = PublishProperties {
        payload_is_utf8: Some(true),
        message_expiry_s: Some(60),
        topic_alias: Some(4),
        response_topic: Some("answer/here"),
        correlation_data: Some(b"\x00\x01"),
        content_type: Some("text/plain"),
        user: user.as_ref(),
        ..PublishProperties::default()
    };
    let published = Publish { properties, dup: true, ..publish("t", QoS::ExactlyOnce, 77) };
    let mut rig = Rig::v5();
    // A copy straight from the publisher's bytes and one from a kept message must not differ.
    let kept = Arc::new(Message::new(&published, OTHER, Some(rig.now_ms + 60_000)));
    for routed in [Routed::new(published, OTHER, rig.now_ms), Routed::of(&kept)] {
        // [MQTT-3.3.2-4], [MQTT-3.3.2-15], [MQTT-3.3.2-16], [MQTT-3.3.2-17], [MQTT-3.3.2-18], [MQTT-3.3.2-20]
        let _ = rig.deliver_routed(&routed, &[grant(QoS::AtMostOnce)]);
        let expected = PublishProperties { topic_alias: None, ..properties };
        let is_equal = rig.sent_one(|packet| match packet {
            Packet::Publish(publish) => {
                (publish.topic, publish.payload, publish.dup) == ("t", &b"payload"[..], false)
                    && publish.properties == expected
            }
            _ => false,
        });
        assert!(is_equal);
    }
    let mut old = Rig::v311();
    let _ = old.deliver(published, &[grant(QoS::AtLeastOnce)]);
    assert_eq!(old.sent(), ["publish(1,1)"], "3.1.1 has no properties");
}

/// [MQTT-3.3.4-2, MQTT-3.3.4-3, MQTT-3.3.4-4] overlapping subscriptions: one copy, the highest QoS, all identifiers.
#[test]
fn overlapping_subscriptions_get_one_copy() {
    let look = |packet: Packet<'_>| match packet {
        Packet::Publish(publish) => {
            (publish.qos, publish.properties.subscription_ids.iter().map(|id| id.get()).collect::<Vec<_>>())
        }
        other => panic!("{other:?}"),
    };
    let grants = [
        grant_with_id(QoS::AtMostOnce, 10),
        grant_with_id(QoS::AtLeastOnce, 20_000),
        grant(QoS::AtMostOnce),
        grant_with_id(QoS::AtMostOnce, 3),
    ];
    for (count, ids) in [(1, vec![10]), (2, vec![10, 20_000]), (4, vec![10, 20_000, 3])] {
        let mut rig = Rig::v5();
        let _ = rig.deliver(publish("t", QoS::ExactlyOnce, 9), &grants[..count]);
        let qos = if count == 1 { QoS::AtMostOnce } else { QoS::AtLeastOnce };
        assert_eq!(rig.sent_one(look), (qos, ids));
    }
}

/// [MQTT-3.8.3-3] No Local: not to the publisher itself; another subscription without it still matches.
#[test]
fn no_local_keeps_own_messages_away() {
    let mut rig = Rig::v5();
    let mut no_local = grant_with_id(QoS::AtMostOnce, 1);
    no_local.options.no_local = true;
    let own = Routed::new(publish("t", QoS::AtMostOnce, 0), ME, rig.now_ms);
    assert_eq!(rig.deliver_routed(&own, &[no_local]), Delivered::NotLocal);
    assert_eq!(rig.deliver_routed(&own, &[no_local, grant(QoS::AtMostOnce)]), Delivered::Sent);
    assert_eq!(rig.deliver(publish("t", QoS::AtMostOnce, 0), &[no_local]), Delivered::Sent);
}

/// [MQTT-3.3.1-12, MQTT-3.3.1-13] RETAIN: 0 on live messages, as published where asked for, 1 on replay.
#[test]
fn the_retain_flag() {
    let flag = |packet: Packet<'_>| matches!(packet, Packet::Publish(Publish { retain: true, .. }));
    let mut as_published = grant(QoS::AtMostOnce);
    as_published.options.retain_as_published = true;
    for (retain, grant, expected) in
        [(true, grant(QoS::AtMostOnce), false), (true, as_published, true), (false, as_published, false)]
    {
        let mut rig = Rig::v5();
        let _ = rig.deliver(Publish { retain, ..publish("t", QoS::AtMostOnce, 0) }, &[grant]);
        assert_eq!(rig.sent_one(flag), expected);
    }
    let kept = Arc::new(Message::new(&Publish { retain: true, ..publish("t", QoS::AtMostOnce, 0) }, OTHER, None));
    let mut rig = Rig::v5();
    let _ = rig.deliver_routed(&Routed::retained(&kept), &[grant(QoS::AtMostOnce)]);
    assert!(rig.sent_one(flag));
}

/// [MQTT-3.3.2-5, MQTT-3.3.2-6] an expired message is not sent; a waiting one goes with the time that is left.
#[test]
fn message_expiry_counts_down() {
    let properties = PublishProperties { message_expiry_s: Some(10), ..PublishProperties::default() };
    let message = Publish { properties, ..publish("t", QoS::AtLeastOnce, 1) };
    let again = connect_persistent(Version::V5);
    for (waited_ms, left) in [(0, Some(10)), (2_500, Some(8)), (9_999, Some(1)), (10_000, None)] {
        let mut rig = Rig::connected(&again, Settings::default());
        assert!(!rig.disconnected().ended);
        assert_eq!(rig.deliver(message, &[grant(QoS::AtLeastOnce)]), Delivered::Queued);
        rig.now_ms += waited_ms;
        rig.connect(&again);
        let out = std::mem::take(&mut rig.out);
        let sent = crate::rig::packets(&out, Version::V5, |packet| match packet {
            Packet::Publish(publish) => publish.properties.message_expiry_s,
            _ => None,
        });
        assert_eq!(sent.get(1).copied().flatten(), left, "after {waited_ms} ms");
        assert_eq!(rig.counters.dropped(DropReason::Expired), u64::from(left.is_none()));
    }
    let mut rig = Rig::v5();
    let late = Routed::with_deadline(publish("t", QoS::AtMostOnce, 0), OTHER, Some(rig.now_ms));
    assert_eq!(rig.deliver_routed(&late, &[grant(QoS::AtMostOnce)]), Delivered::Dropped(DropReason::Expired));
}

/// [MQTT-3.1.2-24, MQTT-3.1.2-25] a packet larger than the client takes is dropped for it alone, as if delivered.
#[test]
fn a_message_too_large_for_the_client_is_dropped_for_it() {
    let properties = ConnectProperties { packet_bytes_max: Some(30), ..connect_persistent(Version::V5).properties };
    let small = Connect { properties, ..connect_persistent(Version::V5) };
    let large = Publish { payload: &[b'x'; 40], ..publish("t", QoS::AtLeastOnce, 1) };
    for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let mut rig = Rig::connected(&small, Settings::default());
        let dropped = Delivered::Dropped(DropReason::PacketTooLarge);
        assert_eq!(rig.deliver(Publish { qos, ..large }, &[grant(qos)]), dropped);
        assert_eq!(rig.deliver(publish("t", qos, 1), &[grant(qos)]), Delivered::Sent);
        assert_eq!(rig.counters.dropped(DropReason::PacketTooLarge), 1);
    }
    // Queued or sent before the client came back with a smaller limit: the others go on.
    let mut rig = Rig::connected(&connect_persistent(Version::V5), Settings::default());
    let _ = rig.deliver(large, &[grant(QoS::AtLeastOnce)]);
    let _ = rig.deliver(publish("t", QoS::AtLeastOnce, 1), &[grant(QoS::AtLeastOnce)]);
    assert!(!rig.disconnected().ended);
    let _ = rig.deliver(large, &[grant(QoS::AtLeastOnce)]);
    let _ = rig.deliver(publish("t", QoS::AtLeastOnce, 1), &[grant(QoS::AtLeastOnce)]);
    rig.connect(&small);
    assert_eq!(rig.sent()[1..], ["publish(1,2,dup)", "publish(1,3)"]);
    assert_eq!((rig.counters.dropped(DropReason::PacketTooLarge), rig.session().inflight_messages()), (2, 2));
}

/// [MQTT-3.3.4-9, MQTT-3.3.4-10, MQTT-4.9.0-2, MQTT-4.9.0-3] the client's Receive Maximum bounds what is under way, QoS 0 aside.
#[test]
fn the_window_is_the_clients_receive_maximum() {
    let mut rig = Rig::connected(&window_of(2, Version::V5), Settings::default());
    let both = [QoS::AtLeastOnce, QoS::ExactlyOnce];
    let results: Vec<_> =
        (0..4).map(|n| rig.deliver(publish("t", both[n % 2], 1), &[grant(QoS::ExactlyOnce)])).collect();
    assert_eq!(results, [Delivered::Sent, Delivered::Sent, Delivered::Queued, Delivered::Queued]);
    assert_eq!(rig.deliver(publish("t", QoS::AtMostOnce, 0), &[grant(QoS::AtMostOnce)]), Delivered::Sent);
    assert_eq!(rig.sent(), ["publish(1,1)", "publish(2,2)", "publish(0,0)"]);
    rig.done(Packet::PubAck(Ack::success(id(1))));
    assert_eq!(rig.sent(), ["publish(1,3)"]);
    rig.done(Packet::PubRec(Ack::success(id(2))));
    assert_eq!(rig.sent(), ["pubrel(2)"], "the place is free at PUBCOMP");
    rig.done(Packet::PubComp(Ack::success(id(2))));
    assert_eq!(rig.sent(), ["publish(2,4)"]);
    // A PUBREC with an error frees the place too.
    let _ = rig.deliver(publish("t", QoS::AtLeastOnce, 1), &[grant(QoS::ExactlyOnce)]);
    rig.done(Packet::PubRec(Ack::new(id(4), ReasonCode::QuotaExceeded)));
    assert_eq!(rig.sent(), ["publish(1,5)"]);
}

/// [MQTT-4.4.0-1, MQTT-4.3.3-6, MQTT-4.6.0-5, MQTT-3.3.1-1] after a reconnect unacknowledged messages go again, with DUP, their ids and
/// in their order; PUBREL where PUBREC had come; then what waited.
#[test]
fn unacknowledged_messages_are_repeated_in_order() {
    for version in [Version::V5, Version::V311] {
        let again = connect_persistent(version);
        let mut rig = Rig::connected(&again, Settings { inflight_messages_max: 4, ..Settings::default() });
        for qos in [QoS::ExactlyOnce, QoS::AtLeastOnce, QoS::ExactlyOnce, QoS::AtLeastOnce, QoS::AtLeastOnce] {
            let _ = rig.deliver(publish("t", qos, 9), &[grant(QoS::ExactlyOnce)]);
        }
        rig.done(Packet::PubRec(Ack::success(id(1))));
        rig.done(Packet::PubAck(Ack::success(id(2))));
        assert_eq!(
            rig.reconnect(&again),
            ["connack(0x00,true)", "pubrel(1)", "publish(2,3,dup)", "publish(1,4,dup)", "publish(1,5,dup)"]
        );
        rig.done(Packet::PubComp(Ack::success(id(1))));
        rig.done(Packet::PubRec(Ack::success(id(3))));
        assert_eq!(rig.sent(), ["pubrel(3)"]);
        assert_eq!(rig.counters.retransmitted, 4);
    }
}

/// A client that comes back with a smaller window gets the repeats as it acknowledges, before anything new.
///
/// Shows 5.0: MQTT-3.3.4-9, MQTT-4.9.0-2.
#[test]
fn repeats_keep_to_a_smaller_window() {
    let mut rig = Rig::connected(&window_of(5, Version::V5), Settings::default());
    rig.deliver_times(5, publish("t", QoS::AtLeastOnce, 9), &[grant(QoS::AtLeastOnce)]);
    assert_eq!(rig.reconnect(&window_of(2, Version::V5))[1..], ["publish(1,1,dup)", "publish(1,2,dup)"]);
    assert_eq!(rig.deliver(publish("t", QoS::AtLeastOnce, 9), &[grant(QoS::AtLeastOnce)]), Delivered::Queued);
    for (acknowledged, next) in [(2, "publish(1,3,dup)"), (1, "publish(1,4,dup)"), (4, "publish(1,5,dup)")] {
        rig.done(Packet::PubAck(Ack::success(id(acknowledged))));
        assert_eq!(rig.sent(), [next]);
    }
    rig.done(Packet::PubAck(Ack::success(id(3))));
    assert_eq!(rig.sent(), ["publish(1,6)"]);
    // One that was not repeated yet may be acknowledged all the same: the client had it from the first connection.
    rig.reconnect(&window_of(1, Version::V5));
    rig.done(Packet::PubAck(Ack::success(id(6))));
    rig.done(Packet::PubAck(Ack::success(id(5))));
    assert_eq!((rig.sent(), rig.session().inflight_messages()), (vec![], 0));
}

/// Packet ids go round; one that is still in use is never given out again.
///
/// Shows 5.0: MQTT-2.2.1-4, MQTT-4.3.2-1, MQTT-4.3.3-1. Shows 3.1.1: MQTT-2.3.1-4.
#[test]
fn packet_ids_wrap_around_one_that_stays() {
    let settings = Settings { inflight_messages_max: u16::MAX, ..Settings::default() };
    let mut rig = Rig::connected(&connect(Version::V5), settings);
    let message = publish("t", QoS::AtLeastOnce, 9);
    for n in 1..=u16::MAX {
        assert_eq!(rig.deliver(message, &[grant(QoS::AtLeastOnce)]), Delivered::Sent);
        if n > 1 {
            rig.done(Packet::PubAck(Ack::success(id(n))));
        }
        rig.out.clear();
    }
    assert_eq!(rig.deliver(message, &[grant(QoS::AtLeastOnce)]), Delivered::Queued, "every id would be behind id 1");
    rig.done(Packet::PubAck(Ack::success(id(1))));
    assert_eq!(rig.sent(), ["publish(1,1)"]);
}

/// A large window whose ids go round loses nothing: whichever is acknowledged, the others are repeated in their order.
///
/// Shows 5.0: MQTT-4.4.0-1, MQTT-4.6.0-1. Shows 3.1.1: MQTT-4.4.0-1, MQTT-4.6.0-1.
#[test]
fn a_large_window_over_the_end_of_the_ids_keeps_the_rest() {
    const UNDER_WAY: u16 = 60;
    let again = window_of(u16::MAX, Version::V5);
    let mut rig = Rig::connected(&again, Settings { inflight_messages_max: u16::MAX, ..Settings::default() });
    let message = publish("t", QoS::AtLeastOnce, 9);
    let first = u16::MAX - UNDER_WAY / 2;
    for n in 1..first {
        rig.deliver_times(1, message, &[grant(QoS::AtLeastOnce)]);
        rig.done(Packet::PubAck(Ack::success(id(n))));
        rig.out.clear();
    }
    rig.deliver_times(UNDER_WAY.into(), message, &[grant(QoS::AtLeastOnce)]);
    let ids = (0..UNDER_WAY).map(|n| if first <= u16::MAX - n { first + n } else { n - (u16::MAX - first) });
    let (acknowledged, rest): (Vec<u16>, Vec<u16>) = ids.partition(|n| n % 3 == 0);
    for n in acknowledged.into_iter().rev() {
        rig.done(Packet::PubAck(Ack::success(id(n))));
    }
    assert_eq!(rig.session().inflight_messages(), rest.len());
    let repeated: Vec<String> = rest.iter().map(|n| format!("publish(1,{n},dup)")).collect();
    assert_eq!(rig.reconnect(&again)[1..], repeated);
}

/// What is under way is bounded in bytes too: more of it waits, whoever asks, until something is acknowledged.
#[test]
fn the_window_is_bounded_in_bytes() {
    let message = publish("t", QoS::AtLeastOnce, 9);
    let queue_bytes_max = Routed::new(message, crate::rig::OTHER, 0).keep().footprint() as u64;
    let mut rig = Rig::connected(&connect(Version::V5), Settings { queue_bytes_max, ..Settings::default() });
    assert_eq!(rig.deliver(message, &[grant(QoS::AtLeastOnce)]), Delivered::Sent);
    assert_eq!(rig.deliver(message, &[grant(QoS::AtLeastOnce)]), Delivered::Queued);
    rig.pump();
    assert_eq!(rig.sent(), ["publish(1,1)"]);
    rig.done(Packet::PubAck(Ack::success(id(1))));
    assert_eq!(rig.sent(), ["publish(1,2)"]);
}

/// The first receiver that has to keep a message makes the copy; all others share it.
#[test]
fn receivers_share_one_copy() {
    let routed = Routed::new(publish("t", QoS::AtLeastOnce, 1), OTHER, 0);
    let grants: [Grant; 1] = [grant(QoS::AtLeastOnce)];
    let mut rigs: Vec<_> = (0..3).map(|_| Rig::v5()).collect();
    for rig in &mut rigs {
        assert_eq!(rig.deliver_routed(&routed, &grants), Delivered::Sent);
    }
    assert_eq!(Arc::strong_count(routed.keep()), 4);
}
