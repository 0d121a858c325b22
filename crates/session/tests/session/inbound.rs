//! Messages from the client.

use lapwing_codec::{
    Ack, Packet, Publish, PublishProperties, QoS, ReasonCode, SubscriptionId, SubscriptionIds, UserPropertiesBuf,
    Version,
};
use lapwing_session::{Accepted, Beyond, CommitToken, Settings};

use crate::rig::{Rig, connect, connect_persistent, id, publish};

/// [MQTT-4.6.0-2, MQTT-4.6.0-3] PUBACK and PUBREC leave in the order of the PUBLISHes, even if some wait for a commit.
#[test]
fn acknowledgements_keep_the_order_of_the_messages() {
    let mut rig = Rig::v5();
    rig.published(publish("t", QoS::AtLeastOnce, 1), Accepted::Now);
    assert_eq!(rig.sent(), ["puback(1)"], "nothing waits before it");
    rig.published(publish("t", QoS::AtLeastOnce, 2), Accepted::Later(CommitToken(10)));
    rig.published(publish("t", QoS::ExactlyOnce, 3), Accepted::Now);
    rig.published(publish("t", QoS::AtLeastOnce, 4), Accepted::Refused(ReasonCode::NotAuthorized));
    rig.published(publish("t", QoS::ExactlyOnce, 5), Accepted::Later(CommitToken(12)));
    rig.published(publish("t", QoS::AtLeastOnce, 6), Accepted::NobodySubscribed);
    assert_eq!(rig.sent(), [""; 0]);
    rig.committed(9);
    assert_eq!(rig.sent(), [""; 0]);
    rig.committed(11);
    assert_eq!(rig.sent(), ["puback(2)", "pubrec(3)", "puback(4,0x87)"]);
    assert!(rig.session().awaits_commit());
    rig.committed(12);
    assert_eq!(rig.sent(), ["pubrec(5)", "puback(6,0x10)"]);
    assert!(!rig.session().awaits_commit());
}

/// 3.1.1 cannot be told why: it gets the plain acknowledgement.
#[test]
fn a_refused_message_is_acknowledged_in_v311() {
    let mut rig = Rig::v311();
    rig.published(publish("t", QoS::AtLeastOnce, 4), Accepted::Refused(ReasonCode::NotAuthorized));
    rig.published(publish("t", QoS::ExactlyOnce, 5), Accepted::Refused(ReasonCode::NotAuthorized));
    rig.done(Packet::PubRel(Ack::success(id(5))));
    assert_eq!(rig.sent(), ["puback(4)", "pubrec(5)", "pubcomp(5)"]);
}

/// [MQTT-4.3.3-10] a QoS 2 message that comes again is acknowledged again and published once, until PUBREL frees its id.
#[test]
fn a_repeated_qos2_message_is_published_once() {
    for version in [Version::V5, Version::V311] {
        let mut rig = Rig::connected(&connect_persistent(version), Settings::default());
        rig.published(publish("t", QoS::ExactlyOnce, 5), Accepted::Now);
        let again = Publish { dup: true, ..publish("t", QoS::ExactlyOnce, 5) };
        rig.done(Packet::Publish(again));
        assert_eq!(rig.sent(), ["pubrec(5)", "pubrec(5)"]);
        rig.reconnect(&connect_persistent(version));
        rig.done(Packet::Publish(again));
        rig.done(Packet::PubRel(Ack::success(id(5))));
        assert_eq!((rig.sent(), rig.counters.duplicates), (vec!["pubrec(5)".to_owned(), "pubcomp(5)".to_owned()], 2));
        // [MQTT-4.3.3-12]: after PUBCOMP the id means a new message.
        rig.published(publish("t", QoS::ExactlyOnce, 5), Accepted::Now);
    }
}

/// A QoS 2 message refused with an error code leaves its id free. Shows 5.0: MQTT-4.3.3-9.
#[test]
fn a_refused_qos2_message_is_a_new_one_next_time() {
    let mut rig = Rig::v5();
    rig.published(publish("t", QoS::ExactlyOnce, 5), Accepted::Refused(ReasonCode::QuotaExceeded));
    assert_eq!(rig.sent(), ["pubrec(5,0x97)"]);
    rig.published(publish("t", QoS::ExactlyOnce, 5), Accepted::Now);
    assert_eq!(rig.sent(), ["pubrec(5)"]);
}

