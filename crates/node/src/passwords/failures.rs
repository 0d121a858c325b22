//! Who gave wrong passwords lately: by address, by name, and by name from an address.
//!
//! An address and a name are slowed down; an address, and a name from an address, are barred. A name is never barred as
//! such: that would let anybody lock out a user by guessing. The tables are bounded, each by itself, so that a flood of
//! names pushes out no address.

use super::source::Source;
use super::table::{Record, Table};
use crate::config::GuessesConfig;
use crate::secrets::{HIDDEN, without_secrets};

/// From so many failures in the window on, an address has nothing checked on a shard: whoever guesses may not try
/// passwords against those that are known, which costs nothing and so would be as fast as a network.
const SUSPECT_FAILURES: u32 = 8;
/// What is kept of a name at most: strangers choose them.
const NAME_BYTES_MAX: usize = 256;

/// A name from an address.
type Pair = (Source, Box<str>);

/// An address, or a name from an address, that is kept out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) source: Source,
    /// None: whatever the name.
    pub(crate) username: Option<Box<str>>,
    pub(crate) failures: u32,
    pub(crate) until_ms: u64,
}

/// What is remembered.
pub(crate) struct Failures {
    settings: GuessesConfig,
    sources: Table<Source>,
    names: Table<Box<str>>,
    pairs: Table<Pair>,
    /// Names that were right from an address; those seen last stay.
    homes: Table<Pair>,
    swept_ms: u64,
}

impl Failures {
    pub(crate) fn new(settings: GuessesConfig) -> Self {
        let most = settings.records_max;
        Failures {
            sources: Table::new(most),
            names: Table::new(most),
            pairs: Table::new(most),
            homes: Table::new(most),
            settings,
            swept_ms: 0,
        }
    }

    /// A wrong password: how long its refusal waits, and what is barred for it from now on.
    pub(crate) fn failed(&mut self, source: Source, username: &str, now_ms: u64) -> (u64, Vec<Bar>) {
        let pair = pair(source, username);
        let settings = &self.settings;
        let by_address = self.sources.change(&source, |record| record.fail(settings, now_ms));
        let by_name = self.names.change(&pair.1, |record| record.fail(settings, now_ms));
        self.pairs.change(&pair, |record| record.fail(settings, now_ms));
        let may_bar = self.settings.bar_local || !source.is_local();
        let bars = if may_bar { self.bar(&pair, now_ms) } else { vec![] };
        (by_address.max(by_name), bars)
    }

    /// An answer that is none of the password's, to an address that asks too much: how long it waits.
    pub(crate) fn refused(&mut self, source: Source, now_ms: u64) -> u64 {
        let settings = &self.settings;
        self.sources.change(&source, |record| record.pace.wait_ms(settings, now_ms))
    }

    /// A right password: this name is at home there.
    pub(crate) fn proved(&mut self, source: Source, username: &str, now_ms: u64) {
        let pair = pair(source, username);
        self.pairs.remove(&pair);
        self.homes.change(&pair, |record| record.see(now_ms));
    }

    /// Whether a password is checked at all. From a barred address only that of a name which was right from there
    /// before, and has not failed since.
    pub(crate) fn admits(&self, source: Source, username: &str, now_ms: u64) -> bool {
        let is_barred = |record: &Record| record.barred_until_ms(now_ms).is_some();
        let pair = pair(source, username);
        let failed = self.pairs.get(&pair);
        if failed.is_some_and(is_barred) {
            return false;
        }
        self.is_at_home(source, username, now_ms) || !self.sources.get(&source).is_some_and(is_barred)
    }

    /// Whether this name was right from there before, and nobody has failed for it there lately: what is known of it may be
    /// asked at once, for a guess would be the first.
    pub(crate) fn is_at_home(&self, source: Source, username: &str, now_ms: u64) -> bool {
        let pair = pair(source, username);
        let failed = self.pairs.get(&pair);
        let has_failed = failed.is_some_and(|record| record.has_failed_lately(&self.settings, now_ms));
        !has_failed && self.homes.get(&pair).is_some()
    }

    /// Whether the address has failed lately, and whether this name has from there.
    pub(crate) fn marks(&self, source: Source, username: &str, now_ms: u64) -> (bool, bool) {
        let has_failed = |record: Option<&Record>| record.is_some_and(|r| r.has_failed_lately(&self.settings, now_ms));
        (has_failed(self.sources.get(&source)), has_failed(self.pairs.get(&pair(source, username))))
    }

    /// Whether nothing of the address is to be checked where that costs nothing.
    pub(crate) fn is_suspect(&self, source: Source, now_ms: u64) -> bool {
        self.sources.get(&source).is_some_and(|record| {
            let failures = record.recent(&self.settings, now_ms);
            failures >= SUSPECT_FAILURES || record.barred_until_ms(now_ms).is_some()
        })
    }

