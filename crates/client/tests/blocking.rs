//! The blocking client against a scripted broker.

mod scripted;

use lapwing_client::{
    BlockingClient, ClientError, Options, Publish, PublishProperties, QoS, ReasonCode, SubscriptionOptions,
};
use scripted::{CONNACK, Outcome, PATIENCE, broker, packet};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(30);
/// Large enough that four hundred do not fit into the buffers of a socket on loopback.
const PAYLOAD_BYTES: usize = 60_000;

fn connect(url: &str) -> Result<BlockingClient, ClientError> {
    BlockingClient::connect(url, &Options::default(), PATIENCE)
}

fn message(qos: QoS) -> Publish<'static> {
    let properties = PublishProperties::default();
    Publish { dup: false, qos, retain: false, topic: "t", packet_id: None, properties, payload: b"p" }
}

/// Is a message acknowledged when the caller takes it, and not before?
#[test]
fn acknowledged_when_taken() -> Outcome {
    let (url, broker) = broker(|stream| {
        stream.write_all(CONNACK)?;
        stream.write_all(&[0x32, 7, 0, 1, b't', 0, 9, 0, b'p'])?;
        // The first thing that comes is the publish, not the PUBACK: nobody has taken the message yet.
        assert_eq!(packet(stream)?[0], 0x30);
        assert_eq!(packet(stream)?, [0x40, 2, 0, 9]);
        Ok(())
    })?;
    let mut client = connect(&url)?;
    client.publish(&message(QoS::AtMostOnce), PATIENCE)?;
    client.flush(PATIENCE)?;
    let message = client.receive(PATIENCE)?.ok_or("no message")?;
    assert_eq!((message.topic.as_str(), message.payload.as_slice(), message.qos), ("t", &b"p"[..], QoS::AtLeastOnce));
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}

/// Does a publish leave at once, without a further call, while a held one waits for the next?
#[test]
fn a_publish_leaves_at_once() -> Outcome {
    let (said, heard) = mpsc::channel();
    let (url, broker) = broker(move |stream| {
        stream.write_all(CONNACK)?;
        for _ in 0..3 {
            // The test may have failed and gone already.
            let _ = said.send(packet(stream)?);
        }
        Ok(())
    })?;
    let mut client = connect(&url)?;
    client.publish(&message(QoS::AtMostOnce), PATIENCE)?;
    assert_eq!(heard.recv_timeout(PATIENCE)?[0], 0x30);
    client.hold(&message(QoS::AtLeastOnce), PATIENCE)?;
    assert!(heard.recv_timeout(SOON).is_err(), "a held message was sent");
    client.publish(&message(QoS::ExactlyOnce), PATIENCE)?;
    assert_eq!([heard.recv_timeout(PATIENCE)?[0], heard.recv_timeout(PATIENCE)?[0]], [0x32, 0x34]);
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}

/// Does everything arrive, whole and in order, when the socket takes no more for a while?
#[test]
fn a_full_socket_loses_nothing() -> Outcome {
    const MESSAGES: u32 = 400;
    let (go, wait) = mpsc::channel::<()>();
    let (url, broker) = broker(move |stream| {
        stream.write_all(CONNACK)?;
        // An error is a sender that has gone: go on all the same.
        let _ = wait.recv_timeout(PATIENCE);
        let mut everything = Vec::new();
        stream.read_to_end(&mut everything)?;
        // Fixed header of 4 bytes, topic of 3, no properties, and the number first in the payload.
        let size = 4 + 3 + 1 + PAYLOAD_BYTES;
        for (number, packet) in everything.chunks(size).take(MESSAGES as usize).enumerate() {
            assert_eq!(packet[8..12], (number as u32).to_be_bytes(), "message {number}");
        }
        assert_eq!(everything.len(), MESSAGES as usize * size + 2, "all, and DISCONNECT");
        Ok(())
    })?;
    let mut client = connect(&url)?;
    let mut payload = vec![0; PAYLOAD_BYTES];
    let mut go = Some(go);
    for number in 0..MESSAGES {
        payload[..4].copy_from_slice(&number.to_be_bytes());
        let publish = Publish { payload: &payload, ..message(QoS::AtMostOnce) };
        // The broker reads from the first time that a call had to wait on.
        let sent = client.publish(&publish, if go.is_some() { SOON } else { PATIENCE });
        if matches!(sent, Err(ClientError::TimedOut { .. })) {
            drop(go.take());
        } else {
            sent?;
        }
    }
    assert!(go.is_none(), "the socket took everything: nothing was tried");
    client.disconnect(ReasonCode::Success, None, PATIENCE)?;
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}

/// Is a message that waits here given out though the socket takes no acknowledgement, and is it acknowledged later?
#[test]
fn a_full_socket_swallows_no_message() -> Outcome {
    let (go, wait) = mpsc::channel::<()>();
    let (url, broker) = broker(move |stream| {
        // With CONNACK, so that it lies here before anything is asked for.
        stream.write_all(&[CONNACK, &[0x32, 7, 0, 1, b't', 0, 9, 0, b'p']].concat())?;
        // An error is a sender that has gone: go on all the same.
        let _ = wait.recv_timeout(PATIENCE);
        let mut everything = Vec::new();
        stream.read_to_end(&mut everything)?;
        assert_eq!(everything[everything.len() - 6..], [0x40, 2, 0, 9, 0xe0, 0], "PUBACK and DISCONNECT");
        Ok(())
    })?;
    let mut client = connect(&url)?;
    // More than both sockets hold, however far they grow.
    let publish = Publish { payload: &vec![0; 48 << 20], ..message(QoS::AtMostOnce) };
    assert!(matches!(client.publish(&publish, SOON), Err(ClientError::TimedOut { .. })));
    let taken = client.receive(SOON)?.ok_or("no message")?;
    assert_eq!((taken.payload.as_slice(), taken.qos), (&b"p"[..], QoS::AtLeastOnce));
    assert!(matches!(client.receive(SOON), Err(ClientError::TimedOut { .. })), "the next call says how it is");
    drop(go);
    client.disconnect(ReasonCode::Success, None, PATIENCE)?;
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}