/// A QoS 2 message whose commit is still awaited when the connection breaks and the message comes again: one PUBREC,
/// after the commit.
#[test]
fn a_repeated_message_is_not_acknowledged_before_its_commit() {
    let again = connect_persistent(Version::V5);
    for commit_first in [false, true] {
        let mut rig = Rig::connected(&again, Settings::default());
        rig.published(publish("t", QoS::AtLeastOnce, 4), Accepted::Later(CommitToken(7)));
        rig.published(publish("t", QoS::ExactlyOnce, 5), Accepted::Later(CommitToken(8)));
        assert_eq!(rig.reconnect(&again), ["connack(0x00,true)"]);
        if commit_first {
            rig.committed(8);
            assert_eq!(rig.sent(), [""; 0], "this connection has not asked");
        }
        rig.done(Packet::Publish(Publish { dup: true, ..publish("t", QoS::ExactlyOnce, 5) }));
        rig.done(Packet::Publish(Publish { dup: true, ..publish("t", QoS::ExactlyOnce, 5) }));
        if !commit_first {
            assert_eq!(rig.sent(), [""; 0]);
            rig.committed(8);
            assert_eq!(rig.sent(), ["pubrec(5)"]);
        } else {
            assert_eq!(rig.sent(), ["pubrec(5)", "pubrec(5)"]);
        }
    }
}

/// The same where nothing else waits: what is acknowledged again waits for its own commit, and for no less.
#[test]
fn a_repeated_message_waits_for_its_own_commit() {
    let again = connect_persistent(Version::V5);
    let mut rig = Rig::connected(&again, Settings::default());
    rig.published(publish("t", QoS::ExactlyOnce, 5), Accepted::Later(CommitToken(8)));
    assert!(!rig.disconnected().ended);
    rig.connect(&again);
    rig.out.clear();
    rig.done(Packet::Publish(Publish { dup: true, ..publish("t", QoS::ExactlyOnce, 5) }));
    rig.committed(7);
    assert_eq!(rig.sent(), [""; 0]);
    rig.committed(8);
    assert_eq!(rig.sent(), ["pubrec(5)"]);
}

/// A QoS 1 message that waits for its commit when the connection breaks is forgotten: it comes again as a new one, and
/// takes no room of the next connection's Receive Maximum.
#[test]
fn a_qos1_message_is_forgotten_with_its_connection() {
    let again = connect_persistent(Version::V5);
    let mut rig = Rig::connected(&again, Settings { receive_maximum: 1, ..Settings::default() });
    rig.published(publish("t", QoS::AtLeastOnce, 5), Accepted::Later(CommitToken(8)));
    assert!(!rig.disconnected().ended && !rig.session().awaits_commit());
    rig.connect(&again);
    rig.out.clear();
    rig.published(publish("t", QoS::AtLeastOnce, 5), Accepted::Later(CommitToken(9)));
    rig.committed(8);
    assert_eq!(rig.sent(), [""; 0]);
    rig.committed(9);
    assert_eq!(rig.sent(), ["puback(5)"]);
}

/// Only a QoS 2 message whose id was published and not released is a repetition; DUP says nothing.
#[test]
fn what_counts_as_a_repetition() {
    let mut rig = Rig::v5();
    rig.published(publish("t", QoS::ExactlyOnce, 5), Accepted::Now);
    for (qos, packet_id, expected) in [
        (QoS::ExactlyOnce, 5, true),
        (QoS::ExactlyOnce, 6, false),
        (QoS::AtLeastOnce, 5, false),
        (QoS::AtMostOnce, 0, false),
    ] {
        for dup in [false, true] {
            let message = Publish { dup, ..publish("t", qos, packet_id) };
            assert_eq!(rig.session().is_repeated(&message), expected, "{qos:?} {packet_id} {dup}");
        }
    }
    rig.done(Packet::PubRel(Ack::success(id(5))));
    assert!(!rig.session().is_repeated(&publish("t", QoS::ExactlyOnce, 5)));
}

