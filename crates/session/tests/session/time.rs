//! Keep alive and session expiry.

use lapwing_codec::{
    Ack, Connect, ConnectProperties, Disconnect, DisconnectProperties, Packet, QoS, ReasonCode, SubscriptionOptions,
    Version,
};
use lapwing_session::{Accepted, Settings};

use crate::rig::{Rig, connect, grant, id, publish};

/// One and a half times the keep alive without a packet: 0x8D. Any packet starts it again.
///
/// Shows 5.0: MQTT-3.1.2-22. Shows 3.1.1: MQTT-3.1.2-24.
#[test]
fn a_silent_client_is_closed() {
    for (version, said) in [(Version::V5, &["disconnect(0x8d)"][..]), (Version::V311, &[])] {
        let mut rig = Rig::connected(&Connect { keep_alive_s: 10, ..connect(version) }, Settings::default());
        rig.now_ms += 14_999;
        assert_eq!(rig.tick().close, None);
        rig.done(Packet::PingReq);
        rig.out.clear();
        rig.now_ms += 14_999;
        assert_eq!(rig.tick().close, None, "the ping counted");
        let deadline_ms = rig.now_ms + 1;
        assert_eq!(rig.session().deadline_ms(), Some(deadline_ms));
        rig.now_ms = deadline_ms;
        assert_eq!(rig.tick().close.map(|close| close.reason), Some(ReasonCode::KeepAliveTimeout));
        assert_eq!(rig.sent(), said);
    }
}

/// Does a connection that carries nothing but pings end after its time, and does a message or a subscription begin it anew?
#[test]
fn an_idle_connection_is_closed() {
    let settings = Settings { connection_idle_ms_max: 60_000, ..Settings::default() };
    for (version, said) in [(Version::V5, &["disconnect(0xa0)"][..]), (Version::V311, &[])] {
        let mut rig = Rig::connected(&Connect { keep_alive_s: 50, ..connect(version) }, settings.clone());
        for uses in 0..4 {
            match uses {
                0 => {}
                1 => drop(rig.subscribe(&[("t", SubscriptionOptions::new(QoS::AtMostOnce))], |_| Ok(()))),
                2 => rig.published(publish("t", QoS::AtLeastOnce, 1), Accepted::Now),
                _ => rig.deliver_times(1, publish("t", QoS::AtMostOnce, 0), &[grant(QoS::AtMostOnce)]),
            }
            let deadline_ms = rig.now_ms + 60_000;
            rig.now_ms = deadline_ms - 1;
            // Nor is it silent.
            rig.done(Packet::PingReq);
            assert_eq!((rig.tick().close, rig.session().deadline_ms()), (None, Some(deadline_ms)), "{uses}");
        }
        rig.out.clear();
        rig.now_ms += 1;
        assert_eq!(rig.tick().close.map(|close| close.reason), Some(ReasonCode::MaximumConnectTime));
        assert_eq!(rig.sent(), said);
    }
}

/// Does a client that is at work on a message for long keep its connection until it has acknowledged it?
#[test]
fn what_is_not_acknowledged_keeps_an_idle_connection() {
    let settings = Settings { connection_idle_ms_max: 60_000, ..Settings::default() };
    let mut rig = Rig::connected(&connect(Version::V5), settings);
    rig.deliver_times(1, publish("t", QoS::AtLeastOnce, 1), &[grant(QoS::AtLeastOnce)]);
    for _ in 0..3 {
        rig.now_ms += 60_000;
        let deadline_ms = rig.now_ms + 60_000;
        assert_eq!((rig.tick().close, rig.session().deadline_ms()), (None, Some(deadline_ms)));
    }
    rig.done(Packet::PubAck(Ack::success(id(1))));
    rig.now_ms += 60_000;
    assert_eq!(rig.tick().close.map(|close| close.reason), Some(ReasonCode::MaximumConnectTime));
}

fn expiring(session_expiry_s: u32) -> Connect<'static> {
    let properties = ConnectProperties { session_expiry_s, ..ConnectProperties::default() };
    Connect { properties, ..connect(Version::V5) }
}

/// [MQTT-3.1.2-23] a session lives as long as it was granted, and forever with 0xFFFFFFFF where that is allowed.
#[test]
fn sessions_expire() {
    let forever = Settings { session_expiry_s_max: u32::MAX, session_expiry_s_v311: u32::MAX, ..Settings::default() };
    for (connect, max, lives_ms) in [
        (expiring(5), 100, Some(5_000)),
        (expiring(500), 100, Some(100_000)),
        (expiring(u32::MAX), 100, Some(100_000)),
        (expiring(u32::MAX), u32::MAX, None),
        (Connect { clean_start: false, ..connect(Version::V311) }, 100, Some(100_000)),
        (Connect { clean_start: false, ..connect(Version::V311) }, u32::MAX, None),
    ] {
        let mut rig = Rig::connected(&connect, Settings { session_expiry_s_max: max, ..forever.clone() });
        let departure = rig.disconnected();
        assert!(!departure.ended);
        let start_ms = rig.now_ms;
        assert_eq!(rig.session().deadline_ms(), lives_ms.map(|lives_ms| start_ms + lives_ms));
        rig.now_ms += lives_ms.unwrap_or(1 << 40);
        assert_eq!(rig.tick().ended, lives_ms.is_some());
    }
    let mut rig = Rig::connected(&expiring(0), forever);
    assert!(rig.disconnected().ended);
}

/// 5.0, 3.14.2.2.2: DISCONNECT may change the expiry, but not from 0 to anything.
#[test]
fn a_disconnect_may_change_the_expiry() {
    let leave = |session_expiry_s| {
        let properties =
            DisconnectProperties { session_expiry_s: Some(session_expiry_s), ..DisconnectProperties::default() };
        Packet::Disconnect(Disconnect { properties, ..Disconnect::default() })
    };
    for (from, to, ends) in [(600, 0, true), (600, 7, false), (0, 0, true)] {
        let mut rig = Rig::connected(&expiring(from), Settings::default());
        let close = rig.handle(&leave(to)).unwrap_err();
        assert_eq!((close.reason, rig.disconnected().ended), (ReasonCode::Success, ends), "{from} -> {to}");
        let deadline_ms = rig.now_ms + u64::from(to) * 1000;
        assert!(ends || rig.session().deadline_ms() == Some(deadline_ms));
    }
    // What was asked for counts, not what was granted: this client breaks no rule. It is granted no more than before.
    let strict = Settings { session_expiry_s_max: 0, ..Settings::default() };
    let mut rig = Rig::connected(&expiring(600), strict);
    assert_eq!(rig.handle(&leave(7)).unwrap_err().reason, ReasonCode::Success);
    assert!(rig.disconnected().ended);
    let mut rig = Rig::connected(&expiring(600), Settings { session_expiry_s_max: 5, ..Settings::default() });
    assert!(rig.handle(&leave(7)).is_err() && !rig.disconnected().ended);
    let deadline_ms = rig.now_ms + 5000;
    assert_eq!(rig.session().deadline_ms(), Some(deadline_ms));
    let mut rig = Rig::connected(&expiring(0), Settings::default());
    assert_eq!(rig.handle(&leave(7)).unwrap_err().reason, ReasonCode::ProtocolError);
    assert_eq!((rig.sent(), rig.disconnected().ended), (vec!["disconnect(0x82)".to_owned()], true));
}
