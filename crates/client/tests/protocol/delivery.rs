//! What is handed over at each QoS: its window, its refusals, and what goes out again at the next connection.

use super::*;

/// Takes messages and answers none.
struct Silent;

impl Events for Silent {
    fn message(&mut self, _publish: &Publish<'_>) -> Answer {
        Answer::Later
    }

    fn rejected(&mut self, _token: u64, _rejected: &Rejected<'_>) {}
}

/// Is a broker that sends more at once than it was told to the end of its connection, and one that waits for answers not?
#[test]
fn our_receive_maximum_holds() -> Result<(), ClientError> {
    for (version, most) in [(Version::V5, Options::default().receive_maximum), (Version::V311, u16::MAX)] {
        let mut client = Client::connected(version, ConnAckProperties::default());
        let hears = |client: &mut Client, qos, id| {
            let bytes = encode(&[Packet::Publish(publish(qos, Some(id)))], version);
            client.protocol.receive(&bytes, &mut client.out, &mut Silent)
        };
        for id in 1..=most {
            hears(&mut client, if id % 2 == 0 { QoS::AtLeastOnce } else { QoS::ExactlyOnce }, id)?;
        }
        let first = PacketId::new(1).expect("not 0");
        client.protocol.acknowledge(first, QoS::ExactlyOnce, &mut client.out)?;
        hears(&mut client, QoS::AtLeastOnce, 2)?;
        // What comes again is shown to nobody, and makes no room for others.
        hears(&mut client, QoS::ExactlyOnce, 1)?;
        let error = hears(&mut client, QoS::AtLeastOnce, 2).expect_err("one too many");
        assert!(error.to_string().contains("Receive Maximum"), "{error}");
    }
    Ok(())
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
    assert_eq!(client.heard.0, [r#"rejected 2 to Some("t") QuotaExceeded None"#, "acknowledged 1 Success"]);
    assert_eq!(client.protocol.unanswered(), 0);
    Ok(())
}

/// Does a refusal come with its topic, from the packet that was kept, and with the broker's own words?
#[test]
fn refusals_are_named() -> Result<(), ClientError> {
    let why = ReasonProperties { reason_string: Some("closed"), ..ReasonProperties::EMPTY };
    let refusal = Ack { properties: why, ..ack_with(1, ReasonCode::NotAuthorized) };
    for keeps in [true, false] {
        let mut client = Client::connected(Version::V5, ConnAckProperties::default());
        if !keeps {
            client.protocol = Protocol::new(Version::V5, 10, false);
            client.reconnect();
            client.hears(&[connack(false, ReasonCode::Success)])?;
            client.heard.0.clear();
        }
        assert_eq!(client.publish(QoS::AtLeastOnce, 7), Ok(()));
        client.hears(&[Packet::PubAck(refusal)])?;
        let topic = if keeps { r#"Some("t")"# } else { "None" };
        assert_eq!(client.heard.0, [format!(r#"rejected 7 to {topic} NotAuthorized Some("closed")"#)]);
        assert_eq!(client.protocol.unanswered(), 0);
    }
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
