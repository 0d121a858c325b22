//! A fleet against the sink, over real sockets: is everything accounted for, whatever happens to the connections?

use lapwing_codec::QoS;
use lapwing_swarm::{Action, Fleet, FleetConfig, FleetReport, Sink, SinkConfig, SwarmError, Task};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

fn fleet(url: &str, devices: u32, more: &str) -> Result<Fleet, SwarmError> {
    let clients: Vec<String> =
        (0..devices).map(|i| format!(r#"{{"client_id": "d{i}", "topic": "spectrum/d{i}/readings"}}"#)).collect();
    let json = format!(r#"{{"url": "{url}", "reconnect_first_ms": 1, "clients": [{}] {more}}}"#, clients.join(","));
    Fleet::start(FleetConfig::from_json(&json)?)
}

fn message(device: u32, due_us: u64, qos: QoS) -> Task {
    Task { device, due_us, action: Action::Publish { payload: Box::from(&b"{}"[..]), qos, retain: false } }
}

fn messages(devices: u32, each: u64, step_us: u64, qos: QoS) -> Vec<Task> {
    (0..each).flat_map(|n| (0..devices).map(move |device| message(device, n * step_us, qos))).collect()
}

/// Begins when all devices are connected.
fn run(fleet: Fleet, tasks: Vec<Task>) -> Result<FleetReport, SwarmError> {
    let count = tasks.len();
    let deadline = Instant::now() + PATIENCE;
    while fleet.counts().online < fleet.joined() && Instant::now() < deadline {
        std::thread::yield_now();
    }
    fleet.go(None)?;
    assert_eq!(fleet.offer(tasks, PATIENCE)?, count);
    fleet.finish(PATIENCE)
}

/// Does every message go out and get its answer, at each QoS, in both versions, over two threads?
#[test]
fn everything_is_acknowledged() -> Result<(), SwarmError> {
    for (qos, version) in [(QoS::AtMostOnce, 5), (QoS::AtLeastOnce, 4), (QoS::ExactlyOnce, 5)] {
        let sink = Sink::start(&SinkConfig::on("127.0.0.1", 0))?;
        let fleet = fleet(&sink.url(), 10, &format!(r#", "threads": 2, "version": {version}, "stamp_sent_at": true"#))?;
        let report = run(fleet, messages(10, 50, 1000, qos))?;
        let acknowledged = if qos == QoS::AtMostOnce { 0 } else { 500 };
        assert_eq!((report.counts.sent, report.counts.acknowledged), (500, acknowledged), "{report:?}");
        assert!(report.complete && report.errors.is_empty(), "{report:?}");
        assert_eq!((report.counts.connects, report.counts.resent), (10, 0));
    }
    Ok(())
}

/// When connections break in the middle, does every message still get its answer, and is every repeat counted?
#[test]
fn survives_broken_connections() -> Result<(), SwarmError> {
    for qos in [QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let sink = Sink::start(&SinkConfig { cut_every: Some(23), ..SinkConfig::on("127.0.0.1", 0) })?;
        let report = run(fleet(&sink.url(), 4, r#", "window": 3"#)?, messages(4, 100, 100, qos))?;
        assert_eq!((report.counts.acknowledged, report.unsent, report.unacknowledged), (400, 0, 0), "{report:?}");
        assert!(report.complete && report.counts.resent > 0 && report.counts.reconnects > 0, "{report:?}");
        assert!(report.errors.keys().all(|label| label.starts_with("connection lost")), "{report:?}");
    }
    Ok(())
}

/// Does the schedule decide when a message goes, and does a drop hold messages back until the next join?
#[test]
fn churn() -> Result<(), SwarmError> {
    let sink = Sink::start(&SinkConfig::on("127.0.0.1", 0))?;
    let fleet = fleet(&sink.url(), 2, "")?;
    let task = |device, due_us, action| Task { device, due_us, action };
    let tasks = vec![
        message(0, 0, QoS::AtLeastOnce),
        task(0, 50_000, Action::Drop),
        message(0, 60_000, QoS::AtLeastOnce),
        task(0, 120_000, Action::Join),
        message(1, 0, QoS::AtLeastOnce),
        task(1, 1_000, Action::Leave),
        message(1, 150_000, QoS::AtLeastOnce),
    ];
    let report = run(fleet, tasks)?;
    assert_eq!((report.counts.drops, report.counts.leaves, report.counts.connects), (1, 1, 3), "{report:?}");
    assert_eq!((report.counts.acknowledged, report.unsent), (3, 1), "device 1 left for good: {report:?}");
    assert!(report.answer_us.max >= 59_000.0, "held back by the drop: {report:?}");
    assert!(report.seconds < PATIENCE.as_secs_f64() / 2.0, "nothing could happen any more: {report:?}");
    Ok(())
}

/// Is the queue bounded: does `offer` wait, take a part, and say how much?
#[test]
fn back_pressure() -> Result<(), SwarmError> {
    let sink = Sink::start(&SinkConfig::on("127.0.0.1", 0))?;
    let fleet = fleet(&sink.url(), 1, r#", "queue_messages_max": 10"#)?;
    fleet.go(None)?;
    let far = 3_600_000_000;
    let tasks = (0..25).map(|_| message(0, far, QoS::AtLeastOnce)).collect();
    assert_eq!(fleet.offer(tasks, Duration::from_millis(20))?, 10);
    let report = fleet.finish(Duration::ZERO)?;
    assert_eq!((report.counts.accepted, report.unsent, report.complete), (10, 10, false));
    Ok(())
}

/// Are wrong tasks and settings the caller's error, before anything is taken?
#[test]
fn wrong_tasks() -> Result<(), SwarmError> {
    let sink = Sink::start(&SinkConfig::on("127.0.0.1", 0))?;
    let one = fleet(&sink.url(), 1, "")?;
    let answer = one.offer(vec![message(0, 0, QoS::AtMostOnce), message(1, 0, QoS::AtMostOnce)], PATIENCE);
    assert!(matches!(answer, Err(SwarmError::Profile { key: "device", .. })), "{answer:?}");
    assert_eq!(one.counts().accepted, 0);
    assert!(matches!(fleet(&sink.url(), 0, ""), Err(SwarmError::Profile { key: "clients", .. })));
    let wrong = fleet("tcp://me:horse@h", 1, "").err().map(|error| error.to_string()).unwrap_or_default();
    assert!(wrong.contains("tcp://***@h") && !wrong.contains("horse"), "{wrong}");
    Ok(())
}
