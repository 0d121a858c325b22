//! A strategy tried out without a broker: one group, members that are slept for, real time, the real thread and lanes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::thread;
use std::time::{Duration, Instant};

use lapwing_codec::QoS;
use lapwing_dispatch::{Declaration, Deferred, DeferredCounters, Parameters, RttSource, Stamps, Strategy};
use lapwing_groups::{Action, AssignmentId, Delivery, Epoch, Facts, Group, MemberOptions, Settings};

use super::{Strategies, Strategist, StrategyDesk};
use crate::assemble::Unpark;
use crate::error::NodeError;
use crate::mailbox::Bell;

/// The name of the group that a strategy sees in a trial.
const GROUP: &str = "trial";
/// Longest sleep; a missed wake-up would show as this delay.
const SLEEP_MAX: Duration = Duration::from_millis(100);

/// What to try a strategy with.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Who is in the group.
    pub members: Vec<TrialMember>,
    /// Who decides where the strategy does not.
    pub fallback: Strategy,
    /// How long a message waits for an answer.
    pub timeout: Duration,
    /// How many messages there are.
    pub messages: u32,
    /// From one message to the next.
    pub interval: Duration,
    /// The trial ends after this, whatever is left.
    pub within: Duration,
}

/// A member that works on one message after the other and acknowledges each when it has finished.
#[derive(Clone, Debug)]
pub struct TrialMember {
    /// As the strategy sees it.
    pub client_id: String,
    /// Most messages that it may have.
    pub receive_max: u16,
    /// The way there and back.
    pub rtt: Duration,
    /// Its work on one message.
    pub service: Duration,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialReport {
    /// By message: which member finished it, and how long after it was published, microseconds; None: nobody in time.
    pub finished: Vec<Option<(usize, u64)>>,
    /// What the chooser counted.
    pub counters: DeferredCounters,
    /// Why the strategy failed as a whole, if it did.
    pub failures: Vec<String>,
}

/// Acknowledgements under way: when, of which member, which assignment, which message, when sent; all microseconds.
type Due = Reverse<(u64, usize, AssignmentId, u32, u64)>;

struct Run<'a> {
    trial: &'a Trial,
    group: Group<usize, u32>,
    begun: Instant,
    bell: Bell,
    published: u32,
    free_at_us: Vec<u64>,
    due: BinaryHeap<Due>,
    finished: Vec<Option<(usize, u64)>>,
}

impl Trial {
    /// Runs the trial on this thread; returns when everything is finished or its time is over.
    ///
    /// # Errors
    /// `System`: no thread can be started for the strategy.
    pub fn run(&self, strategist: Box<dyn Strategist>) -> Result<TrialReport, NodeError> {
        let strategies = Strategies::default();
        let unpark = Unpark::default();
        unpark.is_me();
        let bell = Bell::new(unpark);
        let (desk, names) = strategies.start(GROUP, strategist)?.desk(GROUP, self.timeout, bell.clone());
        for (identity, member) in (0..).zip(&self.members) {
            names.learn(identity, &member.client_id);
        }
        let mut run = Run::new(self, desk, bell);
        run.run();
        let counters = run.group.view(run.now_us()).deferred.unwrap_or_default();
        let finished = std::mem::take(&mut run.finished);
        let failures = strategies.take_notices();
        // One that hangs is left behind, as a node does it.
        strategies.end(self.timeout.min(SLEEP_MAX));
        Ok(TrialReport { finished, counters, failures })
    }
}

