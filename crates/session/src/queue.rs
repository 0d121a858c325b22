//! Messages that wait for their client.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::flight::Terms;
use crate::told::Told;
use crate::{Bound, Counters, DropReason, Fate, Message, QueuePolicy, Settings};

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
    pub(crate) fn push(
        &mut self,
        queued: Queued,
        settings: &Settings,
        now_ms: u64,
        counters: &mut Counters,
        told: &mut Told,
    ) -> bool {
        let bytes = queued.message.footprint() as u64;
        if !self.has_room(bytes, settings) {
            self.drop_expired_front(now_ms, counters, told);
        }
        while !self.has_room(bytes, settings) {
            let may_yield = settings.queue_policy == QueuePolicy::DropOldest && bytes <= settings.queue_bytes_max;
            let Some(yielding) = self.pop_if(may_yield) else {
                counters.count_drop(DropReason::QueueFull);
                return false;
            };
            leave(&yielding, DropReason::QueueFull, counters, told);
        }
        self.add(queued);
        true
    }

    /// Adds a message without looking after room: a group has done so, or an earlier life of the session.
    pub(crate) fn add(&mut self, queued: Queued) {
        self.bytes += queued.message.footprint() as u64;
        self.waiting.push_back(queued);
    }

    /// How the message goes that was added last.
    pub(crate) fn last_terms(&self) -> Option<&Terms> {
        self.waiting.back().map(|queued| &queued.terms)
    }

    pub(crate) fn terms_mut(&mut self) -> impl Iterator<Item = &mut Terms> {
        self.waiting.iter_mut().map(|queued| &mut queued.terms)
    }

    /// Takes all bound messages out.
    pub(crate) fn unbind(&mut self) -> impl Iterator<Item = Bound> + use<> {
        let mut unbound = Vec::new();
        let bytes = &mut self.bytes;
        self.waiting.retain(|queued| {
            let bound = queued.terms.tie.bound;
            unbound.extend(bound);
            *bytes -= bound.map_or(0, |_| queued.message.footprint() as u64);
            bound.is_none()
        });
        unbound.into_iter()
    }

    fn has_room(&self, bytes: u64, settings: &Settings) -> bool {
        self.waiting.len() < settings.queue_messages_max as usize && self.bytes + bytes <= settings.queue_bytes_max
    }

    fn drop_expired_front(&mut self, now_ms: u64, counters: &mut Counters, told: &mut Told) {
        let is_expired = |queue: &Self| queue.waiting.front().is_some_and(|queued| queued.message.is_expired(now_ms));
        while let Some(expired) = self.pop_if(is_expired(self)) {
            leave(&expired, DropReason::Expired, counters, told);
        }
    }

    fn pop_if(&mut self, condition: bool) -> Option<Queued> {
        if condition { self.pop() } else { None }
    }

    /// The message that has waited longest and has not expired.
    pub(crate) fn pop_live(&mut self, now_ms: u64, counters: &mut Counters, told: &mut Told) -> Option<Queued> {
        self.drop_expired_front(now_ms, counters, told);
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

/// A message does not wait any longer: it is dropped and counted, or goes back to the group that had bound it.
fn leave(queued: &Queued, reason: DropReason, counters: &mut Counters, told: &mut Told) {
    told.lost(queued.terms.tie, reason, Fate::HandedBack, counters);
}
