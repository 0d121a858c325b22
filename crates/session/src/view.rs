//! What an operator sees of a session, and the one thing that is taken from it by order.

use std::num::NonZeroU64;

use lapwing_codec::{QoS, Version};

use crate::paged::Reference;
use crate::queue::Queued;
use crate::session::NEVER;
use crate::{Io, Session};

/// A message that waits, without its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedView<'a> {
    /// Its topic; `None`: the message is in the log only.
    pub topic: Option<&'a str>,
    /// With which it goes to this client.
    pub qos: QoS,
    /// With which it goes to this client.
    pub retain: bool,
    /// As it counts in the queue: [`crate::Message::footprint`].
    pub bytes: u64,
    /// When its Message Expiry Interval is over, on the monotonic clock; `None` too where the topic is.
    pub expires_at_ms: Option<u64>,
    /// The index of its entry, if the session is kept and the message with it.
    pub entry: Option<NonZeroU64>,
    /// A group has bound it to this client.
    pub is_of_group: bool,
}

impl<'a> QueuedView<'a> {
    fn of(queued: &'a Queued) -> Self {
        let (message, options) = (&queued.message, &queued.options);
        QueuedView {
            topic: Some(message.topic()),
            qos: options.qos,
            retain: options.retain,
            bytes: message.footprint() as u64,
            expires_at_ms: message.expires_at_ms(),
            entry: options.tie.entry,
            is_of_group: options.tie.bound.is_some(),
        }
    }

    /// One that lies in the log.
    fn paged(reference: &Reference) -> QueuedView<'static> {
        QueuedView {
            topic: None,
            qos: reference.options.qos,
            retain: reference.options.retain,
            bytes: reference.bytes(),
            expires_at_ms: None,
            entry: Some(reference.entry),
            is_of_group: false,
        }
    }
}

impl Session {
    /// The messages that wait, the longest waiting first.
    pub fn queued(&self) -> impl Iterator<Item = QueuedView<'_>> {
        let in_log = self.queue.iter_paged().map(|reference| QueuedView::paged(&reference));
        self.queue.iter().map(QueuedView::of).chain(in_log)
    }

    /// QoS 1 and 2 messages from the client that are not done: PUBACK or PUBREC waits, or PUBREL has not come.
    pub fn received_messages(&self) -> usize {
        self.acks.qos1() + self.receipts.len().max(self.acks.qos2())
    }

    /// Whether there is Session State beyond that the session exists (MQTT 5.0, 4.1): a subscription, a message for its client or
    /// from it that is not done, a will that waits. Without any nobody loses something with the session.
    pub fn has_state(&self) -> bool {
        let messages = self.queued_messages() + self.inflight_messages() + self.received_messages();
        messages > 0 || self.has_doubts() || self.will.is_some() || self.subscriptions().len() > 0
    }

    /// The version that its client speaks, while it has a connection.
    pub fn version(&self) -> Option<Version> {
        self.link.as_ref().map(|link| link.version)
    }

    /// When the session ends, on the monotonic clock, while it has no connection; `None`: never, as things stand.
    pub const fn ends_at_ms(&self) -> Option<u64> {
        if self.ends_at_ms == NEVER { None } else { Some(self.ends_at_ms) }
    }

    /// Drops the messages that have waited longest, at most `most` of them, by order; messages of groups go back to them.
    /// Those under way stay. Returns how many went, and their bytes.
    pub fn empty_queue(&mut self, most: usize, io: &mut Io<'_>) -> (usize, u64) {
        self.queue.empty(most, io.counters, &mut self.told)
    }
}
