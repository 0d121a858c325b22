//! A link that publishes, against a scripted broker.

mod scripted;

use lapwing_client::{
    Acknowledge, ClientError, Link, LinkOptions, Marks, Options, Publication, QoS, ReasonCode, SendLimits,
};
use scripted::{CONNACK, Outcome, PATIENCE, broker, broker_of, packet};
use std::io::Write;
use std::time::{Duration, Instant};

/// CONNACK to a client whose session is there.
const CONNACK_PRESENT: &[u8] = &[0x20, 3, 1, 0, 0];

fn link(url: String) -> Result<Link, ClientError> {
    Link::start(LinkOptions {
        url,
        connect: Options { session_expiry_s: 60, keep_alive_s: 0, ..Options::default() },
        subscribe: None,
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

fn publish(link: &Link, topic: &str, qos: QoS, retain: bool) -> Result<u64, Box<dyn std::error::Error>> {
    let publication = Publication { topic: topic.to_owned(), qos, retain, ..Publication::default() };
    link.publish(publication, PATIENCE)?.map_err(|_| "no room".into())
}

/// Number, topic, reason and words of one that was refused.
type Row = (u64, String, ReasonCode, String);

/// Which were refused, as `flush` says it, and the whole in words.
fn refused(link: &Link) -> Result<(Vec<Row>, String), String> {
    let error = match link.flush(PATIENCE) {
        Ok(true) => return Ok(Default::default()),
        Ok(false) => return Err("no answer in time".to_owned()),
        Err(error) => error,
    };
    let ClientError::Unpublished(rejections) = &*error else { return Err(error.to_string()) };
    let rows = rejections.iter().map(|one| (one.number, one.topic.to_owned(), one.reason, one.words.to_owned()));
    Ok((rows.collect(), error.to_string()))
}

/// Of several, does `flush` name those that the broker refused, by number and topic and in its own words, and once?
#[test]
fn a_refused_publish_is_named() -> Outcome {
    let (url, broker) = broker(|stream| {
        stream.write_all(CONNACK)?;
        (0..4).try_for_each(|_| packet(stream).map(drop))?;
        stream.write_all(&[0x40, 2, 0, 1])?;
        // Not authorized, with a reason string; and a PUBREC: no room.
        stream.write_all(&[0x40, 9, 0, 2, 0x87, 5, 0x1f, 0, 2, b'n', b'o'])?;
        stream.write_all(&[0x50, 3, 0, 3, 0x97])?;
        packet(stream)?;
        stream.write_all(&[0x40, 3, 0, 4, 0x87])?;
        packet(stream).map(drop)
    })?;
    let link = link(url)?;
    let mut numbers = Vec::new();
    for (topic, qos) in
        [("fine", QoS::AtLeastOnce), ("secret", QoS::AtLeastOnce), ("x", QoS::AtMostOnce), ("full", QoS::ExactlyOnce)]
    {
        numbers.push(publish(&link, topic, qos, false)?);
    }
    assert_eq!(numbers, [1, 2, 3, 4]);
    let (rows, words) = refused(&link)?;
    let secret = (2, "secret".to_owned(), ReasonCode::NotAuthorized, "no".to_owned());
    let full = (4, "full".to_owned(), ReasonCode::QuotaExceeded, String::new());
    assert_eq!(rows, [secret, full]);
    assert_eq!(words, "publish to \"secret\" was refused: Not authorized (0x87): no, and 1 more");
    assert_eq!(refused(&link)?, Default::default(), "what was told is not told again");
    assert_eq!(publish(&link, "later", QoS::AtLeastOnce, false)?, 5);
    assert_eq!(refused(&link)?.0, [(5, "later".to_owned(), ReasonCode::NotAuthorized, String::new())]);
    let counters = link.counters();
    assert_eq!((counters.published, counters.acknowledged, counters.rejected), (5, 1, 3));
    assert!(link.close(PATIENCE));
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}

/// Is what cannot be sent named as well, whatever its QoS, while the others go?
#[test]
fn what_cannot_be_sent_is_named() -> Outcome {
    let (url, broker) = broker(|stream| {
        // Retain is not available.
        stream.write_all(&[0x20, 5, 0, 0, 2, 0x25, 0])?;
        packet(stream)?;
        stream.write_all(&[0x40, 2, 0, 1])?;
        packet(stream).map(drop)
    })?;
    let link = link(url)?;
    for (topic, qos, retain) in
        [("a", QoS::AtMostOnce, true), ("b", QoS::AtLeastOnce, false), ("c", QoS::ExactlyOnce, true)]
    {
        publish(&link, topic, qos, retain)?;
    }
    let (rows, words) = refused(&link)?;
    assert_eq!(rows.iter().map(|row| (row.0, row.1.as_str())).collect::<Vec<_>>(), [(1, "a"), (3, "c")]);
    assert!(words.starts_with("publish to \"a\" was refused") && words.contains("retained messages"), "{words}");
    assert_eq!(link.counters().acknowledged, 1);
    assert!(link.close(PATIENCE));
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}

/// Is a message sent with what is left of its expiry, and one that has none left not at all, with an error that says so?
#[test]
fn an_expiry_runs_while_a_message_waits() -> Outcome {
    let (url, broker) = broker(|stream| {
        stream.write_all(CONNACK)?;
        // Topic, packet id, 5 bytes of properties: Message Expiry Interval.
        let publish = packet(stream)?;
        assert_eq!(publish[2..9], [0, 1, b'b', 0, 1, 5, 0x02]);
        let left_s = u32::from_be_bytes([publish[9], publish[10], publish[11], publish[12]]);
        // It may be less on a machine that does something else for a while.
        assert!((4000..=5000).contains(&left_s), "{left_s} s");
        stream.write_all(&[0x40, 2, 0, 1])?;
        packet(stream).map(drop)
    })?;
    let link = link(url)?;
    let ago_s = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds));
    for (topic, qos, expiry_s, waited_s) in [
        ("a", QoS::AtLeastOnce, 2, 3),
        ("b", QoS::AtLeastOnce, 10_000, 5000),
        ("c", QoS::AtMostOnce, 2, 2),
        ("d", QoS::ExactlyOnce, 5000, 5000),
    ] {
        let since = Some(ago_s(waited_s).ok_or("a clock that has just begun")?);
        let (topic, message_expiry_s) = (topic.to_owned(), Some(expiry_s));
        let waited = Publication { topic, qos, message_expiry_s, since, ..Publication::default() };
        assert!(link.publish(waited, PATIENCE)?.is_ok());
    }
    let (rows, words) = refused(&link)?;
    assert_eq!(rows.iter().map(|row| (row.0, row.1.as_str())).collect::<Vec<_>>(), [(1, "a"), (3, "c"), (4, "d")]);
    assert!(words.contains("message_expiry_s was over"), "{words}");
    let counters = link.counters();
    assert_eq!((counters.published, counters.acknowledged, counters.rejected), (4, 1, 3));
    assert!(link.close(PATIENCE));
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}

/// Is a property that would end the connection the error of its own publication, and do those before and behind it go?
#[test]
fn a_text_that_cannot_be_spoils_nothing() -> Outcome {
    let (url, broker) = broker(|stream| {
        stream.write_all(CONNACK)?;
        for (id, topic) in [(1, b'a'), (2, b'c')] {
            assert_eq!(packet(stream)?[4], topic);
            stream.write_all(&[0x40, 2, 0, id])?;
        }
        packet(stream).map(drop)
    })?;
    let link = link(url)?;
    publish(&link, "a", QoS::AtLeastOnce, false)?;
    let content_type = Some("text\0plain".to_owned());
    let wrong = Publication { topic: "b".to_owned(), content_type, ..Publication::default() };
    let error = link.publish(wrong, PATIENCE).expect_err("refused").to_string();
    assert!(error.contains("content type") && error.contains("U+0000"), "{error}");
    assert_eq!(publish(&link, "c", QoS::AtLeastOnce, false)?, 2, "it has no number");
    assert!(link.flush(PATIENCE)? && link.close(PATIENCE));
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}

/// Is a publish that went again over a new connection still known by its number when it is refused there?
#[test]
fn a_number_outlives_its_connection() -> Outcome {
    let (url, broker) = broker_of(vec![
        Box::new(|stream| {
            stream.write_all(CONNACK)?;
            (0..2).try_for_each(|_| packet(stream).map(drop))?;
            stream.write_all(&[0x40, 2, 0, 1])
        }),
        Box::new(|stream| {
            stream.write_all(CONNACK_PRESENT)?;
            assert_eq!(packet(stream)?[0], 0x3a, "QoS 1 with DUP");
            stream.write_all(&[0x40, 3, 0, 2, 0x87])?;
            packet(stream).map(drop)
        }),
    ])?;
    let link = link(url)?;
    publish(&link, "a", QoS::AtLeastOnce, false)?;
    publish(&link, "b", QoS::AtLeastOnce, false)?;
    let (rows, _) = refused(&link)?;
    assert_eq!(rows, [(2, "b".to_owned(), ReasonCode::NotAuthorized, String::new())]);
    assert!(link.close(PATIENCE));
    broker.join().map_err(|_| "the broker's script failed")??;
    Ok(())
}
