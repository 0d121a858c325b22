//! The report of a run: what a person reads and a script parses.

use crate::clock::SECOND_NS;
use crate::latency::Percentiles;
use crate::outcome::Outcome;
use crate::profile::Profile;
use serde::Serialize;
use std::collections::BTreeMap;

/// The generator's own lateness above which its report says so, in microseconds at p99.
const LATE_US: f64 = 1000.0;

/// What a run has measured. Rates are per second of the time from the first due message to the last event, or of the
/// schedule's time for what was sent, if that is longer.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The settings, with all defaults filled in.
    pub profile: Profile,
    /// `open loop` (a schedule) or `closed loop` (as fast as window and socket allow).
    pub mode: &'static str,
    /// Clients connected.
    pub clients: u64,
    /// How long all clients took to connect and subscribe, in seconds.
    pub connect_s: f64,
    /// From the first SYN to CONNACK per client, in microseconds.
    pub connect_us: Percentiles,
    /// Messages sent.
    pub sent: u64,
    /// Messages sent per second.
    pub sent_per_s: f64,
    /// QoS 1 and 2 messages the broker has taken.
    pub acknowledged: u64,
    /// QoS 1 and 2 messages the broker has refused.
    pub rejected: u64,
    /// QoS 1 and 2 messages sent that the broker has neither taken nor refused by the end.
    pub unacknowledged: u64,
    /// Messages that were due and never sent.
    pub unsent: u64,
    /// Arrivals that should have been.
    pub expected: u64,
    /// Different messages that arrived.
    pub delivered: u64,
    /// Those per second.
    pub delivered_per_s: f64,
    /// Payload bytes per second that arrived.
    pub delivered_bytes_per_s: f64,
    /// `expected` less `delivered`.
    pub lost: u64,
    /// Arrivals of what had arrived.
    pub duplicates: u64,
    /// Arrivals out of order.
    pub reordered: u64,
    /// Arrivals that nobody expected.
    pub foreign: u64,
    /// From due time to arrival, in microseconds.
    pub latency_us: Percentiles,
    /// From due time to the broker's last answer (QoS 1 and 2), in microseconds.
    pub answer_us: Percentiles,
    /// What became of those that sleep, if any do.
    pub sleep: Option<SleepKept>,
    /// How well the generator kept its own schedule.
    pub schedule: ScheduleKept,
    /// What it cost.
    pub cpu: Cpu,
    /// Connections lost and the like, by kind.
    pub errors: BTreeMap<String, u64>,
    /// What a reader of these figures has to know.
    pub notes: Vec<String>,
}

/// How well the generator kept its own schedule.
#[derive(Clone, Debug, Serialize)]
pub struct ScheduleKept {
    /// From due time to when the schedule came to a message, in microseconds: ours, not the broker's.
    pub late_us: Percentiles,
    /// Messages a full window or socket held back beyond their due time: the broker's slowness, unless `late_us` says that
    /// many came at once.
    pub held: u64,
}

/// What became of clients that sleep.
#[derive(Clone, Debug, Serialize)]
pub struct SleepKept {
    /// How often one awoke.
    pub wakes: u64,
    /// How often one that awoke got all that waited.
    pub drained: u64,
    /// From awaking to having all that waited, per time, in microseconds.
    pub drain_us: Percentiles,
    /// From the first that awoke to the last that had all, in seconds.
    pub all_drained_s: f64,
}

/// CPU time, in seconds, and what was done with it.
#[derive(Clone, Debug, Serialize)]
pub struct Cpu {
    /// Used by the swarm; a spinning swarm uses all of its cores.
    pub swarm_s: f64,
    /// Messages sent plus arrived per CPU second of the swarm.
    pub messages_per_swarm_cpu_s: f64,
    /// Used by the broker, if its process was named.
    pub broker_s: Option<f64>,
    /// Messages delivered per CPU second of the broker.
    pub deliveries_per_broker_cpu_s: Option<f64>,
    /// Messages sent per CPU second of the broker.
    pub publishes_per_broker_cpu_s: Option<f64>,
}

impl Report {
    /// The report of `outcome`, the sum of all parts of the run.
    pub fn new(profile: &Profile, outcome: &Outcome) -> Self {
        let scheduled_s = scheduled_s(profile, outcome);
        let publishing_s = seconds(outcome.last_sent_ns, outcome.started_ns).max(scheduled_s);
        let end_ns = outcome.last_heard_ns.max(outcome.last_sent_ns);
        let traffic_s = seconds(end_ns, outcome.started_ns).max(scheduled_s);
        Self {
            profile: profile.clone(),
            mode: if profile.is_closed_loop() { "closed loop" } else { "open loop" },
            clients: outcome.clients,
            connect_s: per_second(outcome.ready_after_ns as f64, SECOND_NS as f64),
            connect_us: outcome.connect.percentiles(),
            sent: outcome.sent,
            sent_per_s: per_second(outcome.sent as f64, publishing_s),
            acknowledged: outcome.acknowledged,
            rejected: outcome.rejected,
            unacknowledged: if profile.qos > 0 { outcome.unacknowledged() } else { 0 },
            unsent: outcome.unsent,
            expected: outcome.expected,
            delivered: outcome.unique,
            delivered_per_s: per_second(outcome.unique as f64, traffic_s),
            delivered_bytes_per_s: per_second(outcome.received_bytes as f64, traffic_s),
            lost: outcome.lost(),
            duplicates: outcome.duplicates,
            reordered: outcome.reordered,
            foreign: outcome.foreign,
            latency_us: outcome.latency.percentiles(),
            answer_us: outcome.answer.percentiles(),
            sleep: profile.sleeps().then(|| sleep(outcome)),
            schedule: ScheduleKept { late_us: outcome.late.percentiles(), held: outcome.held },
            cpu: cpu(outcome),
            errors: outcome.errors.clone(),
            notes: notes(profile, outcome),
        }
    }

