//! A durable consumer group.

use crate::queue::Queue;
use crate::{DeliveryOptions, KeeperId, SubscriptionIds};

/// Delivery options have a meaning for sessions only: a member's are found when it gets the message.
pub(crate) const NO_OPTIONS: DeliveryOptions<'static> =
    DeliveryOptions { qos: 0, retain: false, ids: SubscriptionIds::EMPTY };

/// What is known of it.
#[derive(Clone, Debug)]
pub struct KeptGroup {
    pub(crate) id: KeeperId,
    pub(crate) name: Box<str>,
    pub(crate) filter: Box<str>,
    pub(crate) settings: Option<Box<[u8]>>,
    pub(crate) queue: Queue,
}

impl KeptGroup {
    pub(crate) fn new(id: KeeperId, name: &str, filter: &str) -> Self {
        KeptGroup { id, name: name.into(), filter: filter.into(), settings: None, queue: Queue::default() }
    }

    /// The index of the entry that opened it.
    pub const fn id(&self) -> KeeperId {
        self.id
    }

    /// Its share name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its filter.
    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// With what settings it was declared, as the node wrote them; None: it is there for its members only.
    pub fn declared(&self) -> Option<&[u8]> {
        self.settings.as_deref()
    }

    /// The entries that brought the messages it keeps, in order.
    pub fn queue(&self) -> impl Iterator<Item = u64> {
        self.queue.iter().map(|reference| reference.entry)
    }

    /// How many messages it keeps.
    pub const fn queued(&self) -> u64 {
        self.queue.len()
    }

    /// Bytes that its queue takes. Walks over the queue's chunks.
    pub fn queue_bytes(&self) -> u64 {
        self.queue.heap_bytes()
    }
}
