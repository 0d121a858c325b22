//! What a kept session tells, and what a session that is not kept does not.

use std::num::NonZeroU64;

use lapwing_codec::{Ack, ConnectProperties, Disconnect, Packet, PublishProperties, QoS, ReasonCode, Version};
use lapwing_session::{
    Accepted, Bound, CommitToken, Delivered, DropReason, Fact, Fate, Io, Origin, QueuePolicy, Routed, Settings,
};

use crate::rig::{ME, OTHER, Rig, connect, connect_persistent, entry, grant, grant_with_id, id, publish};

const QOS1: QoS = QoS::AtLeastOnce;
const QOS2: QoS = QoS::ExactlyOnce;

/// Connected and kept under the name 100.
fn kept(settings: Settings) -> Rig {
    let mut rig = Rig::connected(&connect_persistent(Version::V5), settings);
    rig.session().keep(entry(100));
    rig
}

fn finished(n: u64) -> Fact {
    Fact::Finished { entry: entry(n) }
}

fn sent(packet_id: u16, n: u64) -> Fact {
    Fact::PublishSent { packet_id: id(packet_id), entry: entry(n) }
}

/// QoS, RETAIN and identifiers under which the entry was kept.
fn options(rig: &mut Rig, n: u64) -> Option<(QoS, bool, Vec<u32>)> {
    let options = rig.session().kept_options(entry(n))?;
    Some((options.qos, options.retain, options.ids.iter().map(|id| id.get()).collect()))
}

/// Is QoS 1 told once, when it is done?
#[test]
fn qos_1_tells_its_end() {
    let mut rig = kept(Settings::default());
    assert_eq!(rig.deliver_entry(publish("t", QOS1, 1), &[grant(QOS1)], 7), Delivered::Sent);
    assert_eq!((options(&mut rig, 7), rig.facts()), (Some((QOS1, false, vec![])), vec![]));
    rig.done(Packet::PubAck(Ack::success(id(1))));
    rig.done(Packet::PubAck(Ack::success(id(1))));
    assert_eq!((rig.facts(), options(&mut rig, 7)), (vec![finished(7)], None));
}

/// Does QoS 2 tell its packet id, the PUBREC and its end, and a refusal only that?
#[test]
fn qos_2_tells_each_step() {
    let mut rig = kept(Settings::default());
    assert_eq!(rig.deliver_entry(publish("t", QOS2, 1), &[grant(QOS2)], 7), Delivered::Sent);
    assert_eq!(rig.facts(), [sent(1, 7)]);
    rig.done(Packet::PubRec(Ack::success(id(1))));
    assert_eq!(rig.facts(), [Fact::PubRecReceived { packet_id: id(1) }]);
    rig.done(Packet::PubRec(Ack::success(id(1))));
    rig.done(Packet::PubComp(Ack::success(id(1))));
    assert_eq!(rig.facts(), [finished(7)]);
    assert_eq!(rig.deliver_entry(publish("t", QOS2, 1), &[grant(QOS2)], 8), Delivered::Sent);
    rig.done(Packet::PubRec(Ack::new(id(2), ReasonCode::QuotaExceeded)));
    assert_eq!(rig.facts(), [sent(2, 8), finished(8)]);
}

/// Which facts hold back what was written with them?
#[test]
fn three_facts_fence_output() {
    let packet_id = id(1);
    let holding = [sent(1, 1), Fact::PubRecReceived { packet_id }, Fact::Released { packet_id }];
    assert!(holding.iter().all(Fact::fences_output));
    assert!(![finished(1), Fact::Received { packet_id, use_number: 1 }].iter().any(Fact::fences_output));
}

