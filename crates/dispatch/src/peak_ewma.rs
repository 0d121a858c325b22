//! Peak-EWMA (Finagle), over all members: the response time, peaks at once and forgotten slowly, times what is
//! outstanding.

use crate::choose::{Ask, Choose, to_or_wait};
use crate::signals::Signals;
use crate::work::Pick;

/// More than any response time: who has not answered yet and has work is asked last.
const UNANSWERED_MS: f64 = 1e12;

/// Peak-EWMA.
pub(crate) struct PeakEwma;

impl Choose for PeakEwma {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        let (now_ms, tau_ms) = (ask.now_ms, ask.parameters.peak_tau_ms);
        let load = |signals: &Signals, _: f64| {
            let cost_ms = signals.peak_now_ms(now_ms, tau_ms);
            let inflight = f64::from(signals.inflight);
            if signals.peak_ms == 0.0 && inflight > 0.0 { UNANSWERED_MS + inflight } else { cost_ms * (inflight + 1.0) }
        };
        to_or_wait(ask.least(load, |_| true).map(|(member, _)| member))
    }
}
