//! Enhanced authentication: before the CONNACK, and again on an open session.

use lapwing_codec::{
    Ack, Auth, AuthProperties, Connect, ConnectProperties, Disconnect, Limits, Packet, QoS, ReasonCode, UserProperties,
    Version, decode,
};
use lapwing_session::{
    Admission, AuthAnswer, AuthProgress, AuthQuestion, Authentication, Close, DropReason, Io, Session, Settings, Side,
    Step, admit,
};

use crate::rig::{ME, Rig, connect, grant, id, packets, publish};

const METHOD: &str = "SCRAM";

fn with_method(properties: ConnectProperties<'static>) -> Connect<'static> {
    let properties = ConnectProperties { auth_method: Some(METHOD), auth_data: Some(b"first"), ..properties };
    Connect { properties, ..connect(Version::V5) }
}

fn auth(reason: ReasonCode, method: &'static str, data: &'static [u8]) -> Packet<'static> {
    let properties = AuthProperties { auth_method: Some(method), auth_data: Some(data), ..AuthProperties::default() };
    Packet::Auth(Auth { reason, properties })
}

fn step(data: &'static [u8]) -> Packet<'static> {
    auth(ReasonCode::ContinueAuthentication, METHOD, data)
}

const fn challenge(data: &[u8]) -> AuthAnswer<'_> {
    AuthAnswer::Continue { data: Some(data), reason_string: None }
}

/// What one AUTH in `out` says: code, method, data, reason string.
fn said(out: &[u8]) -> (u8, String, Vec<u8>, Option<String>) {
    let (packet, len) = decode(out, Version::V5, &Limits::PROTOCOL).unwrap().expect("a whole packet");
    assert_eq!(len, out.len(), "one packet");
    let Packet::Auth(auth) = packet else { panic!("{packet:?}") };
    let AuthProperties { auth_method, auth_data, reason_string, user } = auth.properties;
    assert!(user.is_empty());
    let data = auth_data.unwrap_or_default().to_vec();
    (auth.reason as u8, auth_method.unwrap_or_default().to_owned(), data, reason_string.map(str::to_owned))
}

/// An exchange that has begun, its first question asked.
fn begun(properties: ConnectProperties<'static>) -> Authentication {
    Authentication::begin(&with_method(properties)).expect("it names a method").0
}

/// The exchange answers its question with a challenge.
fn challenged(exchange: &mut Authentication) {
    assert_eq!(exchange.answer(&challenge(b"c"), &mut Vec::new()), Ok(AuthProgress::Challenged));
}

/// A rig whose client has proved itself with a method; CONNACK read.
fn open(properties: ConnectProperties<'static>) -> Rig {
    Rig::connected(&with_method(properties), Settings { authentication: true, ..Settings::default() })
}

fn violates(close: Close) {
    assert_eq!((close.reason, close.side), (ReasonCode::ProtocolError, Side::Server), "{close:?}");
}

/// A CONNECT without a method begins no exchange; one with a method is the first question.
#[test]
fn a_method_in_connect_is_the_first_question() {
    assert!(Authentication::begin(&connect(Version::V5)).is_none());
    let connect = with_method(ConnectProperties::default());
    let (exchange, question) = Authentication::begin(&connect).unwrap();
    let expected = AuthQuestion { method: METHOD, data: Some(b"first"), user: UserProperties::EMPTY, is_first: true };
    assert_eq!((exchange.method(), question), (METHOD, expected));
    let shown = format!("{question:?}");
    assert!(shown.contains(METHOD) && shown.contains("data_bytes: Some(5)"), "{shown}");
    assert!(!shown.contains("102, 105") && !shown.contains("first\""), "its data are secret: {shown}");
}

