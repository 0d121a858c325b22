//! SUBSCRIBE and UNSUBSCRIBE.

use lapwing_codec::topic::SharedFilter;
use lapwing_codec::{
    Connect, ConnectProperties, Packet, QoS, ReasonCode, RetainHandling, Subscribe, SubscribeFiltersBuf,
    SubscribeProperties, SubscriptionOptions, Version,
};
use lapwing_session::{Counters, Settings, Step};

use crate::rig::{Rig, connect, id};

fn qos(qos: QoS) -> SubscriptionOptions {
    SubscriptionOptions::new(qos)
}

fn retained(retain_handling: RetainHandling) -> SubscriptionOptions {
    SubscriptionOptions { retain_handling, ..qos(QoS::AtMostOnce) }
}

/// [MQTT-3.8.4-1, MQTT-3.8.4-3, MQTT-3.8.4-5, MQTT-3.8.4-6, MQTT-3.8.4-7, MQTT-3.9.3-1] one code per filter, in order: granted, refused by the node, over the limit.
#[test]
fn every_filter_is_answered_in_order() {
    for (version, refused, full) in [(Version::V5, 0x87, 0x97), (Version::V311, 0x80, 0x80), (Version::V31, 0x80, 0x80)]
    {
        let settings = Settings { subscriptions_max: 3, ..Settings::default() };
        let mut rig = Rig::connected(&connect(version), settings);
        let filters = [
            ("a", qos(QoS::AtMostOnce)),
            ("b/#", qos(QoS::AtLeastOnce)),
            ("secret/#", qos(QoS::AtLeastOnce)),
            ("c/+", qos(QoS::ExactlyOnce)),
            ("d", qos(QoS::ExactlyOnce)),
            ("a", qos(QoS::AtLeastOnce)),
        ];
        let refuse = |filter: &str| if filter.starts_with("secret") { Err(ReasonCode::NotAuthorized) } else { Ok(()) };
        let reply = rig.subscribe(&filters, |subscription| refuse(subscription.filter)).unwrap();
        assert_eq!(rig.sent(), [""; 0], "the node says when");
        rig.reply(reply).unwrap();
        assert_eq!(rig.sent(), [format!("suback([0, 1, {refused}, 2, {full}, 1])")]);
        let kept: Vec<_> = rig.session().subscriptions().map(|(filter, grant)| (filter, grant.options.qos)).collect();
        assert_eq!(kept, [("a", QoS::AtLeastOnce), ("b/#", QoS::AtLeastOnce), ("c/+", QoS::ExactlyOnce)]);
    }
}

/// Are filters beyond those that a packet may bring refused one by one, also where a packet is taken by parts, and does the
/// connection stay?
#[test]
fn too_many_filters_in_a_packet_are_refused_in_the_answer() {
    for (version, full) in [(Version::V5, 0x97), (Version::V311, 0x80)] {
        let settings = Settings { filters_per_packet_max: 3, ..Settings::default() };
        let mut rig = Rig::connected(&connect(version), settings);
        let filters = ["a", "b", "c", "d", "e"].map(|filter| (filter, qos(QoS::AtLeastOnce)));
        let mut buf = SubscribeFiltersBuf::new();
        filters.iter().for_each(|(filter, options)| buf.push(filter, *options).unwrap());
        let properties = SubscribeProperties::default();
        let packet = Packet::Subscribe(Subscribe { packet_id: id(7), properties, filters: buf.as_ref() });
        let Ok(Step::Subscribe(request)) = rig.handle(&packet) else { panic!("a SUBSCRIBE") };
        let mut reply = rig.session().subscribe(&request.part(0, 2), |_| Ok(()));
        reply.append(rig.session().subscribe(&request.part(2, 2), |_| Ok(())));
        reply.append(rig.session().subscribe(&request.part(4, 2), |_| Ok(())));
        rig.reply(reply).unwrap();
        assert_eq!(rig.sent(), [format!("suback([1, 1, 1, {full}, {full}])")]);
        assert_eq!(rig.session().subscriptions().len(), 3);
    }
}

/// Is a filter beyond the limits refused alone, and does the connection stay, with what it asked for beside?
#[test]
fn a_filter_that_is_too_long_or_too_deep_is_refused_in_the_answer() {
    for (version, wrong) in [(Version::V5, 0x8F), (Version::V311, 0x80)] {
        let settings = Settings { topic_bytes_max: 12, topic_levels_max: 3, ..Settings::default() };
        let mut rig = Rig::connected(&connect(version), settings);
        let filters = ["a/b/c", "a/b/c/d", "0123456789AB", "0123456789ABC", "$share/g/a", "$share/g/a/b", "////"];
        let asked = filters.map(|filter| (filter, qos(QoS::AtLeastOnce)));
        let reply = rig.subscribe(&asked, |_| Ok(())).unwrap();
        rig.reply(reply).unwrap();
        assert_eq!(rig.sent(), [format!("suback([1, {wrong}, 1, {wrong}, 1, {wrong}, {wrong}])")]);
        assert_eq!(rig.session().subscriptions().len(), 3);
        let (reply, removed) = rig.unsubscribe(&["a/b/c/d", "a/b/c"]);
        assert_eq!((reply.reasons()[0] as u8, &removed[..]), (17, &["a/b/c".to_owned()][..]));
    }
}

