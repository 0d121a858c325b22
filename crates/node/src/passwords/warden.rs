//! What becomes of a password that has to be checked, and of its answer: decided here, without a thread or a clock.

use lapwing_access::Work;

use super::failures::{Bar, Failures};
use super::queue::{Ask, Marks, PasswordQueue};
use super::source::Source;
use super::words::GuessWords;
use crate::config::GuessesConfig;

/// Everything about passwords that wait and those that were wrong.
pub(crate) struct Warden<T> {
    queue: PasswordQueue<T>,
    /// Those whom somebody else is asked about.
    outside: PasswordQueue<T>,
    pub(crate) failures: Failures,
    pub(crate) words: GuessWords,
    pub(crate) counts: Counts,
}

/// What has become of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// No room to wait.
    pub(crate) displaced: u64,
    /// Of a barred address or name: not checked.
    pub(crate) barred: u64,
    /// Its time for a CONNECT was over before its turn.
    pub(crate) late: u64,
    /// Addresses, and names from an address, that were barred.
    pub(crate) bars: u64,
}

/// A password that is not checked, and why.
#[derive(Debug)]
pub(crate) enum Unchecked<T> {
    /// There was no room; the refusal waits so long.
    Displaced { ask: Ask<T>, wait_ms: u64 },
    /// Its address or name is barred.
    Barred(Ask<T>),
}

impl<T> Warden<T> {
    pub(crate) fn new(settings: GuessesConfig, waiting_max: usize) -> Self {
        let words = GuessWords::new(settings.window_ms, settings.bar_ms);
        let failures = Failures::new(settings);
        let outside = PasswordQueue::new(waiting_max);
        Warden { queue: PasswordQueue::new(waiting_max), outside, failures, words, counts: Counts::default() }
    }

    /// How many wait to be checked.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// One more waits; returns the one that does not, if there is one: itself or another.
    pub(crate) fn arrived(&mut self, ask: Ask<T>, now_ms: u64) -> Option<Unchecked<T>> {
        // A token cannot be guessed: who has one is not kept out by others who guess beside him.
        if !self.admits(&ask, now_ms) {
            self.counts.barred += 1;
            return Some(Unchecked::Barred(ask));
        }
        let (source, pair) = self.failures.marks(ask.source, &ask.username, now_ms);
        let queue = if ask.work == Work::Outside { &mut self.outside } else { &mut self.queue };
        let ask = queue.push(ask, Marks { source, pair })?;
        self.counts.displaced += 1;
        let wait_ms = self.failures.refused(ask.source, now_ms);
        Some(Unchecked::Displaced { ask, wait_ms })
    }

    /// Whether it is checked at all: its address and its name are not barred.
    pub(crate) fn admits(&self, ask: &Ask<T>, now_ms: u64) -> bool {
        ask.work == Work::Token || self.failures.admits(ask.source, &ask.username, now_ms)
    }

    /// The next to be checked here. What nobody waits for any more is left out.
    pub(crate) fn next(&mut self, now_ms: u64) -> Option<Ask<T>> {
        self.next_of(|warden| &mut warden.queue, now_ms)
    }

    /// The next that somebody else is asked about.
    pub(crate) fn next_outside(&mut self, now_ms: u64) -> Option<Ask<T>> {
        self.next_of(|warden| &mut warden.outside, now_ms)
    }

    /// How many wait for that.
    pub(crate) fn waiting_outside(&self) -> usize {
        self.outside.len()
    }

    fn next_of(&mut self, queue: impl Fn(&mut Self) -> &mut PasswordQueue<T>, now_ms: u64) -> Option<Ask<T>> {
        loop {
            let ask = queue(self).pop()?;
            if ask.deadline_ms > now_ms {
                return Some(ask);
            }
            self.counts.late += 1;
        }
    }