/// Are messages that wait told when they are sent, and those that give way or expire when they go?
#[test]
fn what_leaves_the_queue_is_told() {
    let mut rig = kept(Settings { queue_messages_max: 2, ..Settings::default() });
    assert!(!rig.disconnected().ended);
    let short = PublishProperties { message_expiry_s: Some(1), ..PublishProperties::default() };
    let mut short = lapwing_codec::Publish { properties: short, ..publish("t", QOS1, 1) };
    for (n, qos) in [(1, QOS1), (2, QOS2), (3, QOS1)] {
        assert_eq!(rig.deliver_entry(publish("t", qos, 1), &[grant(QOS2)], n), Delivered::Queued);
        assert_eq!(options(&mut rig, n).map(|options| options.0), Some(qos));
    }
    assert_eq!(rig.facts(), [finished(1)], "the oldest has given way");
    short.qos = QOS2;
    assert_eq!(rig.deliver_entry(short, &[grant(QOS2)], 4), Delivered::Queued);
    assert_eq!(rig.facts(), [finished(2)]);
    rig.now_ms += 2000;
    assert!(rig.connect(&connect_persistent(Version::V5)).0);
    assert_eq!(rig.facts(), [finished(4)], "it expired while it waited");
    assert_eq!(rig.sent(), ["connack(0x00,true)", "publish(1,1)"]);
    assert_eq!(rig.counters.dropped(DropReason::QueueFull) + rig.counters.dropped(DropReason::Expired), 3);
}

/// Is a message told that the client cannot have, whether it waited or was under way?
#[test]
fn what_is_too_large_for_the_client_is_told() {
    let mut rig = kept(Settings { inflight_messages_max: 1, ..Settings::default() });
    for n in [1, 2] {
        let _ = rig.deliver_entry(publish("t", QOS2, 1), &[grant(QOS2)], n);
    }
    assert_eq!(rig.facts(), [sent(1, 1)]);
    assert!(!rig.disconnected().ended);
    let wish = connect_persistent(Version::V5);
    let properties = ConnectProperties { packet_bytes_max: Some(10), ..wish.properties };
    assert!(rig.connect(&lapwing_codec::Connect { properties, ..wish }).0);
    assert_eq!(rig.facts(), [finished(1), finished(2)]);
    assert_eq!(rig.deliver_entry(publish("t", QOS1, 1), &[grant(QOS1)], 3), drop_of(DropReason::PacketTooLarge));
    assert_eq!((options(&mut rig, 3), rig.facts()), (None, vec![]));
}

fn drop_of(reason: DropReason) -> Delivered {
    Delivered::Dropped(reason)
}

/// Does a message that is dropped on delivery, or needs no acknowledgement, or is not for the client, leave no trace?
#[test]
fn what_is_not_kept_tells_nothing() {
    let mut rig = kept(Settings {
        queue_messages_max: 1,
        inflight_messages_max: 1,
        queue_policy: QueuePolicy::DropNewest,
        ..Settings::default()
    });
    let mut no_local = grant(QOS1);
    no_local.options.no_local = true;
    let own = Routed::new(publish("t", QOS1, 1), ME, rig.now_ms);
    let now_ms = rig.now_ms;
    let (session, mut io) = rig.parts();
    let delivered = session.deliver(&own, [no_local].iter(), NonZeroU64::new(1), now_ms, &mut io);
    assert_eq!((delivered, options(&mut rig, 1)), (Delivered::NotLocal, None));
    assert_eq!(rig.deliver_entry(publish("t", QoS::AtMostOnce, 0), &[grant(QOS1)], 2), Delivered::Sent);
    assert_eq!(options(&mut rig, 2), None);
    let results: Vec<_> = (3..6).map(|n| rig.deliver_entry(publish("t", QOS1, 1), &[grant(QOS1)], n)).collect();
    assert_eq!(results, [Delivered::Sent, Delivered::Queued, drop_of(DropReason::QueueFull)]);
    assert_eq!((options(&mut rig, 5), options(&mut rig, 4).is_some(), rig.facts()), (None, true, vec![]));
}

/// Are the options those under which the message goes to this client?
#[test]
fn the_options_are_those_of_the_session() {
    let mut rig = kept(Settings::default());
    let mut as_published = grant_with_id(QOS1, 10);
    as_published.options.retain_as_published = true;
    let retained = lapwing_codec::Publish { retain: true, ..publish("t", QOS2, 1) };
    for (grants, expected) in [
        (&[as_published][..], (QOS1, true, vec![10])),
        (&[grant(QOS2)], (QOS2, false, vec![])),
        (&[grant_with_id(QOS1, 3), as_published, grant_with_id(QOS2, 7)], (QOS2, true, vec![3, 10, 7])),
    ] {
        assert_eq!(rig.deliver_entry(retained, grants, 9), Delivered::Sent);
        assert_eq!(options(&mut rig, 9), Some(expected));
    }
}

