//! Messages that wait for their client.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::flight::Terms;
use crate::{Counters, DropReason, Message, QueuePolicy, Settings};

/// Places that an empty queue keeps allocated.
const CAPACITY_KEPT: usize = 16;

#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) message: Arc<Message>,
    pub(crate) terms: Terms,
}

/// In the order of arrival; bounded in messages and bytes.
#[derive(Debug)]
pub(crate) struct Queue {
    waiting: VecDeque<Queued>,
    bytes: u64,
}

impl Queue {
    pub(crate) const fn new() -> Self {
        Queue { waiting: VecDeque::new(), bytes: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a message; drops what the policy says and counts it. Returns whether the message is in.
    pub(crate) fn push(&mut self, queued: Queued, settings: &Settings, now_ms: u64, counters: &mut Counters) -> bool {
        let bytes = queued.message.footprint() as u64;
        if !self.has_room(bytes, settings) {
            self.drop_expired_front(now_ms, counters);
        }
        while !self.has_room(bytes, settings) {
            let may_yield = settings.queue_policy == QueuePolicy::DropOldest && bytes <= settings.queue_bytes_max;
            counters.count_drop(DropReason::QueueFull);
            if !may_yield || self.pop().is_none() {
                return false;
            }
        }
        self.bytes += bytes;
        self.waiting.push_back(queued);
        true
    }

    fn has_room(&self, bytes: u64, settings: &Settings) -> bool {
        self.waiting.len() < settings.queue_messages_max as usize && self.bytes + bytes <= settings.queue_bytes_max
    }

    fn drop_expired_front(&mut self, now_ms: u64, counters: &mut Counters) {
        while self.waiting.front().is_some_and(|queued| queued.message.is_expired(now_ms)) {
            counters.count_drop(DropReason::Expired);
            self.pop();
        }
    }

    /// The message that has waited longest and has not expired.
    pub(crate) fn pop_live(&mut self, now_ms: u64, counters: &mut Counters) -> Option<Queued> {
        self.drop_expired_front(now_ms, counters);
        self.pop()
    }

    fn pop(&mut self) -> Option<Queued> {
        let queued = self.waiting.pop_front()?;
        self.bytes -= queued.message.footprint() as u64;
        if self.waiting.is_empty() && self.waiting.capacity() > CAPACITY_KEPT {
            self.waiting = VecDeque::new();
        }
        Some(queued)
    }
}