    /// Whoever is kept out now.
    pub(crate) fn bars(&self, now_ms: u64) -> Vec<Bar> {
        let sources = self.sources.iter().filter_map(|(source, record)| bar_of(*source, None, record, now_ms));
        let pairs =
            self.pairs.iter().filter_map(|((source, name), record)| bar_of(*source, Some(&**name), record, now_ms));
        let mut bars: Vec<Bar> = sources.chain(pairs).collect();
        bars.sort_by(|a, b| (a.source, &a.username).cmp(&(b.source, &b.username)));
        bars
    }

    /// Forgets bars and failures of an address or a name, as it is or as it is shown; how many bars that were.
    pub(crate) fn lift(&mut self, what: &str, now_ms: u64) -> u64 {
        let (source, name) = (Source::parse(what), cut(what));
        let is_shown = what.contains(HIDDEN);
        let is_named = |other: &str| other == name || (is_shown && without_secrets(other) == what);
        let sources = self.sources.remove_where(now_ms, |address| Some(*address) == source);
        self.names.remove_where(now_ms, |other| is_named(other));
        sources + self.pairs.remove_where(now_ms, |(address, other)| Some(*address) == source || is_named(other))
    }

    /// Forgets what is over; at most once in a window.
    pub(crate) fn sweep(&mut self, now_ms: u64) {
        if now_ms < self.swept_ms + self.settings.window_ms {
            return;
        }
        self.swept_ms = now_ms;
        self.sources.sweep(&self.settings, now_ms);
        self.names.sweep(&self.settings, now_ms);
        self.pairs.sweep(&self.settings, now_ms);
    }

    /// Records that made room for others.
    pub(crate) fn evicted(&self) -> u64 {
        self.sources.evicted + self.names.evicted + self.pairs.evicted
    }

    fn bar(&mut self, pair: &Pair, now_ms: u64) -> Vec<Bar> {
        let (source, settings) = (pair.0, &self.settings);
        let is_due = |record: &Record, most: u32| most > 0 && record.recent(settings, now_ms) >= most;
        let bar = |record: &mut Record, most| {
            let is_due = is_due(record, most);
            if is_due {
                record.bar(settings, now_ms);
            }
            is_due.then_some(*record)
        };
        let by_address = self.sources.change(&source, |record| bar(record, settings.failures_max));
        let by_pair = self.pairs.change(pair, |record| bar(record, settings.name_failures_max));
        let by_address = by_address.and_then(|record| bar_of(source, None, &record, now_ms));
        by_address
            .into_iter()
            .chain(by_pair.and_then(|record| bar_of(source, Some(&*pair.1), &record, now_ms)))
            .collect()
    }
}

fn bar_of(source: Source, username: Option<&str>, record: &Record, now_ms: u64) -> Option<Bar> {
    let until_ms = record.barred_until_ms(now_ms)?;
    Some(Bar { source, username: username.map(Box::from), failures: record.barred_failures, until_ms })
}

fn pair(source: Source, username: &str) -> Pair {
    (source, cut(username).into())
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
        assert!(table.is_at_home(at(1), "bob", 1) && !table.is_at_home(at(2), "bob", 1));
        table.failed(at(1), "bob", 1);
        assert!(!table.admits(at(1), "bob", 2) && table.admits(at(2), "bob", 2));
        assert!(!table.is_at_home(at(1), "bob", 2));
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
        assert_eq!((table.sources.len(), table.names.len(), table.pairs.len()), (50, 50, 50));
        assert!(table.evicted() > 0 && !table.admits(at(1), "x", 2));
        table.sweep(10_000);
        assert_eq!((table.sources.len(), table.names.len(), table.pairs.len()), (0, 0, 0), "all is over");
    }

    /// Is an address that guesses found out however many users are at home, or names it takes?
    #[test]
    fn many_names_hide_nobody() {
        let mut table = failures(|settings| settings.records_max = 50);
        for n in 0..1000 {
            table.proved(at(n), &format!("device-{n}"), 0);
        }
        assert_eq!((table.homes.len(), table.sources.len()), (50, 0));
        for n in 0..5 {
            assert!(table.admits(at(1), &format!("name-{n}"), 1));
            table.failed(at(1), &format!("name-{n}"), 1);
        }
        assert!(!table.admits(at(1), "x", 1) && table.admits(at(2), "x", 1));
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
        assert_eq!((table.sources.len(), table.names.len()), (1, 0));
    }

    /// Is a bar lifted by its name as it is shown, where that hides a token; and no other?
    #[test]
    fn a_bar_is_lifted_by_what_is_shown_of_it() {
        let mut table = failures(|_| ());
        for name in ["lapwing_0123456789abcdefghij", "lapwing_zyxwvutsrqponmlkjihg", "bob"] {
            (0..3).for_each(|_| drop(table.failed(at(name.len() as u32), name, 0)));
        }
        assert_eq!((table.lift("lapwing_***", 0), table.lift("***", 0)), (2, 0));
        assert!(!table.admits(at(3), "bob", 0));
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
