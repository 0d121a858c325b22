//! A network that loses, delays, doubles, reorders and splits.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_raft::Message;

use crate::random::Random;

/// Messages on their way, by the step in which they arrive.
#[derive(Debug)]
pub struct Network {
    under_way: BTreeMap<(u64, u64), Message>,
    sent: u64,
    /// Pairs (from, to) between which nothing goes.
    cut: BTreeSet<(u64, u64)>,
    /// One message in so many is lost, and as many come twice; 0: none.
    pub bad_one_in: u64,
    /// A message takes 1 to this many steps.
    pub delay_max: u64,
}

impl Network {
    pub fn new() -> Network {
        Network { under_way: BTreeMap::new(), sent: 0, cut: BTreeSet::new(), bad_one_in: 0, delay_max: 1 }
    }

    pub fn send(&mut self, message: Message, now: u64, random: &mut Random) {
        if self.cut.contains(&(message.from, message.to)) || self.is_unlucky(random) {
            return;
        }
        if self.is_unlucky(random) {
            self.put(message.clone(), now, random);
        }
        self.put(message, now, random);
    }

    fn is_unlucky(&self, random: &mut Random) -> bool {
        self.bad_one_in > 0 && random.once_in(self.bad_one_in)
    }

    fn put(&mut self, message: Message, now: u64, random: &mut Random) {
        self.sent += 1;
        let arrives = now + 1 + random.below(self.delay_max);
        self.under_way.insert((arrives, self.sent), message);
    }

    /// The next message that has arrived.
    pub fn arrived(&mut self, now: u64) -> Option<Message> {
        let next = self.under_way.first_entry()?;
        if next.key().0 > now { None } else { Some(next.remove()) }
    }

    /// Nothing goes between these two sets, or only back.
    pub fn split(&mut self, left: &[u64], right: &[u64], is_one_way: bool) {
        for (left, right) in left.iter().flat_map(|left| right.iter().map(move |right| (*left, *right))) {
            self.cut.insert((left, right));
            if !is_one_way {
                self.cut.insert((right, left));
            }
        }
    }

    pub fn heal(&mut self) {
        self.cut.clear();
    }
}