/// [MQTT-3.3.4-7] more unacknowledged messages than our Receive Maximum: 0x93. QoS 0 does not count, and what is
/// acknowledged makes room.
#[test]
fn receive_maximum_is_enforced() {
    let settings = Settings { receive_maximum: 2, ..Settings::default() };
    let mut rig = Rig::connected(&connect(Version::V5), settings.clone());
    rig.published(publish("t", QoS::AtLeastOnce, 1), Accepted::Later(CommitToken(1)));
    rig.published(publish("t", QoS::ExactlyOnce, 2), Accepted::Later(CommitToken(2)));
    rig.published(publish("t", QoS::AtMostOnce, 0), Accepted::Now);
    rig.committed(2);
    rig.published(publish("t", QoS::AtLeastOnce, 3), Accepted::Later(CommitToken(3)));
    rig.done(Packet::PubRel(Ack::success(id(2))));
    rig.published(publish("t", QoS::AtLeastOnce, 4), Accepted::Later(CommitToken(4)));
    rig.out.clear();
    let close = rig.handle(&Packet::Publish(publish("t", QoS::ExactlyOnce, 5))).unwrap_err();
    assert_eq!((close.reason, rig.sent()), (ReasonCode::ReceiveMaximumExceeded, vec!["disconnect(0x93)".to_owned()]));

    let mut old = Rig::connected(&connect(Version::V311), settings);
    (1..=100)
        .for_each(|n| old.published(publish("t", QoS::AtLeastOnce, n), Accepted::Later(CommitToken(u64::from(n)))));
}

/// A PUBREL that comes before our PUBREC is answered and makes no room: what waits for a commit stays bounded.
#[test]
fn an_early_release_makes_no_room() {
    let mut rig = Rig::connected(&connect(Version::V5), Settings { receive_maximum: 3, ..Settings::default() });
    for n in 1..=3 {
        rig.published(publish("t", QoS::ExactlyOnce, 1), Accepted::Later(CommitToken(n)));
        rig.done(Packet::PubRel(Ack::success(id(1))));
    }
    assert_eq!(rig.sent(), ["pubcomp(1)"; 3]);
    let close = rig.handle(&Packet::Publish(publish("t", QoS::ExactlyOnce, 1))).unwrap_err();
    assert_eq!(close.reason, ReasonCode::ReceiveMaximumExceeded);
}

/// Many QoS 2 messages at once: 3.1.1 may use every id.
#[test]
fn all_packet_ids_can_be_in_use() {
    let mut rig = Rig::v311();
    (1..=u16::MAX).for_each(|n| rig.published(publish("t", QoS::ExactlyOnce, n), Accepted::Now));
    let close = rig.handle(&Packet::Publish(publish("t", QoS::AtLeastOnce, 1))).unwrap_err();
    assert_eq!(close.reason, ReasonCode::ReceiveMaximumExceeded);
}

