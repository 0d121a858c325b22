//! Messages that wait for their client: the first ones at hand, the others in the log.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;

use crate::flight::DeliveryOptions;
use crate::paged::{Paged, Reference};
use crate::told::{Tie, Told};
use crate::{Bound, Counters, DropReason, Fate, Message, QueuePolicy, Settings};

/// Places that an empty queue keeps allocated.
const CAPACITY_KEPT: usize = 16;

#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) message: Arc<Message>,
    pub(crate) options: DeliveryOptions,
    /// Since when it waits here.
    pub(crate) since_ms: u64,
}

impl Queued {
    /// Why it is not to be sent any more. What a group has bound is bounded by that group.
    fn over(&self, settings: &Settings, now_ms: u64) -> Option<DropReason> {
        let age_ms = now_ms.saturating_sub(self.since_ms);
        let is_too_old = settings.queue_age_ms_max > 0 && age_ms >= settings.queue_age_ms_max;
        match () {
            () if self.message.is_expired(now_ms) => Some(DropReason::Expired),
            () if is_too_old && self.options.tie.bound.is_none() => Some(DropReason::QueueAge),
            () => None,
        }
    }
}

/// In the order of arrival; bounded in messages and bytes. Messages of groups are always at hand, and so before all that is
/// in the log: they are sent in an order of their own.
///
/// Behind a pointer, from the first message that waits: most clients take what comes.
#[derive(Debug, Default)]
pub(crate) struct Queue(Option<Box<Line>>);

#[derive(Debug)]
struct Line {
    waiting: VecDeque<Queued>,
    /// Of those that are at hand.
    bytes: u64,
    /// What lies in the log, behind all that is at hand; only while there is something.
    paged: Option<Box<Paged>>,
}

/// What is there of a queue before its first message.
static NOBODY: Line = Line::new();

impl Default for Line {
    fn default() -> Self {
        Line::new()
    }
}

impl Line {
    const fn new() -> Self {
        Line { waiting: VecDeque::new(), bytes: 0, paged: None }
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.paged.is_none()
    }
}

impl Queue {
    fn line(&self) -> &Line {
        self.0.as_deref().unwrap_or(&NOBODY)
    }

    fn line_mut(&mut self) -> &mut Line {
        self.0.get_or_insert_default()
    }