/// Two challenges, then success. Shows 5.0: MQTT-3.15.2-1, MQTT-4.12.0-2, MQTT-4.12.0-5.
#[test]
fn an_exchange_before_connack() {
    let mut exchange = begun(ConnectProperties::default());
    for data in [&b"one"[..], b"two"] {
        let mut out = Vec::new();
        assert_eq!(exchange.answer(&challenge(data), &mut out), Ok(AuthProgress::Challenged));
        assert_eq!(said(&out), (0x18, METHOD.to_owned(), data.to_vec(), None));
        let reply = step(b"reply");
        let question = exchange.handle(&reply).unwrap();
        assert_eq!((question.method, question.data, question.is_first), (METHOD, Some(&b"reply"[..]), false));
    }
    let mut out = Vec::new();
    let passed = AuthAnswer::Success { data: Some(b"proof") };
    assert_eq!(exchange.answer(&passed, &mut out), Ok(AuthProgress::Passed));
    assert!(out.is_empty(), "the CONNACK says it");
}

/// The CONNACK that accepts has the method, and the last data. Shows 5.0: MQTT-4.12.0-5.
#[test]
fn the_connack_ends_the_exchange() {
    let connect = with_method(ConnectProperties::default());
    let settings = Settings { authentication: true, ..Settings::default() };
    let admission = admit(&connect, &settings, || unreachable!()).unwrap();
    for data in [Some(&b"proof"[..]), None] {
        let admission = admission.clone().with_auth_data(data, &connect, &settings).unwrap();
        let mut rig = Rig::new(settings.clone());
        let mut io = Io::new(&mut rig.out, &mut rig.counters);
        let _ = Session::open(&connect, &admission, ME, &rig.settings, None, 0, &mut io);
        let told = rig.sent_one(|packet| match packet {
            Packet::ConnAck(connack) => {
                assert_eq!(connack.properties.auth_method, Some(METHOD));
                connack.properties.auth_data.map(<[u8]>::to_vec)
            }
            other => panic!("{other:?}"),
        });
        assert_eq!(told.as_deref(), data);
    }
}

/// Last data that no CONNACK can carry refuse the connection: too long for a field, or for this client [MQTT-3.1.2-24].
#[test]
fn last_data_must_fit() {
    let settings = Settings { authentication: true, ..Settings::default() };
    let small = with_method(ConnectProperties { packet_bytes_max: Some(100), ..ConnectProperties::default() });
    for (connect, len, reason) in [
        (with_method(ConnectProperties::default()), 65_536, ReasonCode::ImplementationSpecificError),
        (small, 100, ReasonCode::PacketTooLarge),
    ] {
        let admission = Admission::new("me", false);
        let fitting = if reason == ReasonCode::PacketTooLarge { 10 } else { 65_535 };
        assert!(admission.clone().with_auth_data(Some(&vec![7; fitting]), &connect, &settings).is_ok());
        let close = admission.with_auth_data(Some(&vec![7; len]), &connect, &settings).unwrap_err();
        assert_eq!(close.reason, reason);
    }
}

/// [MQTT-4.12.0-4] a failure has the code of the judge, if a CONNACK can carry it and it is an error; else 0x87.
#[test]
fn a_failure_has_a_code_that_connack_can_carry() {
    for (reason, expected) in [
        (ReasonCode::BadAuthenticationMethod, ReasonCode::BadAuthenticationMethod),
        (ReasonCode::Banned, ReasonCode::Banned),
        (ReasonCode::Success, ReasonCode::NotAuthorized),
        (ReasonCode::ServerShuttingDown, ReasonCode::NotAuthorized),
    ] {
        let mut out = Vec::new();
        let close = begun(ConnectProperties::default()).answer(&AuthAnswer::Failure(reason), &mut out).unwrap_err();
        assert_eq!((close.reason, close.side, out.len()), (expected, Side::Server, 0), "{reason}");
    }
}

