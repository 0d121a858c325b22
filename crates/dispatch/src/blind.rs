//! Members that acknowledge on receipt.
//!
//! Their handler only queues, so what is measured is the way there and back, and every rule that reads acknowledgements
//! would send them all it has. They are found by what they claim: work of near nothing, by a fixed bound or beside the
//! others in the group. Each then gets its fair turn and no more, until its acknowledgements have looked like work for a
//! while. Each relapse doubles that while: who is fair game only because it gets little is not tried again and again.

use crate::signals::{Judgement, Signals};

/// Acknowledgements before anybody is judged.
pub(crate) const JUDGED_AFTER: u64 = 16;
const HOLD_MS_MIN: f64 = 10_000.0;
const HOLD_MS_MAX: f64 = 600_000.0;

/// What one member has shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blindness {
    until_ms: f64,
    hold_ms: f64,
}

impl Blindness {
    /// Looks at the work estimate of a member. `near_zero_ms`: below it nobody is taken to work. Returns whether it is
    /// blind from now on.
    pub(crate) fn judge(&mut self, was_blind: bool, service_ms: f64, near_zero_ms: f64, now_ms: f64) -> bool {
        if was_blind {
            return now_ms < self.until_ms || service_ms < 2.0 * near_zero_ms;
        }
        let is_blind = service_ms < near_zero_ms;
        if is_blind {
            self.hold_ms = (2.0 * self.hold_ms).clamp(HOLD_MS_MIN, HOLD_MS_MAX);
            self.until_ms = now_ms + self.hold_ms;
        }
        is_blind
    }
}

/// The median work of the members whose acknowledgements mean something, except `except`; 0 with fewer than three.
///
/// `scratch` is only there to be used again.
pub(crate) fn median_service_ms(signals: &[Signals], except: usize, scratch: &mut Vec<f64>) -> f64 {
    let is_other = |&(at, one): &(usize, &Signals)| {
        at != except && one.limit > 0 && !one.is_blind && one.judgement != Judgement::Batch
    };
    scratch.clear();
    scratch.extend(signals.iter().enumerate().filter(is_other).map(|(_, one)| one.service_ms));
    if scratch.len() < 3 {
        return 0.0;
    }
    let middle = scratch.len() / 2;
    *scratch.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_relapse_is_held_twice_as_long() {
        let mut blindness = Blindness::default();
        assert!(!blindness.judge(false, 5.0, 0.25, 0.0));
        assert!(blindness.judge(false, 0.1, 0.25, 0.0));
        assert!(blindness.judge(true, 5.0, 0.25, HOLD_MS_MIN - 1.0));
        assert!(blindness.judge(true, 0.4, 0.25, HOLD_MS_MIN));
        assert!(!blindness.judge(true, 5.0, 0.25, HOLD_MS_MIN));
        assert!(blindness.judge(false, 0.1, 0.25, HOLD_MS_MIN));
        assert!(blindness.judge(true, 5.0, 0.25, 2.9 * HOLD_MS_MIN));
        assert!(!blindness.judge(true, 5.0, 0.25, 3.0 * HOLD_MS_MIN));
    }
}
