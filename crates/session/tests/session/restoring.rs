//! A session after a restart: what of it is there, and how it goes on.

use std::sync::Arc;

use lapwing_codec::{Ack, Connect, Packet, Publish, QoS, ReasonCode, SubscriptionIds, Version};
use lapwing_session::{
    Accepted, CommitToken, Delivered, Fact, KeptOptions, Message, Restoration, Restored, Session, Settings, WillMessage,
};

use crate::rig::{ME, OTHER, Rig, connect_persistent, describe, entry, grant, grant_with_id, id, packets, publish};

const QOS1: QoS = QoS::AtLeastOnce;
const QOS2: QoS = QoS::ExactlyOnce;

/// Nothing but a name, at the rig's time.
fn restored(settings: &Arc<Settings>) -> Restored<'_> {
    Restored {
        client_id: "me",
        key: ME,
        settings,
        id: entry(100),
        expiry_s: 600,
        remaining_ms: Some(600_000),
        will: None,
        away_since: None,
        next_use: 1,
        now_ms: 1_000_000,
    }
}

fn message(restoration: &mut Restoration, n: u64, qos: QoS, packet_id: Option<u16>) {
    let kept = Arc::new(Message::new(&publish("t", qos, 1), OTHER, None));
    let options = KeptOptions { qos, retain: false, ids: SubscriptionIds::EMPTY };
    restoration.message(kept, options, entry(n), packet_id.map(id));
}

/// The session with its client away.
fn away(settings: &Settings, build: impl FnOnce(&mut Restoration)) -> Rig {
    let mut rig = Rig::new(settings.clone());
    let mut restoration = Restoration::new(restored(&rig.settings));
    build(&mut restoration);
    rig.session = Some(restoration.finish());
    rig
}

/// The client comes back; what it is sent.
fn back(rig: &mut Rig, connect: &Connect<'_>) -> Vec<String> {
    assert!(rig.connect(connect).0, "the session is there");
    let sent = rig.sent();
    assert_eq!(sent[0], "connack(0x00,true)");
    sent[1..].to_vec()
}

/// [MQTT-4.4.0-1] does QoS 2 go on where it was, with its packet ids and in its order, and QoS 1 again from its start?
#[test]
fn what_was_under_way_goes_on() {
    for version in [Version::V5, Version::V311] {
        let mut rig = away(&Settings::default(), |restoration| {
            message(restoration, 3, QOS2, Some(1));
            message(restoration, 4, QOS1, None);
            message(restoration, 5, QOS2, Some(3));
            message(restoration, 6, QOS2, None);
            // The ids had gone round.
            restoration.pubrec_received(id(u16::MAX), entry(2));
            restoration.pubrec_received(id(u16::MAX - 1), entry(1));
        });
        assert_eq!((rig.session().inflight_messages(), rig.session().queued_messages()), (4, 2));
        assert_eq!(rig.session().kept_id(), Some(entry(100)));
        let sent = back(&mut rig, &connect_persistent(version));
        let repeated = ["pubrel(65534)", "pubrel(65535)", "publish(2,1,dup)", "publish(2,3,dup)"];
        assert_eq!(sent, [&repeated[..], &["publish(1,4,dup)", "publish(2,5)"]].concat());
        assert_eq!(rig.facts(), [Fact::PublishSent { packet_id: id(5), entry: entry(6) }]);
        // Each ends like any other.
        rig.done(Packet::PubAck(Ack::success(id(4))));
        rig.done(Packet::PubComp(Ack::success(id(u16::MAX))));
        rig.done(Packet::PubRec(Ack::success(id(3))));
        let finished = |n| Fact::Finished { entry: entry(n) };
        assert_eq!(rig.facts(), [finished(4), finished(2), Fact::PubRecReceived { packet_id: id(3) }]);
        assert_eq!(rig.session().inflight_messages(), 4);
        assert_eq!(rig.sent(), ["pubrel(3)"]);
    }
}

