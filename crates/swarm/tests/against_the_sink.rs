//! The swarm and the sink, over real sockets: does every message arrive, is every figure right?

use lapwing_swarm::{Profile, Report, Sink, SinkConfig, SwarmError, run};
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::thread;

fn sink(echo: bool) -> Result<Sink, SwarmError> {
    Sink::start(&SinkConfig { echo, ..SinkConfig::on("127.0.0.1", 0) })
}

fn report(url: &str, more: &str) -> Result<Report, SwarmError> {
    let json = format!(r#"{{"url": "{url}", "prefix": "test", "seconds": 0.3, "spin": false {more}}}"#);
    run(&Profile::from_json(&json)?)
}

/// Does an echo come back once, in order, in both versions, at the rate of the schedule?
#[test]
fn echo_is_complete() -> Result<(), SwarmError> {
    let sink = sink(true)?;
    for version in [4, 5] {
        let more =
            format!(r#", "pattern": "p2p", "publishers": 5, "loopback": true, "rate": 2000, "version": {version}"#);
        let report = report(&sink.url(), &more)?;
        assert_eq!((report.sent, report.delivered, report.expected), (600, 600, 600), "{report:?}");
        assert!(report.is_clean(), "{report:?}");
        assert_eq!(report.latency_us.count, 600);
        assert!(report.latency_us.p50 > 0.0);
    }
    assert_eq!(sink.figures().publishes, 1200);
    Ok(())
}

/// Are QoS 1 and 2 acknowledged to the last, over two threads, through a small window?
#[test]
fn acknowledged_to_the_last() -> Result<(), SwarmError> {
    let sink = sink(false)?;
    for qos in [1, 2] {
        let more = format!(
            r#", "pattern": "devices", "publishers": 7, "threads": 2, "rate": 3000, "window": 2, "qos": {qos}"#
        );
        let report = report(&sink.url(), &more)?;
        assert_eq!((report.sent, report.acknowledged, report.unsent), (900, 900, 0), "{report:?}");
        assert_eq!(report.answer_us.count, 900);
        assert!(report.is_clean(), "{report:?}");
    }
    Ok(())
}

/// Does a closed loop say that it is one, and end?
#[test]
fn closed_loop() -> Result<(), SwarmError> {
    let sink = sink(false)?;
    for qos in [0, 1] {
        let more = format!(r#", "pattern": "devices", "publishers": 3, "rate": 0, "qos": {qos}"#);
        let report = report(&sink.url(), &more)?;
        assert_eq!(report.mode, "closed loop");
        assert!(report.sent > 0 && report.is_clean(), "{report:?}");
        assert!(report.notes.iter().any(|note| note.contains("closed loop")));
    }
    Ok(())
}

/// Is what never arrives counted as lost, to the message?
#[test]
fn loss_is_exact() -> Result<(), SwarmError> {
    let sink = sink(false)?;
    let report = report(&sink.url(), r#", "pattern": "p2p", "publishers": 2, "rate": 1000, "drain_s": 0.1"#)?;
    assert_eq!((report.sent, report.expected, report.delivered, report.lost), (300, 300, 0, 300));
    assert!(!report.is_clean());
    Ok(())
}

/// A server that lets one client in and answers nothing after: its URL.
fn deaf_server() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("tcp://{}", listener.local_addr()?);
    thread::spawn(move || -> io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        let mut chunk = [0; 65_536];
        // CONNECT comes in one piece, and nothing more before its answer: no session, success, no properties.
        if stream.read(&mut chunk)? > 0 {
            stream.write_all(&[0x20, 3, 0, 0, 0])?;
        }
        while stream.read(&mut chunk)? > 0 {}
        Ok(())
    });
    Ok(url)
}

/// A broker that acknowledges nothing: is what it did not take counted, and is the run not clean?
#[test]
fn what_is_never_acknowledged_is_counted() -> Result<(), Box<dyn std::error::Error>> {
    let more = r#", "pattern": "devices", "publishers": 1, "rate": 1000, "window": 1, "qos": 1, "drain_s": 0.1"#;
    let report = report(&deaf_server()?, more)?;
    assert_eq!((report.sent, report.unacknowledged, report.unsent), (1, 1, 299), "{report:?}");
    let more = r#", "pattern": "devices", "publishers": 1, "rate": 1000, "window": 300, "qos": 1, "drain_s": 0.1"#;
    let report = self::report(&deaf_server()?, more)?;
    assert_eq!((report.sent, report.unacknowledged, report.unsent), (300, 300, 0), "{report:?}");
    assert!(!report.is_clean() && report.errors.is_empty(), "{report:?}");
    Ok(())
}

/// A full window: is the generator's own lateness that of every message, also of those that find no room?
#[test]
fn lateness_is_that_of_every_message() -> Result<(), Box<dyn std::error::Error>> {
    let more = r#", "pattern": "devices", "publishers": 1, "rate": 1000, "window": 1, "qos": 1, "drain_s": 0.1"#;
    let report = report(&deaf_server()?, more)?;
    assert_eq!((report.sent, report.schedule.held, report.schedule.late_us.count), (1, 299, 300), "{report:?}");
    Ok(())
}

/// Many large messages due at once, more than may wait for a socket, and a socket that takes them all: does what was held
/// back go on, where no socket ever says that it has room again?
#[test]
fn what_a_backlog_held_back_goes_on() -> Result<(), SwarmError> {
    let sink = sink(false)?;
    let json = format!(
        r#"{{"url": "{}", "prefix": "test", "pattern": "devices", "publishers": 1, "spin": false, "payload_bytes": 262144,
            "rate": 100000, "seconds": 0.001, "drain_s": 1}}"#,
        sink.url()
    );
    let report = run(&Profile::from_json(&json)?)?;
    assert_eq!((report.sent, report.unsent), (100, 0), "{report:?}");
    assert!(report.schedule.held > 0, "{report:?}");
    Ok(())
}

/// Is nobody there an error with the address in it, not a hang?
#[test]
fn nobody_there() -> Result<(), SwarmError> {
    let url = {
        let sink = sink(false)?;
        sink.url()
    };
    match report(&url, r#", "pattern": "p2p""#) {
        Err(SwarmError::Client { reason, .. }) => {
            assert!(reason.contains(&url) && reason.contains("refused"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
    Ok(())
}

/// When connections break: does the run end, is every message accounted for, and does the report say why?
#[test]
fn broken_connections_are_reported() -> Result<(), SwarmError> {
    let sink = Sink::start(&SinkConfig { cut_every: Some(100), ..SinkConfig::on("127.0.0.1", 0) })?;
    let more = r#", "pattern": "devices", "publishers": 3, "rate": 2000, "qos": 1, "drain_s": 2"#;
    let report = report(&sink.url(), more)?;
    assert_eq!(report.sent + report.unsent, 600, "{report:?}");
    assert!(report.acknowledged < report.sent && !report.is_clean(), "{report:?}");
    assert_eq!(report.errors.values().sum::<u64>(), 3, "{report:?}");
    assert!(report.errors.keys().all(|label| label.starts_with("connection lost")), "{report:?}");
    Ok(())
}
