//! Transcripts of one client's protocol: what the broker sends, what the client answers, what its caller hears.

use lapwing_client::{
    Answer, ClientError, Connected, Events, Options, Protocol, Publish, PublishProperties, QoS, ReasonCode, SendError,
    State, Version,
};
use lapwing_codec::{
    Ack, ConnAck, ConnAckProperties, Disconnect, Limits, Packet, PacketId, ReasonProperties, SubAck,
    SubscribeFiltersBuf, SubscriptionOptions, decode,
};
use proptest::prelude::*;

#[derive(Default, Debug, PartialEq, Eq)]
struct Heard(Vec<String>);

impl Events for Heard {
    fn connected(&mut self, connected: &Connected<'_>) {
        self.0.push(format!("connected {}", connected.session_present));
    }
    fn message(&mut self, publish: &Publish<'_>) -> Answer {
        self.0.push(format!("message {} {}", publish.topic, String::from_utf8_lossy(publish.payload)));
        Answer::Now
    }
    fn acknowledged(&mut self, token: u64, reason: ReasonCode) {
        self.0.push(format!("acknowledged {token} {:?}", reason));
    }
    fn sent_again(&mut self, token: u64) {
        self.0.push(format!("again {token}"));
    }
    fn subscribed(&mut self, token: u64, reasons: &[ReasonCode]) {
        self.0.push(format!("subscribed {token} {reasons:?}"));
    }
}

struct Client {
    protocol: Protocol,
    out: Vec<u8>,
    heard: Heard,
}

impl Client {
    fn new(version: Version) -> Self {
        let mut client = Self { protocol: Protocol::new(version, 10, true), out: Vec::new(), heard: Heard::default() };
        client.reconnect();
        client
    }

    fn connected(version: Version, connack: ConnAckProperties<'_>) -> Self {
        let mut client = Self::new(version);
        let accepted = ConnAck { session_present: false, reason: ReasonCode::Success, properties: connack };
        client.hears(&[Packet::ConnAck(accepted)]).expect("a good CONNACK");
        client.heard.0.clear();
        client
    }

    fn reconnect(&mut self) {
        self.protocol.lost();
        let options = Options { version: self.protocol.version(), keep_alive_s: 10, ..Options::default() };
        self.protocol.connect(&options, 0, &mut self.out).expect("plain options");
        self.out.clear();
    }

    fn hears(&mut self, packets: &[Packet<'_>]) -> Result<(), ClientError> {
        let bytes = encode(packets, self.protocol.version());
        let used = self.protocol.receive(&bytes, &mut self.out, &mut self.heard)?;
        assert_eq!(used, bytes.len());
        Ok(())
    }

    fn publish(&mut self, qos: QoS, token: u64) -> Result<(), SendError> {
        self.protocol.publish(publish(qos, None), token, &mut self.out)
    }

    /// What the client has written since the last call, in words.
    fn wrote(&mut self) -> Vec<String> {
        let (mut words, mut rest) = (Vec::new(), std::mem::take(&mut self.out));
        while let Some((packet, len)) =
            decode(&rest, self.protocol.version(), &Limits::PROTOCOL).expect("our own bytes")
        {
            words.push(match packet {
                Packet::Publish(p) => format!("PUBLISH {} dup={}", p.packet_id.map_or(0, PacketId::get), p.dup),
                Packet::PubRel(ack) => format!("PUBREL {}", ack.packet_id),
                Packet::PubRec(ack) => format!("PUBREC {}", ack.packet_id),
                Packet::PubAck(ack) => format!("PUBACK {}", ack.packet_id),
                Packet::PubComp(ack) => format!("PUBCOMP {} {:?}", ack.packet_id, ack.reason),
                other => format!("{other:?}"),
            });
            rest.drain(..len);
        }
        words
    }
}

fn encode(packets: &[Packet<'_>], version: Version) -> Vec<u8> {
    let mut bytes = Vec::new();
    packets.iter().for_each(|packet| packet.encode(version, &mut bytes).expect("a packet that can be written"));
    bytes
}

fn publish(qos: QoS, id: Option<u16>) -> Publish<'static> {
    let properties = PublishProperties::default();
    let packet_id = id.and_then(PacketId::new);
    Publish { dup: false, qos, retain: false, topic: "t", packet_id, properties, payload: b"p" }
}

fn ack(id: u16) -> Ack<'static> {
    ack_with(id, ReasonCode::Success)
}

fn ack_with(id: u16, reason: ReasonCode) -> Ack<'static> {
    Ack::new(PacketId::new(id).expect("not 0"), reason)
}

