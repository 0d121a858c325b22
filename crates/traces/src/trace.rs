//! One day, fixed before it begins: who is how fast and how far when, which message comes when and costs how much.

use crate::chance::Chance;
use crate::scenario::Scenario;

/// Nothing lasts longer than this after the last arrival.
const AFTER_MS: f64 = 400e3;

/// One day of a group.
pub struct Trace {
    /// By member.
    pub members: Vec<MemberTrace>,
    /// In the order in which they come.
    pub messages: Vec<Message>,
}

/// One member's day.
#[derive(Clone, Default)]
pub struct MemberTrace {
    /// From when on it works at which speed, in messages per millisecond; begins at 0, ends well.
    pub speeds: Vec<(f64, f64)>,
    /// From when on it is how far away.
    pub rtts_ms: Vec<(f64, f64)>,
}

/// One message.
pub struct Message {
    /// When the broker receives it.
    pub at_ms: f64,
    /// In messages of average size.
    pub work: f64,
    /// It has a deadline, and goes first where there is a lane for that.
    pub is_critical: bool,
    /// Some keys come much more often than others.
    pub key: u64,
}

impl Trace {
    /// The day of this scenario with this seed; always the same one.
    pub fn new(scenario: &Scenario, seed: u64) -> Trace {
        let mut chance = Chance::new(seed);
        let count = scenario.members;
        // Stratified, so that every seed has the same spread.
        let shares: Vec<f64> = (0..count).map(|n| (n as f64 + 0.5) / count as f64).collect();
        let mut shuffled = shares.clone();
        chance.shuffle(&mut shuffled);
        let member = |(&speed, &rtt): (&f64, &f64)| {
            let speed = spread(scenario.speed_per_s, speed) / 1e3;
            MemberTrace::new(scenario, speed, spread(scenario.rtt_ms, rtt), &mut chance)
        };
        let members: Vec<_> = shares.iter().zip(&shuffled).map(member).collect();
        let capacity: f64 = members.iter().map(|member| member.mean_speed(scenario.duration_ms)).sum();
        let messages = messages(scenario, scenario.load * capacity, &mut chance);
        Trace { members, messages }
    }
}

/// Log-uniform: the value at `share` of the way.
fn spread((low, high): (f64, f64), share: f64) -> f64 {
    low * (high / low).powf(share)
}

impl MemberTrace {
    fn new(scenario: &Scenario, speed: f64, rtt_ms: f64, chance: &mut Chance) -> MemberTrace {
        let end_ms = scenario.duration_ms + AFTER_MS;
        let mut events: Vec<(f64, f64, f64)> = Vec::new();
        let mut disturb = |every_ms: f64, factor: f64, length: fn(&mut Chance) -> f64| {
            let mut at_ms = if every_ms > 0.0 { chance.exponential(every_ms) } else { end_ms };
            while at_ms < end_ms {
                let until_ms = at_ms + length(chance);
                events.push((at_ms, until_ms, factor));
                at_ms = until_ms + chance.exponential(every_ms);
            }
        };
        disturb(scenario.slow_every_ms, 0.1, |chance| chance.exponential(5e3));
        disturb(scenario.pause_every_ms, 0.0, |chance| chance.between(50.0, 500.0));
        disturb(scenario.stall_every_ms, 0.0, |_| 30e3);
        let mut rtts_ms = vec![(0.0, rtt_ms)];
        let every_ms = scenario.move_every_ms;
        let mut at_ms = if every_ms > 0.0 { chance.exponential(every_ms) } else { end_ms };
        while at_ms < end_ms {
            rtts_ms.push((at_ms, spread(scenario.rtt_ms, chance.unit())));
            at_ms += chance.exponential(every_ms);
        }
        MemberTrace { speeds: speeds(speed, &events), rtts_ms }
    }

    /// Messages per millisecond on average until `until_ms`.
    fn mean_speed(&self, until_ms: f64) -> f64 {
        let ends = self.speeds.iter().skip(1).map(|&(at_ms, _)| at_ms).chain([f64::INFINITY]);
        let done = self.speeds.iter().zip(ends);
        done.map(|(&(at_ms, speed), end_ms)| speed * (end_ms.min(until_ms) - at_ms).max(0.0)).sum::<f64>() / until_ms
    }
}

/// The steps of a speed under disturbances `(from, until, factor)`: the strongest counts.
fn speeds(speed: f64, events: &[(f64, f64, f64)]) -> Vec<(f64, f64)> {
    let mut times: Vec<f64> = events.iter().flat_map(|&(from, until, _)| [from, until]).chain([0.0]).collect();
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    let factor = |at_ms: f64| {
        let here = events.iter().filter(|&&(from, until, _)| from <= at_ms && at_ms < until);
        here.map(|&(_, _, factor)| factor).fold(1.0, f64::min)
    };
    times.into_iter().map(|at_ms| (at_ms, speed * factor(at_ms))).collect()
}

fn messages(scenario: &Scenario, per_ms: f64, chance: &mut Chance) -> Vec<Message> {
    let mut messages = Vec::new();
    let (mut at_ms, mut is_high, mut phase_end_ms) = (0.0, true, 0.0);
    let sum = |sum: &mut f64, n: usize| {
        *sum += (n as f64).powf(-0.9);
        Some(*sum)
    };
    let sums: Vec<f64> = (1..=scenario.keys).scan(0.0, sum).collect();
    let total = sums.last().copied().unwrap_or(0.0);
    while at_ms < scenario.duration_ms {
        let rate = match (scenario.bursts, is_high) {
            (false, _) => per_ms,
            (true, true) => per_ms * 2.5,
            (true, false) => per_ms * 0.625,
        };
        let next_ms = at_ms + chance.exponential(1.0 / rate);
        if scenario.bursts && next_ms > phase_end_ms {
            // Exponential gaps forget: drawing anew from the change of phase on is the same process.
            at_ms = phase_end_ms;
            is_high = !is_high;
            phase_end_ms += chance.exponential(if is_high { 200.0 } else { 800.0 });
            continue;
        }
        at_ms = next_ms;
        let (work, is_critical) = (chance.log_normal(), chance.unit() < 0.1);
        let drawn = chance.unit() * total;
        let key = sums.partition_point(|&sum| sum < drawn) as u64;
        messages.push(Message { at_ms, work, is_critical, key });
    }
    messages
}
