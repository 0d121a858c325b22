//! The expiry of what goes again: it has run meanwhile.

use super::*;

/// A client that has sent four messages at 1000 ms, the second without an expiry.
fn sent() -> Client {
    let mut client = Client::connected(Version::V5, ConnAckProperties::default());
    client.protocol.at(1000);
    for (token, qos, message_expiry_s) in [
        (1, QoS::AtLeastOnce, Some(10)),
        (2, QoS::AtLeastOnce, None),
        (3, QoS::ExactlyOnce, Some(3)),
        (4, QoS::ExactlyOnce, Some(60)),
    ] {
        let properties = PublishProperties { message_expiry_s, ..PublishProperties::default() };
        let one = Publish { properties, ..publish(qos, None) };
        client.protocol.publish(one, token, &mut client.out).expect("room");
    }
    client
}

/// Packet ids and expiries of what goes on a new connection that has its CONNACK at `now_ms`.
fn goes_again(client: &mut Client, session_present: bool, now_ms: u64) -> Result<Vec<(u16, Option<u32>)>, ClientError> {
    client.reconnect();
    client.heard.0.clear();
    client.protocol.at(now_ms);
    client.hears(&[connack(session_present, ReasonCode::Success)])?;
    let (mut seen, mut rest) = (Vec::new(), std::mem::take(&mut client.out));
    while let Some((packet, len)) = decode(&rest, Version::V5, &Limits::PROTOCOL).expect("our own bytes") {
        let Packet::Publish(one) = packet else { panic!("{packet:?}") };
        assert_eq!((one.topic, one.payload, one.dup), ("t", &b"p"[..], session_present));
        seen.push((one.packet_id.map_or(0, PacketId::get), one.properties.message_expiry_s));
        rest.drain(..len);
    }
    Ok(seen)
}

/// With its session, does each go with what is left since it went first, and with a second where that is nothing?
#[test]
fn what_is_left_goes_again() -> Result<(), ClientError> {
    let mut client = sent();
    let first = goes_again(&mut client, true, 1050)?;
    assert_eq!(first, [(1, Some(10)), (2, None), (3, Some(3)), (4, Some(60))], "at once, as it went");
    let second = goes_again(&mut client, true, 3000)?;
    assert_eq!(second, [(1, Some(8)), (2, None), (3, Some(1)), (4, Some(58))]);
    let third = goes_again(&mut client, true, 11_000)?;
    assert_eq!(third, [(1, Some(1)), (2, None), (3, Some(1)), (4, Some(50))]);
    assert_eq!(client.protocol.unanswered(), 4);
    Ok(())
}

/// Without its session, is what has expired given up, with an error that says so, and may its id be used anew?
#[test]
fn what_has_expired_is_not_sent_to_another_session() -> Result<(), ClientError> {
    let mut client = sent();
    assert_eq!(goes_again(&mut client, false, 5000)?, [(1, Some(6)), (2, None), (4, Some(56))]);
    let words = r#"rejected 3 to Some("t") ImplementationSpecificError Some("its message_expiry_s was over"#;
    assert!(client.heard.0[0].starts_with(words), "{:?}", client.heard.0);
    assert_eq!((&*client.heard.0[1], client.protocol.unanswered()), ("connected false", 3));
    client.protocol.publish(publish(QoS::ExactlyOnce, Some(3)), 5, &mut client.out).expect("a free id");
    Ok(())
}
