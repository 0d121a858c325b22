//! A link that consumes, against a scripted broker.

mod scripted;

use lapwing_client::{
    Acknowledge, ClientError, Counters, Filters, Link, LinkOptions, Marks, Options, Publication, QoS, SendLimits,
};
use scripted::{CONNACK, Outcome, PATIENCE, broker, broker_of, packet};
use std::io::{self, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn link(url: String, qos: QoS) -> Result<Link, ClientError> {
    Link::start(LinkOptions {
        url,
        connect: Options { session_expiry_s: 60, keep_alive_s: 0, ..Options::default() },
        subscribe: Some(Filters { filters: vec!["t".to_owned()], qos }),
        ends_session: true,
        acknowledge: Acknowledge::Processed,
        receive: Marks { high_messages: 10, low_messages: 5, high_bytes: 1 << 20 },
        send: SendLimits { window: 10, messages_max: 10, bytes_max: 1 << 20 },
        reports: None,
        declaration: None,
        connect_timeout: PATIENCE,
        back_off_first: Duration::from_millis(1),
        back_off_longest: Duration::from_millis(10),
    })
}

/// Reads SUBSCRIBE and answers it with `reason`.
fn subscribed(stream: &mut TcpStream, reason: u8) -> io::Result<()> {
    let subscribe = packet(stream)?;
    assert_eq!(subscribe[0], 0x82, "SUBSCRIBE");
    stream.write_all(&[0x90, 4, subscribe[2], subscribe[3], 0, reason])
}

/// A PUBLISH to `t` with packet id 1 and one byte of payload.
fn message(qos: QoS, payload: u8) -> [u8; 9] {
    [0x30 | (qos as u8) << 1, 7, 0, 1, b't', 0, 1, 0, payload]
}

/// Waits until the counters are as they should be.
fn until(link: &Link, done: impl Fn(&Counters) -> bool) -> Result<(), String> {
    let begun = Instant::now();
    while !done(&link.counters()) {
        if begun.elapsed() > PATIENCE {
            return Err(format!("{:?}", link.counters()));
        }
        std::thread::yield_now();
    }
    Ok(())
}

/// A message that waited while its session went: is what is said of it nothing about the one that has its id now?
#[test]
fn an_answer_is_for_the_session_it_came_in() -> Outcome {
    for qos in [QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let (url, broker) = broker_of(vec![
            Box::new(move |stream| {
                stream.write_all(CONNACK)?;
                subscribed(stream, 2)?;
                stream.write_all(&message(qos, b'1'))
            }),
            Box::new(move |stream| {
                stream.write_all(CONNACK)?;
                subscribed(stream, 2)?;
                stream.write_all(&message(qos, b'2'))?;
                assert_eq!(packet(stream)?[0], 0x30, "what was published behind the first answer");
                let answer = if qos == QoS::ExactlyOnce { 0x50 } else { 0x40 };
                assert_eq!(packet(stream)?, [answer, 2, 0, 1]);
                packet(stream).map(drop)
            }),
        ])?;
        let link = link(url, qos)?;
        until(&link, |counters| counters.waiting == 2 && counters.connections == 2)?;
        let taken = link.take(2, PATIENCE, PATIENCE);
        let payloads: Vec<_> = taken.iter().map(|one| one.message.payload.as_slice()).collect();
        assert_eq!(payloads, [b"1", b"2"]);
        link.finish(taken[..1].iter(), None, Instant::now());
        let published = Publication { topic: "behind".to_owned(), ..Publication::default() };
        assert!(link.publish(published, PATIENCE)?.is_ok() && link.flush(PATIENCE)?);
        link.finish(taken[1..].iter(), None, Instant::now());
        assert!(link.close(PATIENCE));
        broker.join().map_err(|_| "the broker's script failed")??;
    }
    Ok(())
}

/// The same for messages that came in one read with CONNACK: are they of the session that this began?
#[test]
fn a_message_behind_connack_is_of_its_session() -> Outcome {
    let (url, broker) = broker(|stream| {
        stream.write_all(&[CONNACK, &message(QoS::ExactlyOnce, b'1')].concat())?;
        subscribed(stream, 2)?;
        assert_eq!(packet(stream)?, [0x50, 2, 0, 1]);
        packet(stream).map(drop)
    })?;
    let link = link(url, QoS::ExactlyOnce)?;
    let taken = link.take(1, PATIENCE, Duration::ZERO);
    until(&link, |counters| counters.connections == 1)?;
    link.finish(taken.iter(), None, Instant::now());
    assert!(link.close(PATIENCE));
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}
