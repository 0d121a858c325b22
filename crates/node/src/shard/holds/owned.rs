//! One hold on the shard that owns it.

use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_codec::QoS;
use lapwing_session::Message;

use super::queue::{Bounds, HoldQueue, Waiting};
use crate::config::{HoldConfig, Overflow};
use crate::mail::Offered;
use crate::metrics::HoldCounters;
use crate::shard::durable::keeping::{Kept, Origin};
use crate::shard::publish::losses::LossWatch;

/// How long receivers have for making room; then they get the message as they would any other, and their own queues decide.
const PATIENCE_MS: u64 = 10_000;

/// A message and what its owner has to know of it.
#[derive(Debug)]
pub(super) struct HeldMessage {
    pub(super) message: Arc<Message>,
    /// Hash of its publisher's client id.
    pub(super) publisher: u64,
    /// When it had been read, on the node's clock.
    pub(super) ingress_us: u64,
    /// Where it is logged, if it is.
    pub(super) entry: Option<NonZeroU64>,
    /// A rule about its topic keeps it in memory alone, wherever it is.
    pub(super) in_memory: bool,
    /// It is from before the node started: somebody may have it already.
    pub(super) is_resent: bool,
}

/// Messages that a hold has offered to other shards together, in the order of the queue. The next batch begins when all
/// answers to this one are there.
#[derive(Debug, Default)]
pub(super) struct OfferBatch {
    pub(super) number: u32,
    /// Answers that have not come.
    pub(super) outstanding: usize,
    pub(super) items: Vec<Offer>,
}

/// One message of a batch: where it came from in the queue, and what those who were asked have said so far.
#[derive(Debug)]
pub(super) struct Offer {
    /// Its place in the queue.
    pub(super) number: u64,
    pub(super) waiting: Waiting<HeldMessage>,
    /// The best answer so far.
    pub(super) offered: Offered,
    /// Some of those who take it keep it on disk.
    pub(super) is_kept: bool,
    /// It need not be taken by who has no room: if it is, there was some.
    pub(super) may_wait: bool,
}

/// One hold.
pub(super) struct Hold {
    pub(super) filter: Box<str>,
    /// How long a message may wait.
    pub(super) expiry_ms: Option<u64>,
    /// New messages are logged.
    pub(super) logs: bool,
    /// How the log knows it.
    pub(super) kept: Option<Kept>,
    /// Of its QoS 2 messages in the log those of which no end is committed there.
    pub(super) unsettled: BTreeSet<NonZeroU64>,
    pub(super) queue: HoldQueue<HeldMessage>,
    pub(super) batch: Option<OfferBatch>,
    pub(super) batches: u32,
    /// The timer set for it.
    pub(super) timer_ms: Option<u64>,
    /// When somebody had room for a message that had waited.
    pub(super) taken_ms: u64,
    pub(super) counters: Arc<HoldCounters>,
    pub(super) losses: LossWatch,
}

impl Hold {
    pub(super) fn configured(
        filter: &str,
        config: &HoldConfig,
        keeps_sessions: bool,
        counters: Arc<HoldCounters>,
    ) -> Self {
        let bounds = Bounds { messages: config.messages, bytes: config.bytes, overflow: config.overflow };
        let expiry_ms = (config.expiry_ms > 0).then_some(config.expiry_ms);
        Hold {
            expiry_ms,
            logs: config.is_durable(keeps_sessions),
            queue: HoldQueue::new(bounds),
            ..Hold::left(filter, counters)
        }
    }

    /// One that is not configured any more: it gives what it has, without bounds, and gets nothing.
    pub(super) fn left(filter: &str, counters: Arc<HoldCounters>) -> Self {
        let bounds = Bounds { messages: u64::MAX / 2, bytes: u64::MAX / 2, overflow: Overflow::DropOldest };
        Hold {
            filter: filter.into(),
            expiry_ms: None,
            logs: false,
            kept: None,
            unsettled: BTreeSet::new(),
            queue: HoldQueue::new(bounds),
            batch: None,
            batches: 0,
            timer_ms: None,
            taken_ms: 0,
            counters,
            losses: LossWatch::default(),
        }
    }

    /// Whether a message may wait for room at the one place where somebody wants it: one that has waited already, until
    /// receivers have taken nothing for too long. A long line takes its time, however long the last of it has stood there.
    pub(super) fn is_patient(&self, waiting: &Waiting<HeldMessage>, now_ms: u64) -> bool {
        let since_ms = waiting.parked_since_ms.map(|since_ms| since_ms.max(self.taken_ms));
        waiting.has_waited && since_ms.is_none_or(|since_ms| now_ms < since_ms + PATIENCE_MS)
    }

    /// Whether a turn would bring it on.
    pub(super) fn has_work(&self) -> bool {
        self.batch.is_none() && self.queue.has_work()
    }

    /// What entries of receivers name as the origin of a QoS 2 message.
    pub(super) fn origin(&self, held: &HeldMessage) -> Option<Origin> {
        let is_exact = held.message.qos() == QoS::ExactlyOnce;
        let (kept, entry) = self.kept.zip(held.entry.filter(|_| is_exact))?;
        let settled = self.unsettled.first().copied().unwrap_or(entry).min(entry);
        Some(Origin { is_resent: held.is_resent, ..Origin::of_group(kept, entry, settled.get()) })
    }

    /// When a message that came at `came_ms` and expires itself at `expires_at_ms` has waited long enough.
    pub(super) fn deadline_ms(&self, came_ms: u64, expires_at_ms: Option<u64>) -> Option<u64> {
        let own = self.expiry_ms.map(|expiry_ms| came_ms.saturating_add(expiry_ms));
        own.into_iter().chain(expires_at_ms).min()
    }

    /// Whether it has begun to lose messages for want of room.
    pub(super) fn begins_to_lose(&mut self) -> bool {
        let lost = self.counters.overflowed.get() + self.counters.memory_full.get();
        self.losses.begins(lost, self.queue.is_half_empty())
    }

    /// Shows what waits.
    pub(super) fn show(&self) {
        self.counters.waiting_messages.set(self.queue.len());
        self.counters.waiting_bytes.set(self.queue.bytes());
    }
}

#[cfg(test)]
mod tests {
    use lapwing_codec::Publish;
    use lapwing_session::SessionKey;

    use super::*;

    /// Is the last of a long line as patient as the first while receivers take what they can, and none once they take nothing?
    #[test]
    fn a_line_waits_while_anybody_takes() {
        let mut hold = Hold::left("h/#", Arc::default());
        let message = Arc::new(Message::new(&Publish::qos0("h/x", b"1"), SessionKey(1), None));
        let item = HeldMessage { message, publisher: 0, ingress_us: 0, entry: None, in_memory: true, is_resent: false };
        let parked_since_ms = Some(1_000);
        let mut waiting =
            Waiting { topic: "h/x".into(), bytes: 1, deadline_ms: None, has_waited: true, parked_since_ms, item };
        assert!(hold.is_patient(&waiting, 1_000 + PATIENCE_MS - 1));
        assert!(!hold.is_patient(&waiting, 1_000 + PATIENCE_MS));
        hold.taken_ms = 1_000 + PATIENCE_MS - 1;
        assert!(hold.is_patient(&waiting, hold.taken_ms + PATIENCE_MS - 1));
        assert!(!hold.is_patient(&waiting, hold.taken_ms + PATIENCE_MS));
        waiting.has_waited = false;
        assert!(!hold.is_patient(&waiting, 1_000), "it came while somebody wanted it");
    }
}
