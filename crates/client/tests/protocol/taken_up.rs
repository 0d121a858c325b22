//! A session that an earlier process began, and what that one may have left unreleased in it.

use super::*;

/// A client that has found its session there.
fn taken_up(version: Version) -> Result<Client, ClientError> {
    let mut client = Client::new(version);
    client.hears(&[connack(true, ReasonCode::Success)])?;
    client.heard.0.clear();
    Ok(client)
}

/// Is an id released before a message of QoS 2 goes under it for the first time, whatever the broker knew of it, and only then?
#[test]
fn an_id_is_cleared_before_it_is_used() -> Result<(), ClientError> {
    for (version, knew) in [(Version::V5, true), (Version::V5, false), (Version::V311, true)] {
        let mut client = taken_up(version)?;
        assert_eq!(client.publish(QoS::ExactlyOnce, 1), Ok(()));
        assert_eq!((client.wrote(), client.protocol.unanswered()), (vec!["PUBREL 1".to_owned()], 1));
        let reason = if knew { ReasonCode::Success } else { ReasonCode::PacketIdentifierNotFound };
        client.hears(&[Packet::PubComp(ack_with(1, reason))])?;
        assert_eq!((client.wrote(), client.heard.0.len()), (vec!["PUBLISH 1 dup=false".to_owned()], 0));
        client.hears(&[Packet::PubRec(ack(1)), Packet::PubComp(ack(1))])?;
        assert_eq!(
            (client.wrote(), &*client.heard.0),
            (vec!["PUBREL 1".to_owned()], &["acknowledged 1 Success".to_owned()][..])
        );
        client.protocol.publish(publish(QoS::ExactlyOnce, Some(1)), 2, &mut client.out).expect("a free id");
        assert_eq!(client.wrote(), ["PUBLISH 1 dup=false"], "it is ours now");
    }
    Ok(())
}

/// Does a message under an id of ours wait for one that was handed over before it, and QoS 1 for none?
#[test]
fn messages_stay_in_order() -> Result<(), ClientError> {
    let mut client = taken_up(Version::V5)?;
    client.publish(QoS::ExactlyOnce, 1).expect("room");
    client.hears(&[Packet::PubComp(ack(1)), Packet::PubRec(ack(1)), Packet::PubComp(ack(1))])?;
    client.wrote();
    client.publish(QoS::ExactlyOnce, 2).expect("room");
    client.protocol.publish(publish(QoS::ExactlyOnce, Some(1)), 3, &mut client.out).expect("a free id");
    client.publish(QoS::AtLeastOnce, 4).expect("room");
    assert_eq!(client.wrote(), ["PUBREL 2", "PUBREL 1", "PUBLISH 3 dup=false"]);
    client.hears(&[Packet::PubComp(ack(2)), Packet::PubComp(ack_with(1, ReasonCode::PacketIdentifierNotFound))])?;
    assert_eq!(client.wrote(), ["PUBLISH 2 dup=false", "PUBLISH 1 dup=false"]);
    Ok(())
}

/// A connection that breaks while an id is cleared: is that done again, and the message new whichever way it went?
#[test]
fn a_broken_connection_makes_no_repeat() -> Result<(), ClientError> {
    for session_present in [true, false] {
        let mut client = taken_up(Version::V5)?;
        client.publish(QoS::ExactlyOnce, 1).expect("room");
        client.reconnect();
        client.hears(&[connack(session_present, ReasonCode::Success)])?;
        if session_present {
            assert_eq!(client.wrote(), ["PUBREL 1"]);
            client.hears(&[Packet::PubComp(ack(1))])?;
        }
        assert_eq!(client.wrote(), ["PUBLISH 1 dup=false"]);
        client.publish(QoS::ExactlyOnce, 2).expect("room");
        assert_eq!(client.wrote(), if session_present { ["PUBREL 2"] } else { ["PUBLISH 2 dup=false"] });
    }
    Ok(())
}

/// Does a client that keeps nothing over a connection take its own session up like another's?
#[test]
fn who_forgets_takes_up_its_own() -> Result<(), ClientError> {
    let mut client = Client::new(Version::V5);
    client.protocol = Protocol::new(Version::V5, 10, false);
    client.reconnect();
    client.hears(&[connack(false, ReasonCode::Success)])?;
    client.publish(QoS::ExactlyOnce, 1).expect("room");
    assert_eq!(client.wrote(), ["PUBLISH 1 dup=false"], "a session of its own");
    client.reconnect();
    client.hears(&[connack(true, ReasonCode::Success)])?;
    client.publish(QoS::ExactlyOnce, 2).expect("room");
    assert_eq!(client.wrote(), ["PUBREL 1"]);
    client.hears(&[Packet::PubComp(ack(1))])?;
    assert_eq!(client.wrote(), ["PUBLISH 1 dup=false"]);
    Ok(())
}
