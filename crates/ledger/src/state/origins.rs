//! QoS 2 messages of which it is not certain that their publisher's own data group knows.
//!
//! A message touches several data groups, and its `Received` another one; a crash may leave any of them out. So each
//! group remembers the uses of a publisher that the publisher has not called settled: they are its unreleased messages, seldom
//! more than a few. At a start they say what was cut: when the publisher sends that again, those who have it take it once.
//! Nobody needs the entries themselves.
//!
//! Who publishes no more does not settle its last message. The node may say so ([`Settled`](crate::Settled)), and there
//! is a bound: beyond it the publisher that has been silent for longest is forgotten.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{KeeperId, Origin};

/// Publishers that are remembered.
const PUBLISHERS_MAX: usize = 131_072;
/// Uses of one of them: a client can have no more messages unreleased.
const USES_MAX: usize = u16::MAX as usize;

/// Data group, session.
pub(crate) type Publisher = (u16, KeeperId);

/// A QoS 2 message that its publisher has not called settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsettled {
    /// The session's count of QoS 2 messages.
    pub use_number: u64,
    /// The packet id that it came under.
    pub packet_id: u16,
    /// The entry that brought it here.
    pub entry: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Origins {
    publishers: FxHashMap<Publisher, Arc<Uses>>,
    /// The entry that each was last named in -> publisher.
    by_entry: BTreeMap<u64, Publisher>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// Ascending.
    pub(crate) list: VecDeque<Unsettled>,
    pub(crate) settled: u64,
    /// The entry that this publisher was last named in.
    pub(crate) named_in: u64,
}

impl Origins {
    /// Entry `entry` brought a message of this origin.
    pub(crate) fn note(&mut self, origin: &Origin, entry: u64) {
        let publisher = (origin.data_group, origin.session);
        let uses = Arc::make_mut(self.publishers.entry(publisher).or_default());
        self.by_entry.remove(&uses.named_in);
        uses.named_in = entry;
        self.by_entry.insert(entry, publisher);
        uses.settle(origin.settled);
        uses.push(Unsettled { use_number: origin.use_number, packet_id: origin.packet_id, entry });
        if self.publishers.len() > PUBLISHERS_MAX
            && let Some((_, silent)) = self.by_entry.pop_first()
        {
            self.publishers.remove(&silent);
        }
    }

    /// Uses below `below` are settled; false when the publisher is not known.
    pub(crate) fn settle(&mut self, publisher: Publisher, below: u64) -> bool {
        let Some(uses) = self.publishers.get_mut(&publisher).map(Arc::make_mut) else { return false };
        uses.settle(below);
        if uses.list.is_empty() {
            self.by_entry.remove(&uses.named_in);
            self.publishers.remove(&publisher);
        }
        true
    }

    /// Whether this use has been here, as far as that is remembered.
    pub(crate) fn is_repeat(&self, origin: &Origin) -> bool {
        self.publishers.get(&(origin.data_group, origin.session)).is_some_and(|uses| uses.has(origin.use_number))
    }

    /// Uses of a publisher below this one are settled; 0: nobody has said so.
    pub(crate) fn settled(&self, data_group: u16, session: KeeperId) -> u64 {
        self.publishers.get(&(data_group, session)).map_or(0, |uses| uses.settled)
    }

    /// In the order in which they were last named.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Publisher, &Uses)> {
        self.by_entry.values().filter_map(|publisher| Some((*publisher, &**self.publishers.get(publisher)?)))
    }

    /// Those last named in these entries, in their order: the entry, the publisher, its first use that is not settled.
    pub(crate) fn named_in(&self, entries: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Publisher, u64)> {
        // An empty range may be given either way round.
        let entries = entries.start..entries.end.max(entries.start);
        self.by_entry.range(entries).filter_map(|(entry, publisher)| {
            let first = self.publishers.get(publisher)?.list.front()?;
            Some((*entry, *publisher, first.use_number))
        })
    }

    /// All of them as they are now, in no order.
    pub(crate) fn shared(&self) -> Vec<(Publisher, Arc<Uses>)> {
        self.publishers.iter().map(|(publisher, uses)| (*publisher, uses.clone())).collect()
    }

    /// Puts back what `iter` gave; false when it is there already.
    pub(crate) fn restore(&mut self, publisher: Publisher, uses: Uses) -> bool {
        let is_new = self.by_entry.insert(uses.named_in, publisher).is_none();
        self.publishers.insert(publisher, Arc::new(uses)).is_none() && is_new
    }
}

impl Uses {
    fn has(&self, use_number: u64) -> bool {
        use_number < self.settled || self.find(use_number).is_ok()
    }

    fn find(&self, use_number: u64) -> Result<usize, usize> {
        self.list.binary_search_by_key(&use_number, |unsettled| unsettled.use_number)
    }

    fn push(&mut self, unsettled: Unsettled) {
        if unsettled.use_number < self.settled {
            return;
        }
        let Err(at) = self.find(unsettled.use_number) else { return };
        self.list.insert(at, unsettled);
        if self.list.len() > USES_MAX {
            self.list.pop_front();
        }
    }

    fn settle(&mut self, below: u64) {
        self.settled = self.settled.max(below);
        while self.list.front().is_some_and(|unsettled| unsettled.use_number < below) {
            self.list.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(session: u64, use_number: u64, settled: u64) -> Origin {
        Origin { data_group: 3, session: KeeperId(session), packet_id: 9, use_number, settled }
    }

    /// Is a publisher remembered while no more than the bound were named after it?
    #[test]
    fn who_has_been_silent_for_longest_is_forgotten() {
        let (mut origins, mut entry) = (Origins::default(), 0);
        let mut note = |session, use_number, origins: &mut Origins| {
            entry += 1;
            origins.note(&origin(session, use_number, use_number), entry);
        };
        note(1, 1, &mut origins);
        note(2, 1, &mut origins);
        (0..2 * PUBLISHERS_MAX as u64).for_each(|n| note(10 + n % 100, n, &mut origins));
        assert!(origins.is_repeat(&origin(1, 1, 1)), "those who publish often take no place");
        note(1, 2, &mut origins);
        (0..PUBLISHERS_MAX as u64 - 1).for_each(|n| note(1000 + n, 1, &mut origins));
        assert!(origins.is_repeat(&origin(1, 2, 1)) && !origins.is_repeat(&origin(2, 1, 1)));
        assert_eq!((origins.publishers.len(), origins.by_entry.len()), (PUBLISHERS_MAX, PUBLISHERS_MAX));
    }

    /// Are there never more uses of a publisher than a client can have, whatever it settles?
    #[test]
    fn uses_are_bounded() {
        let mut origins = Origins::default();
        (1..=USES_MAX as u64 + 5).for_each(|n| origins.note(&origin(1, n, 1), n));
        assert!(!origins.is_repeat(&origin(1, 5, 1)) && origins.is_repeat(&origin(1, 6, 1)));
    }
}
