//! Who may connect, what either side may send, and when the connection is over.

use super::*;

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

/// Is a SUBACK refused that has more codes than there were filters, or fewer, and one with as many heard?
#[test]
fn a_suback_answers_each_filter() {
    let granted = [ReasonCode::Success; 4];
    for version in [Version::V311, Version::V5] {
        for codes in 1..=4 {
            let mut client = Client::connected(version, ConnAckProperties::default());
            let mut filters = SubscribeFiltersBuf::new();
            for filter in ["a", "b"] {
                filters.push(filter, SubscriptionOptions::new(QoS::AtLeastOnce)).unwrap();
            }
            client.protocol.subscribe(filters.as_ref(), None, 7, &mut client.out).unwrap();
            let (packet_id, properties) = (PacketId::MIN, ReasonProperties::EMPTY);
            let heard = client.hears(&[Packet::SubAck(SubAck { packet_id, properties, reasons: &granted[..codes] })]);
            assert_eq!(heard.is_ok(), codes == 2, "{version:?}, {codes} codes: {heard:?}");
        }
    }
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
