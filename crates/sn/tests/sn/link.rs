//! A link that loses, doubles and reorders datagrams, in simulated time.

use std::collections::BTreeMap;

use lapwing_oracle::variants::Random;

/// Where a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum To {
    Gateway,
    Device,
}

/// Datagrams under way, by the time at which they come.
pub struct Link {
    random: Random,
    under_way: BTreeMap<(u64, u64), (To, Vec<u8>)>,
    sent: u64,
    /// Of a hundred, how many are lost, and how many doubled, and how many late.
    spoiled_percent: usize,
}

/// The longest that a datagram is under way, in milliseconds.
pub const DELAY_MS_MAX: u64 = 40;

impl Link {
    pub fn new(seed: u64, spoiled_percent: usize) -> Self {
        Link { random: Random::new(seed), under_way: BTreeMap::new(), sent: 0, spoiled_percent }
    }

    /// Takes the datagrams that `out` has, one after another.
    pub fn send(&mut self, to: To, out: &mut Vec<u8>, now_ms: u64) {
        let mut rest = &std::mem::take(out)[..];
        while let [len, ..] = *rest {
            assert!(len > 1, "the tests have short messages");
            let (datagram, others) = rest.split_at(usize::from(len));
            self.send_one(to, datagram, now_ms);
            rest = others;
        }
    }

    fn send_one(&mut self, to: To, datagram: &[u8], now_ms: u64) {
        if self.random.below(100) < self.spoiled_percent {
            return;
        }
        let copies = if self.random.below(100) < self.spoiled_percent { 2 } else { 1 };
        for _ in 0..copies {
            let is_late = self.random.below(100) < self.spoiled_percent;
            let delay_ms = if is_late { self.random.below(DELAY_MS_MAX as usize) as u64 } else { 0 };
            self.sent += 1;
            self.under_way.insert((now_ms + 1 + delay_ms, self.sent), (to, datagram.to_vec()));
        }
    }

    /// The next datagram that is there at `now_ms`.
    pub fn arrived(&mut self, now_ms: u64) -> Option<(To, Vec<u8>)> {
        let first = self.under_way.first_entry().filter(|entry| entry.key().0 <= now_ms)?;
        Some(first.remove())
    }
}
