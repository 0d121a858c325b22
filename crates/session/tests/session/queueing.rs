//! What waits, for how much, and who is told when it is too much.

use std::sync::Arc;

use lapwing_codec::{Ack, Packet, Publish, PublishProperties, QoS, ReasonCode, Version};
use lapwing_session::{Delivered, DropReason, Message, QueuePolicy, Settings};

use crate::rig::{OTHER, Rig, connect_persistent, grant, id, packets, publish};

fn numbered(payload: &[u8]) -> Publish<'_> {
    Publish { payload, ..publish("t", QoS::AtLeastOnce, 1) }
}

/// A session that is away and may keep three messages.
fn away(queue_policy: QueuePolicy) -> Rig {
    let settings = Settings { queue_messages_max: 3, queue_policy, ..Settings::default() };
    let mut rig = Rig::connected(&connect_persistent(Version::V5), settings);
    assert!(!rig.disconnected().ended);
    rig
}

/// Delivers messages "0".."5" to a session that is away; returns the results and what it gets when it is back.
fn fill(rig: &mut Rig) -> (Vec<Delivered>, Vec<u8>) {
    let deliver = |n| rig.deliver(numbered(&[n]), &[grant(QoS::AtLeastOnce)]);
    let results = (b'0'..b'5').map(deliver).collect();
    rig.connect(&connect_persistent(Version::V5));
    let out = std::mem::take(&mut rig.out);
    let payloads = packets(&out, Version::V5, |packet| match packet {
        Packet::Publish(publish) => publish.payload.to_vec(),
        _ => Vec::new(),
    });
    (results, payloads.concat())
}

/// A full queue drops the oldest or the newest, as set, and counts each.
#[test]
fn a_full_queue_follows_its_policy() {
    let dropped = Delivered::Dropped(DropReason::QueueFull);
    let mut rig = away(QueuePolicy::DropOldest);
    assert_eq!(fill(&mut rig), (vec![Delivered::Queued; 5], b"234".to_vec()));
    assert_eq!(rig.counters.dropped(DropReason::QueueFull), 2);
    for policy in [QueuePolicy::DropNewest, QueuePolicy::Disconnect] {
        let mut rig = away(policy);
        let queued = Delivered::Queued;
        assert_eq!(fill(&mut rig), (vec![queued, queued, queued, dropped, dropped], b"012".to_vec()));
        assert_eq!(rig.counters.dropped(DropReason::QueueFull), 2);
    }
}

/// Under the policy "disconnect" a client that does not keep up is told 0x97.
#[test]
fn a_slow_client_is_disconnected_if_so_set() {
    let settings = Settings {
        queue_messages_max: 1,
        inflight_messages_max: 1,
        queue_policy: QueuePolicy::Disconnect,
        ..Settings::default()
    };
    let mut rig = Rig::connected(&connect_persistent(Version::V5), settings);
    let results: Vec<_> = (0..3).map(|_| rig.deliver(numbered(b"x"), &[grant(QoS::AtLeastOnce)])).collect();
    assert!(matches!(&results[..], [Delivered::Sent, Delivered::Queued, Delivered::Overflow(close)]
        if close.reason == ReasonCode::QuotaExceeded));
    assert_eq!(rig.sent(), ["publish(1,1)", "disconnect(0x97)"]);
}

/// Bytes are bounded as well, and are given back.
#[test]
fn the_queue_is_bounded_in_bytes() {
    let settings = Settings { queue_bytes_max: 3000, ..Settings::default() };
    let mut rig = Rig::connected(&connect_persistent(Version::V5), settings);
    assert!(!rig.disconnected().ended);
    let large = [b'x'; 1000];
    rig.deliver_times(5, numbered(&large), &[grant(QoS::AtLeastOnce)]);
    assert_eq!((rig.session().queued_messages(), rig.counters.dropped(DropReason::QueueFull)), (2, 3));
    assert!(rig.session().queued_bytes() <= 3000);
    let huge = [b'x'; 4000];
    assert_eq!(
        rig.deliver(numbered(&huge), &[grant(QoS::AtLeastOnce)]),
        Delivered::Dropped(DropReason::QueueFull),
        "one that can never fit drives no other out"
    );
    assert_eq!(rig.session().queued_messages(), 2);
    rig.connect(&connect_persistent(Version::V5));
    assert_eq!((rig.session().queued_messages(), rig.session().queued_bytes()), (0, 0));
}

/// A queue takes messages up to exactly its bound; one byte less of it, and there is no room.
#[test]
fn the_bound_in_bytes_is_inclusive() {
    let bytes = Message::new(&numbered(b"x"), OTHER, None).footprint() as u64;
    for (queue_bytes_max, waiting) in [(2 * bytes, 2), (2 * bytes - 1, 1)] {
        let settings = Settings { queue_bytes_max, queue_policy: QueuePolicy::DropNewest, ..Settings::default() };
        let mut rig = Rig::connected(&connect_persistent(Version::V5), settings);
        assert!(!rig.disconnected().ended);
        rig.deliver_times(3, numbered(b"x"), &[grant(QoS::AtLeastOnce)]);
        assert_eq!((rig.session().queued_messages(), rig.session().queued_bytes()), (waiting, waiting as u64 * bytes));
    }
}