/// Does each kind of trouble come back as its own error?
#[test]
fn kinds_of_trouble() -> Outcome {
    let (silent, _thread) = broker(|stream| packet(stream).map(drop))?;
    let waited = BlockingClient::connect(&silent, &Options::default(), SOON);
    assert!(matches!(waited, Err(ClientError::TimedOut { what: "CONNACK", .. })), "{waited:?}");

    let (banned, _thread) = broker(|stream| stream.write_all(&[0x20, 3, 0, 0x8a, 0]))?;
    let refused = connect(&banned);
    assert!(matches!(refused, Err(ClientError::Refused { reason: ReasonCode::Banned, .. })), "{refused:?}");

    let (garbage, _thread) = broker(|stream| stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n"))?;
    let confused = connect(&garbage);
    assert!(matches!(confused, Err(ClientError::Protocol(_))), "{confused:?}");

    let (pages, _thread) = broker(|stream| stream.write_all(b"HTTP/1.1 400 Bad Request\r\n"))?;
    let misled = connect(&pages);
    assert!(matches!(&misled, Err(ClientError::Invalid(what)) if what.contains("HTTP")), "{misled:?}");

    let (rude, _thread) = broker(|_| Ok(()))?;
    let lost = connect(&rude);
    assert!(matches!(lost, Err(ClientError::Lost(_))), "{lost:?}");

    let nobody = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let unreachable = connect(&format!("tcp://{nobody}"));
    assert!(matches!(unreachable, Err(ClientError::Unreachable { .. })), "{unreachable:?}");
    Ok(())
}

/// Is a property that would end the connection an error of its publish alone, and one of CONNECT an error before it is sent?
#[test]
fn texts_that_cannot_be() -> Outcome {
    let (url, broker) = broker(|stream| {
        stream.write_all(CONNACK)?;
        assert_eq!(packet(stream)?[0], 0x30, "what was published behind it");
        packet(stream).map(drop)
    })?;
    let mut client = connect(&url)?;
    let properties = PublishProperties { content_type: Some("a\0"), ..PublishProperties::default() };
    let wrong = client.publish(&Publish { properties, ..message(QoS::AtLeastOnce) }, PATIENCE);
    assert!(matches!(&wrong, Err(ClientError::Invalid(what)) if what.contains("content type")), "{wrong:?}");
    client.publish(&message(QoS::AtMostOnce), PATIENCE)?;
    client.disconnect(ReasonCode::Success, None, PATIENCE)?;
    let options = Options { client_id: "a\0".to_owned(), ..Options::default() };
    let wrong = BlockingClient::connect(&url, &options, PATIENCE);
    assert!(matches!(&wrong, Err(ClientError::Invalid(what)) if what.contains("client id")), "{wrong:?}");
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}

fn refused(client: &mut BlockingClient) -> String {
    match client.flush(PATIENCE) {
        Err(ClientError::Unpublished(rejections)) => rejections.to_string(),
        other => format!("{other:?}"),
    }
}

/// Are refused messages and subscriptions told from lost connections?
#[test]
fn rejections() -> Outcome {
    let (url, broker) = broker(|stream| {
        stream.write_all(CONNACK)?;
        packet(stream)?;
        stream.write_all(&[0x40, 9, 0, 1, 0x97, 5, 0x1f, 0, 2, b'n', b'o'])?;
        packet(stream)?;
        packet(stream)?;
        stream.write_all(&[0x40, 3, 0, 2, 0x87, 0x50, 3, 0, 3, 0x87])?;
        packet(stream)?;
        stream.write_all(&[0x90, 4, 0, 4, 0, 0x87])?;
        packet(stream).map(drop)
    })?;
    let mut client = connect(&url)?;
    client.publish(&message(QoS::AtLeastOnce), PATIENCE)?;
    assert_eq!(refused(&mut client), "publish to \"t\" was refused: Quota exceeded (0x97): no");
    client.publish(&message(QoS::AtLeastOnce), PATIENCE)?;
    client.publish(&Publish { topic: "u", ..message(QoS::ExactlyOnce) }, PATIENCE)?;
    assert_eq!(
        refused(&mut client),
        "a publish was refused: Not authorized (0x87), and 1 more",
        "it may be either topic"
    );
    match client.subscribe(&[("secret/#", SubscriptionOptions::new(QoS::AtMostOnce))], None, PATIENCE) {
        Err(ClientError::Rejected { what, reason: ReasonCode::NotAuthorized }) => assert!(what.contains("secret/#")),
        other => panic!("{other:?}"),
    }
    client.disconnect(ReasonCode::Success, None, PATIENCE)?;
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}

/// Does a call end in its time though a broker sends other things all the while?
#[test]
fn a_flood_does_not_stop_the_clock() -> Outcome {
    let (url, _broker) = broker(|stream| {
        stream.write_all(CONNACK)?;
        // Messages that nobody asked for, and answers to pings that nobody sent, until the client has gone.
        let flood = [0x30, 4, 0, 1, b't', 0, 0xd0, 0].repeat(32 << 10);
        while stream.write_all(&flood).is_ok() {}
        Ok(())
    })?;
    let mut client = connect(&url)?;
    let subscribed = client.subscribe(&[("a", SubscriptionOptions::default())], None, SOON);
    assert!(matches!(subscribed, Err(ClientError::TimedOut { .. })), "{subscribed:?}");
    Ok(())
}