/// Does a session tell nothing that is not kept, kept no more, or of messages without entry or of a group?
#[test]
fn only_kept_messages_of_kept_sessions_are_told() {
    let mut rig = Rig::v5();
    let _ = rig.deliver_entry(publish("t", QOS2, 1), &[grant(QOS2)], 1);
    assert_eq!(options(&mut rig, 1), None);
    rig.session().keep(entry(100));
    assert_eq!(rig.session().kept_id(), Some(entry(100)));
    let _ = rig.deliver(publish("t", QOS1, 1), &[grant(QOS1)]);
    let bound = Some(Bound { group: NonZeroU64::MIN, assignment: 1 });
    let routed = Routed::new(publish("t", QOS2, 1), OTHER, rig.now_ms);
    let now_ms = rig.now_ms;
    let Rig { session, out, counters, .. } = &mut rig;
    let session = session.as_mut().expect("connected");
    let _ = session.deliver_bound(&routed, &grant(QOS2), QOS2, bound, now_ms, &mut Io::new(out, counters));
    rig.done(Packet::PubRec(Ack::success(id(1))));
    rig.done(Packet::PubRec(Ack::success(id(3))));
    rig.done(Packet::PubAck(Ack::success(id(2))));
    assert!(!rig.session().has_facts());
    let _ = rig.deliver_entry(publish("t", QOS1, 1), &[grant(QOS1)], 2);
    rig.session().forget();
    rig.session().keep(entry(200));
    rig.done(Packet::PubAck(Ack::success(id(4))));
    assert!(!rig.session().has_facts(), "the entry was one of the former name");
}

/// Are messages from the client numbered when they are taken for the disk, and told; and their releases?
#[test]
fn messages_from_the_client_are_numbered() {
    let mut rig = kept(Settings::default());
    let origin = |rig: &mut Rig, packet_id, accepted| {
        let packet = Packet::Publish(publish("t", QOS2, packet_id));
        let inbound = rig.inbound(&packet);
        let origin = inbound.origin();
        rig.accept(inbound.receipt, accepted);
        origin
    };
    let named = |packet_id, use_number, settled| Some(Origin { packet_id: id(packet_id), use_number, settled });
    let received = |packet_id, use_number| Fact::Received { packet_id: id(packet_id), use_number };
    assert_eq!(origin(&mut rig, 5, Accepted::Later(CommitToken(1))), named(5, 1, 1));
    assert_eq!(origin(&mut rig, 6, Accepted::Now), named(6, 2, 1));
    assert_eq!(origin(&mut rig, 7, Accepted::Refused(ReasonCode::QuotaExceeded)), named(7, 2, 1));
    assert_eq!(origin(&mut rig, 7, Accepted::Later(CommitToken(2))), named(7, 2, 1));
    assert_eq!(rig.facts(), [], "nothing is on disk yet");
    rig.committed(1);
    assert_eq!(rig.facts(), [received(5, 1)]);
    assert_eq!(origin(&mut rig, 8, Accepted::Later(CommitToken(3))), named(8, 3, 1));
    assert!(!rig.disconnected().ended);
    rig.committed(3);
    assert_eq!(rig.facts(), [received(7, 2), received(8, 3)], "whether the client is there or not");
    assert!(rig.connect(&connect_persistent(Version::V5)).0);
    rig.out.clear();
    for packet_id in [5, 6, 7, 5] {
        rig.done(Packet::PubRel(Ack::success(id(packet_id))));
    }
    let released = |packet_id| Fact::Released { packet_id: id(packet_id) };
    assert_eq!(rig.facts(), [released(5), released(7)], "6 touched nothing durable");
    assert_eq!(rig.sent(), ["pubcomp(5)", "pubcomp(6)", "pubcomp(7)", "pubcomp(5,0x92)"]);
    assert_eq!(origin(&mut rig, 5, Accepted::Later(CommitToken(4))), named(5, 4, 3), "8 is not released");
    // QoS 1 has no name: it comes again as a new one.
    let packet = Packet::Publish(publish("t", QOS1, 9));
    let inbound = rig.inbound(&packet);
    assert_eq!(inbound.origin(), None);
    rig.accept(inbound.receipt, Accepted::Later(CommitToken(5)));
    rig.committed(5);
    assert_eq!(rig.facts(), [received(5, 4)]);
    assert_eq!(origin(&mut rig, 10, Accepted::Now), named(10, 5, 3), "and nobody waits for its release");
}

