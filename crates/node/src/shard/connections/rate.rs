//! How much one client may send: a bucket of messages and one of bytes, filled by the clock.
//!
//! A client is never punished for what it sent: when a bucket is empty its connection is not read until there is something
//! in it again, and the kernel's window tells the peer. A read takes no more bytes than the bucket has; a message that was
//! read is always handled.

use crate::config::Limits;
use crate::shard::connections::connection::{Connection, Pause};
use crate::shard::connections::serve::Flow;
use crate::shard::{Due, Shard};

/// Tokens are counted in thousandths: a rate per second is so many thousandths per millisecond.
const TOKEN: u64 = 1000;
/// A connection whose bucket was empty waits for as much as fills in this time, so that it is not woken for every byte.
const PAUSE_MS: u64 = 20;

/// One bucket.
#[derive(Debug)]
struct Bucket {
    rate_per_s: u64,
    capacity: u64,
    level: u64,
    filled_at_ms: u64,
}

impl Bucket {
    /// A full bucket; `None` when the rate is 0, which means: no limit.
    fn new(rate_per_s: u64, burst_ms: u64, now_ms: u64) -> Option<Self> {
        let capacity = rate_per_s.saturating_mul(burst_ms).max(TOKEN);
        (rate_per_s > 0).then_some(Bucket { rate_per_s, capacity, level: capacity, filled_at_ms: now_ms })
    }

    fn fill(&mut self, now_ms: u64) {
        let gained = now_ms.saturating_sub(self.filled_at_ms).saturating_mul(self.rate_per_s);
        self.level = self.level.saturating_add(gained).min(self.capacity);
        self.filled_at_ms = now_ms;
    }

    fn tokens(&self) -> u64 {
        self.level / TOKEN
    }

    fn take(&mut self, tokens: u64) {
        self.level = self.level.saturating_sub(tokens.saturating_mul(TOKEN));
    }

    /// When an empty bucket is worth another look; `None` when it is not empty.
    fn ready_at_ms(&self) -> Option<u64> {
        if self.tokens() > 0 {
            return None;
        }
        let wanted = self.rate_per_s.saturating_mul(PAUSE_MS).clamp(TOKEN, self.capacity);
        Some(self.filled_at_ms + (wanted - self.level).div_ceil(self.rate_per_s))
    }
}

/// Both buckets of one connection.
#[derive(Debug)]
pub(crate) struct Rate {
    messages: Option<Bucket>,
    bytes: Option<Bucket>,
}

impl Rate {
    /// Full buckets; `None` when neither is limited.
    pub(crate) fn new(limits: &Limits, now_ms: u64) -> Option<Box<Self>> {
        let messages = Bucket::new(u64::from(limits.messages_per_s_max), limits.rate_burst_ms, now_ms);
        let bytes = Bucket::new(limits.bytes_per_s_max, limits.rate_burst_ms, now_ms);
        (messages.is_some() || bytes.is_some()).then(|| Box::new(Rate { messages, bytes }))
    }

    fn fill(&mut self, now_ms: u64) {
        [&mut self.messages, &mut self.bytes].into_iter().flatten().for_each(|bucket| bucket.fill(now_ms));
    }

    /// Until when the connection is not to be read, if a bucket is empty; and whether it is the one of messages.
    fn wait(&self) -> Option<(u64, bool)> {
        let messages = self.messages.as_ref().and_then(Bucket::ready_at_ms).map(|at_ms| (at_ms, true));
        let bytes = self.bytes.as_ref().and_then(Bucket::ready_at_ms).map(|at_ms| (at_ms, false));
        messages.into_iter().chain(bytes).max()
    }
}

impl Connection {
    /// How many bytes may be read now, of `room`.
    pub(in crate::shard) fn read_allowance(&self, room: usize) -> usize {
        let bucket = self.rate.as_ref().and_then(|rate| rate.bytes.as_ref());
        bucket.map_or(room, |bucket| usize::try_from(bucket.tokens()).unwrap_or(room).min(room))
    }

