//! Who gave wrong passwords lately: by address, by name, and by name from an address.
//!
//! An address and a name are slowed down; an address, and a name from an address, are barred. A name is never barred as
//! such: that would let anybody lock out a user by guessing. The table is bounded; what makes room is what says least:
//! the fewest failures, and of those the oldest.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::pace::Pace;
use super::source::Source;
use crate::config::GuessesConfig;

/// From so many failures in the window on, an address has nothing checked on a shard: whoever guesses may not try
/// passwords against those that are known, which costs nothing and so would be as fast as a network.
const SUSPECT_FAILURES: u32 = 8;
/// What is kept of a name at most: strangers choose them.
const NAME_BYTES_MAX: usize = 256;
/// A name that was right from an address says more than so many failures.
const PROVED_WEIGHT: u32 = 3;

/// What failures are counted of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Key {
    Source(Source),
    Name(Box<str>),
    Pair(Source, Box<str>),
}

#[derive(Clone, Copy, Debug, Default)]
struct Record {
    /// When its window began.
    from_ms: u64,
    failures: u32,
    last_ms: u64,
    pace: Pace,
    /// 0: it is not.
    barred_until_ms: u64,
    /// What it was barred for.
    barred_failures: u32,
    /// This name was right from this address, once.
    is_proved: bool,
}

/// An address, or a name from an address, that is kept out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) source: Source,
    /// None: whatever the name.
    pub(crate) username: Option<Box<str>>,
    pub(crate) failures: u32,
    pub(crate) until_ms: u64,
}

/// The table.
pub(crate) struct Failures {
    settings: GuessesConfig,
    records: HashMap<Arc<Key>, Record>,
    /// What says least comes first.
    ranks: BTreeSet<(u32, u64, Arc<Key>)>,
    swept_ms: u64,
    /// Records that made room for others.
    pub(crate) evicted: u64,
}

impl Failures {
    pub(crate) fn new(settings: GuessesConfig) -> Self {
        Failures { settings, records: HashMap::new(), ranks: BTreeSet::new(), swept_ms: 0, evicted: 0 }
    }

    /// A wrong password: how long its refusal waits, and what is barred for it from now on.
    pub(crate) fn failed(&mut self, source: Source, username: &str, now_ms: u64) -> (u64, Vec<Bar>) {
        let name: Box<str> = cut(username).into();
        let by_address = self.change(Key::Source(source), now_ms, Record::fail);
        let by_name = self.change(Key::Name(name.clone()), now_ms, Record::fail);
        self.change(Key::Pair(source, name.clone()), now_ms, |record, settings, now_ms| {
            record.fail(settings, now_ms);
        });
        let may_bar = self.settings.bar_local || !source.is_local();
        let bars = if may_bar { self.bar(source, name, now_ms) } else { vec![] };
        (by_address.max(by_name), bars)
    }

    /// An answer that is none of the password's, to an address that asks too much: how long it waits.
    pub(crate) fn refused(&mut self, source: Source, now_ms: u64) -> u64 {
        self.change(Key::Source(source), now_ms, |record, settings, now_ms| record.pace.wait_ms(settings, now_ms))
    }

    /// A right password: this name is at home there.
    pub(crate) fn proved(&mut self, source: Source, username: &str, now_ms: u64) {
        self.change(Key::Pair(source, cut(username).into()), now_ms, |record, _, now_ms| {
            *record = Record { from_ms: now_ms, last_ms: now_ms, is_proved: true, ..Record::default() };
        });
    }

    /// Whether a password is checked at all. From a barred address only that of a name which was right from there
    /// before, and has not failed since.
    pub(crate) fn admits(&self, source: Source, username: &str, now_ms: u64) -> bool {
        let pair = self.get(&Key::Pair(source, cut(username).into()));
        let is_barred = |record: &Record| record.barred_until_ms > now_ms;
        if pair.is_some_and(is_barred) {
            return false;
        }
        let is_at_home = pair.is_some_and(|pair| pair.is_proved && pair.recent(&self.settings, now_ms) == 0);
        is_at_home || !self.get(&Key::Source(source)).is_some_and(is_barred)
    }