/// Has a session that is not kept no names for messages?
#[test]
fn volatile_sessions_number_nothing() {
    let mut rig = Rig::v5();
    let packet = Packet::Publish(publish("t", QOS2, 5));
    let inbound = rig.inbound(&packet);
    assert_eq!(inbound.origin(), None);
    rig.accept(inbound.receipt, Accepted::Later(CommitToken(1)));
    rig.committed(1);
    assert!(!rig.session().has_facts());
}

/// Can what CONNECT and DISCONNECT have settled be read?
#[test]
fn expiry_and_will_can_be_read() {
    let will = lapwing_codec::Will {
        topic: "gone",
        payload: b"me",
        qos: QOS1,
        retain: true,
        properties: lapwing_codec::WillProperties {
            delay_s: 3,
            message_expiry_s: Some(9),
            ..lapwing_codec::WillProperties::default()
        },
    };
    let wish = lapwing_codec::Connect { will: Some(will), ..connect_persistent(Version::V5) };
    let mut rig = Rig::connected(&wish, Settings::default());
    assert_eq!(rig.session().expiry_s(), 600);
    let will = rig.session().will().expect("it has one");
    assert_eq!((will.delay_s, will.message_expiry_s, will.publish.properties.message_expiry_s), (3, Some(9), None));
    assert_eq!((will.publish.topic, will.publish.payload, will.publish.retain), ("gone", &b"me"[..], true));
    assert!(rig.handle(&Packet::Disconnect(Disconnect::default())).is_err());
    assert_eq!(rig.session().will(), None);
    assert_eq!(Rig::connected(&connect(Version::V5), Settings::default()).session().expiry_s(), 0);
}

/// Hands a bound QoS 2 message over to the session, as entry `number`.
fn hand_over(rig: &mut Rig, number: u64) -> Option<Delivered> {
    let bound = Bound { group: NonZeroU64::MIN, assignment: number };
    let routed = Routed::new(publish("t", QOS2, 1), OTHER, rig.now_ms);
    let now_ms = rig.now_ms;
    let Rig { session, out, counters, .. } = rig;
    let session = session.as_mut().expect("connected");
    session.hand_over(&routed, &grant(QOS2), bound, entry(number), now_ms, &mut Io::new(out, counters))
}

/// A bound QoS 2 message that is handed over to the session: does it tell each step, to the log and to the group, and stay over
/// connections; and is one that cannot be sent at once not taken?
#[test]
fn what_is_handed_over_is_told_to_both() {
    let mut wish = connect(Version::V5);
    (wish.properties.receive_max, wish.properties.session_expiry_s) = (1, 100);
    let mut rig = Rig::connected(&wish, Settings::default());
    rig.session().keep(entry(100));
    assert_eq!(hand_over(&mut rig, 7), Some(Delivered::Sent));
    assert_eq!(options(&mut rig, 7), Some((QOS2, false, vec![])));
    assert_eq!(hand_over(&mut rig, 8), None, "its window is full");
    assert_eq!(rig.facts(), [sent(1, 7)]);
    assert_eq!(rig.session().unbind(false).len(), 1);
    rig.done(Packet::PubRec(Ack::success(id(1))));
    rig.done(Packet::PubComp(Ack::success(id(1))));
    assert_eq!(rig.facts(), [Fact::PubRecReceived { packet_id: id(1) }, finished(7)]);
    assert_eq!(rig.session().take_outcomes().count(), 1);
}

/// One that its client cannot have: is that the group's matter, and nothing of it in the log?
#[test]
fn what_cannot_be_handed_over_tells_its_group_only() {
    let mut wish = connect(Version::V5);
    wish.properties.packet_bytes_max = Some(5);
    let mut rig = Rig::connected(&wish, Settings::default());
    rig.session().keep(entry(100));
    assert!(matches!(hand_over(&mut rig, 7), Some(Delivered::Dropped(_))));
    assert!(!rig.session().has_facts());
    assert_eq!(rig.session().take_outcomes().map(|told| told.fate).collect::<Vec<_>>(), [Fate::Undeliverable]);
}
