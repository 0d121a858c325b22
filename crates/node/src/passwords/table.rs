//! A bounded table of what failed: one more takes the place of the one that says least.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use super::pace::Pace;
use crate::config::GuessesConfig;

/// Failures of one address, of one name, or of one name from one address.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    /// When its window began.
    from_ms: u64,
    failures: u32,
    last_ms: u64,
    pub(super) pace: Pace,
    /// 0: it is not.
    barred_until_ms: u64,
    /// What it was barred for.
    pub(super) barred_failures: u32,
}

impl Record {
    /// Failures of a window that is not over.
    pub(super) fn recent(&self, settings: &GuessesConfig, now_ms: u64) -> u32 {
        if now_ms < self.from_ms + settings.window_ms { self.failures } else { 0 }
    }

    /// Whether the last failure is not older than a window: whoever goes on slowly stays what he was.
    pub(super) fn has_failed_lately(&self, settings: &GuessesConfig, now_ms: u64) -> bool {
        let has_failed = self.failures > 0 || self.barred_failures > 0;
        has_failed && now_ms < self.last_ms + settings.window_ms
    }

    /// One more; how long its refusal waits.
    pub(super) fn fail(&mut self, settings: &GuessesConfig, now_ms: u64) -> u64 {
        self.failures = self.recent(settings, now_ms).saturating_add(1);
        if self.failures == 1 {
            self.from_ms = now_ms;
        }
        self.last_ms = now_ms;
        self.pace.wait_ms(settings, now_ms)
    }

    /// It is kept out from now on, and its failures are counted anew when that is over.
    pub(super) fn bar(&mut self, settings: &GuessesConfig, now_ms: u64) {
        self.barred_failures = self.failures;
        self.failures = 0;
        self.barred_until_ms = now_ms + settings.bar_ms;
    }

    /// Until when it is kept out.
    pub(super) fn barred_until_ms(&self, now_ms: u64) -> Option<u64> {
        Some(self.barred_until_ms).filter(|until_ms| *until_ms > now_ms)
    }

    /// It was seen, and nothing else.
    pub(super) fn see(&mut self, now_ms: u64) {
        self.last_ms = now_ms;
    }

    /// How much it says; of those that say as much, the one seen last says more.
    fn weight(&self) -> (u32, u64) {
        let weight = if self.barred_until_ms > 0 { u32::MAX } else { self.failures };
        (weight, self.last_ms)
    }

    fn is_over(&self, settings: &GuessesConfig, now_ms: u64) -> bool {
        !self.has_failed_lately(settings, now_ms) && self.pace.is_free(now_ms) && self.barred_until_ms <= now_ms
    }
}

/// Records by key.
#[derive(Debug)]
pub(super) struct Table<K> {
    records: HashMap<Arc<K>, Record>,
    /// What says least comes first.
    ranks: BTreeSet<((u32, u64), Arc<K>)>,
    records_max: usize,
    /// Records that made room for others.
    pub(super) evicted: u64,
}

impl<K: Clone + Ord + Hash> Table<K> {
    pub(super) fn new(records_max: u32) -> Self {
        Table { records: HashMap::new(), ranks: BTreeSet::new(), records_max: records_max as usize, evicted: 0 }
    }

    pub(super) fn get(&self, key: &K) -> Option<&Record> {
        self.records.get(key)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &Record)> {
        self.records.iter().map(|(key, record)| (&**key, record))
    }

    /// Changes a record, made if there is none.
    pub(super) fn change<R>(&mut self, key: &K, change: impl FnOnce(&mut Record) -> R) -> R {
        let known = self.records.get_key_value(key).map(|(key, record)| (key.clone(), *record));
        if known.is_none()
            && self.records.len() >= self.records_max
            && let Some((_, least)) = self.ranks.pop_first()
        {
            self.records.remove(&least);
            self.evicted += 1;
        }
        let (key, mut record) = known.unwrap_or_else(|| (Arc::new(key.clone()), Record::default()));
        self.ranks.remove(&(record.weight(), key.clone()));
        let result = change(&mut record);
        self.ranks.insert((record.weight(), key.clone()));
        self.records.insert(key, record);
        result
    }

    pub(super) fn remove(&mut self, key: &K) {
        if let Some((key, record)) = self.records.remove_entry(key) {
            self.ranks.remove(&(record.weight(), key));
        }
    }

    /// Takes out those of which `is_meant` is true; how many of them are barred.
    pub(super) fn remove_where(&mut self, now_ms: u64, is_meant: impl Fn(&K) -> bool) -> u64 {
        let meant: Vec<K> = self.records.keys().filter(|key| is_meant(key)).map(|key| (**key).clone()).collect();
        let barred = meant.iter().filter(|key| self.get(key).is_some_and(|r| r.barred_until_ms(now_ms).is_some()));
        let count = barred.count() as u64;
        meant.iter().for_each(|key| self.remove(key));
        count
    }

    /// Forgets what is over.
    pub(super) fn sweep(&mut self, settings: &GuessesConfig, now_ms: u64) {
        let over = self.records.iter().filter(|(_, record)| record.is_over(settings, now_ms));
        let over: Vec<K> = over.map(|(key, _)| (**key).clone()).collect();
        over.iter().for_each(|key| self.remove(key));
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        assert_eq!(self.records.len(), self.ranks.len());
        self.records.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is room made by the fewest failures and, of those, the oldest; and never by one that is barred?
    #[test]
    fn what_says_least_makes_room() {
        let settings = GuessesConfig::default();
        let mut table = Table::new(3);
        table.change(&1, |record| {
            record.fail(&settings, 10);
            record.bar(&settings, 10);
        });
        for at_ms in [20, 21] {
            table.change(&2, |record| record.fail(&settings, at_ms));
        }
        for (key, at_ms) in [(3, 30), (4, 40), (5, 50)] {
            table.change(&key, |record| record.fail(&settings, at_ms));
        }
        let mut keys: Vec<i32> = table.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        assert_eq!((keys, table.len(), table.evicted), (vec![1, 2, 5], 3, 2));
        table.sweep(&settings, 10 + settings.bar_ms);
        assert_eq!(table.len(), 0);
    }
}
