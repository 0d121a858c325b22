//! Members that acknowledge on receipt.
//!
//! Their handler only queues, so what is measured is the way there and back, and every rule that reads acknowledgements
//! would send them all it has. They are found by what they claim: work of near nothing, by a fixed bound or beside the
//! others in the group. Each then gets its fair share and no more, what it had too much before counted, until its
//! acknowledgements have looked like work for a while. Each relapse doubles that while: who looks well only because it
//! gets little is not tried again and again.

use crate::signals::{Judgement, Signals};

/// Acknowledgements before anybody is judged.
const JUDGED_AFTER: u32 = 16;
/// Samples that the mean spans, once there are so many.
const SAMPLES: u32 = 32;
/// Acknowledgements of the group from one look at the others to the next.
pub(crate) const LOOK_EVERY: u32 = 64;
/// A sample counts as at most so many means, or so many milliseconds where the mean is near nothing.
const CLIP: f64 = 8.0;
const CLIP_FLOOR_MS: f64 = 1.0;
const HOLD_MS_MIN: f64 = 10_000.0;
const HOLD_MS_MAX: f64 = 600_000.0;

/// What one member has shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blindness {
    /// Mean of its work samples, each with the same weight at first: the work estimate leans on its first sample too
    /// long.
    work_ms: f64,
    samples: u32,
    is_blind: bool,
    until_ms: f64,
    hold_ms: f64,
}

impl Blindness {
    /// A sample of the work, milliseconds.
    pub(crate) fn observe(&mut self, work_ms: f64) {
        // One pause must not make a liar look busy for long.
        let work_ms = if self.samples == 0 { work_ms } else { work_ms.min(CLIP * self.work_ms.max(CLIP_FLOOR_MS)) };
        self.samples = (self.samples + 1).min(SAMPLES);
        self.work_ms += (work_ms - self.work_ms) / f64::from(self.samples);
    }

    /// Whether the member acknowledges on receipt, as far as one can tell. `near_zero_ms`: below it nobody is taken to
    /// work.
    pub(crate) fn judge(&mut self, near_zero_ms: f64, now_ms: f64) -> bool {
        if self.is_blind {
            self.is_blind = now_ms < self.until_ms || self.work_ms < 2.0 * near_zero_ms;
        } else if self.samples >= JUDGED_AFTER && self.work_ms < near_zero_ms {
            self.is_blind = true;
            self.hold_ms = (2.0 * self.hold_ms).clamp(HOLD_MS_MIN, HOLD_MS_MAX);
            self.until_ms = now_ms + self.hold_ms;
        }
        self.is_blind
    }

    /// Whether it was found to.
    pub(crate) fn is_blind(&self) -> bool {
        self.is_blind
    }

    /// Whether it shows so little work, whatever the others do.
    pub(crate) fn works_less_than(&self, near_zero_ms: f64) -> bool {
        self.work_ms < near_zero_ms
    }

    /// It reports: its acknowledgements need not be judged.
    pub(crate) fn absolve(&mut self) {
        self.is_blind = false;
    }
}

/// The work of the faster members whose acknowledgements mean something: the lower quartile of their long-run
/// estimates, because who is slow is asked little and believed slow for long. None with fewer than three.
///
/// `scratch` is only there to be used again.
pub(crate) fn usual_work_ms(signals: &[Signals], scratch: &mut Vec<f64>) -> Option<f64> {
    let is_known =
        |one: &&Signals| one.limit > 0 && !one.is_blind && one.judgement != Judgement::Batch && one.last_ack_ms > 0.0;
    scratch.clear();
    scratch.extend(signals.iter().filter(is_known).map(|one| one.service_long_ms));
    if scratch.len() < 3 {
        return None;
    }
    let quartile = scratch.len() / 4;
    Some(*scratch.select_nth_unstable_by(quartile, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After so much work, by the time `now_ms`.
    fn judged(blindness: &mut Blindness, work_ms: f64, now_ms: f64) -> bool {
        (0..10 * SAMPLES).for_each(|_| blindness.observe(work_ms));
        blindness.judge(0.25, now_ms)
    }

    #[test]
    fn each_relapse_is_held_twice_as_long() {
        let mut blindness = Blindness::default();
        assert!(!judged(&mut blindness, 5.0, 0.0));
        assert!(judged(&mut blindness, 0.1, 0.0));
        assert!(judged(&mut blindness, 5.0, HOLD_MS_MIN - 1.0));
        assert!(judged(&mut blindness, 0.4, HOLD_MS_MIN));
        assert!(!judged(&mut blindness, 5.0, HOLD_MS_MIN));
        assert!(judged(&mut blindness, 0.1, HOLD_MS_MIN));
        assert!(judged(&mut blindness, 5.0, 2.9 * HOLD_MS_MIN));
        assert!(!judged(&mut blindness, 5.0, 3.0 * HOLD_MS_MIN));
    }

    #[test]
    fn nobody_is_judged_by_a_few_short_messages() {
        let mut blindness = Blindness::default();
        (1..JUDGED_AFTER).for_each(|_| blindness.observe(0.01));
        assert!(!blindness.judge(0.25, 0.0));
        blindness.observe(0.01);
        assert!(blindness.judge(0.25, 0.0));
    }
}
