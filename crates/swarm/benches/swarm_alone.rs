//! The swarm without a broker: how much one core sends, and what it adds to a latency. Prints a table with ratios.
//!
//! `cargo bench -p lapwing-swarm`. The sink is on CPU 0, the swarm on CPU 1; both spin for the latency.

use lapwing_swarm::{Profile, Report, Sink, SinkConfig, SwarmError, run};

/// Publishes per second from one core that the project asks for.
const PUBLISHES_PER_S: f64 = 500_000.0;
/// Overhead in latency at 10,000 messages per second that the project asks for, in microseconds.
const OVERHEAD_US: f64 = 20.0;

fn main() -> Result<(), SwarmError> {
    println!("{:<42}{:>14}{:>12}{:>8}", "the swarm alone", "measured", "goal", "ratio");
    for qos in 0..=2 {
        let report = measure(false, &format!(r#""pattern": "devices", "publishers": 10, "rate": 0, "qos": {qos}"#))?;
        let goal = (qos == 0).then_some(PUBLISHES_PER_S);
        line(&format!("publishes/s, one core, QoS {qos}, 64 B"), report.sent_per_s, goal, false);
    }
    let echo = r#""pattern": "p2p", "loopback": true, "publishers": 10, "rate": 10000"#;
    let report = measure(true, echo)?;
    line("echo at 10,000/s, us, p50", report.latency_us.p50, Some(OVERHEAD_US), true);
    line("echo at 10,000/s, us, p99", report.latency_us.p99, None, true);
    line("own lateness at 10,000/s, us, p99", report.schedule.late_us.p99, None, true);
    Ok(())
}

fn measure(echo: bool, more: &str) -> Result<Report, SwarmError> {
    let sink = Sink::start(&SinkConfig { echo, spin: echo, pin: Some(0), ..SinkConfig::on("127.0.0.1", 0) })?;
    let url = sink.url();
    run(&Profile::from_json(&format!(r#"{{"url": "{url}", "prefix": "bench", "seconds": 5, "pin": [1], {more}}}"#))?)
}

fn line(name: &str, measured: f64, goal: Option<f64>, less_is_better: bool) {
    let (goal, ratio) = match goal {
        Some(goal) if less_is_better => (format!("< {goal:.0}"), format!("{:.2}", goal / measured)),
        Some(goal) => (format!(">= {goal:.0}"), format!("{:.2}", measured / goal)),
        None => (String::new(), String::new()),
    };
    println!("{name:<42}{measured:>14.1}{goal:>12}{ratio:>8}");
}