/// What has expired makes room first, under its own name, and under any policy.
#[test]
fn expired_messages_make_room() {
    for policy in [QueuePolicy::DropOldest, QueuePolicy::DropNewest, QueuePolicy::Disconnect] {
        let mut rig = away(policy);
        let properties = PublishProperties { message_expiry_s: Some(1), ..PublishProperties::default() };
        rig.deliver_times(2, Publish { properties, ..numbered(b"x") }, &[grant(QoS::AtLeastOnce)]);
        rig.now_ms += 1000;
        assert_eq!(rig.deliver(numbered(b"y"), &[grant(QoS::AtLeastOnce)]), Delivered::Queued);
        assert_eq!(rig.counters.dropped(DropReason::Expired), 0, "there was room");
        assert_eq!(rig.deliver(numbered(b"z"), &[grant(QoS::AtLeastOnce)]), Delivered::Queued);
        let dropped = [DropReason::Expired, DropReason::QueueFull].map(|reason| rig.counters.dropped(reason));
        assert_eq!((dropped, rig.session().queued_messages()), ([2, 0], 2), "{policy:?}");
    }
}

/// A message as large as the whole bound drives all others out, where the oldest give way; a larger one drives out none.
#[test]
fn a_message_of_the_whole_bound_fits() {
    let whole = Message::new(&numbered(&[b'x'; 1000]), OTHER, None).footprint() as u64;
    for (queue_bytes_max, last, waiting) in
        [(whole, Delivered::Queued, 1), (whole - 1, Delivered::Dropped(DropReason::QueueFull), 2)]
    {
        let mut rig =
            Rig::connected(&connect_persistent(Version::V5), Settings { queue_bytes_max, ..Settings::default() });
        assert!(!rig.disconnected().ended);
        rig.deliver_times(2, numbered(b"x"), &[grant(QoS::AtLeastOnce)]);
        assert_eq!(rig.deliver(numbered(&[b'x'; 1000]), &[grant(QoS::AtLeastOnce)]), last);
        assert_eq!(rig.session().queued_messages(), waiting);
    }
}

/// Messages are counted while anybody keeps them, each once, with everything that they hold.
#[test]
fn messages_are_counted_while_they_live() {
    let (count, bytes) = (Message::balance(), Message::balance_bytes());
    let small = Arc::new(Message::new(&numbered(b"x"), OTHER, None));
    let shared = Arc::clone(&small);
    let large = Message::new(&numbered(&[b'x'; 1000]), OTHER, None);
    assert!(small.footprint() > size_of::<Message>() && large.footprint() == small.footprint() + 999);
    let both = (small.footprint() + large.footprint()) as i64;
    assert_eq!((Message::balance() - count, Message::balance_bytes() - bytes), (2, both));
    drop(small);
    assert_eq!(Message::balance() - count, 2, "somebody still has it");
    drop((shared, large));
    assert_eq!((Message::balance(), Message::balance_bytes()), (count, bytes));
}

/// What is sent and not acknowledged is bounded in bytes as well; PUBACK and PUBREC free them.
#[test]
fn the_window_is_bounded_in_bytes() {
    for qos in [QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let settings = Settings { queue_bytes_max: 1900, ..Settings::default() };
        let mut rig = Rig::connected(&connect_persistent(Version::V5), settings);
        let message = Publish { qos, payload: &[b'x'; 900], ..publish("t", qos, 1) };
        let results: Vec<_> = (0..3).map(|_| rig.deliver(message, &[grant(qos)])).collect();
        assert_eq!(results[..3], [Delivered::Sent, Delivered::Sent, Delivered::Queued]);
        rig.out.clear();
        let ack = Ack::success(id(1));
        rig.done(if qos == QoS::AtLeastOnce { Packet::PubAck(ack) } else { Packet::PubRec(ack) });
        assert_eq!(rig.sent().last().map(String::as_str), Some(&*format!("publish({},3)", qos as u8)));
    }
}

/// QoS 0 is not kept for a client that is away, nor for one that does not read: dropped under a name.
#[test]
fn qos0_does_not_wait() {
    let mut rig =
        Rig::connected(&connect_persistent(Version::V5), Settings { output_high_bytes: 100, ..Settings::default() });
    let message = publish("t", QoS::AtMostOnce, 0);
    let results: Vec<_> = (0..12).map(|_| rig.deliver(message, &[grant(QoS::AtMostOnce)])).collect();
    assert_eq!(results.first(), Some(&Delivered::Sent));
    assert_eq!(results.last(), Some(&Delivered::Dropped(DropReason::OutputFull)));
    assert!(rig.out.len() < 120);
    assert!(!rig.disconnected().ended);
    assert_eq!(rig.deliver(message, &[grant(QoS::AtMostOnce)]), Delivered::Dropped(DropReason::Offline));
}