    /// Whether the address has failed lately, and whether this name has from there.
    pub(crate) fn marks(&self, source: Source, username: &str, now_ms: u64) -> (bool, bool) {
        let failed = |key| self.get(&key).is_some_and(|record| record.recent(&self.settings, now_ms) > 0);
        (failed(Key::Source(source)), failed(Key::Pair(source, cut(username).into())))
    }

    /// Whether nothing of the address is to be checked where that costs nothing.
    pub(crate) fn is_suspect(&self, source: Source, now_ms: u64) -> bool {
        self.get(&Key::Source(source)).is_some_and(|record| {
            record.barred_until_ms > now_ms || record.recent(&self.settings, now_ms) >= SUSPECT_FAILURES
        })
    }

    /// Whoever is kept out now.
    pub(crate) fn bars(&self, now_ms: u64) -> Vec<Bar> {
        let barred = self.records.iter().filter(|(_, record)| record.barred_until_ms > now_ms);
        let mut bars: Vec<Bar> = barred.filter_map(|(key, record)| bar_of(key, record)).collect();
        bars.sort_by(|a, b| (a.source, &a.username).cmp(&(b.source, &b.username)));
        bars
    }

    /// Forgets bars and failures of an address or a name; how many bars that were.
    pub(crate) fn lift(&mut self, what: &str, now_ms: u64) -> u64 {
        let source = Source::parse(what);
        let is_meant = |key: &Key| match key {
            Key::Source(address) => Some(*address) == source,
            Key::Name(name) => **name == *cut(what),
            Key::Pair(address, name) => Some(*address) == source || **name == *cut(what),
        };
        let keys: Vec<Arc<Key>> = self.records.keys().filter(|key| is_meant(key)).cloned().collect();
        let barred = |record: Record| u64::from(record.barred_until_ms > now_ms);
        keys.iter().filter_map(|key| self.remove(key)).map(barred).sum()
    }

    /// Forgets what is over; at most once in a window.
    pub(crate) fn sweep(&mut self, now_ms: u64) {
        if now_ms < self.swept_ms + self.settings.window_ms {
            return;
        }
        self.swept_ms = now_ms;
        let settings = &self.settings;
        let over = self.records.iter().filter(|(_, record)| record.is_over(settings, now_ms));
        let keys: Vec<Arc<Key>> = over.map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.remove(&key);
        }
    }

    fn bar(&mut self, source: Source, name: Box<str>, now_ms: u64) -> Vec<Bar> {
        let Failures { settings, .. } = self;
        let bounds =
            [(Key::Source(source), settings.failures_max), (Key::Pair(source, name), settings.name_failures_max)];
        let mut bars = vec![];
        for (key, failures_max) in bounds {
            let failures = self.get(&key).map_or(0, |record| record.recent(&self.settings, now_ms));
            if failures_max > 0 && failures >= failures_max {
                self.change(key.clone(), now_ms, |record, settings, now_ms| record.bar(settings, now_ms));
                bars.extend(self.get(&key).and_then(|record| bar_of(&key, record)));
            }
        }
        bars
    }

    fn get(&self, key: &Key) -> Option<&Record> {
        self.records.get(key)
    }

    /// Changes a record, made if there is none, and keeps its rank.
    fn change<R>(&mut self, key: Key, now_ms: u64, change: impl FnOnce(&mut Record, &GuessesConfig, u64) -> R) -> R {
        let known = self.records.get_key_value(&key).map(|(key, record)| (key.clone(), *record));
        let is_new = known.is_none();
        let (key, mut record) =
            known.unwrap_or_else(|| (Arc::new(key), Record { from_ms: now_ms, ..Record::default() }));
        if is_new
            && self.records.len() >= self.settings.records_max as usize
            && let Some((_, _, least)) = self.ranks.pop_first()
        {
            self.records.remove(&least);
            self.evicted += 1;
        }
        self.ranks.remove(&(record.weight(), record.last_ms, key.clone()));
        let result = change(&mut record, &self.settings, now_ms);
        self.ranks.insert((record.weight(), record.last_ms, key.clone()));
        self.records.insert(key, record);
        result
    }

    fn remove(&mut self, key: &Arc<Key>) -> Option<Record> {
        let record = self.records.remove(key)?;
        self.ranks.remove(&(record.weight(), record.last_ms, key.clone()));
        Some(record)
    }
}