/// [MQTT-3.1.2-30, MQTT-4.12.0-3] before CONNACK only AUTH with 0x18 and the same method, or DISCONNECT, may come.
#[test]
fn other_packets_before_connack_end_it() {
    let wrong = [
        Packet::PingReq,
        Packet::Publish(publish("t", QoS::AtMostOnce, 0)),
        Packet::Connect(with_method(ConnectProperties::default())),
        Packet::Auth(Auth::default()),
        auth(ReasonCode::ContinueAuthentication, "OTHER", b"x"),
        auth(ReasonCode::ContinueAuthentication, "scram", b"x"),
        auth(ReasonCode::ReAuthenticate, METHOD, b"x"),
        auth(ReasonCode::Success, METHOD, b"x"),
    ];
    for packet in wrong {
        let mut exchange = begun(ConnectProperties::default());
        challenged(&mut exchange);
        violates(exchange.handle(&packet).unwrap_err());
    }
    let mut exchange = begun(ConnectProperties::default());
    violates(exchange.handle(&step(b"too early")).unwrap_err());
    let left = exchange.handle(&Packet::Disconnect(Disconnect::default())).unwrap_err();
    assert_eq!((left.side, left.reason), (Side::Client, ReasonCode::Success));
}

/// An answer without a question is a mistake of the caller, and opens nothing.
#[test]
fn an_answer_needs_a_question() {
    let mut exchange = begun(ConnectProperties::default());
    challenged(&mut exchange);
    let mut out = Vec::new();
    let close = exchange.answer(&AuthAnswer::Success { data: None }, &mut out).unwrap_err();
    assert_eq!((close.reason, out.len()), (ReasonCode::ImplementationSpecificError, 0));
    let mut rig = open(ConnectProperties::default());
    let (session, mut io) = rig.parts();
    assert_eq!(session.authenticated(&AuthAnswer::Failure(ReasonCode::Banned), &mut io), Ok(None));
    assert_eq!(rig.sent(), [""; 0], "this connection has asked nothing");
}

/// Words go along if they fit and are wanted; data that do not fit end the exchange. Shows 5.0: MQTT-3.15.2-2, MQTT-3.1.2-29.
#[test]
fn an_auth_keeps_to_the_clients_packet_size() {
    let answer = AuthAnswer::Continue { data: Some(b"0123456789"), reason_string: Some("a second factor") };
    let whole = 2 + 1 + 1 + (3 + METHOD.len()) + (3 + 10) + (3 + 15);
    let without = whole as u32 - 18;
    for (packet_bytes_max, wants_reasons, expected) in [
        (None, true, Some(true)),
        (None, false, Some(false)),
        (Some(whole as u32), true, Some(true)),
        (Some(whole as u32 - 1), true, Some(false)),
        (Some(without), true, Some(false)),
        (Some(without - 1), true, None),
    ] {
        let request_problem_information = wants_reasons;
        let properties =
            ConnectProperties { packet_bytes_max, request_problem_information, ..ConnectProperties::default() };
        let mut out = b"before".to_vec();
        let answered = begun(properties).answer(&answer, &mut out);
        match expected {
            Some(has_words) => {
                assert_eq!(answered, Ok(AuthProgress::Challenged));
                assert_eq!(said(&out[6..]).3.is_some(), has_words, "{packet_bytes_max:?} {wants_reasons}");
            }
            None => {
                assert_eq!(answered.unwrap_err().reason, ReasonCode::PacketTooLarge);
                assert_eq!(out, b"before");
            }
        }
    }
}

/// On an open session: AUTH 0x19, a challenge, AUTH 0x00; other packets go on meanwhile, and it can be done again.
///
/// Shows 5.0: MQTT-3.15.2-1, MQTT-4.12.0-5.
#[test]
fn a_client_authenticates_anew() {
    let mut rig = open(ConnectProperties::default());
    for _ in 0..2 {
        let again = auth(ReasonCode::ReAuthenticate, METHOD, b"again");
        let Ok(Step::Authenticate(question)) = rig.handle(&again) else { panic!("a question") };
        assert_eq!((question.method, question.data, question.is_first), (METHOD, Some(&b"again"[..]), true));
        // Asked, and later challenged: messages travel.
        let _ = rig.deliver(publish("t", QoS::AtMostOnce, 0), &[grant(QoS::AtMostOnce)]);
        rig.done(Packet::PubRel(Ack::success(id(9))));
        assert_eq!(rig.sent(), ["publish(0,0)", "pubcomp(9,0x92)"]);
        let (session, mut io) = rig.parts();
        assert_eq!(session.authenticated(&challenge(b"c"), &mut io), Ok(Some(AuthProgress::Challenged)));
        assert_eq!(said(&std::mem::take(&mut rig.out)), (0x18, METHOD.to_owned(), b"c".to_vec(), None));
        rig.done(Packet::PingReq);
        assert_eq!(rig.sent(), ["pingresp"]);
        let reply = step(b"reply");
        let Ok(Step::Authenticate(question)) = rig.handle(&reply) else { panic!("a question") };
        assert!(!question.is_first);
        let (session, mut io) = rig.parts();
        let passed = session.authenticated(&AuthAnswer::Success { data: Some(b"proof") }, &mut io);
        assert_eq!(passed, Ok(Some(AuthProgress::Passed)));
        assert_eq!(said(&std::mem::take(&mut rig.out)), (0, METHOD.to_owned(), b"proof".to_vec(), None));
    }
}

