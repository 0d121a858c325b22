//! A fleet against a broker that does not answer: does the schedule go on, and who is to blame?

use lapwing_codec::{Ack, ConnAck, ConnAckProperties, Limits, Packet, QoS, ReasonCode, Version, decode};
use lapwing_swarm::{Action, Fleet, FleetConfig, FleetCounts, SwarmError, Task};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);
/// On a busy machine a thread may sleep long; what waits for the broker here waits until it is told to answer.
const LATE_MS: f64 = 5_000.0;

/// Takes one client, reads everything, and answers no PUBLISH before it is told to.
struct SlowBroker {
    url: String,
    answers: Arc<AtomicBool>,
}

impl SlowBroker {
    fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("tcp://{}", listener.local_addr()?);
        let answers = Arc::new(AtomicBool::new(false));
        let told = answers.clone();
        thread::spawn(move || listener.accept().and_then(|(stream, _)| serve(stream, &told)));
        Ok(Self { url, answers })
    }
}

fn serve(mut stream: TcpStream, answers: &AtomicBool) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(1)))?;
    let (mut bytes, mut chunk, mut output) = (Vec::new(), [0; 4096], Vec::new());
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(len) => bytes.extend_from_slice(&chunk[..len]),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
        while let Ok(Some((packet, len))) = decode(&bytes, Version::V5, &Limits::PROTOCOL) {
            let answer = match packet {
                Packet::Publish(publish) => publish.packet_id.map(|id| Packet::PubAck(Ack::success(id))),
                _ => Some(Packet::ConnAck(ConnAck {
                    session_present: false,
                    reason: ReasonCode::Success,
                    properties: ConnAckProperties::default(),
                })),
            };
            if matches!(answer, Some(Packet::PubAck(_))) && !answers.load(Relaxed) {
                break;
            }
            answer.map_or(Ok(()), |answer| answer.encode(Version::V5, &mut output)).map_err(io::Error::other)?;
            bytes.drain(..len);
        }
        stream.write_all(&output)?;
        output.clear();
    }
}

fn fleet(broker: &SlowBroker, more: &str) -> Result<Fleet, SwarmError> {
    let json = format!(
        r#"{{"url": "{}", "clients": [{{"client_id": "d", "topic": "t"}}], "queue_messages_max": 10, {more}}}"#,
        broker.url
    );
    let fleet = Fleet::start(FleetConfig::from_json(&json)?)?;
    until(&fleet, |counts| counts.online == 1);
    Ok(fleet)
}

fn messages(count: u64) -> Vec<Task> {
    let publish = || Action::Publish { payload: Box::from(&b"{}"[..]), qos: QoS::AtLeastOnce, retain: false };
    (0..count).map(|n| Task { device: 0, due_us: n * 1000, action: publish() }).collect()
}

fn until(fleet: &Fleet, is_so: impl Fn(&FleetCounts) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so(&fleet.counts()) {
        assert!(Instant::now() < deadline, "not in time: {:?}", fleet.counts());
        thread::yield_now();
    }
}

/// Far more than the queue holds comes due while nothing is answered, with a window for all and with one for a single
/// message: does the schedule go on, and is the wait latency from the due time, not lateness?
#[test]
fn a_slow_broker_is_latency_and_never_a_late_schedule() -> Result<(), Box<dyn std::error::Error>> {
    for window in [1000, 1] {
        let broker = SlowBroker::start()?;
        let fleet = fleet(&broker, &format!(r#""window": {window}, "late_ms": {LATE_MS}"#))?;
        fleet.go(None)?;
        assert_eq!(fleet.offer(messages(200), PATIENCE)?, 200, "window {window}");
        until(&fleet, |counts| counts.taken_up == 200);
        assert_eq!(fleet.counts().acknowledged, 0);
        thread::sleep(Duration::from_millis(50)); // so long, at least, the last one waits
        broker.answers.store(true, Relaxed);
        let report = fleet.finish(PATIENCE)?;
        assert_eq!((report.counts.acknowledged, report.complete), (200, true), "{report:?}");
        assert_eq!((report.schedule.taken_up, report.schedule.late, report.schedule.held), (200, 0, 0), "{report:?}");
        assert!(report.answer_us.min >= 50_000.0, "{report:?}");
    }
    Ok(())
}

/// Is what is taken up and not answered bounded, and is what then waits laid to the broker, and not forgotten?
#[test]
fn what_is_open_is_bounded_and_what_waits_for_it_is_held() -> Result<(), Box<dyn std::error::Error>> {
    let broker = SlowBroker::start()?;
    let fleet = fleet(&broker, r#""open_messages_max": 5"#)?;
    fleet.go(None)?;
    let tasks = messages(20);
    assert_eq!(fleet.offer(tasks[..5].to_vec(), PATIENCE)?, 5);
    until(&fleet, |counts| counts.taken_up == 5);
    assert_eq!(fleet.offer(tasks[5..].to_vec(), Duration::from_secs(2))?, 10, "the queue is full, and stays so");
    assert_eq!(fleet.counts().taken_up, 5);
    broker.answers.store(true, Relaxed);
    let report = fleet.finish(PATIENCE)?;
    assert_eq!((report.counts.acknowledged, report.complete), (15, true), "{report:?}");
    assert_eq!((report.schedule.taken_up, report.schedule.held), (15, 10), "{report:?}");
    Ok(())
}

/// Is the schedule judged from the instant on that was asked for?
#[test]
fn what_is_due_before_is_not_judged() -> Result<(), Box<dyn std::error::Error>> {
    let broker = SlowBroker::start()?;
    broker.answers.store(true, Relaxed);
    let fleet = fleet(&broker, r#""judged_from_us": 15000"#)?;
    fleet.go(None)?;
    assert_eq!(fleet.offer(messages(20), PATIENCE)?, 20);
    let report = fleet.finish(PATIENCE)?;
    assert_eq!((report.counts.taken_up, report.schedule.taken_up), (20, 5), "{report:?}");
    Ok(())
}