/// Can a client ask for all that it has in one packet, as MQTT.js does when it comes back, of whatever length its filters are?
#[test]
fn what_a_session_has_fits_in_one_packet() {
    for (version, full) in [(Version::V5, 0x97), (Version::V311, 0x80)] {
        let packet_bytes_max = 1_000;
        let mut rig = Rig::connected(&connect(version), Settings { packet_bytes_max, ..Settings::default() });
        let filters: Vec<String> = (0..100).map(|number| format!("{number:0>40}")).collect();
        let mut had: Vec<&str> = vec![];
        for filter in &filters {
            let reply = rig.subscribe(&[(filter, qos(QoS::AtLeastOnce))], |_| Ok(())).unwrap();
            let code = reply.reasons()[0] as u8;
            assert!(code == 1 || (code == 0x97 && had.len() > 20), "{code} for the one behind {}", had.len());
            if code == 1 {
                had.push(filter);
            }
            rig.reply(reply).unwrap();
        }
        assert!(rig.sent().contains(&format!("suback([{full}])")));
        let mut all = SubscribeFiltersBuf::new();
        had.iter().for_each(|filter| all.push(filter, qos(QoS::AtLeastOnce)).unwrap());
        let properties = SubscribeProperties::default();
        let packet = Packet::Subscribe(Subscribe { packet_id: id(7), properties, filters: all.as_ref() });
        let mut bytes = vec![];
        packet.encode(version, &mut bytes).unwrap();
        assert!(bytes.len() <= packet_bytes_max as usize, "{} bytes for {} filters", bytes.len(), had.len());
        // One that it has is no new one, and one that has gone makes room.
        assert_eq!(rig.subscribe(&[(had[0], qos(QoS::AtMostOnce))], |_| Ok(())).unwrap().reasons()[0] as u8, 0);
        let (reply, _) = rig.unsubscribe(&[had[1]]);
        rig.reply(reply).unwrap();
        assert_eq!(rig.subscribe(&[("a", qos(QoS::AtMostOnce))], |_| Ok(())).unwrap().reasons()[0] as u8, 0);
    }
}

/// [MQTT-3.3.1-9, MQTT-3.3.1-10, MQTT-3.3.1-11] retained messages: always, for a new subscription, never.
#[test]
fn retain_handling() {
    for (handling, first, again) in [
        (RetainHandling::Send, true, true),
        (RetainHandling::SendIfNew, true, false),
        (RetainHandling::DoNotSend, false, false),
    ] {
        let mut rig = Rig::v5();
        let mut seen = Vec::new();
        for _ in 0..2 {
            let _ = rig.subscribe(&[("a", retained(handling))], |subscription| {
                seen.push((subscription.is_new, subscription.wants_retained));
                Ok(())
            });
        }
        assert_eq!(seen, [(true, first), (false, again)], "{handling:?}");
    }
}

/// Shared subscriptions are told apart, take no retained messages, and do not go with No Local [MQTT-3.8.3-4].
#[test]
fn shared_subscriptions() {
    let mut rig = Rig::v5();
    let _ = rig.subscribe(&[("$share/g/a/+", qos(QoS::AtLeastOnce))], |subscription| {
        assert_eq!(subscription.shared, Some(SharedFilter { group: "g", filter: "a/+" }));
        assert_eq!((subscription.topic_filter(), subscription.wants_retained), ("a/+", false));
        Ok(())
    });
    let no_local = SubscriptionOptions { no_local: true, ..qos(QoS::AtLeastOnce) };
    let close = rig.subscribe(&[("b", no_local), ("$share/g/a", no_local)], |_| panic!("nothing may be applied"));
    assert_eq!(close.unwrap_err().reason, ReasonCode::ProtocolError);
    assert_eq!(rig.sent(), ["disconnect(0x82)"]);
}

