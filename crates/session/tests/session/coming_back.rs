//! What becomes of a session when its client comes back, is taken over, or stays away.

use lapwing_codec::{Packet, QoS, ReasonCode, Version};
use lapwing_session::{Accepted, Counters, DropReason, Settings};

use crate::rig::{Rig, connect, connect_persistent, grant, publish};

/// [MQTT-3.1.2-4, MQTT-3.1.2-5, MQTT-3.1.2-6, MQTT-3.2.2-2, MQTT-3.2.2-3] clean start and session present.
#[test]
fn a_session_goes_on_unless_a_clean_start_is_wanted() {
    for version in [Version::V5, Version::V311] {
        let mut rig = Rig::new(Settings::default());
        assert!(!rig.connect(&connect_persistent(version)).0, "there was none");
        let _ = rig.deliver(publish("t", QoS::AtLeastOnce, 1), &[grant(QoS::AtLeastOnce)]);
        let again = rig.reconnect(&connect_persistent(version));
        assert_eq!(again, ["connack(0x00,true)", "publish(1,1,dup)"]);
        assert!(!rig.disconnected().ended);
        let (present, discarded) = rig.connect(&connect(version));
        assert!(!present && discarded.is_some());
        assert_eq!((rig.sent(), rig.session().inflight_messages()), (vec!["connack(0x00,false)".to_owned()], 0));
        assert!(rig.disconnected().ended, "a clean session without expiry ends with its connection");
    }
}

/// A session of 3.1 lives on as one of 3.1.1 does; its CONNACK cannot say so.
#[test]
fn a_session_of_31_goes_on() {
    let mut rig = Rig::new(Settings::default());
    rig.connect(&connect_persistent(Version::V31));
    let _ = rig.deliver(publish("t", QoS::AtLeastOnce, 1), &[grant(QoS::AtLeastOnce)]);
    assert_eq!(rig.sent(), ["connack(0x00,false)", "publish(1,1)"]);
    assert!(!rig.disconnected().ended);
    assert!(rig.connect(&connect_persistent(Version::V31)).0);
    assert_eq!(rig.sent(), ["connack(0x00,false)", "publish(1,1,dup)"]);
    let _ = rig.disconnected();
    rig.connect(&connect(Version::V31));
    assert!(rig.disconnected().ended, "Clean Session 1");
}

/// A session that expired without anybody noticing is not continued.
#[test]
fn an_expired_session_is_discarded() {
    let mut rig = Rig::new(Settings::default());
    rig.connect(&connect_persistent(Version::V5));
    assert!(!rig.disconnected().ended);
    rig.now_ms += 600_000;
    let (present, discarded) = rig.connect(&connect_persistent(Version::V5));
    assert!(!present && discarded.is_some());
}

/// [MQTT-3.1.4-3] takeover: the old connection is told 0x8E, the session goes on with the new one.
#[test]
fn a_second_connection_takes_over() {
    let mut rig = Rig::connected(&connect_persistent(Version::V5), Settings::default());
    let (session, mut io) = rig.parts();
    let close = session.dismiss(ReasonCode::SessionTakenOver, "another connection has this client id", &mut io);
    assert_eq!((close.reason, rig.sent()), (ReasonCode::SessionTakenOver, vec!["disconnect(0x8e)".to_owned()]));
    assert!(!rig.disconnected().ended);
    assert!(rig.connect(&connect_persistent(Version::V5)).0);

    let mut old = Rig::v311();
    let (session, mut io) = old.parts();
    session.dismiss(ReasonCode::SessionTakenOver, "another connection has this client id", &mut io);
    assert_eq!(old.sent(), [""; 0], "3.1.1 is closed without a word");
}

/// What was prepared for one connection is not sent to the next: neither an acknowledgement nor a SUBACK.
#[test]
fn answers_stay_with_their_connection() {
    let mut rig = Rig::connected(&connect_persistent(Version::V5), Settings::default());
    let receipt = rig.inbound(&Packet::Publish(publish("t", QoS::AtLeastOnce, 7))).receipt;
    let reply = rig.subscribe(&[("a", Default::default())], |_| Ok(())).unwrap();
    assert_eq!(rig.reconnect(&connect_persistent(Version::V5)), ["connack(0x00,true)"]);
    rig.accept(receipt, Accepted::Now);
    rig.reply(reply).unwrap();
    assert_eq!(rig.sent(), [""; 0]);
}

/// A session that ends counts what it could not deliver.
#[test]
fn the_end_counts_what_is_lost() {
    let mut rig =
        Rig::connected(&connect_persistent(Version::V5), Settings { inflight_messages_max: 2, ..Settings::default() });
    rig.deliver_times(5, publish("t", QoS::AtLeastOnce, 1), &[grant(QoS::AtLeastOnce)]);
    let mut counters = Counters::default();
    let session = rig.session.take().unwrap();
    let ended = session.end(rig.now_ms, &mut counters);
    assert_eq!(counters.dropped(DropReason::SessionEnded), 5);
    assert_eq!((ended.client_id(), ended.subscriptions().count()), ("me", 0));
}
