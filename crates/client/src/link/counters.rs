//! What a link counts.

use super::state::Phase;

/// Counts since the start, and how things stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Where the connection stands.
    pub phase: Phase,
    /// Messages that wait for the caller.
    pub waiting: usize,
    /// Their bytes: topics and payloads.
    pub waiting_bytes: usize,
    /// Messages that the caller has taken and not finished.
    pub working: usize,
    /// The queue is above its mark: nothing more is read, and the broker has been told.
    pub is_high: bool,
    /// The broker tells who published each message.
    pub is_told: bool,
    /// Messages that arrived.
    pub received: u64,
    /// Messages that were finished well.
    pub processed: u64,
    /// Messages that were refused.
    pub refused: u64,
    /// Messages that were finished after their connection was gone: they come again, here or elsewhere. What another link took,
    /// finished here, too: it is that one's still.
    pub late: u64,
    /// Messages given back unread because their connection was gone: they come again, here or elsewhere.
    pub returned: u64,
    /// QoS 0 messages dropped: while draining, or because far more came than the marks allow.
    pub dropped: u64,
    /// Mean work on one message, in microseconds; 0 before the first.
    pub service_us: u64,
    /// Messages finished in the last second.
    pub rate_per_s: u64,
    /// Reports sent by themselves (on a mark, to a probe).
    pub reports: u64,
    /// Connections made, the first one included.
    pub connections: u64,
    /// Messages handed over to be published.
    pub published: u64,
    /// Of those of QoS 1 and 2: answered well.
    pub acknowledged: u64,
    /// Of those: refused by the broker, or never sent: not fit for it, or expired.
    pub rejected: u64,
    /// Of those: sent again after a reconnection.
    pub sent_again: u64,
    /// Handed over and not yet sent, or sent and not yet answered.
    pub unanswered: usize,
}

impl Counters {
    pub(crate) fn new() -> Self {
        Self {
            phase: Phase::Starting,
            waiting: 0,
            waiting_bytes: 0,
            working: 0,
            is_high: false,
            is_told: false,
            received: 0,
            processed: 0,
            refused: 0,
            late: 0,
            returned: 0,
            dropped: 0,
            service_us: 0,
            rate_per_s: 0,
            reports: 0,
            connections: 0,
            published: 0,
            acknowledged: 0,
            rejected: 0,
            sent_again: 0,
            unanswered: 0,
        }
    }
}
