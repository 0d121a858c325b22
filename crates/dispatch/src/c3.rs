//! C3 (Suresh, Canini, Schmid, Feldmann, NSDI 2015), over all members: cubic in the queue.

use crate::choose::{Ask, Choose, to_or_wait};
use crate::signals::Signals;
use crate::work::Pick;

/// The cubic replica selection of C3. One dispatcher knows exactly what is outstanding, so nothing is extrapolated.
pub(crate) struct C3;

impl Choose for C3 {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        to_or_wait(ask.least(|signals, _| score_ms(signals), |_| true).map(|(member, _)| member))
    }
}

/// Expected response in milliseconds, the queue weighted by its cube.
pub(crate) fn score_ms(signals: &Signals) -> f64 {
    let queue = f64::from(signals.inflight) + 1.0;
    signals.response_ms - signals.spacing_ms + queue * queue * queue * signals.spacing_ms
}