impl Record {
    /// Failures of a window that is not over.
    fn recent(&self, settings: &GuessesConfig, now_ms: u64) -> u32 {
        if now_ms < self.from_ms + settings.window_ms { self.failures } else { 0 }
    }

    fn fail(&mut self, settings: &GuessesConfig, now_ms: u64) -> u64 {
        self.failures = self.recent(settings, now_ms).saturating_add(1);
        if self.failures == 1 {
            self.from_ms = now_ms;
        }
        self.last_ms = now_ms;
        self.pace.wait_ms(settings, now_ms)
    }

    /// Counts anew when it is over.
    fn bar(&mut self, settings: &GuessesConfig, now_ms: u64) {
        self.barred_failures = self.failures;
        self.failures = 0;
        self.barred_until_ms = now_ms + settings.bar_ms;
    }

    fn weight(&self) -> u32 {
        if self.barred_until_ms > 0 {
            return u32::MAX;
        }
        self.failures.saturating_add(if self.is_proved { PROVED_WEIGHT } else { 0 })
    }

    fn is_over(&self, settings: &GuessesConfig, now_ms: u64) -> bool {
        let is_quiet = self.recent(settings, now_ms) == 0 && self.pace.is_free(now_ms);
        is_quiet && self.barred_until_ms <= now_ms && !self.is_proved
    }
}

fn bar_of(key: &Key, record: &Record) -> Option<Bar> {
    let (source, username) = match key {
        Key::Source(source) => (*source, None),
        Key::Pair(source, name) => (*source, Some(name.clone())),
        Key::Name(_) => return None,
    };
    Some(Bar { source, username, failures: record.barred_failures, until_ms: record.barred_until_ms })
}