/// Which of the messages that wait go with DUP: those that may have gone out before, and no others where that is known?
#[test]
fn dup_is_for_what_may_have_been_sent() {
    let dups = |settings: &Settings, away_since, build: &dyn Fn(&mut Restoration)| {
        let mut rig = Rig::new(settings.clone());
        let mut restoration = Restoration::new(Restored { away_since, ..restored(&rig.settings) });
        build(&mut restoration);
        rig.session = Some(restoration.finish());
        let sent = back(&mut rig, &connect_persistent(Version::V5));
        sent.iter().map(|packet| packet.contains("dup")).collect::<Vec<_>>()
    };
    let four = |restoration: &mut Restoration| (1..5).for_each(|n| message(restoration, n, QOS1, None));
    let settings = Settings::default();
    assert_eq!(dups(&settings, None, &four), [true; 4]);
    assert_eq!(dups(&settings, Some(entry(3)), &four), [true, true, false, false], "the client was away");
    assert_eq!(dups(&settings, Some(entry(1)), &four), [false; 4]);
    // However few may be under way at a time: the client may have acknowledged others before, and nobody remembers.
    let narrow = Settings { inflight_messages_max: 1, ..settings.clone() };
    let mut rig = away(&narrow, four);
    assert_eq!(back(&mut rig, &connect_persistent(Version::V5)), ["publish(1,1,dup)"]);
    rig.done(Packet::PubAck(Ack::success(id(1))));
    assert_eq!(rig.sent(), ["publish(1,2,dup)"]);
    // A QoS 2 message without packet id has held back all that came behind it.
    let behind = |restoration: &mut Restoration| {
        message(restoration, 1, QOS1, None);
        message(restoration, 2, QOS2, None);
        message(restoration, 3, QOS1, None);
    };
    assert_eq!(dups(&settings, None, &behind), [true, false, false]);
    // Said once: from here on it is like any other message that waits.
    let mut rig = away(&settings, four);
    back(&mut rig, &connect_persistent(Version::V5));
    assert_eq!(rig.deliver_entry(publish("t", QOS1, 1), &[grant(QOS1)], 9), Delivered::Sent);
    assert_eq!(rig.sent(), ["publish(1,5)"]);
}

/// Are messages of the client known that were taken and not released?
#[test]
fn what_was_taken_is_not_taken_again() {
    let mut rig = away(&Settings::default(), |restoration| {
        restoration.received(id(7));
        restoration.received(id(8));
    });
    assert!(back(&mut rig, &connect_persistent(Version::V5)).is_empty());
    rig.done(Packet::Publish(Publish { dup: true, ..publish("t", QOS2, 7) }));
    assert_eq!((rig.sent(), rig.counters.duplicates), (vec!["pubrec(7)".to_owned()], 1));
    rig.done(Packet::PubRel(Ack::success(id(8))));
    rig.done(Packet::PubRel(Ack::success(id(9))));
    assert_eq!(rig.sent(), ["pubcomp(8)", "pubcomp(9,0x92)"]);
    assert_eq!(rig.facts(), [Fact::Released { packet_id: id(8) }]);
}

