//! How many connections a second one source may open: a bucket of tokens each, in a table of bounded size.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::network::source_of;

/// Sources remembered. One that has been quiet for a second has a full bucket and can be forgotten.
const SOURCES_MAX: usize = 1 << 16;
/// A full table is swept at most this often: a sweep looks at every entry.
const SWEEP_EVERY_MS: u64 = 250;
/// A token in the unit that buckets count in, so that what comes back in a millisecond is a whole number.
const TOKEN: u64 = 1000;

/// Shared by all clones of one listener; locked once per connection, and only where a rate is set.
#[derive(Debug)]
pub struct AddressLimiter {
    begun: Instant,
    table: Mutex<Table>,
}

/// Without a clock of its own, so that tests can say what time it is.
#[derive(Debug)]
struct Table {
    per_s: u64,
    sources_max: usize,
    buckets: HashMap<IpAddr, Bucket>,
    /// Of all sources that find no place: together they get what one source gets.
    others: Bucket,
    swept_at_ms: u64,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: u64,
    at_ms: u64,
}

impl AddressLimiter {
    /// `per_s`: connections that a source may open each second, and at once after a second of silence; not 0.
    pub fn new(per_s: u32) -> Self {
        AddressLimiter { begun: Instant::now(), table: Mutex::new(Table::new(per_s, SOURCES_MAX)) }
    }

    /// Whether one more connection of `address` may be taken; counts it if so.
    pub fn take(&self, address: IpAddr) -> bool {
        let now_ms = self.begun.elapsed().as_millis() as u64;
        self.table.lock().unwrap_or_else(PoisonError::into_inner).take(source_of(address), now_ms)
    }
}

impl Table {
    fn new(per_s: u32, sources_max: usize) -> Self {
        let per_s = u64::from(per_s);
        let others = Bucket { tokens: per_s * TOKEN, at_ms: 0 };
        Table { per_s, sources_max, buckets: HashMap::new(), others, swept_at_ms: 0 }
    }

    fn take(&mut self, source: IpAddr, now_ms: u64) -> bool {
        let per_s = self.per_s;
        if let Some(bucket) = self.buckets.get_mut(&source) {
            return bucket.take(per_s, now_ms);
        }
        if self.buckets.len() >= self.sources_max {
            self.sweep(now_ms);
        }
        if self.buckets.len() >= self.sources_max {
            return self.others.take(per_s, now_ms);
        }
        self.buckets.insert(source, Bucket { tokens: (per_s - 1) * TOKEN, at_ms: now_ms });
        true
    }

    /// Forgets every source whose bucket is full again.
    fn sweep(&mut self, now_ms: u64) {
        if now_ms < self.swept_at_ms + SWEEP_EVERY_MS {
            return;
        }
        self.swept_at_ms = now_ms;
        let per_s = self.per_s;
        self.buckets.retain(|_, bucket| !bucket.is_full(per_s, now_ms));
    }
}

impl Bucket {
    fn tokens_at(&self, per_s: u64, now_ms: u64) -> u64 {
        // In one millisecond `per_s` thousandths of a token come back.
        let come_back = now_ms.saturating_sub(self.at_ms).saturating_mul(per_s);
        self.tokens.saturating_add(come_back).min(per_s * TOKEN)
    }

    fn is_full(&self, per_s: u64, now_ms: u64) -> bool {
        self.tokens_at(per_s, now_ms) == per_s * TOKEN
    }

    fn take(&mut self, per_s: u64, now_ms: u64) -> bool {
        let tokens = self.tokens_at(per_s, now_ms);
        let taken = tokens >= TOKEN;
        *self = Bucket { tokens: if taken { tokens - TOKEN } else { tokens }, at_ms: now_ms };
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(n: u32) -> IpAddr {
        IpAddr::V4(std::net::Ipv4Addr::from_bits(n))
    }

    /// Does a source get its rate, neither more in a burst nor less over time, and another source its own?
    #[test]
    fn a_source_gets_its_rate() {
        let mut table = Table::new(3, 10);
        let taken = (0..10).filter(|_| table.take(source(1), 0)).count();
        assert_eq!(taken, 3);
        assert!(table.take(source(2), 0));
        assert!(!table.take(source(1), 333));
        assert!(table.take(source(1), 334));
        let taken = (1..=10_000).filter(|ms| table.take(source(1), 334 + ms)).count();
        assert_eq!(taken, 30);
    }

    /// Does the table stay within its bound, and does a flood from everywhere get what one source gets?
    #[test]
    fn the_table_is_bounded() {
        let mut table = Table::new(1, 8);
        let taken = (0..1000).filter(|n| table.take(source(*n), 0)).count();
        assert_eq!(taken, 8 + 1);
        assert_eq!(table.buckets.len(), 8);
        // A second later all of them are quiet: they make room.
        assert!(table.take(source(5000), 1000));
        assert_eq!(table.buckets.len(), 1);
    }
}
