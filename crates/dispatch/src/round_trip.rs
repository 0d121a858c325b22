//! How far away a member is.

use crate::time::NEVER_MS;

/// What a member's round trip is taken to be before anything was measured.
pub(crate) const UNKNOWN_RTT_MS: f64 = 30.0;
/// Nobody is farther; larger samples count as this.
const RTT_MS_MAX: f64 = 60_000.0;
/// The work of busy members is smoothed as the work estimate is.
const BUSY_GAIN: f64 = 0.03;
const BUSY_CLIP: f64 = 8.0;
/// An answer that takes so many works more than the way is long.
const DOUBT_WORKS: f64 = 2.0;
/// A member that was idle so lately is not asked to be idle again; one that did not become it each time half as often.
const DOUBT_MS: f64 = 5_000.0;
const DOUBT_MS_MAX: f64 = 120_000.0;
/// How long the least answer is remembered: a member that has moved away is found when it is forgotten.
const ANSWER_WINDOW_MS: f64 = 2_000.0;
/// And the least probe: there may be few of them, and each may have waited behind work.
const PROBE_WINDOW_MS: f64 = 10_000.0;

/// Where a sample of the round trip comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttSource {
    /// `tcpi_min_rtt` of the member's socket. Not `tcpi_rtt`: the kernel's acknowledgement rides on the PUBACK, so that
    /// one holds the handler's time.
    Kernel,
    /// From a probe to the client's answer.
    Probe,
}

/// The least value of the last one to two windows.
#[derive(Clone, Copy, Debug)]
struct WindowedMin {
    window_ms: f64,
    since_ms: f64,
    current_ms: f64,
    previous_ms: f64,
}

impl WindowedMin {
    const fn over(window_ms: f64) -> WindowedMin {
        WindowedMin { window_ms, since_ms: 0.0, current_ms: NEVER_MS, previous_ms: NEVER_MS }
    }

    fn observe(&mut self, value_ms: f64, now_ms: f64) {
        if now_ms - self.since_ms > self.window_ms {
            // After a silence of two windows the older one says nothing any more.
            let is_stale = now_ms - self.since_ms > 2.0 * self.window_ms;
            self.previous_ms = if is_stale { NEVER_MS } else { self.current_ms };
            (self.current_ms, self.since_ms) = (NEVER_MS, now_ms);
        }
        self.current_ms = self.current_ms.min(value_ms);
    }

    fn get(&self) -> Option<f64> {
        let least = self.current_ms.min(self.previous_ms);
        (least < NEVER_MS).then_some(least)
    }
}

/// How far away a member is: the kernel's minimum, capped by the least PUBLISH -> PUBACK of late. Behind a proxy the
/// kernel sees the near leg: there the least probe counts, else what the least PUBLISH -> PUBACK leaves beside the
/// work.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrip {
    is_proxied: bool,
    kernel_ms: Option<f64>,
    probe: WindowedMin,
    answer: WindowedMin,
    /// The least answer of those that certainly found the member idle.
    idle_answer: WindowedMin,
    /// When it was last known to have been idle, or asked to become it.
    idle_at_ms: f64,
    /// So long after that it may be in doubt again.
    doubt_ms: f64,
    /// Work on messages that certainly waited behind another one: no part of it is distance.
    busy_work_ms: Option<f64>,
}

impl RoundTrip {
    pub(crate) fn new(is_proxied: bool) -> RoundTrip {
        RoundTrip {
            is_proxied,
            kernel_ms: None,
            probe: WindowedMin::over(PROBE_WINDOW_MS),
            answer: WindowedMin::over(ANSWER_WINDOW_MS),
            idle_answer: WindowedMin::over(ANSWER_WINDOW_MS),
            idle_at_ms: 0.0,
            doubt_ms: DOUBT_MS,
            busy_work_ms: None,
        }
    }

    /// The kernel sees a proxy, or it does not after all.
    pub(crate) fn set_proxied(&mut self, is_proxied: bool) {
        self.is_proxied = is_proxied;
    }

    pub(crate) fn sample(&mut self, source: RttSource, rtt_ms: f64, now_ms: f64) {
        let rtt_ms = rtt_ms.clamp(0.0, RTT_MS_MAX);
        match source {
            RttSource::Kernel => self.kernel_ms = Some(rtt_ms),
            RttSource::Probe => self.probe.observe(rtt_ms, now_ms),
        }
    }