/// A message of the client that the log has and that nothing says was taken: what does each thing that the client may say of its
/// packet id make of it?
#[test]
fn the_client_resolves_a_doubt() {
    let inbound = |rig: &mut Rig, packet_id: u16, dup: bool, accepted: Accepted| {
        let packet = Packet::Publish(Publish { dup, ..publish("t", QOS2, packet_id) });
        let inbound = rig.inbound(&packet);
        let named = (inbound.origin().map(|origin| (origin.use_number, origin.settled)), inbound.is_resent());
        rig.accept(inbound.receipt, accepted);
        named
    };
    let later = |n| Accepted::Later(CommitToken(n));
    let released = |n| Fact::Released { packet_id: id(n) };
    let received = |n, use_number| Fact::Received { packet_id: id(n), use_number };
    let mut rig = Rig::new(Settings { receive_maximum: 3, ..Settings::default() });
    let mut restoration = Restoration::new(Restored { next_use: 20, ..restored(&rig.settings) });
    restoration.received(id(7));
    (7..13).for_each(|n| restoration.doubted(id(n), u64::from(n) + 3));
    rig.session = Some(restoration.finish());
    assert!(rig.session().has_doubts());
    back(&mut rig, &connect_persistent(Version::V311));
    // What left nothing in the log is new to us, however long ago it was sent first.
    assert_eq!(inbound(&mut rig, 1, true, later(1)), (Some((20, 10)), false));
    assert_eq!(inbound(&mut rig, 7, true, later(2)), (Some((10, 10)), true));
    rig.committed(2);
    assert_eq!(rig.facts(), [received(1, 20), received(7, 10)]);
    // Some have it already, so it is taken even where it would be refused now.
    rig.sent();
    let refused = Accepted::Refused(ReasonCode::QuotaExceeded);
    assert_eq!(inbound(&mut rig, 8, true, refused), (Some((11, 10)), true));
    assert_eq!((rig.sent(), rig.facts()), (vec!["pubrec(8)".to_owned()], vec![received(8, 11)]));
    // PUBREL: it was taken.
    rig.sent();
    rig.done(Packet::PubRel(Ack::success(id(9))));
    assert_eq!((rig.sent(), rig.facts()), (vec!["pubcomp(9)".to_owned()], vec![released(9)]));
    // The id for another message: said at once, since that one's entries may not outlive the next crash.
    assert_eq!(inbound(&mut rig, 10, false, later(3)), (Some((21, 10)), false));
    assert_eq!(rig.facts(), [released(10)]);
    for n in [1, 7, 8] {
        rig.done(Packet::PubRel(Ack::success(id(n))));
    }
    assert_eq!(rig.facts(), [1, 7, 8].map(released));
    // Two more messages that are new: the client has forgotten the rest.
    assert_eq!(inbound(&mut rig, 2, false, later(4)), (Some((22, 14)), false));
    assert!(rig.session().has_doubts());
    assert_eq!(inbound(&mut rig, 3, false, later(5)), (Some((23, 14)), false));
    assert_eq!((rig.facts(), rig.session().has_doubts()), (vec![released(11), released(12)], false));
    assert_eq!(inbound(&mut rig, 11, true, later(6)), (Some((24, 21)), false));
}

/// Do numbers go on above those of the life before?
#[test]
fn use_numbers_go_on() {
    let mut rig = Rig::new(Settings::default());
    let restoration = Restoration::new(Restored { next_use: 41, ..restored(&rig.settings) });
    rig.session = Some(restoration.finish());
    back(&mut rig, &connect_persistent(Version::V5));
    let packet = Packet::Publish(publish("t", QOS2, 7));
    let inbound = rig.inbound(&packet);
    assert_eq!(inbound.origin().map(|origin| (origin.use_number, origin.settled)), Some((41, 41)));
    rig.accept(inbound.receipt, Accepted::Later(CommitToken(1)));
    rig.committed(1);
    assert_eq!(rig.facts(), [Fact::Received { packet_id: id(7), use_number: 41 }]);
}

/// Are the subscriptions there, and each message's own options?
#[test]
fn subscriptions_and_options_are_there() {
    let granted = grant_with_id(QOS2, 5);
    let mut rig = away(&Settings::default(), |restoration| {
        restoration.subscribed("t/+", granted);
        restoration.subscribed("$share/g/t", grant(QOS1));
        let kept = Arc::new(Message::new(&publish("t/a", QOS2, 1), OTHER, None));
        let ids = [5, 300].map(|n| lapwing_codec::SubscriptionId::new(n).expect("in range"));
        let options = KeptOptions { qos: QOS1, retain: true, ids: SubscriptionIds::from_slice(&ids) };
        restoration.message(kept, options, entry(1), None);
    });
    assert_eq!((rig.session().grant("t/+"), rig.session().subscriptions().len()), (Some(granted), 2));
    rig.connect(&connect_persistent(Version::V5));
    let out = std::mem::take(&mut rig.out);
    let looks = packets(&out, Version::V5, |packet| match packet {
        Packet::Publish(publish) => {
            let ids = publish.properties.subscription_ids.iter().map(|id| id.get()).collect::<Vec<_>>();
            Some((describe(&packet), publish.retain, ids))
        }
        _ => None,
    });
    assert_eq!(looks[1], Some(("publish(1,1,dup)".to_owned(), true, vec![5, 300])));
}