    /// So many bytes were read.
    pub(in crate::shard) fn charge_bytes(&mut self, bytes: usize) {
        if let Some(bucket) = self.rate.as_mut().and_then(|rate| rate.bytes.as_mut()) {
            bucket.take(bytes as u64);
        }
    }

    /// A message was taken; true when it was the last that may be for now.
    pub(in crate::shard) fn charge_message(&mut self) -> bool {
        let Some(bucket) = self.rate.as_mut().and_then(|rate| rate.messages.as_mut()) else { return false };
        bucket.take(1);
        bucket.tokens() == 0
    }
}

impl Shard {
    /// Lets a connection wait whose bucket is empty; returns whether it does.
    pub(in crate::shard) fn must_wait_for_rate(&mut self, index: usize) -> bool {
        let now_ms = self.now_ms;
        let Some(connection) = self.clients.connection(index) else { return false };
        let Some(rate) = &mut connection.rate else { return false };
        rate.fill(now_ms);
        let Some((until_ms, is_messages)) = rate.wait() else { return false };
        connection.paused = Some(Pause::Rate);
        let born = connection.born;
        // Never in the past: the loop would look at it again and again in one turn.
        self.timers.add(until_ms.max(now_ms + 1), Due::Rate { index, born });
        let counters = &self.counters.limits;
        (if is_messages { &counters.limited_messages } else { &counters.limited_bytes }).add(1);
        true
    }

    /// Charges a PUBLISH; [`Flow::Paused`] when the connection has to wait before its next packet.
    pub(in crate::shard) fn charge_message(&mut self, index: usize) -> Flow {
        let is_spent = self.clients.connection(index).is_some_and(Connection::charge_message);
        if is_spent && self.must_wait_for_rate(index) { Flow::Paused } else { Flow::Continue }
    }

    /// The bucket of a connection has filled, or the pause after its share is over.
    pub(in crate::shard) fn rate_due(&mut self, index: usize, born: u64) {
        let Some(connection) = self.clients.connection(index).filter(|c| c.born == born) else { return };
        if let Some(Pause::Rate | Pause::Share) = connection.paused {
            connection.paused = None;
            self.clients.queue_read(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a burst taken at once, then the rate kept, and is nothing saved up beyond the burst?
    #[test]
    fn a_bucket_gives_its_rate() {
        let mut bucket = Bucket::new(100, 500, 0).unwrap();
        assert_eq!(bucket.tokens(), 50);
        bucket.take(50);
        assert_eq!(bucket.ready_at_ms(), Some(20));
        bucket.fill(20);
        assert_eq!((bucket.tokens(), bucket.ready_at_ms()), (2, None));
        bucket.take(2);
        bucket.fill(1020);
        assert_eq!(bucket.tokens(), 50);
    }

    /// Does a slow rate still give one whole token, and no limit no bucket?
    #[test]
    fn small_rates_and_none() {
        let mut bucket = Bucket::new(1, 1, 0).unwrap();
        assert_eq!(bucket.tokens(), 1);
        bucket.take(1);
        assert_eq!(bucket.ready_at_ms(), Some(1000));
        bucket.fill(999);
        assert_eq!(bucket.ready_at_ms(), Some(1000));
        assert!(Bucket::new(0, 1000, 0).is_none());
        assert!(Rate::new(&Limits::default(), 0).is_none());
    }

    /// Does the later of both buckets decide?
    #[test]
    fn both_buckets_must_have_something() {
        let limits = Limits { messages_per_s_max: 1, bytes_per_s_max: 10, ..Limits::default() };
        let mut rate = Rate::new(&limits, 0).unwrap();
        assert_eq!(rate.wait(), None);
        rate.bytes.as_mut().unwrap().take(10);
        assert_eq!(rate.wait(), Some((100, false)));
        rate.messages.as_mut().unwrap().take(1);
        assert_eq!(rate.wait(), Some((1000, true)));
    }
}