    /// It was wrong; how long the refusal waits.
    pub(crate) fn wrong(&mut self, source: Source, username: &str, now_ms: u64) -> u64 {
        let (wait_ms, bars) = self.failures.failed(source, username, now_ms);
        self.words.wrong(source, username);
        self.counts.bars += bars.len() as u64;
        bars.iter().for_each(|bar| self.words.barred(bar));
        wait_ms
    }

    /// It is refused, and was no guess: a token, or nobody could be asked; how long the refusal waits.
    pub(crate) fn refused(&mut self, source: Source, now_ms: u64) -> u64 {
        self.failures.refused(source, now_ms)
    }

    /// It was right.
    pub(crate) fn right(&mut self, source: Source, username: &str, now_ms: u64) {
        self.failures.proved(source, username, now_ms);
    }

    /// Whoever is kept out now.
    pub(crate) fn bars(&self, now_ms: u64) -> Vec<Bar> {
        self.failures.bars(now_ms)
    }
}

/// Floods on a simulated clock.
#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use super::*;

    const CHECK_MS: u64 = 25;

    /// What happens when.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Happens {
        Checked(usize),
        Comes(usize),
    }

    /// A client: where from, as whom, and whether it knows the password.
    #[derive(Clone)]
    struct Client {
        source: Source,
        username: &'static str,
        is_right: bool,
    }

    /// Each client that guesses comes again as soon as it was refused; checks take [`CHECK_MS`], one at a time.
    struct Flood {
        warden: Warden<usize>,
        clients: Vec<Client>,
        events: BinaryHeap<Reverse<(u64, Happens)>>,
        came_ms: Vec<u64>,
        is_busy: bool,
        checks: u64,
        /// When a right client came in, and how long it had waited.
        admitted: Vec<(usize, u64)>,
    }

    fn from(n: u32) -> Source {
        Source::V4(std::net::Ipv4Addr::from(0xC633_6400 + n))
    }

    impl Flood {
        fn new(clients: Vec<Client>, starts_ms: impl Fn(usize) -> u64) -> Self {
            let settings = GuessesConfig { failures_max: 0, name_failures_max: 0, ..GuessesConfig::default() };
            let events = (0..clients.len()).map(|n| Reverse((starts_ms(n), Happens::Comes(n)))).collect();
            let came_ms = vec![0; clients.len()];
            let warden = Warden::new(settings, 256);
            Flood { warden, clients, events, came_ms, is_busy: false, checks: 0, admitted: vec![] }
        }

        fn run(&mut self, until_ms: u64) {
            while let Some(Reverse((now_ms, happens))) = self.events.pop()
                && now_ms < until_ms
            {
                match happens {
                    Happens::Comes(who) => self.come(who, now_ms),
                    Happens::Checked(who) => self.checked(who, now_ms),
                }
                if !self.is_busy
                    && let Some(ask) = self.warden.next(now_ms)
                {
                    self.is_busy = true;
                    self.events.push(Reverse((now_ms + CHECK_MS, Happens::Checked(ask.item))));
                }
            }
        }

        fn come(&mut self, who: usize, now_ms: u64) {
            self.came_ms[who] = now_ms;
            let Client { source, username, .. } = self.clients[who];
            let ask = Ask {
                source,
                username: username.into(),
                work: Work::Password,
                deadline_ms: now_ms + 10_000,
                item: who,
            };
            match self.warden.arrived(ask, now_ms) {
                Some(Unchecked::Displaced { ask, wait_ms }) => self.comes_again(ask.item, now_ms + wait_ms),
                Some(Unchecked::Barred(ask)) => self.comes_again(ask.item, now_ms),
                None => {}
            }
        }

        fn checked(&mut self, who: usize, now_ms: u64) {
            self.is_busy = false;
            self.checks += 1;
            let Client { source, username, is_right } = self.clients[who];
            if is_right {
                self.warden.right(source, username, now_ms);
                return self.admitted.push((who, now_ms - self.came_ms[who]));
            }
            let wait_ms = self.warden.wrong(source, username, now_ms);
            self.comes_again(who, now_ms + wait_ms);
        }

        fn comes_again(&mut self, who: usize, at_ms: u64) {
            self.events.push(Reverse((at_ms + 1, Happens::Comes(who))));
        }
    }

    fn guesser(source: Source) -> Client {
        Client { source, username: "bob", is_right: false }
    }

    fn bob(source: Source) -> Client {
        Client { is_right: true, ..guesser(source) }
    }

    /// 300 connections of one address guess bob's password; does bob come in at once, from the very same address, whenever
    /// he comes?
    #[test]
    fn who_knows_the_password_comes_in_through_a_flood_of_his_own_address_and_name() {
        for start_ms in [1, 100, 1_000, 3_000, 10_000, 31_000, 60_000] {
            let mut clients = vec![guesser(from(1)); 300];
            clients.push(bob(from(1)));
            let mut flood = Flood::new(clients, |who| if who == 300 { start_ms } else { 0 });
            flood.run(start_ms + 10_000);
            assert!(matches!(flood.admitted[..], [(300, waited_ms)] if waited_ms < 1_000), "{:?}", flood.admitted);
        }
    }

    /// Are the guesses of one address held to a few a second, however many connections it has?
    #[test]
    fn guesses_of_one_address_are_slow() {
        let mut flood = Flood::new(vec![guesser(from(1)); 300], |_| 0);
        flood.run(60_000);
        let before = flood.checks;
        flood.run(120_000);
        assert!(flood.checks - before < 60 * 11, "{} in a minute", flood.checks - before);
    }

    /// A thousand addresses guess, three connections each; does bob, who has not failed, come in from another one: within his
    /// time while they are as new as he is, and at once when they have failed?
    #[test]
    fn who_has_not_failed_comes_in_through_a_flood_of_many_addresses() {
        for (start_ms, longest_ms) in [(5_000, 10_000), (40_000, 1_000)] {
            let mut clients: Vec<Client> = (0..3_000).map(|n| guesser(from(n % 1_000))).collect();
            clients.push(bob(from(2_000)));
            let mut flood = Flood::new(clients, |who| if who == 3_000 { start_ms } else { 0 });
            flood.run(start_ms + 10_000);
            let waited_ms = flood.admitted.first().map(|(_, waited_ms)| *waited_ms);
            assert!(waited_ms.is_some_and(|waited_ms| waited_ms < longest_ms), "{start_ms}: {waited_ms:?}");
        }
    }

    /// A hundred users who know their passwords come at once from one address: are all of them in within their time?
    #[test]
    fn a_fleet_comes_in() {
        let names: Vec<&'static str> = (0..100).map(|n| &*Box::leak(format!("device-{n}").into_boxed_str())).collect();
        let clients = names.iter().map(|username| Client { source: from(1), username, is_right: true }).collect();
        let mut flood = Flood::new(clients, |_| 0);
        flood.run(10_000);
        assert_eq!((flood.admitted.len(), flood.checks), (100, 100));
    }

    /// Is what came from a barred address not checked, and told as such; and what nobody waits for any more?
    #[test]
    fn what_is_barred_or_late_is_not_checked() {
        let settings = GuessesConfig { failures_max: 2, ..GuessesConfig::default() };
        let mut warden = Warden::new(settings, 10);
        let ask =
            |source, deadline_ms| Ask { source, username: "bob".into(), work: Work::Password, deadline_ms, item: () };
        warden.wrong(from(1), "bob", 0);
        warden.wrong(from(1), "bob", 0);
        assert!(matches!(warden.arrived(ask(from(1), 100), 1), Some(Unchecked::Barred(_))));
        assert!(warden.arrived(ask(from(2), 5), 1).is_none() && warden.arrived(ask(from(3), 100), 1).is_none());
        assert_eq!(warden.next(5).map(|ask| ask.source), Some(from(3)));
        assert!(warden.next(5).is_none());
        assert_eq!(warden.counts, Counts { displaced: 0, barred: 1, late: 1, bars: 1 });
    }
}