impl<'a> Run<'a> {
    fn new(trial: &'a Trial, desk: StrategyDesk, bell: Bell) -> Run<'a> {
        let settings = Settings { queue_messages_max: usize::MAX, queue_bytes_max: u64::MAX, ..Settings::default() };
        let mut group = Group::new(settings, trial.fallback, Parameters::default(), 1);
        for (key, member) in trial.members.iter().enumerate() {
            let declaration = Declaration::processed(key as u64, member.receive_max);
            group.join(key, Epoch(1), MemberOptions { declaration, qos_max: QoS::AtLeastOnce }, 0);
            group.rtt_sample(key, Epoch(1), RttSource::Kernel, member.rtt.as_micros() as u64, 0);
        }
        group.set_chooser(Box::new(Deferred::new(desk, trial.fallback, trial.timeout.as_micros() as u64)), 0);
        Run {
            trial,
            group,
            begun: Instant::now(),
            bell,
            published: 0,
            free_at_us: vec![0; trial.members.len()],
            due: BinaryHeap::new(),
            finished: vec![None; trial.messages as usize],
        }
    }

    fn now_us(&self) -> u64 {
        self.begun.elapsed().as_micros() as u64
    }

    fn run(&mut self) {
        while self.finished.iter().any(Option::is_none) && self.begun.elapsed() < self.trial.within {
            let now_us = self.now_us();
            while self.published < self.trial.messages && self.publish_at_us() <= now_us {
                self.group.publish(self.published, Facts::new(QoS::AtLeastOnce, 1, now_us), now_us);
                self.published += 1;
            }
            while self.due.peek().is_some_and(|Reverse(due)| due.0 <= now_us) {
                self.acknowledge();
            }
            if self.group.has_news() || self.group.next_wake_us(now_us).is_some_and(|at_us| at_us <= now_us + 1) {
                self.group.tick(now_us);
            }
            let actions: Vec<_> = self.group.take_actions().collect();
            actions.into_iter().for_each(|action| self.act(action, now_us));
            self.sleep(now_us);
        }
    }

    fn publish_at_us(&self) -> u64 {
        self.trial.interval.as_micros() as u64 * u64::from(self.published)
    }

    fn act(&mut self, action: Action<usize, u32>, now_us: u64) {
        let Action::Send(Delivery { to, assignment: Some(id), message, .. }) = action else { return };
        let TrialMember { rtt, service, .. } = &self.trial.members[to];
        let half_us = rtt.as_micros() as u64 / 2;
        self.free_at_us[to] = self.free_at_us[to].max(now_us + half_us) + service.as_micros() as u64;
        self.due.push(Reverse((self.free_at_us[to] + half_us, to, id, message, now_us)));
    }

    fn acknowledge(&mut self) {
        let Some(Reverse((at_us, to, id, message, written_us))) = self.due.pop() else { return };
        if self.group.acknowledged(to, Epoch(1), id, Stamps { written_us, read_us: at_us }, self.now_us()) {
            let published_us = self.trial.interval.as_micros() as u64 * u64::from(message);
            self.finished[message as usize] = Some((to, at_us.saturating_sub(published_us)));
        }
    }

    /// Until something is to be done, or answers have come.
    fn sleep(&self, now_us: u64) {
        let publish = (self.published < self.trial.messages).then(|| self.publish_at_us());
        let due = self.due.peek().map(|Reverse(due)| due.0);
        let next_us = [publish, due, self.group.next_wake_us(now_us)].into_iter().flatten().min();
        let most = next_us.map_or(SLEEP_MAX, |at_us| Duration::from_micros(at_us.saturating_sub(self.now_us())));
        self.bell.prepare();
        if !self.group.has_news() && !most.is_zero() {
            thread::park_timeout(most.min(SLEEP_MAX));
        }
        self.bell.awake();
    }
}

#[cfg(test)]
mod tests {
    use lapwing_dispatch::Verdict;

    use super::super::{StrategyAsk, StrategyFailure};
    use super::*;

    /// A strategy out of a function of one question.
    struct Each<F>(F);

    impl<F: FnMut(&StrategyAsk) -> Verdict + Send> Strategist for Each<F> {
        fn choose(&mut self, asks: &[StrategyAsk]) -> Result<Vec<Verdict>, StrategyFailure> {
            Ok(asks.iter().map(&mut self.0).collect())
        }
    }