    /// Messages, wherever they lie.
    pub(crate) fn len(&self) -> usize {
        self.line().waiting.len() + self.paged_len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|line| line.is_empty())
    }

    /// Bytes of all messages; of those in the log rounded.
    pub(crate) fn bytes(&self) -> u64 {
        self.line().bytes + self.line().paged.as_ref().map_or(0, |paged| paged.bytes())
    }

    /// Messages in memory.
    pub(crate) fn at_hand(&self) -> usize {
        self.line().waiting.len()
    }

    /// Their bytes.
    pub(crate) fn at_hand_bytes(&self) -> u64 {
        self.line().bytes
    }

    /// Messages that lie in the log.
    pub(crate) fn paged_len(&self) -> usize {
        self.line().paged.as_ref().map_or(0, |paged| paged.len() as usize)
    }

    pub(crate) fn has_paged(&self) -> bool {
        self.line().paged.is_some()
    }

    /// Makes room for a message of so many bytes: drops what the policy says and counts it. Returns whether there is room.
    pub(crate) fn make_room(
        &mut self,
        bytes: u64,
        settings: &Settings,
        now_ms: u64,
        counters: &mut Counters,
        told: &mut Told,
    ) -> bool {
        if !self.has_room(bytes, settings) {
            self.drop_over_front(settings, now_ms, counters, told);
        }
        while !self.has_room(bytes, settings) {
            let may_yield = settings.queue_policy == QueuePolicy::DropOldest && bytes <= settings.queue_bytes_max;
            let Some(yielding) = self.pop_tie_if(may_yield) else {
                told.note_gone(DropReason::QueueFull, true);
                counters.count_drop(DropReason::QueueFull);
                return false;
            };
            told.lost(yielding, DropReason::QueueFull, Fate::HandedBack, counters);
        }
        true
    }

    /// Adds a message without looking after room.
    pub(crate) fn add(&mut self, queued: Queued) {
        let line = self.line_mut();
        line.bytes += queued.message.footprint() as u64;
        line.waiting.push_back(queued);
    }

    /// Adds a message that lies in the log, without looking after room.
    pub(crate) fn add_paged(&mut self, reference: Reference) {
        self.line_mut().paged.get_or_insert_default().push(reference);
    }

    /// Lets go of all messages that are in the log too.
    pub(crate) fn page_out(&mut self) {
        let Some(Line { waiting, bytes, .. }) = self.0.as_deref_mut() else { return };
        let mut references = Vec::new();
        waiting.retain(|Queued { message, options, .. }| {
            let Some(entry) = options.tie.entry else { return true };
            let footprint = message.footprint() as u64;
            *bytes -= footprint;
            references.push(Reference::new(entry, footprint, options.clone()));
            false
        });
        self.shrink();
        if !references.is_empty() {
            self.line_mut().paged.get_or_insert_default().prepend(references);
        }
    }

    /// Whether so little is at hand that the next page should be read: half of the last one has gone.
    pub(crate) fn wants_page(&self) -> bool {
        let line = self.line();
        line.paged.as_ref().is_some_and(|paged| line.bytes * 2 <= paged.page_bytes)
    }

    /// The entries of the next page.
    pub(crate) fn ask_page(&mut self, messages_max: usize, bytes_max: u64) -> Vec<u64> {
        let Some(paged) = self.0.as_mut().and_then(|line| line.paged.as_mut()) else { return Vec::new() };
        paged.page_bytes = bytes_max;
        paged.page(messages_max, bytes_max)
    }

    /// A message has been read from the log. If it is not the next one it has left meanwhile, or has been let go of again.
    pub(crate) fn take_read(&mut self, entry: NonZeroU64, message: Arc<Message>, since_ms: u64) {
        if let Some(Reference { options, .. }) = self.pop_paged_if(self.is_next(entry)) {
            self.add(Queued { message, options, since_ms });
        }
    }

    /// A message cannot be read from the log any more: it goes, if it is the next one.
    pub(crate) fn give_up(&mut self, entry: NonZeroU64) -> Option<Tie> {
        self.pop_paged_if(self.is_next(entry)).map(|reference| reference.options.tie)
    }

    /// Whether it is the first one in the log.
    fn is_next(&self, entry: NonZeroU64) -> bool {
        self.line().paged.as_ref().and_then(|paged| paged.front()).is_some_and(|front| front.entry == entry)
    }

    /// How the message goes that was added last at hand, and the one that was added last in the log.
    pub(crate) fn last_options(&self) -> [Option<&DeliveryOptions>; 2] {
        let Line { waiting, paged, .. } = self.line();
        let paged = paged.as_ref().and_then(|paged| paged.last());
        [waiting.back().map(|queued| &queued.options), paged.map(|reference| &reference.options)]
    }

    /// The messages at hand, the longest waiting first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Queued> {
        self.line().waiting.iter()
    }

    /// Those that lie in the log, behind these.
    pub(crate) fn iter_paged(&self) -> impl Iterator<Item = Reference> {
        self.line().paged.iter().flat_map(|paged| paged.iter())
    }

    /// Takes out those that have waited longest, at most `most`, because somebody wants the queue empty. Returns how many
    /// went, and their bytes.
    pub(crate) fn empty(&mut self, most: usize, counters: &mut Counters, told: &mut Told) -> (usize, u64) {
        let before = (self.len(), self.bytes());
        for _ in 0..most {
            let Some(tie) = self.pop_tie_if(true) else { break };
            told.lost(tie, DropReason::QueueEmptied, Fate::HandedBack, counters);
        }
        (before.0 - self.len(), before.1 - self.bytes())
    }

    /// Of the messages at hand.
    pub(crate) fn options_mut(&mut self) -> impl Iterator<Item = &mut DeliveryOptions> {
        self.0.iter_mut().flat_map(|line| line.waiting.iter_mut()).map(|queued| &mut queued.options)
    }

    /// Takes all bound messages out.
    pub(crate) fn unbind(&mut self) -> impl Iterator<Item = Bound> + use<> {
        let mut unbound = Vec::new();
        if let Some(Line { waiting, bytes, .. }) = self.0.as_deref_mut() {
            waiting.retain(|queued| {
                let bound = queued.options.tie.bound;
                unbound.extend(bound);
                *bytes -= bound.map_or(0, |_| queued.message.footprint() as u64);
                bound.is_none()
            });
        }
        unbound.into_iter()
    }

    pub(crate) fn has_room(&self, bytes: u64, settings: &Settings) -> bool {
        // One message was taken from its publisher, however large: an empty queue has room for it.
        let is_first = self.is_empty() && settings.queue_bytes_max > 0;
        let fits = is_first || self.bytes() + bytes <= settings.queue_bytes_max;
        fits && self.len() < settings.queue_messages_max as usize
    }

    fn drop_over_front(&mut self, settings: &Settings, now_ms: u64, counters: &mut Counters, told: &mut Told) {
        while let Some(reason) = self.line().waiting.front().and_then(|front| front.over(settings, now_ms)) {
            if let Some(over) = self.pop() {
                told.lost(over.options.tie, reason, Fate::HandedBack, counters);
            }
        }
    }

    /// Takes the message out that has waited longest, wherever it lies.
    fn pop_tie_if(&mut self, condition: bool) -> Option<Tie> {
        if !condition {
            return None;
        }
        match self.pop() {
            Some(queued) => Some(queued.options.tie),
            None => self.pop_paged_if(true).map(|reference| reference.options.tie),
        }
    }

    fn pop_paged_if(&mut self, condition: bool) -> Option<Reference> {
        let line = self.0.as_mut().filter(|_| condition)?;
        let paged = line.paged.as_mut()?;
        let front = paged.pop();
        if paged.len() == 0 {
            line.paged = None;
        }
        front
    }

    /// The message at hand that has waited longest, has not expired and is not too old.
    pub(crate) fn pop_live(
        &mut self,
        settings: &Settings,
        now_ms: u64,
        counters: &mut Counters,
        told: &mut Told,
    ) -> Option<Queued> {
        self.drop_over_front(settings, now_ms, counters, told);
        self.pop()
    }

    fn pop(&mut self) -> Option<Queued> {
        let line = self.0.as_mut()?;
        let queued = line.waiting.pop_front()?;
        line.bytes -= queued.message.footprint() as u64;
        self.shrink();
        Some(queued)
    }

    fn shrink(&mut self) {
        let Some(line) = &mut self.0 else { return };
        if line.waiting.is_empty() && line.waiting.capacity() > CAPACITY_KEPT {
            line.waiting = VecDeque::new();
        }
    }
}
