//! A link that consumes, against a scripted broker.

mod scripted;

use lapwing_client::{
    Acknowledge, ClientError, Counters, Filters, Link, LinkOptions, Marks, Options, Phase, Publication, QoS, SendLimits,
};
use scripted::{CONNACK, Outcome, PATIENCE, Script, broker, broker_of, packet};
use std::io::{self, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// CONNACK to a client whose session is there.
const CONNACK_PRESENT: &[u8] = &[0x20, 3, 1, 0, 0];

fn link(url: String, qos: QoS) -> Result<Link, ClientError> {
    Link::start(options(url, qos, &["t"]))
}

fn options(url: String, qos: QoS, filters: &[&str]) -> LinkOptions {
    LinkOptions {
        url,
        connect: Options { session_expiry_s: 60, keep_alive_s: 0, ..Options::default() },
        subscribe: Some(Filters { filters: filters.iter().map(|filter| (*filter).to_owned()).collect(), qos }),
        ends_session: true,
        acknowledge: Acknowledge::Processed,
        receive: Marks { high_messages: 10, low_messages: 5, high_bytes: 1 << 20 },
        send: SendLimits { window: 10, messages_max: 10, bytes_max: 1 << 20 },
        reports: None,
        declaration: None,
        connect_timeout: PATIENCE,
        back_off_first: Duration::from_millis(1),
        back_off_longest: Duration::from_millis(10),
    }
}

/// Reads SUBSCRIBE and answers it with `reasons`, one for each filter.
fn subscribed<const N: usize>(stream: &mut TcpStream, reasons: [u8; N]) -> io::Result<()> {
    let subscribe = packet(stream)?;
    assert_eq!(subscribe[0], 0x82, "SUBSCRIBE");
    stream.write_all(&[0x90, 3 + N as u8, subscribe[2], subscribe[3], 0])?;
    stream.write_all(&reasons)
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
                subscribed(stream, [2])?;
                stream.write_all(&message(qos, b'1'))
            }),
            Box::new(move |stream| {
                stream.write_all(CONNACK)?;
                subscribed(stream, [2])?;
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
        subscribed(stream, [2])?;
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

/// A refusal of `reason` at the second connection, with its session or without: does the third go on if it may pass, and is the
/// link over if it may not?
#[test]
fn a_refused_subscription_may_pass() -> Outcome {
    for (reason, passes) in [(0x80, true), (0x83, true), (0x97, true), (0x87, false), (0x8f, false), (0x9e, false)] {
        for session_present in [0, 1] {
            let connack = [0x20, 3, session_present, 0, 0];
            let mut scripts: Vec<Script> = vec![
                Box::new(|stream| {
                    stream.write_all(CONNACK)?;
                    subscribed(stream, [0])
                }),
                Box::new(move |stream| {
                    stream.write_all(&connack)?;
                    subscribed(stream, [reason])
                }),
            ];
            if passes {
                scripts.push(Box::new(move |stream| {
                    stream.write_all(&connack)?;
                    subscribed(stream, [1])?;
                    stream.write_all(&message(QoS::AtLeastOnce, b'1'))?;
                    assert_eq!(packet(stream)?, [0x40, 2, 0, 1]);
                    packet(stream).map(drop)
                }));
            }
            let (url, broker) = broker_of(scripts)?;
            let link = link(url, QoS::AtLeastOnce)?;
            if passes {
                let taken = link.take(1, PATIENCE, Duration::ZERO);
                assert_eq!(taken.len(), 1, "{reason:#x}: {:?}", link.is_dry());
                link.finish(taken.iter(), None, Instant::now());
                assert!(link.close(PATIENCE), "{reason:#x}");
            } else {
                until(&link, |counters| counters.phase == Phase::Over)?;
                let error = link.is_dry().expect_err("refused");
                assert!(matches!(&*error, ClientError::Rejected { .. }), "{reason:#x}: {error}");
            }
            broker.join().map_err(|_| "the broker's script failed")??;
        }
    }
    Ok(())
}

/// Is a refusal that does not pass the end beside one that may?
#[test]
fn one_refused_subscription_is_enough() -> Outcome {
    let (url, broker) = broker_of(vec![
        Box::new(|stream| {
            stream.write_all(CONNACK)?;
            subscribed(stream, [0, 0])
        }),
        Box::new(|stream| {
            stream.write_all(CONNACK)?;
            subscribed(stream, [0x80, 0x87])
        }),
    ])?;
    let link = Link::start(options(url, QoS::AtLeastOnce, &["t", "u"]))?;
    until(&link, |counters| counters.phase == Phase::Over)?;
    let error = link.is_dry().expect_err("refused").to_string();
    assert!(error.contains("\"u\"") && error.contains("Not authorized"), "{error}");
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}

/// A broker that takes the connection each time and then refuses: are the pauses longer and longer all the same?
#[test]
fn refused_subscriptions_wait_longer_and_longer() -> Outcome {
    let refuses = |stream: &mut TcpStream| {
        stream.write_all(CONNACK_PRESENT)?;
        subscribed(stream, [0x80])
    };
    let mut scripts: Vec<Script> = vec![Box::new(|stream| {
        stream.write_all(CONNACK)?;
        subscribed(stream, [0])
    })];
    (0..5).for_each(|_| scripts.push(Box::new(refuses)));
    let (url, broker) = broker_of(scripts)?;
    let options = options(url, QoS::AtLeastOnce, &["t"]);
    let (first, begun) = (Duration::from_millis(20), Instant::now());
    let _link = Link::start(LinkOptions { back_off_first: first, back_off_longest: PATIENCE, ..options })?;
    broker.join().map_err(|_| "the broker's script failed")??;
    // At least half of 1, 2, 4, 8 and 16 times the first; without that it would be no more than 5 times.
    assert!(begun.elapsed() >= first * 31 / 2, "{:?}", begun.elapsed());
    Ok(())
}

/// Is every refusal at the first connection the end?
#[test]
fn a_refused_subscription_may_be_the_end() -> Outcome {
    for reason in [0x80, 0x83, 0x97, 0x87, 0x8f] {
        let (url, broker) = broker(move |stream| {
            stream.write_all(CONNACK)?;
            subscribed(stream, [reason])
        })?;
        let error = link(url, QoS::AtLeastOnce)?.wait_up(PATIENCE).expect_err("refused");
        assert!(matches!(&*error, ClientError::Rejected { .. }), "{reason:#x}: {error}");
        broker.join().map_err(|_| "the broker's script failed")??;
    }
    Ok(())
}

/// The same where so much comes before SUBACK that the link is up without it.
#[test]
fn a_refused_subscription_is_the_end_however_late_it_is_heard() -> Outcome {
    let (url, broker) = broker(|stream| {
        stream.write_all(CONNACK_PRESENT)?;
        (0..30).try_for_each(|_| stream.write_all(&[0x30, 5, 0, 1, b't', 0, b'p']))?;
        subscribed(stream, [0x80])?;
        packet(stream).map(drop)
    })?;
    let link = link(url, QoS::AtLeastOnce)?;
    assert!(link.wait_up(PATIENCE)?);
    while !link.take(10, PATIENCE, Duration::ZERO).is_empty() {}
    let error = link.is_dry().expect_err("refused");
    assert!(matches!(&*error, ClientError::Rejected { .. }), "{error}");
    drop(broker);
    Ok(())
}