    fn trial(messages: u32, timeout: Duration) -> Trial {
        // Nobody is ever full: who is would lose its turn.
        let member = |client_id: &str| TrialMember {
            client_id: client_id.into(),
            receive_max: 500,
            rtt: Duration::from_millis(1),
            service: Duration::from_micros(100),
        };
        Trial {
            members: vec![member("a"), member("b"), member("c")],
            fallback: Strategy::RoundRobin,
            timeout,
            messages,
            interval: Duration::ZERO,
            within: Duration::from_secs(20),
        }
    }

    fn shares(report: &TrialReport) -> [usize; 3] {
        [0, 1, 2].map(|member| report.finished.iter().flatten().filter(|finished| finished.0 == member).count())
    }

    /// Who is called `client_id`.
    fn to(ask: &StrategyAsk, client_id: &str) -> Verdict {
        let is_it = |one: &&lapwing_dispatch::MemberState| ask.names.get(one.identity).as_deref() == Some(client_id);
        let found = ask.question.members.iter().find(is_it);
        found.map_or(Verdict::Failed, |one| Verdict::To { member: one.member, identity: one.identity })
    }

    /// Does everything go where the strategy says, by client id, and in batches?
    #[test]
    fn the_strategy_decides() {
        let strategist =
            Each(|ask: &StrategyAsk| to(ask, if ask.question.number.is_multiple_of(2) { "a" } else { "c" }));
        let report = trial(200, Duration::from_secs(10)).run(Box::new(strategist)).unwrap();
        let counters = report.counters;
        assert_eq!(counters.answered + counters.failed + counters.late, counters.asked);
        assert_eq!((shares(&report), counters.unable), ([100, 0, 100], 0));
        assert_eq!(report.finished.iter().flatten().count(), 200);
    }

    /// Does the fallback decide where the strategy raises, panics, or answers too few, and does somebody hear of it?
    #[test]
    fn a_strategy_that_fails_is_replaced_by_the_fallback() {
        struct Bad(u32);
        impl Strategist for Bad {
            fn choose(&mut self, asks: &[StrategyAsk]) -> Result<Vec<Verdict>, StrategyFailure> {
                self.0 += 1;
                assert!(!self.0.is_multiple_of(3), "the third batch panics");
                if self.0.is_multiple_of(2) {
                    return Ok(vec![Verdict::Wait; asks.len() + 1]);
                }
                Err(StrategyFailure { what: "no idea".into() })
            }
        }
        let report = trial(120, Duration::from_secs(10)).run(Box::new(Bad(0))).unwrap();
        assert_eq!(report.finished.iter().flatten().count(), 120);
        assert_eq!((report.counters.answered, report.counters.failed), (0, report.counters.asked));
        assert!(shares(&report).iter().all(|&share| share == 40), "in turn: {:?}", shares(&report));
        assert!(report.failures[0].contains("no idea"), "{:?}", report.failures);
    }

    /// Does a strategy that hangs cost each message its timeout at most, and does the trial end without it?
    #[test]
    fn a_strategy_that_hangs_holds_nobody_up() {
        let strategist = Each(|_: &StrategyAsk| {
            thread::park_timeout(Duration::from_secs(60));
            Verdict::Failed
        });
        let report = trial(60, Duration::from_millis(5)).run(Box::new(strategist)).unwrap();
        assert_eq!(report.finished.iter().flatten().count(), 60);
        assert!(report.counters.timed_out > 0 && report.counters.answered == 0, "{:?}", report.counters);
    }

    /// Is a message that the strategy lets wait asked for again, until it names somebody?
    #[test]
    fn what_is_held_is_asked_for_again() {
        let mut asked = 0;
        let strategist = Each(move |ask: &StrategyAsk| {
            asked += 1;
            if asked < 3 { Verdict::Wait } else { to(ask, "b") }
        });
        let report = trial(1, Duration::from_millis(1500)).run(Box::new(strategist)).unwrap();
        assert_eq!(shares(&report), [0, 1, 0]);
        let expected = DeferredCounters { asked: 3, held: 2, answered: 1, ..DeferredCounters::default() };
        assert_eq!(report.counters, expected);
    }
}