/// [MQTT-3.10.4-1, MQTT-3.10.4-4, MQTT-3.10.4-5, MQTT-3.10.4-6, MQTT-3.11.3-1] UNSUBSCRIBE answers each filter and hands those that existed to the node.
#[test]
fn unsubscribing() {
    for version in [Version::V5, Version::V311] {
        let mut rig = Rig::connected(&connect(version), Settings::default());
        let filters = [("a", qos(QoS::AtMostOnce)), ("$share/g/b", qos(QoS::AtMostOnce))];
        let _ = rig.subscribe(&filters, |_| Ok(()));
        let (reply, removed) = rig.unsubscribe(&["x", "$share/g/b", "b", "a"]);
        assert_eq!(removed, ["$share/g/b", "a"]);
        rig.reply(reply).unwrap();
        let expected = if version == Version::V5 { "unsuback([17, 0, 17, 0])" } else { "unsuback([])" };
        assert_eq!(rig.sent(), [expected]);
        assert_eq!(rig.session().subscriptions().len(), 0);
    }
}

/// An answer that the client could never take ends the connection instead of breaking its limit [MQTT-3.1.2-24].
#[test]
fn an_answer_that_does_not_fit() {
    let properties = ConnectProperties { packet_bytes_max: Some(6), ..ConnectProperties::default() };
    let mut rig = Rig::connected(&Connect { properties, ..connect(Version::V5) }, Settings::default());
    let reply = rig.subscribe(&[("a", qos(QoS::AtMostOnce)), ("b", qos(QoS::AtMostOnce))], |_| Ok(())).unwrap();
    assert_eq!(rig.reply(reply).unwrap_err().reason, ReasonCode::PacketTooLarge);
    assert!(rig.out.len() <= 6);
    // Seven bytes: a header of two, the packet id, no properties, two codes.
    let properties = ConnectProperties { packet_bytes_max: Some(7), ..ConnectProperties::default() };
    let mut rig = Rig::connected(&Connect { properties, ..connect(Version::V5) }, Settings::default());
    let reply = rig.subscribe(&[("a", qos(QoS::AtMostOnce)), ("b", qos(QoS::AtMostOnce))], |_| Ok(())).unwrap();
    assert_eq!((rig.reply(reply), rig.out.len()), (Ok(()), 7));
}

/// A session that ends hands over what has to leave the filter tree, shared filters split.
#[test]
fn the_end_names_the_subscriptions() {
    let mut rig = Rig::v5();
    let filters = [("a", qos(QoS::AtMostOnce)), ("$share/g/b", qos(QoS::AtMostOnce))];
    let _ = rig.subscribe(&filters, |_| Ok(()));
    assert!(rig.disconnected().ended);
    let ended = rig.session.take().unwrap().end(rig.now_ms, &mut Counters::default());
    let left: Vec<_> = ended.subscriptions().map(|left| (left.shared.map(|s| s.group), left.topic_filter())).collect();
    assert_eq!(left, [(Some("g"), "b"), (None, "a")]);
}

/// What the server takes back goes, each to be taken out of the tree, and nothing else.
#[test]
fn subscriptions_are_revoked_by_filter() {
    let mut rig = Rig::v5();
    let options = SubscriptionOptions::new(QoS::AtLeastOnce);
    let reply = rig.subscribe(&[("a/b", options), ("$share/g/a", options), ("b", options)], |_| Ok(())).unwrap();
    rig.reply(reply).unwrap();
    let mut removed = Vec::new();
    rig.session().revoke(|filter| filter == "b", |gone| removed.push(gone.topic_filter().to_owned()));
    removed.sort_unstable();
    assert_eq!(removed, ["a", "a/b"]);
    let left: Vec<&str> = rig.session().subscriptions().map(|(filter, _)| filter).collect();
    assert_eq!(left, ["b"]);
}

/// A large packet may be taken by parts: each is answered, and together they are the packet's answer.
#[test]
fn a_subscribe_may_be_taken_by_parts() {
    let mut rig = Rig::v5();
    let mut filters = SubscribeFiltersBuf::new();
    for n in 0..5 {
        filters.push(&format!("t/{n}"), SubscriptionOptions::new(QoS::AtMostOnce)).unwrap();
    }
    let properties = SubscribeProperties::default();
    let packet = Packet::Subscribe(Subscribe { packet_id: id(3), properties, filters: filters.as_ref() });
    let Ok(Step::Subscribe(request)) = rig.handle(&packet) else { panic!("SUBSCRIBE") };
    assert!(request.ends_at(5) && request.ends_at(9) && !request.ends_at(4));
    assert_eq!(request.part(3, 9).filters().collect::<Vec<_>>(), ["t/3", "t/4"]);
    let mut first = rig.session().subscribe(&request.part(0, 3), |_| Ok(()));
    assert_eq!(rig.session().subscriptions().len(), 3);
    let second = rig.session().subscribe(&request.part(3, 3), |_| Err(ReasonCode::NotAuthorized));
    first.append(second);
    rig.reply(first).unwrap();
    assert_eq!(rig.sent(), ["suback([0, 0, 0, 135, 135])"]);
}
