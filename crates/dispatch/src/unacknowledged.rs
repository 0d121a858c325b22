//! QoS 0: nobody says that anything has arrived. What is left is what the socket has not taken and what members report.

use crate::choose::{Ask, SCAN_MAX};
use crate::index::MemberIndex;
use crate::signals::Signals;

/// Backlogs within one such step count as equal: a socket's buffer is no measure of one message.
const STEP_BYTES: u64 = 4096;

/// The member with the least socket backlog, among those the one that reports the least work waiting, among those in
/// turn. Of many members, so many are looked at as any strategy looks at. Without backlog and reports it is round robin.
pub(crate) fn choose(ask: &Ask<'_>) -> Option<MemberIndex> {
    let (late, early) = ask.signals.split_at(ask.turn.min(ask.signals.len()));
    let places = (late.len()..).zip(early).chain(late.iter().enumerate());
    let may = places.filter(|(_, signals)| signals.can_take_unacknowledged(ask.now_ms));
    // The turn moves on with every pick, so in a large group everybody is looked at in time.
    let least = may.take(SCAN_MAX).min_by(|(_, one), (_, other)| {
        let backlog = |signals: &Signals| signals.unsent_bytes / STEP_BYTES;
        backlog(one).cmp(&backlog(other)).then(waiting_ms(one).total_cmp(&waiting_ms(other)))
    });
    least.map(|(at, _)| MemberIndex(at as u32))
}

/// Work that waits by the last report; nothing for who does not report.
fn waiting_ms(signals: &Signals) -> f64 {
    f64::from(signals.reported_queue) * signals.service_ms / f64::from(signals.workers)
}
