//! Wills: when they are published, when not.

use lapwing_codec::{
    Connect, ConnectProperties, Disconnect, DisconnectProperties, Packet, QoS, ReasonCode, Version, Will,
    WillProperties,
};
use lapwing_session::{Counters, Settings, Side};

use crate::rig::{Rig, connect};

fn with_will(version: Version, delay_s: u32, session_expiry_s: u32) -> Connect<'static> {
    let properties = WillProperties { delay_s, message_expiry_s: Some(9), ..WillProperties::default() };
    let will = Will { topic: "gone", payload: b"me", qos: QoS::AtLeastOnce, retain: true, properties };
    let properties = ConnectProperties { session_expiry_s, ..ConnectProperties::default() };
    Connect { will: Some(will), clean_start: false, properties, ..connect(version) }
}

/// [MQTT-3.1.2-8, MQTT-3.1.2-14, MQTT-3.1.2-15] a connection that just ends publishes the will, with what belongs to it.
#[test]
fn a_broken_connection_publishes_the_will() {
    let mut rig = Rig::connected(&with_will(Version::V5, 0, 600), Settings::default());
    let will = rig.disconnected().will.unwrap();
    assert_eq!(
        (will.topic(), will.payload(), will.qos(), will.publish().retain),
        ("gone", &b"me"[..], QoS::AtLeastOnce, true)
    );
    assert_eq!(will.expires_at_ms(), Some(rig.now_ms + 9_000), "its life begins now");
    assert_eq!(rig.tick().will, None, "and once");
}

/// [MQTT-3.1.2-10, MQTT-3.14.4-3] a client that says goodbye takes its will back; with 0x04, or an error, it does not.
#[test]
fn a_disconnect_decides_about_the_will() {
    for (reason, published) in
        [(ReasonCode::Success, false), (ReasonCode::DisconnectWithWill, true), (ReasonCode::UnspecifiedError, true)]
    {
        let mut rig = Rig::connected(&with_will(Version::V5, 0, 600), Settings::default());
        let close = rig.handle(&Packet::Disconnect(Disconnect::new(reason))).unwrap_err();
        assert_eq!((close.side, close.reason), (Side::Client, reason));
        assert_eq!(rig.disconnected().will.is_some(), published, "{reason:?}");
    }
    let mut old = Rig::connected(&with_will(Version::V311, 0, 0), Settings::default());
    assert!(old.handle(&Packet::Disconnect(Disconnect::default())).is_err());
    assert_eq!(old.disconnected().will, None);
}

/// [MQTT-3.1.3-9] a delayed will waits, and is not sent when the client is back in time.
#[test]
fn a_delayed_will() {
    let connect = with_will(Version::V5, 30, 600);
    let mut rig = Rig::connected(&connect, Settings::default());
    assert_eq!(rig.disconnected().will, None);
    let due_ms = rig.now_ms + 30_000;
    assert_eq!(rig.session().deadline_ms(), Some(due_ms));
    assert!(rig.session().has_state(), "nobody else gets its client id");
    rig.now_ms = due_ms - 1;
    assert_eq!(rig.tick().will, None);
    rig.now_ms = due_ms;
    let tick = rig.tick();
    assert!(tick.will.is_some() && !tick.ended);
    assert!(!rig.session().has_state());
    assert_eq!(rig.session().deadline_ms(), Some(due_ms + 570_000), "then the session expires");

    let mut rig = Rig::connected(&connect, Settings::default());
    assert_eq!(rig.disconnected().will, None);
    rig.now_ms += 29_000;
    rig.connect(&connect);
    rig.now_ms += 1_000_000;
    assert_eq!(rig.tick().will, None);
}

/// [MQTT-3.1.2-8] the delay ends with the session: by expiry, by a clean start, or at once when nothing is kept.
#[test]
fn the_end_of_the_session_ends_the_delay() {
    let mut rig = Rig::connected(&with_will(Version::V5, 30, 10), Settings::default());
    assert_eq!(rig.disconnected().will, None);
    rig.now_ms += 10_000;
    let tick = rig.tick();
    assert!(tick.will.is_some() && tick.ended);

    let mut rig = Rig::connected(&with_will(Version::V5, 30, 0), Settings::default());
    let departure = rig.disconnected();
    assert!(departure.will.is_some() && departure.ended);

    let mut rig = Rig::connected(&with_will(Version::V5, 30, 600), Settings::default());
    assert_eq!(rig.disconnected().will, None);
    let (_, discarded) = rig.connect(&connect(Version::V5));
    let ended = discarded.unwrap().end(rig.now_ms, &mut Counters::default());
    assert!(ended.will.is_some());
}

/// A DISCONNECT that ends the session early ends the delay too.
#[test]
fn a_shortened_session_publishes_its_will_at_once() {
    let mut rig = Rig::connected(&with_will(Version::V5, 30, 600), Settings::default());
    let properties = DisconnectProperties { session_expiry_s: Some(0), ..DisconnectProperties::default() };
    let leave = Disconnect { reason: ReasonCode::DisconnectWithWill, properties };
    assert!(rig.handle(&Packet::Disconnect(leave)).is_err());
    let departure = rig.disconnected();
    assert!(departure.will.is_some() && departure.ended);
}

/// A will whose topic the client may not have any more is taken back; one that it may have stays.
#[test]
fn a_will_is_revoked_by_its_topic() {
    for (keep, revoked) in [(true, false), (false, true)] {
        let mut rig = Rig::connected(&with_will(Version::V5, 0, 600), Settings::default());
        let was_revoked = rig.session().revoke_will(|topic| {
            assert_eq!(topic, "gone");
            keep
        });
        assert_eq!((was_revoked, rig.disconnected().will.is_none()), (revoked, revoked));
    }
    assert!(!Rig::v5().session().revoke_will(|_| false), "there is none");
}