fn connack(session_present: bool, reason: ReasonCode) -> Packet<'static> {
    Packet::ConnAck(ConnAck { session_present, reason, properties: ConnAckProperties::default() })
}

/// Is a refusal its own error, with the reason named, in both versions?
#[test]
fn refused() {
    for version in [Version::V311, Version::V5] {
        let mut client = Client::new(version);
        match client.hears(&[connack(false, ReasonCode::NotAuthorized)]) {
            Err(error @ ClientError::Refused { reason: ReasonCode::NotAuthorized, .. }) => {
                assert!(error.to_string().contains("Not authorized") && !error.is_temporary());
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(client.protocol.state(), State::Disconnected);
    }
}

/// Does nothing go before CONNACK?
#[test]
fn nothing_before_connack() {
    let mut client = Client::new(Version::V5);
    assert_eq!(client.publish(QoS::AtMostOnce, 0), Err(SendError::NotConnected));
    assert!(client.out.is_empty());
}

/// Does the broker's Receive Maximum hold, and does an acknowledgement open the window?
#[test]
fn window_is_the_brokers() -> Result<(), ClientError> {
    let mut client = Client::connected(Version::V5, ConnAckProperties { receive_max: 2, ..Default::default() });
    assert_eq!((client.publish(QoS::AtLeastOnce, 1), client.publish(QoS::ExactlyOnce, 2)), (Ok(()), Ok(())));
    assert_eq!(client.publish(QoS::AtLeastOnce, 3), Err(SendError::WindowFull));
    assert_eq!(client.publish(QoS::AtMostOnce, 4), Ok(()), "QoS 0 needs no room");
    client.hears(&[Packet::PubAck(ack_with(1, ReasonCode::NoMatchingSubscribers))])?;
    assert_eq!(client.heard.0, ["acknowledged 1 NoMatchingSubscribers"]);
    assert_eq!(client.publish(QoS::AtLeastOnce, 3), Ok(()));
    Ok(())
}

/// Do the four packets of QoS 2 go as they should, and does an error end it early?
#[test]
fn exactly_once_out() -> Result<(), ClientError> {
    let mut client = Client::connected(Version::V5, ConnAckProperties::default());
    assert_eq!((client.publish(QoS::ExactlyOnce, 1), client.publish(QoS::ExactlyOnce, 2)), (Ok(()), Ok(())));
    client.wrote();
    client.hears(&[Packet::PubRec(ack(1)), Packet::PubRec(ack_with(2, ReasonCode::QuotaExceeded))])?;
    assert_eq!(client.wrote(), ["PUBREL 1"]);
    client.hears(&[Packet::PubComp(ack(1))])?;
    assert_eq!(client.heard.0, ["acknowledged 2 QuotaExceeded", "acknowledged 1 Success"]);
    assert_eq!(client.protocol.unanswered(), 0);
    Ok(())
}

/// Is a PUBCOMP from a broker that was killed behind PUBREL the end of a message that it has, and no refusal?
#[test]
fn exactly_once_out_to_one_who_has_released_it() -> Result<(), ClientError> {
    let mut client = Client::connected(Version::V5, ConnAckProperties::default());
    assert_eq!(client.publish(QoS::ExactlyOnce, 1), Ok(()));
    client.hears(&[Packet::PubRec(ack(1)), Packet::PubComp(ack_with(1, ReasonCode::PacketIdentifierNotFound))])?;
    assert_eq!(client.heard.0, ["acknowledged 1 Success"]);
    Ok(())
}

/// Is an incoming QoS 2 message shown once, however often it is sent before its release?
#[test]
fn exactly_once_in() -> Result<(), ClientError> {
    let mut client = Client::connected(Version::V5, ConnAckProperties::default());
    let message = Packet::Publish(publish(QoS::ExactlyOnce, Some(7)));
    client.hears(&[message, message, Packet::PubRel(ack(7)), Packet::PubRel(ack(7)), message])?;
    assert_eq!(client.heard.0, ["message t p", "message t p"], "after its release the id is free for a new one");
    let wrote = client.wrote();
    assert_eq!(wrote, ["PUBREC 7", "PUBREC 7", "PUBCOMP 7 Success", "PUBCOMP 7 PacketIdentifierNotFound", "PUBREC 7"]);
    Ok(())
}

/// With its session, does everything unanswered go again in the first order, with DUP, before anything new?
#[test]
fn resumes_with_dup() -> Result<(), ClientError> {
    let mut client = Client::connected(Version::V5, ConnAckProperties::default());
    for (token, qos) in [(1, QoS::ExactlyOnce), (2, QoS::AtLeastOnce), (3, QoS::ExactlyOnce), (4, QoS::AtLeastOnce)] {
        assert_eq!(client.publish(qos, token), Ok(()));
    }
    client.hears(&[Packet::PubRec(ack(1)), Packet::PubAck(ack(4))])?;
    client.reconnect();
    client.heard.0.clear();
    client.hears(&[connack(true, ReasonCode::Success)])?;
    assert_eq!(client.wrote(), ["PUBREL 1", "PUBLISH 2 dup=true", "PUBLISH 3 dup=true"]);
    assert_eq!(client.heard.0, ["connected true", "again 2", "again 3"]);
    client.hears(&[
        Packet::PubComp(ack(1)),
        Packet::PubAck(ack(2)),
        Packet::PubRec(ack(3)),
        Packet::PubComp(ack(3)),
    ])?;
    assert_eq!(client.protocol.unanswered(), 0);
    Ok(())
}

/// Without its session, do messages go again as new ones, and is what the broker had taken over done?
#[test]
fn starts_again_without_dup() -> Result<(), ClientError> {
    let mut client = Client::connected(Version::V311, ConnAckProperties::default());
    assert_eq!((client.publish(QoS::ExactlyOnce, 1), client.publish(QoS::AtLeastOnce, 2)), (Ok(()), Ok(())));
    client.hears(&[Packet::PubRec(ack(1))])?;
    client.reconnect();
    client.heard.0.clear();
    client.hears(&[connack(false, ReasonCode::Success)])?;
    assert_eq!(client.wrote(), ["PUBLISH 2 dup=false"]);
    assert_eq!(client.heard.0, ["acknowledged 1 Success", "connected false", "again 2"]);
    Ok(())
}

/// After a reconnection with a smaller window, does the rest wait, and does nothing new overtake it?
#[test]
fn resend_keeps_the_window() -> Result<(), ClientError> {
    let mut client = Client::connected(Version::V5, ConnAckProperties::default());
    (1..=3).for_each(|token| assert_eq!(client.publish(QoS::AtLeastOnce, token), Ok(())));
    client.reconnect();
    let properties = ConnAckProperties { receive_max: 1, ..Default::default() };
    client.hears(&[Packet::ConnAck(ConnAck { session_present: true, reason: ReasonCode::Success, properties })])?;
    for id in 1..=3 {
        assert_eq!(client.wrote(), [format!("PUBLISH {id} dup=true")]);
        assert_eq!(client.publish(QoS::AtLeastOnce, 9), Err(SendError::WindowFull));
        client.hears(&[Packet::PubAck(ack(id))])?;
    }
    assert_eq!(client.publish(QoS::AtLeastOnce, 9), Ok(()));
    Ok(())
}

/// Is every packet a broker may not send here its protocol error, and the end of the connection?
#[test]
fn what_a_broker_may_not_send() {
    let reasons = [ReasonCode::Success];
    let suback = SubAck { packet_id: PacketId::MIN, properties: ReasonProperties::EMPTY, reasons: &reasons };
    let aliased = PublishProperties { topic_alias: Some(1), ..Default::default() };
    let nameless = Publish { topic: "", properties: aliased, ..publish(QoS::AtMostOnce, None) };
    let wrong = [
        connack(false, ReasonCode::Success),
        Packet::PubAck(ack(1)),
        Packet::PubRec(ack(1)),
        Packet::PubComp(ack(1)),
        Packet::SubAck(suback),
        Packet::PingReq,
        Packet::Publish(nameless),
    ];
    for packet in wrong {
        let mut client = Client::connected(Version::V5, ConnAckProperties::default());
        assert!(matches!(client.hears(&[packet]), Err(ClientError::Protocol(_))), "{packet:?}");
        assert_eq!(client.protocol.state(), State::Disconnected);
    }
    let early = Client::new(Version::V5).hears(&[Packet::PingResp]);
    assert!(matches!(early, Err(ClientError::Protocol(_))), "{early:?}");
}

/// Is the broker's goodbye an error with its reason?
#[test]
fn disconnected() {
    let mut client = Client::connected(Version::V5, ConnAckProperties::default());
    let gone = client.hears(&[Packet::Disconnect(Disconnect::new(ReasonCode::SessionTakenOver))]);
    assert!(matches!(gone, Err(ClientError::Disconnected { reason: ReasonCode::SessionTakenOver, .. })), "{gone:?}");
}

/// Does a client take whatever its broker lets others publish [MQTT-3.1.2-24], unless it is told otherwise?
#[test]
fn own_limit() -> Result<(), ClientError> {
    for (options, announced) in
        [(Options::default(), None), (Options { packet_bytes_max: 1000, ..Options::default() }, Some(1000))]
    {
        let (mut protocol, mut out) = (Protocol::new(Version::V5, 10, true), Vec::new());
        protocol.connect(&options, 0, &mut out)?;
        match decode(&out, Version::V5, &Limits::PROTOCOL) {
            Ok(Some((Packet::Connect(connect), _))) => assert_eq!(connect.properties.packet_bytes_max, announced),
            other => panic!("{other:?}"),
        }
    }
    Ok(())
}

/// Is what the broker said it does not take refused here, before it goes?
#[test]
fn brokers_limits() {
    let limits = ConnAckProperties {
        qos_max: QoS::AtLeastOnce,
        retain_available: false,
        packet_bytes_max: Some(20),
        ..Default::default()
    };
    let mut client = Client::connected(Version::V5, limits);
    assert_eq!(client.publish(QoS::ExactlyOnce, 0), Err(SendError::Unsupported("this QoS")));
    let retained = Publish { retain: true, ..publish(QoS::AtMostOnce, None) };
    let large = Publish { payload: &[0; 20], ..publish(QoS::AtMostOnce, None) };
    for publish in [retained, large] {
        let sent = client.protocol.publish(publish, 0, &mut client.out);
        assert!(matches!(sent, Err(SendError::Unsupported(_))), "{sent:?}");
    }
    assert!(client.out.is_empty());
}

/// Does a silent connection ping, and is a broker that does not answer given up?
#[test]
fn keep_alive() -> Result<(), ClientError> {
    let mut client = Client::connected(Version::V5, ConnAckProperties::default());
    client.protocol.tick(9_999, &mut client.out)?;
    assert!(client.wrote().is_empty());
    client.protocol.tick(10_000, &mut client.out)?;
    assert_eq!(client.wrote(), ["PingReq"]);
    let given_up = client.protocol.tick(20_000, &mut client.out);
    assert!(matches!(given_up, Err(ClientError::TimedOut { what: "PINGRESP", .. })), "{given_up:?}");
    Ok(())
}

/// A conversation with every kind of packet in it.
fn conversation() -> (Client, Vec<u8>) {
    let mut client = Client::connected(Version::V5, ConnAckProperties::default());
    let mut filters = SubscribeFiltersBuf::new();
    filters.push("t", SubscriptionOptions::new(QoS::ExactlyOnce)).expect("short");
    client.protocol.subscribe(filters.as_ref(), None, 5, &mut client.out).expect("connected");
    assert_eq!(client.publish(QoS::ExactlyOnce, 6), Ok(()));
    client.out.clear();
    let reasons = [ReasonCode::GrantedQoS2];
    let suback = SubAck { packet_id: PacketId::MIN, properties: ReasonProperties::EMPTY, reasons: &reasons };
    let bytes = encode(
        &[
            Packet::SubAck(suback),
            Packet::PingResp,
            Packet::PubRec(ack(2)),
            Packet::Publish(publish(QoS::ExactlyOnce, Some(9))),
            Packet::PubRel(ack(9)),
            Packet::PubComp(ack(2)),
            Packet::Publish(publish(QoS::AtLeastOnce, Some(9))),
            Packet::Publish(publish(QoS::AtMostOnce, None)),
        ],
        Version::V5,
    );
    (client, bytes)
}

/// Does it matter where a read happens to end?
#[test]
fn cut_anywhere() -> Result<(), ClientError> {
    let (mut whole, bytes) = conversation();
    whole.protocol.receive(&bytes, &mut whole.out, &mut whole.heard)?;
    for cut in 0..bytes.len() {
        let (mut client, bytes) = conversation();
        let used = client.protocol.receive(&bytes[..cut], &mut client.out, &mut client.heard)?;
        client.protocol.receive(&bytes[used..], &mut client.out, &mut client.heard)?;
        assert_eq!((&client.heard, &client.out), (&whole.heard, &whole.out), "cut at {cut}");
    }
    Ok(())
}

proptest! {
    /// Whatever a broker sends: an event, or an error. Never a panic, never more bytes used than given.
    #[test]
    fn any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0usize..60, flip in any::<u8>()) {
        let (mut client, good) = conversation();
        if let Ok(used) = client.protocol.receive(&bytes, &mut client.out, &mut client.heard) {
            prop_assert!(used <= bytes.len());
        }
        bytes = good;
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= flip;
        }
        let (mut client, _) = conversation();
        if let Ok(used) = client.protocol.receive(&bytes, &mut client.out, &mut client.heard) {
            prop_assert!(used <= bytes.len());
        }
    }
}