/// As much of a name as is remembered.
fn cut(username: &str) -> &str {
    let end = (0..=username.len().min(NAME_BYTES_MAX)).rev().find(|at| username.is_char_boundary(*at));
    &username[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: u32) -> Source {
        Source::V4(std::net::Ipv4Addr::from(0xC633_6400 + n))
    }

    fn failures(change: impl FnOnce(&mut GuessesConfig)) -> Failures {
        let mut settings = GuessesConfig {
            window_ms: 1_000,
            bar_ms: 5_000,
            failures_max: 5,
            name_failures_max: 3,
            ..GuessesConfig::default()
        };
        change(&mut settings);
        Failures::new(settings)
    }

    /// Is a name barred from the address it was guessed from and from nowhere else, and an address whatever the name; and
    /// is it over in time?
    #[test]
    fn a_bar_keeps_out_where_it_was_guessed_and_ends() {
        let mut table = failures(|_| ());
        for _ in 0..3 {
            assert!(table.admits(at(1), "bob", 10));
            table.failed(at(1), "bob", 10);
        }
        assert!(!table.admits(at(1), "bob", 10) && table.admits(at(1), "carol", 10) && table.admits(at(2), "bob", 10));
        table.failed(at(1), "carol", 10);
        let (_, bars) = table.failed(at(1), "dan", 10);
        assert_eq!(bars, [Bar { source: at(1), username: None, failures: 5, until_ms: 5_010 }]);
        assert!(!table.admits(at(1), "erin", 5_009) && table.admits(at(2), "erin", 10));
        assert_eq!(table.bars(10).len(), 2);
        assert!(
            table.admits(at(1), "erin", 5_010) && table.admits(at(1), "bob", 5_010) && table.bars(5_010).is_empty()
        );
    }

    /// Do failures of different windows not add up?
    #[test]
    fn what_is_over_does_not_count() {
        let mut table = failures(|_| ());
        for n in 0..100 {
            table.failed(at(1), "bob", n * 600);
        }
        assert!(table.admits(at(1), "bob", 60_000));
    }

    /// Is the machine itself slowed down and not barred, unless that is wanted; and nobody at all with 0?
    #[test]
    fn who_is_exempt_is_not_barred() {
        for (local, off, barred) in [(false, false, false), (true, false, true), (true, true, false)] {
            let mut table = failures(|settings| {
                settings.bar_local = local;
                if off {
                    (settings.failures_max, settings.name_failures_max) = (0, 0);
                }
            });
            let waits: Vec<u64> = (0..50).map(|_| table.failed(Source::Local, "bob", 0).0).collect();
            assert_eq!(!table.admits(Source::Local, "bob", 1), barred, "{local} {off}");
            assert!(waits[40] > waits[20] && waits[20] > 0);
        }
    }

    /// Does who was right from a barred address before come in, until somebody there fails for him?
    #[test]
    fn who_is_at_home_behind_a_bar_comes_in() {
        let mut table = failures(|_| ());
        table.proved(at(1), "bob", 0);
        for n in 0..5 {
            table.failed(at(1), &format!("name-{n}"), 0);
        }
        assert!(table.admits(at(1), "bob", 1) && !table.admits(at(1), "carol", 1));
        table.failed(at(1), "bob", 1);
        assert!(!table.admits(at(1), "bob", 2) && table.admits(at(2), "bob", 2));
    }

    /// Is an address under suspicion after some failures, and free again when they are over?
    #[test]
    fn suspicion_comes_and_goes() {
        let mut table = failures(|settings| settings.failures_max = 0);
        for n in 0..SUSPECT_FAILURES {
            assert!(!table.is_suspect(at(1), 0), "{n}");
            table.failed(at(1), "bob", 0);
        }
        assert!(table.is_suspect(at(1), 0) && !table.is_suspect(at(2), 0) && !table.is_suspect(at(1), 1_000));
    }

    /// Does a flood of names or addresses push out its like, and not a bar, nor grow the table?
    #[test]
    fn the_table_is_bounded_and_keeps_what_says_most() {
        let mut table = failures(|settings| settings.records_max = 50);
        for _ in 0..5 {
            table.failed(at(1), "bob", 0);
        }
        for n in 0..1000 {
            table.failed(at(100 + n), &format!("name-{n}"), 1);
        }
        assert_eq!((table.records.len(), table.ranks.len()), (50, 50));
        assert!(table.evicted > 0 && !table.admits(at(1), "x", 2));
        table.sweep(10_000);
        assert!(table.records.is_empty() && table.ranks.is_empty(), "nothing is left when all is over");
    }

    /// Is a bar lifted by its address or by its name, and what led to it forgotten?
    #[test]
    fn a_bar_is_lifted() {
        let mut table = failures(|_| ());
        let bar = |table: &mut Failures, source| (0..5).for_each(|_| drop(table.failed(source, "bob", 0)));
        bar(&mut table, at(1));
        bar(&mut table, at(2));
        assert_eq!(table.bars(0).len(), 4);
        assert_eq!(table.lift(&at(1).to_string(), 0), 2);
        assert!(table.admits(at(1), "bob", 0) && !table.is_suspect(at(1), 0));
        assert_eq!(table.lift("bob", 0), 1);
        assert_eq!((table.bars(0).len(), table.lift("nobody", 0)), (1, 0));
        assert_eq!(table.records.len(), table.ranks.len());
    }

    /// Is of a name, however long, only so much kept?
    #[test]
    fn a_long_name_is_cut() {
        let mut table = failures(|_| ());
        let name = "ü".repeat(30_000);
        (0..3).for_each(|_| drop(table.failed(at(1), &name, 0)));
        assert!(!table.admits(at(1), &name, 0));
        assert_eq!(table.bars(0)[0].username.as_deref().unwrap().len(), NAME_BYTES_MAX);
    }
}
