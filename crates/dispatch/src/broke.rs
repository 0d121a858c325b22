//! The published rule of "Broke", to compare with: by round trip and a back-pressure flag, at random.
//!
//! Corrected where it breaks: the round trip is the group's own estimate (the published outlier filter can freeze it,
//! and its probe ids run over); far members keep a weight above zero; the flag falls back to what is outstanding where
//! a member does not report. That a saturated near member still gets ten times an idle far one is the rule itself.

use crate::choose::{Ask, Choose, to_or_wait};
use crate::index::MemberIndex;
use crate::signals::Signals;
use crate::work::Pick;

/// Watermarks as shares of the queue that a member is thought to have.
const HIGH: f64 = 0.8;
const LOW: f64 = 0.5;

/// Broke's rule.
#[derive(Default)]
pub(crate) struct Broke {
    /// By place: above the high watermark and not yet below the low one.
    is_pressed: Vec<bool>,
}

impl Broke {
    /// `20 * 2^((200 - rtt_ms) / 30)`, a tenth of it under back-pressure.
    fn weight(signals: &Signals, is_pressed: bool) -> f64 {
        let weight = 20.0 * ((200.0 - signals.rtt_ms) / 30.0).max(-1000.0).exp2();
        if is_pressed { weight * 0.1 } else { weight }
    }

    fn note_pressure(&mut self, at: usize, signals: &Signals, queue_max: f64) {
        let queue = f64::from(signals.inflight);
        if queue > HIGH * queue_max {
            self.is_pressed[at] = true;
        } else if queue < LOW * queue_max {
            self.is_pressed[at] = false;
        }
    }
}

impl Choose for Broke {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        if self.is_pressed.len() < ask.signals.len() {
            self.is_pressed.resize(ask.signals.len(), false);
        }
        let mut total = 0.0;
        for (at, signals) in ask.candidates() {
            self.note_pressure(at, signals, ask.parameters.broke_queue);
            total += Self::weight(signals, self.is_pressed[at]);
        }
        let mut left = ask.random.unit() * total;
        let mut drawn = None;
        for (at, signals) in ask.candidates() {
            drawn = Some(MemberIndex(at as u32));
            left -= Self::weight(signals, self.is_pressed[at]);
            if left < 0.0 {
                break;
            }
        }
        to_or_wait(drawn)
    }

    fn left(&mut self, member: MemberIndex) {
        if let Some(flag) = self.is_pressed.get_mut(member.slot()) {
            *flag = false;
        }
    }
}
