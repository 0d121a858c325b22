//! What an operator sees.

/// One member, as it is judged now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemberView {
    /// Round trip, milliseconds.
    pub rtt_ms: f64,
    /// Work on one message, milliseconds; with several workers: of one of them.
    pub service_ms: f64,
    /// Messages that wait or are at work in the member: reported, or else what its virtual clock holds.
    pub queue: f64,
    /// Sent and not acknowledged.
    pub inflight: u32,
    /// Most that it may have now; below its Receive Maximum on probation after a stall.
    pub limit: u32,
    /// How often it was chosen since it joined.
    pub picks: u64,
    /// How often it acknowledged since it joined.
    pub acknowledged: u64,
    /// By how much its oldest message is overdue, milliseconds.
    pub overdue_ms: f64,
    /// It acknowledges on receipt, as far as one can tell, and gets its fair turn only.
    pub is_blind: bool,
    /// It gets nothing for now: it is paused, returns from a stall, or is passed over for what it has refused.
    pub is_closed: bool,
}

/// What the group counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Acknowledgements of messages that the member does not have: too late, twice, of another connection.
    pub unknown_acknowledgements: u64,
    /// Reports that were not believed: out of range, or of somebody who has left.
    pub reports_refused: u64,
    /// Picks that named a member that could not have the message; the message waits. Above 0 is a strategy's bug.
    pub picks_refused: u64,
    /// Members sent away because they had stalled.
    pub stalls: u64,
    /// Times that a member was found to acknowledge on receipt.
    pub blind_members: u64,
}

/// What somebody should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A member acknowledges on receipt: it gets its turn only, whatever its acknowledgements say. Said once per group:
    /// the fix is the consumer's (`lapwing-ack=processed` after the handler, or reports).
    AcknowledgesOnReceipt {
        /// The member.
        member: crate::index::MemberIndex,
    },
}