fn with_alias(topic: &'static str, alias: u16) -> Publish<'static> {
    let properties = PublishProperties { topic_alias: Some(alias), ..PublishProperties::default() };
    Publish { properties, ..publish(topic, QoS::AtMostOnce, 0) }
}

/// [MQTT-3.3.2-12] topic aliases: set, used, replaced, forgotten with the connection.
#[test]
fn topic_aliases_are_resolved() {
    let mut rig = Rig::connected(&connect_persistent(Version::V5), Settings::default());
    let (first, short, other) = (with_alias("a/b", 3), with_alias("", 3), with_alias("c", 3));
    let (first, short, other) = (Packet::Publish(first), Packet::Publish(short), Packet::Publish(other));
    assert_eq!(rig.inbound(&first).publish().topic, "a/b");
    let resolved = rig.inbound(&short);
    assert_eq!((resolved.publish().topic, resolved.publish().properties.topic_alias), ("a/b", None));
    let _ = rig.inbound(&other);
    assert_eq!(rig.inbound(&short).publish().topic, "c");
    rig.reconnect(&connect_persistent(Version::V5));
    // [MQTT-3.3.2-7]: an alias lives as long as its connection.
    let close = rig.handle(&Packet::Publish(with_alias("", 3))).unwrap_err();
    assert_eq!((close.reason, rig.sent()), (ReasonCode::ProtocolError, vec!["disconnect(0x82)".to_owned()]));
}

/// Is a message beyond a limit one to be refused, just there and no earlier, and has an alias of its topic a place and no more,
/// until it is given to another topic?
#[test]
fn what_is_beyond_a_limit_is_named() {
    let settings = Settings { topic_bytes_max: 12, topic_levels_max: 3, user_properties_max: 1, ..Settings::default() };
    let mut rig = Rig::connected(&connect(Version::V5), settings);
    let mut user = UserPropertiesBuf::new();
    for (pairs, topic, expected) in [
        (0, "0123456789AB", None),
        (0, "0123456789ABC", Some(Beyond::TopicBytes(13))),
        (0, "a/b/c", None),
        (0, "////", Some(Beyond::TopicLevels(5))),
        (1, "a", None),
        (2, "a", Some(Beyond::UserProperties(2))),
        (2, "a/b/c/d", Some(Beyond::TopicLevels(4))),
    ] {
        user.clear();
        (0..pairs).for_each(|_| user.push("name", "value").unwrap());
        let properties = PublishProperties { user: user.as_ref(), ..PublishProperties::default() };
        let packet = Packet::Publish(Publish { properties, ..publish(topic, QoS::AtLeastOnce, 1) });
        let inbound = rig.inbound(&packet);
        assert_eq!(inbound.beyond, expected, "{topic}");
        let (receipt, reason) = (inbound.receipt, expected.map(Beyond::reason));
        rig.accept(receipt, reason.map_or(Accepted::Now, Accepted::Refused));
        let said = reason.map_or_else(|| "puback(1)".to_owned(), |reason| format!("puback(1,{:#04x})", reason as u8));
        assert_eq!(rig.sent(), [said]);
    }
    let (deep, short) = (Packet::Publish(with_alias("a/b/c/d", 3)), Packet::Publish(with_alias("", 3)));
    assert_eq!(rig.inbound(&deep).beyond, Some(Beyond::TopicLevels(4)));
    assert_eq!(rig.inbound(&short).beyond, Some(Beyond::Alias));
    let shallow = Packet::Publish(with_alias("a", 3));
    assert_eq!(rig.inbound(&shallow).beyond, None);
    assert_eq!((rig.inbound(&short).beyond, rig.inbound(&short).publish().topic), (None, "a"));
}

/// Messages that break a rule end the connection with the code that names the rule.
#[test]
fn wrong_messages_end_the_connection() {
    let strict =
        Settings { topic_alias_max: 4, qos_max: QoS::AtLeastOnce, retain_available: false, ..Settings::default() };
    let subscription_ids = SubscriptionIds::one(SubscriptionId::new(1).unwrap());
    let with_id = PublishProperties { subscription_ids, ..PublishProperties::default() };
    let cases = [
        // [MQTT-3.3.2-9], [MQTT-3.3.2-8]
        (with_alias("a", 5), ReasonCode::TopicAliasInvalid),
        (with_alias("a", 0), ReasonCode::TopicAliasInvalid),
        (publish("", QoS::AtMostOnce, 0), ReasonCode::ProtocolError),
        // [MQTT-3.3.4-6]
        (Publish { properties: with_id, ..publish("a", QoS::AtMostOnce, 0) }, ReasonCode::ProtocolError),
        // [MQTT-3.2.2-11]
        (publish("a", QoS::ExactlyOnce, 1), ReasonCode::QoSNotSupported),
        // [MQTT-3.2.2-14]
        (Publish { retain: true, ..publish("a", QoS::AtMostOnce, 0) }, ReasonCode::RetainNotSupported),
    ];
    let mut rig = Rig::connected(&connect(Version::V5), strict.clone());
    let _ = rig.inbound(&Packet::Publish(with_alias("a", 4)));
    for (publish, reason) in cases {
        let mut rig = Rig::connected(&connect(Version::V5), strict.clone());
        let close = rig.handle(&Packet::Publish(publish)).unwrap_err();
        assert_eq!(
            (close.reason, rig.sent()),
            (reason, vec![format!("disconnect({:#04x})", reason as u8)]),
            "{publish:?}"
        );
    }
}

/// A node that looks at a packet before the session handles it is told what the session knows: aliases, and repeats.
#[test]
fn what_a_packet_would_mean_can_be_asked() {
    let mut rig = Rig::v5();
    assert_eq!(rig.session().topic_of(3), None);
    let _ = rig.inbound(&Packet::Publish(with_alias("a/b", 3)));
    assert_eq!(rig.session().topic_of(3), Some("a/b"));
    assert_eq!(rig.session().topic_of(4), None);
    let twice = publish("a/b", QoS::ExactlyOnce, 7);
    assert!(!rig.session().is_repeated(&twice));
    rig.published(twice, Accepted::Now);
    assert!(rig.session().is_repeated(&twice));
    assert!(!rig.session().is_repeated(&publish("a/b", QoS::AtLeastOnce, 7)));
    assert!(!rig.session().is_repeated(&publish("a/b", QoS::ExactlyOnce, 8)));
}