/// A failure ends the connection with the judge's code, if a DISCONNECT can carry it; else 0x87. Shows 5.0: MQTT-4.12.1-2.
#[test]
fn a_failure_on_an_open_session_disconnects() {
    for (reason, expected) in
        [(ReasonCode::QuotaExceeded, "disconnect(0x97)"), (ReasonCode::BadAuthenticationMethod, "disconnect(0x87)")]
    {
        let mut rig = open(ConnectProperties::default());
        let again = auth(ReasonCode::ReAuthenticate, METHOD, b"again");
        assert!(matches!(rig.handle(&again), Ok(Step::Authenticate(_))));
        let (session, mut io) = rig.parts();
        assert!(session.authenticated(&AuthAnswer::Failure(reason), &mut io).is_err());
        assert_eq!(rig.sent(), [expected]);
    }
}

/// [MQTT-4.12.1-1] another method, a wrong code, or a turn that is not the client's: 0x82, and the connection ends.
#[test]
fn a_wrong_auth_on_an_open_session_ends_it() {
    let again = auth(ReasonCode::ReAuthenticate, METHOD, b"again");
    let cases: [(&[Packet<'_>], Packet<'_>); 6] = [
        (&[], step(b"not begun")),
        (&[], Packet::Auth(Auth::default())),
        (&[], auth(ReasonCode::ReAuthenticate, "OTHER", b"again")),
        (&[], auth(ReasonCode::Success, METHOD, b"again")),
        (&[again], again),
        (&[again], step(b"not asked for")),
    ];
    for (before, packet) in cases {
        let mut rig = open(ConnectProperties::default());
        for packet in before {
            assert!(matches!(rig.handle(packet), Ok(Step::Authenticate(_))));
        }
        violates(rig.handle(&packet).unwrap_err());
        assert_eq!(rig.sent(), ["disconnect(0x82)"], "{packet:?}");
    }
}

/// The exchange belongs to the connection: the next one of the session begins with none under way, and its own method.
#[test]
fn an_exchange_ends_with_its_connection() {
    let keep = ConnectProperties { session_expiry_s: 600, ..ConnectProperties::default() };
    let mut rig = open(keep);
    let again = auth(ReasonCode::ReAuthenticate, METHOD, b"again");
    assert!(matches!(rig.handle(&again), Ok(Step::Authenticate(_))));
    assert!(!rig.disconnected().ended);
    rig.connect(&Connect { clean_start: false, ..with_method(keep) });
    rig.out.clear();
    let (session, mut io) = rig.parts();
    assert_eq!(session.authenticated(&AuthAnswer::Failure(ReasonCode::Banned), &mut io), Ok(None));
    assert!(matches!(rig.handle(&again), Ok(Step::Authenticate(_))), "a new exchange may begin");
    assert!(!rig.disconnected().ended);
    let plain = ConnectProperties { auth_method: None, auth_data: None, ..keep };
    rig.connect(&Connect { clean_start: false, properties: plain, ..connect(Version::V5) });
    violates(rig.handle(&again).unwrap_err());
    assert_eq!(rig.counters.dropped(DropReason::SessionEnded), 0);
    assert!(packets(&rig.out, Version::V5, |packet| matches!(packet, Packet::Auth(_))).iter().all(|is_auth| !is_auth));
}