    /// True when everything that was to arrive arrived once and in order, the broker took all, and nothing broke.
    pub fn is_clean(&self) -> bool {
        let delivery = self.lost + self.duplicates + self.reordered;
        delivery + self.rejected + self.unacknowledged + self.unsent == 0 && self.errors.is_empty()
    }
}

fn sleep(outcome: &Outcome) -> SleepKept {
    SleepKept {
        wakes: outcome.wakes,
        drained: outcome.drain.count(),
        drain_us: outcome.drain.percentiles(),
        all_drained_s: seconds(outcome.last_drained_ns, outcome.first_woke_ns),
    }
}

fn cpu(outcome: &Outcome) -> Cpu {
    let swarm_s = outcome.swarm_cpu_ns as f64 / SECOND_NS as f64;
    let broker_s = outcome.broker_cpu_ns.map(|ns| ns as f64 / SECOND_NS as f64);
    Cpu {
        swarm_s,
        messages_per_swarm_cpu_s: per_second((outcome.sent + outcome.received) as f64, swarm_s),
        broker_s,
        deliveries_per_broker_cpu_s: broker_s.map(|s| per_second(outcome.unique as f64, s)),
        publishes_per_broker_cpu_s: broker_s.map(|s| per_second(outcome.sent as f64, s)),
    }
}

fn notes(profile: &Profile, outcome: &Outcome) -> Vec<String> {
    let mut notes = Vec::new();
    if profile.is_closed_loop() {
        notes.push(closed_loop(profile));
    }
    let late = outcome.late.percentiles();
    if late.p99 > LATE_US {
        notes.push(format!(
            "the generator missed its own schedule: p99 {:.1} ms, at most {:.1} ms late; use fewer messages, more threads or processes",
            late.p99 / 1000.0, late.max / 1000.0
        ));
    }
    if profile.sleeps() {
        let sleep_s = profile.sleep_s;
        notes.push(format!("subscribers sleep {sleep_s} s at a time: the latency of arrival includes that"));
    }
    if outcome.held > 0 {
        let share = 100.0 * outcome.held as f64 / outcome.sent.max(1) as f64;
        notes.push(format!("{} messages ({share:.1} %) waited for room in the window or the socket", outcome.held));
    }
    if profile.spin {
        notes.push("the swarm spins: its CPU time is that of whole cores".to_owned());
    }
    if profile.broker_pid.is_some() && outcome.broker_cpu_ns.is_none() {
        notes.push("the broker's process was gone before its CPU time could be read".to_owned());
    }
    notes
}

/// What holds a closed loop back, and so what its figures mean.
fn closed_loop(profile: &Profile) -> String {
    let window = profile.window;
    let what = match (profile.qos, profile.subscribers) {
        (1.., _) => format!("each publisher has up to {window} messages unanswered"),
        (_, 1..) if profile.workers == 1 => format!("up to {window} messages per publisher have not arrived yet"),
        _ => "each publisher sends until its socket is full".to_owned(),
    };
    format!("closed loop: {what}; latencies include the wait behind these")
}

/// Open loop: how long the schedule has for what was sent, the last message's own interval too: ten messages at 10/s are
/// one second, though the last one goes after 0.9 s.
fn scheduled_s(profile: &Profile, outcome: &Outcome) -> f64 {
    if profile.is_closed_loop() { 0.0 } else { outcome.sent as f64 / profile.rate }
}

fn seconds(end_ns: u64, start_ns: u64) -> f64 {
    end_ns.saturating_sub(start_ns) as f64 / SECOND_NS as f64
}

/// `count / seconds`; 0 when no time passed.
fn per_second(count: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { count / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::SwarmError;

    /// Ten messages, the first at 0 s and the last at 0.9 s, all at once there: is their rate that of the schedule, and a
    /// closed loop's that of its time?
    #[test]
    fn the_rate_of_a_schedule_that_was_kept_is_its_own() -> Result<(), SwarmError> {
        let second = SECOND_NS;
        let times = Outcome { started_ns: second, last_sent_ns: second + 900_000_000, ..Default::default() };
        let outcome = Outcome { sent: 10, expected: 10, unique: 10, last_heard_ns: times.last_sent_ns, ..times };
        for (rate, per_s) in [(10.0, 10.0), (0.0, 10.0 / 0.9), (1000.0, 10.0 / 0.9)] {
            let json = format!(r#"{{"url": "h", "prefix": "x", "pattern": "p2p", "rate": {rate}}}"#);
            let report = Report::new(&Profile::from_json(&json)?, &outcome);
            assert_eq!((report.sent_per_s, report.delivered_per_s), (per_s, per_s), "{rate}");
        }
        Ok(())
    }
}
