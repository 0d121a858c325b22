//! Least expected finish.
//!
//! Three departures from "shortest expected delay": messages on the wire are no queue (the virtual clock replays them);
//! bulk work pays a multiple of its wait, which is the delay it imposes on others, critical work pays it once; an
//! overdue oldest message shows a stall before any acknowledgement does.

use crate::parameters::Parameters;
use crate::signals::Signals;
use crate::work::Work;

/// The cost of sending the message to this member, in milliseconds: its expected finish, its wait and being overdue
/// weighted. Less is better. What is more than `bound_ms` anyway may come out as less than it is, but not below the
/// bound.
pub(crate) fn score_ms(
    signals: &Signals,
    is_critical: bool,
    now_ms: f64,
    parameters: &Parameters,
    bound_ms: f64,
) -> f64 {
    let work_ms = signals.service_now_ms(now_ms, parameters.tau_ms);
    let net_ms = signals.net_ms();
    let finish_ms = net_ms + work_ms;
    if finish_ms >= bound_ms {
        return finish_ms;
    }
    let weight = if is_critical { 1.0 } else { parameters.phi };
    let used_ms = (signals.used_until_ms - now_ms - net_ms).max(0.0);
    let overdue_ms = (now_ms - signals.head_due_ms).max(0.0);
    let idle_ms = finish_ms + weight * used_ms + parameters.kappa * overdue_ms;
    let wait_ms = signals.free_at_ms - now_ms - net_ms;
    if signals.inflight < signals.workers {
        // Nothing of ours waits there; what else does, only a report can tell.
        return if signals.has_reported { idle_ms + weight * wait_ms.max(0.0) } else { idle_ms };
    }
    let each_ms = if signals.workers == 1 { work_ms } else { work_ms / f64::from(signals.workers) };
    idle_ms + weight * softened(wait_ms, each_ms, parameters.softness)
}

/// The wait, growing smoothly from `-softness` messages of work on: an estimate near zero is as likely short as long.
fn softened(wait_ms: f64, each_ms: f64, softness: f64) -> f64 {
    let soft_ms = softness * each_ms;
    if wait_ms > soft_ms {
        wait_ms
    } else if wait_ms > -soft_ms {
        (wait_ms + soft_ms) * (wait_ms + soft_ms) / (4.0 * soft_ms)
    } else {
        0.0
    }
}

/// Late binding: whether one more message may be bound to this member, or had better wait for whoever is free first.
///
/// `share`: messages in the group's queue per member.
pub(crate) fn is_eligible(signals: &Signals, work: &Work, share: f64, now_ms: f64, parameters: &Parameters) -> bool {
    let inflight = f64::from(signals.inflight);
    if now_ms < signals.drains_until_ms {
        return false;
    }
    // Nearly always: no need to know more.
    if inflight < parameters.window {
        return true;
    }
    let workers = f64::from(signals.workers);
    let on_the_wire = signals.rtt_ms * workers / signals.service_now_ms(now_ms, parameters.tau_ms);
    let backlog = parameters.window_backlog.min(share / 2.0);
    let critical = if work.is_critical { parameters.window_critical } else { 0.0 };
    let window = parameters.window + backlog + critical + 6.0 * (workers - 1.0);
    inflight < window + on_the_wire + 2.0 * on_the_wire.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member() -> Signals {
        Signals { limit: 100, rtt_ms: 10.0, service_ms: 20.0, service_long_ms: 20.0, ..Signals::vacant() }
    }

    #[test]
    fn an_idle_member_costs_the_way_and_the_work() {
        assert_eq!(score_ms(&member(), false, 100.0, &Parameters::default(), f64::INFINITY), 25.0);
    }

    #[test]
    fn bulk_pays_its_wait_three_times_and_critical_work_once() {
        let busy = Signals { inflight: 5, free_at_ms: 205.0, ..member() };
        assert_eq!(score_ms(&busy, true, 100.0, &Parameters::default(), f64::INFINITY), 25.0 + 100.0);
        assert_eq!(score_ms(&busy, false, 100.0, &Parameters::default(), f64::INFINITY), 25.0 + 300.0);
    }

    #[test]
    fn an_overdue_head_costs_four_times_what_it_is_late() {
        let late = Signals { head_due_ms: 90.0, ..member() };
        assert_eq!(score_ms(&late, true, 100.0, &Parameters::default(), f64::INFINITY), 25.0 + 40.0);
    }

    #[test]
    fn a_far_member_may_have_more_and_each_worker_six() {
        let parameters = Parameters::default();
        let most = |signals: &Signals, work: &Work, share| {
            (0..100)
                .take_while(|&inflight| {
                    is_eligible(&Signals { inflight, ..signals.clone() }, work, share, 0.0, &parameters)
                })
                .count()
        };
        let near = Signals { rtt_ms: 0.0, ..member() };
        let bulk = Work::default();
        assert_eq!(most(&near, &bulk, 0.0), 3);
        assert_eq!(most(&near, &bulk, 1e9), 7);
        assert_eq!(most(&near, &Work { is_critical: true, ..bulk }, 0.0), 5);
        assert_eq!(most(&Signals { rtt_ms: 80.0, ..member() }, &bulk, 0.0), 3 + 4 + 4);
        assert_eq!(most(&Signals { workers: 4, ..near }, &bulk, 0.0), 3 + 18);
    }
}