/// While the output buffer is too long QoS 1 waits; `pump` goes on when it has been flushed, in order.
#[test]
fn a_long_output_buffer_closes_the_window() {
    let settings = Settings { output_high_bytes: 20, ..Settings::default() };
    let mut rig = Rig::connected(&connect_persistent(Version::V5), settings);
    let results: Vec<_> = (0..5).map(|_| rig.deliver(numbered(b"0123456789"), &[grant(QoS::AtLeastOnce)])).collect();
    assert_eq!(results[..2], [Delivered::Sent; 2]);
    assert_eq!(results[2..], [Delivered::Queued; 3]);
    rig.done(Packet::PubAck(Ack::success(id(1))));
    assert_eq!(rig.sent(), ["publish(1,1)", "publish(1,2)"], "the buffer was still long");
    let late = rig.deliver(numbered(b"late"), &[grant(QoS::AtLeastOnce)]);
    assert_eq!(late, Delivered::Queued, "there is room, but others came before");
    rig.pump();
    assert_eq!(rig.sent(), ["publish(1,3)", "publish(1,4)"]);
    rig.pump();
    assert_eq!(rig.sent(), ["publish(1,5)", "publish(1,6)"]);
}

/// A session that is away and may keep messages for a minute.
fn away_for_a_minute(settings: Settings) -> Rig {
    let settings = Settings { queue_age_ms_max: 60_000, ..settings };
    let mut rig = Rig::connected(&connect_persistent(Version::V5), settings);
    assert!(!rig.disconnected().ended);
    rig
}

/// What the client is sent when it comes back: payloads, and their Message Expiry Intervals.
fn back(rig: &mut Rig) -> Vec<(Vec<u8>, Option<u32>)> {
    rig.connect(&connect_persistent(Version::V5));
    let out = std::mem::take(&mut rig.out);
    let sent = packets(&out, Version::V5, |packet| match packet {
        Packet::Publish(publish) => Some((publish.payload.to_vec(), publish.properties.message_expiry_s)),
        _ => None,
    });
    sent.into_iter().flatten().collect()
}

/// Does a message wait as long as it may and no longer, and is it counted under the limit's own name?
#[test]
fn a_message_that_is_too_old_is_dropped() {
    let mut rig = away_for_a_minute(Settings::default());
    rig.deliver_times(2, numbered(b"old"), &[grant(QoS::AtLeastOnce)]);
    rig.now_ms += 1;
    rig.deliver_times(1, numbered(b"young"), &[grant(QoS::AtLeastOnce)]);
    rig.now_ms += 59_999;
    assert_eq!(back(&mut rig), [(b"young".to_vec(), None)]);
    assert_eq!(rig.counters.dropped(DropReason::QueueAge), 2);
    // What is under way does not wait any more.
    rig.now_ms += 600_000;
    assert_eq!(rig.reconnect(&connect_persistent(Version::V5)), ["connack(0x00,true)", "publish(1,1,dup)"]);
}

/// [MQTT-3.3.2-6] Does the client see its publisher's interval less the time of waiting, whatever the broker's own bound is?
#[test]
fn a_bound_on_the_age_is_no_message_expiry_interval() {
    let mut rig = away_for_a_minute(Settings::default());
    let expiring = |message_expiry_s| PublishProperties { message_expiry_s, ..PublishProperties::default() };
    for (payload, message_expiry_s) in [(b"1", Some(100)), (b"2", Some(20)), (b"3", None)] {
        let message = Publish { properties: expiring(message_expiry_s), ..numbered(payload) };
        rig.deliver_times(1, message, &[grant(QoS::AtLeastOnce)]);
    }
    rig.now_ms += 30_000;
    assert_eq!(back(&mut rig), [(b"1".to_vec(), Some(70)), (b"3".to_vec(), None)]);
    let dropped = [DropReason::Expired, DropReason::QueueAge].map(|reason| rig.counters.dropped(reason));
    assert_eq!(dropped, [1, 0], "its publisher's word comes first");
}

/// Do messages that are too old make room, under any policy?
#[test]
fn messages_that_are_too_old_make_room() {
    for queue_policy in [QueuePolicy::DropOldest, QueuePolicy::DropNewest, QueuePolicy::Disconnect] {
        let mut rig = away_for_a_minute(Settings { queue_messages_max: 2, queue_policy, ..Settings::default() });
        rig.deliver_times(2, numbered(b"x"), &[grant(QoS::AtLeastOnce)]);
        rig.now_ms += 60_000;
        assert_eq!(rig.deliver(numbered(b"y"), &[grant(QoS::AtLeastOnce)]), Delivered::Queued);
        let dropped = [DropReason::QueueAge, DropReason::QueueFull].map(|reason| rig.counters.dropped(reason));
        assert_eq!((dropped, rig.session().queued_messages()), ([2, 0], 1), "{queue_policy:?}");
    }
}