/// Do the clocks of expiry and will go on?
#[test]
fn the_clocks_go_on() {
    let settings = Arc::new(Settings::default());
    let will = WillMessage { publish: publish("gone", QOS1, 1), delay_s: 30, message_expiry_s: Some(9) };
    let session =
        |will, remaining_ms| Restoration::new(Restored { will, remaining_ms, ..restored(&settings) }).finish();
    let deadline_ms = |session: &Session| session.deadline_ms();
    assert_eq!(deadline_ms(&session(None, None)), None, "for ever");
    assert_eq!(deadline_ms(&session(None, Some(5))), Some(1_000_005));
    assert_eq!(deadline_ms(&session(Some((will, 3)), Some(5))), Some(1_000_003));
    let mut rig = Rig::new(Settings::default());
    rig.session = Some(session(Some((will, 0)), Some(5)));
    assert_eq!(rig.session().will().map(|will| will.delay_s), Some(30));
    let tick = rig.tick();
    let published = tick.will.expect("its delay is over");
    assert_eq!((published.topic(), published.publisher(), published.expires_at_ms()), ("gone", ME, Some(1_009_000)));
    assert!(!tick.ended && rig.session().will().is_none());
    rig.now_ms += 5;
    assert!(rig.tick().ended);
}

/// Does a session that has more than is allowed now keep it until something comes?
#[test]
fn smaller_limits_take_nothing_away_by_themselves() {
    let settings = Settings { queue_messages_max: 2, ..Settings::default() };
    let mut rig = away(&settings, |restoration| (1..5).for_each(|n| message(restoration, n, QOS1, None)));
    assert_eq!((rig.session().queued_messages(), rig.session().has_facts()), (4, false));
    assert_eq!(rig.deliver_entry(publish("t", QOS1, 1), &[grant(QOS1)], 9), Delivered::Queued);
    let finished = [1, 2, 3].map(|n| Fact::Finished { entry: entry(n) });
    assert_eq!((rig.session().queued_messages(), rig.facts()), (2, finished.to_vec()));
}

/// Is a clean start still one?
#[test]
fn a_clean_start_discards_it() {
    let mut rig = away(&Settings::default(), |restoration| message(restoration, 1, QOS1, None));
    let clean = Connect { clean_start: true, ..connect_persistent(Version::V5) };
    let (present, discarded) = rig.connect(&clean);
    let discarded = discarded.expect("there was one");
    assert_eq!((present, discarded.kept_id(), rig.session().kept_id()), (false, Some(entry(100)), None));
}

/// A message in doubt is refused as it comes again, and another one under its packet id has to be sent twice: is that one taken for
/// it, which everybody has?
#[test]
fn a_refusal_leaves_no_doubt_behind() {
    for words in [None, Some("no room")] {
        let mut rig = Rig::new(Settings::default());
        let mut restoration = Restoration::new(Restored { next_use: 20, ..restored(&rig.settings) });
        restoration.doubted(id(7), 10);
        rig.session = Some(restoration.finish());
        back(&mut rig, &connect_persistent(Version::V5));
        let doubted = Publish { dup: true, ..publish("t", QOS2, 7) };
        assert!(rig.session().is_doubted(&doubted) && !rig.session().is_doubted(&publish("t", QOS2, 7)));
        assert!(!rig.session().is_doubted(&Publish { dup: true, ..publish("t", QOS2, 8) }));
        let first = Packet::Publish(doubted);
        let inbound = rig.inbound(&first);
        assert!(inbound.is_resent());
        rig.refuse(inbound.receipt, ReasonCode::QuotaExceeded, words);
        assert_eq!(rig.sent(), ["pubrec(7)"], "{words:?}");
        rig.done(Packet::PubRel(Ack::success(id(7))));
        assert!(!rig.session().has_doubts());
        let second = Packet::Publish(Publish { dup: true, ..publish("t", QOS2, 7) });
        let inbound = rig.inbound(&second);
        assert_eq!((inbound.is_resent(), inbound.origin().map(|origin| origin.use_number)), (false, Some(20)));
        rig.accept(inbound.receipt, Accepted::Now);
    }
}