    /// A message was acknowledged `latency_ms` after it was written.
    pub(crate) fn answered(&mut self, latency_ms: f64, now_ms: f64) {
        self.answer.observe(latency_ms.clamp(0.0, RTT_MS_MAX), now_ms);
    }

    /// A message that found the member idle was acknowledged `latency_ms` after it was written.
    pub(crate) fn found_idle(&mut self, latency_ms: f64, now_ms: f64) {
        self.idle_answer.observe(latency_ms.clamp(0.0, RTT_MS_MAX), now_ms);
        (self.idle_at_ms, self.doubt_ms) = (now_ms, DOUBT_MS);
    }

    /// A message that had waited behind another one took so much work.
    pub(crate) fn found_busy(&mut self, work_ms: f64) {
        let before_ms = self.busy_work_ms.unwrap_or(work_ms);
        let clipped_ms = work_ms.min(BUSY_CLIP * before_ms);
        self.busy_work_ms = Some(before_ms + BUSY_GAIN * (clipped_ms - before_ms));
    }

    /// Whether the distance may have grown unseen, so that the member should become idle: every answer of late took much
    /// longer than the way and the work, and it was not idle for a while. Either it is busy all the time, or it has moved
    /// away. Asked again soon, the answer is no.
    pub(crate) fn doubts(&mut self, rtt_ms: f64, service_ms: f64, now_ms: f64) -> bool {
        let is_long = self.answer.get().is_some_and(|answer_ms| answer_ms - rtt_ms > DOUBT_WORKS * service_ms);
        // Behind a proxy it is the probes that tell, and they do not look back for minutes.
        if self.is_proxied || !is_long || now_ms - self.idle_at_ms <= self.doubt_ms {
            return false;
        }
        (self.idle_at_ms, self.doubt_ms) = (now_ms, (2.0 * self.doubt_ms).min(DOUBT_MS_MAX));
        true
    }

    /// Whether the distance is measured for itself; else it is only known together with the work.
    pub(crate) fn is_measured(&self) -> bool {
        if self.is_proxied { self.probe.get().is_some() } else { self.kernel_ms.is_some() }
    }

    /// The distance there and back. `service_ms`: the work estimate, taken off where only the sum is known.
    pub(crate) fn estimate_ms(&self, service_ms: f64) -> f64 {
        let answer = self.answer.get();
        let measured = if self.is_proxied { self.probe.get() } else { self.kernel_ms };
        match (measured, answer) {
            (Some(measured), Some(answer)) => measured.max(self.moved_to_ms()).min(answer),
            (Some(measured), None) => measured,
            (None, Some(answer)) => (answer - service_ms).max(0.0),
            (None, None) => UNKNOWN_RTT_MS,
        }
    }
}

impl RoundTrip {
    /// What idle answers leave beside the work: a client that has moved away shows there in seconds, in the kernel's
    /// minimum only when its window of five minutes is over. 0 while it cannot be told.
    fn moved_to_ms(&self) -> f64 {
        match (self.idle_answer.get(), self.busy_work_ms) {
            (Some(answer_ms), Some(work_ms)) => (answer_ms - work_ms).max(0.0),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_believed_up_to_the_fastest_answer_and_not_at_all_behind_a_proxy() {
        let mut direct = RoundTrip::new(false);
        assert_eq!(direct.estimate_ms(4.0), UNKNOWN_RTT_MS);
        direct.sample(RttSource::Kernel, 5.0, 0.0);
        direct.answered(25.0, 1.0);
        assert_eq!(direct.estimate_ms(4.0), 5.0);
        direct.answered(4.0, 2.0);
        assert_eq!(direct.estimate_ms(4.0), 4.0);
        let mut proxied = RoundTrip::new(true);
        proxied.sample(RttSource::Kernel, 0.1, 0.0);
        proxied.answered(120.0, 1.0);
        assert_eq!((proxied.estimate_ms(4.0), proxied.is_measured()), (116.0, false));
        assert_eq!(proxied.estimate_ms(400.0), 0.0);
        proxied.sample(RttSource::Probe, 100.0, 2.0);
        assert!(proxied.is_measured());
        assert_eq!(proxied.estimate_ms(4.0), 100.0);
    }

    #[test]
    fn a_minimum_is_forgotten_after_one_to_two_windows() {
        let mut least = WindowedMin::over(10.0);
        least.observe(1.0, 0.0);
        least.observe(50.0, 11.0);
        assert_eq!(least.get(), Some(1.0));
        least.observe(50.0, 22.0);
        assert_eq!(least.get(), Some(50.0));
    }
}
