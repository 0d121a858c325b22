//! Any calls in any order, with any numbers, under every strategy: the hard bounds hold and every number stays one.

use lapwing_dispatch::{
    Acknowledges, Declaration, Leaving, MemberIndex, Members, Parameters, Pick, Report, RttSource, Stamps, Strategy,
    Ticket, Work,
};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Call {
    Join { receive_max: u16, workers: u16, acknowledges: u8, is_batch: bool, is_proxied: bool },
    Redeclare { nth: usize, receive_max: u16, workers: u16, acknowledges: u8, is_batch: bool },
    Leave { nth: usize, is_stalled: bool },
    Send { work: (bool, bool, Option<u64>, u64), backlog: usize, times: u8 },
    Acknowledge { nth: usize, written_us: u64, read_us: u64, twice: bool },
    Withdraw { nth: usize, is_refused: bool },
    Report { nth: usize, queue: Option<u64>, service_us: Option<u64>, rate: Option<u64>, is_paused: Option<bool> },
    Rtt { nth: usize, is_probe: bool, rtt_us: u64 },
    Unsent { nth: usize, bytes: u64 },
    Wait { us: u64 },
    SetBack { us: u64 },
    Change { strategy: usize },
}

/// Small numbers mostly, so that calls meet; now and then anything.
fn number() -> impl Strategy_<Value = u64> {
    prop_oneof![8 => 0_u64..100, 4 => 0_u64..100_000, 1 => any::<u64>()]
}

use proptest::strategy::Strategy as Strategy_;

fn call() -> impl Strategy_<Value = Call> {
    let receive_max = || prop_oneof![0_u16..4, Just(65_535)];
    let workers = || prop_oneof![4 => 0_u16..5, 1 => any::<u16>()];
    let work = (any::<bool>(), prop::bool::weighted(0.1), prop::option::of(0_u64..3), 0_u64..5);
    prop_oneof![
        2 => (receive_max(), workers(), 0_u8..3, prop::bool::weighted(0.2), any::<bool>()).prop_map(
            |(receive_max, workers, acknowledges, is_batch, is_proxied)| Call::Join {
                receive_max, workers, acknowledges, is_batch, is_proxied,
            }
        ),
        1 => (0_usize..8, receive_max(), workers(), 0_u8..3, prop::bool::weighted(0.2)).prop_map(
            |(nth, receive_max, workers, acknowledges, is_batch)| Call::Redeclare {
                nth, receive_max, workers, acknowledges, is_batch,
            }
        ),
        1 => (0_usize..8, any::<bool>()).prop_map(|(nth, is_stalled)| Call::Leave { nth, is_stalled }),
        8 => (work, 0_usize..50, 1_u8..20).prop_map(|(work, backlog, times)| Call::Send { work, backlog, times }),
        8 => (any::<usize>(), number(), number(), any::<bool>()).prop_map(
            |(nth, written_us, read_us, twice)| Call::Acknowledge { nth, written_us, read_us, twice }
        ),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(nth, is_refused)| Call::Withdraw { nth, is_refused }),
        2 => (
            0_usize..8, prop::option::of(number()), prop::option::of(number()), prop::option::of(number()),
            any::<Option<bool>>()
        ).prop_map(|(nth, queue, service_us, rate, is_paused)| Call::Report {
            nth, queue, service_us, rate, is_paused,
        }),
        2 => (0_usize..8, any::<bool>(), number())
            .prop_map(|(nth, is_probe, rtt_us)| Call::Rtt { nth, is_probe, rtt_us }),
        1 => (0_usize..8, number()).prop_map(|(nth, bytes)| Call::Unsent { nth, bytes }),
        4 => prop_oneof![0_u64..50_000, Just(0), Just(3_600_000_000)].prop_map(|us| Call::Wait { us }),
        1 => (0_u64..1_000_000).prop_map(|us| Call::SetBack { us }),
        1 => (0_usize..Strategy::ALL.len()).prop_map(|strategy| Call::Change { strategy }),
    ]
}

const KINDS: [Acknowledges; 3] = [Acknowledges::Undeclared, Acknowledges::Received, Acknowledges::Processed];

/// What the owner knows.
struct Model {
    members: Members,
    here: Vec<(MemberIndex, u32)>,
    sent: Vec<(MemberIndex, Ticket)>,
    known: Vec<MemberIndex>,
    gone: Vec<(MemberIndex, Ticket)>,
    now_us: u64,
}

impl Model {
    fn new(strategy: Strategy) -> Model {
        let members = Members::new(strategy, Parameters::default(), 7);
        Model { members, here: Vec::new(), sent: Vec::new(), known: Vec::new(), gone: Vec::new(), now_us: 1_000_000 }
    }

    /// The nth member that ever was, here or not.
    fn member(&self, nth: usize) -> Option<MemberIndex> {
        (!self.known.is_empty()).then(|| self.known[nth % self.known.len()])
    }

    fn call(&mut self, call: &Call) {
        match *call {
            Call::Join { receive_max, workers, acknowledges, is_batch, is_proxied } => {
                let declaration = Declaration {
                    identity: self.known.len() as u64 % 5,
                    receive_max,
                    acknowledges: KINDS[usize::from(acknowledges)],
                    workers,
                    is_batch,
                    is_proxied,
                };
                let member = self.members.join(declaration, self.now_us);
                assert!(self.here.iter().all(|&(other, _)| other != member), "a place was given twice");
                self.here.push((member, u32::from(receive_max.max(1))));
                self.known.push(member);
            }
            Call::Redeclare { nth, receive_max, workers, acknowledges, is_batch } => {
                let Some(member) = self.member(nth) else { return };
                let standard = Declaration::standard(nth as u64, receive_max);
                let acknowledges = KINDS[usize::from(acknowledges)];
                let declaration = Declaration { acknowledges, workers, is_batch, ..standard };
                self.members.redeclare(member, declaration, self.now_us);
                // It may have more than it says now, from before.
                for (_, most) in self.here.iter_mut().filter(|one| one.0 == member) {
                    *most = (*most).max(u32::from(receive_max));
                }
            }
            Call::Leave { nth, is_stalled } => {
                let Some(member) = self.member(nth) else { return };
                let why = if is_stalled { Leaving::Stalled } else { Leaving::Left };
                self.members.leave(member, why, self.now_us);
                self.here.retain(|&(other, _)| other != member);
                self.gone.extend(self.sent.extract_if(.., |sent| sent.0 == member));
            }
            Call::Send { work: (is_critical, is_unacknowledged, key, client), backlog, times } => {
                let work = Work { is_critical, is_unacknowledged, key, client, topic: client, ..Work::default() };
                (0..times).for_each(|_| self.send(&work, backlog));
            }
            Call::Acknowledge { nth, written_us, read_us, twice } => self.acknowledge(nth, written_us, read_us, twice),
            Call::Withdraw { nth, is_refused } => {
                if !self.sent.is_empty() {
                    let (member, ticket) = self.sent.swap_remove(nth % self.sent.len());
                    let take = if is_refused { Members::refused } else { Members::withdrawn };
                    assert!(take(&mut self.members, member, ticket, self.now_us));
                    assert!(!self.members.withdrawn(member, ticket, self.now_us));
                }
            }
            Call::Report { nth, queue, service_us, rate, is_paused } => {
                let Some(member) = self.member(nth) else { return };
                let refused = self.members.counters().reports_refused;
                let report = Report { queue, service_us, rate_per_s: rate, is_paused };
                let result = self.members.report(member, &report, self.now_us);
                assert_eq!(self.members.counters().reports_refused, refused + u64::from(result.is_err()));
            }
            Call::Rtt { nth, is_probe, rtt_us } => {
                let Some(member) = self.member(nth) else { return };
                let source = if is_probe { RttSource::Probe } else { RttSource::Kernel };
                self.members.rtt_sample(member, source, rtt_us, self.now_us);
            }
            Call::Unsent { nth, bytes } => {
                let Some(member) = self.member(nth) else { return };
                self.members.unsent(member, bytes);
            }
            Call::Wait { us } => self.now_us += us,
            Call::SetBack { us } => self.now_us = self.now_us.saturating_sub(us),
            Call::Change { strategy } => self.members.set_strategy(Strategy::ALL[strategy]),
        }
    }

    fn send(&mut self, work: &Work, backlog: usize) {
        let is_ordered = self.members.strategy() == Some(Strategy::KeyOrdered);
        match self.members.pick(work, backlog, self.now_us) {
            Pick::To(member) => {
                assert!(self.here.iter().any(|&(other, _)| other == member), "picked who has left");
                let ticket = self.members.sent(member, work, self.now_us);
                assert_eq!(ticket.is_none(), work.is_unacknowledged);
                self.sent.extend(ticket.map(|ticket| (member, ticket)));
            }
            Pick::Wait => self.nobody_could(),
            Pick::Park => assert!(is_ordered && work.key.is_some()),
        }
    }

    /// Strategies without a window of their own wait only when nobody may have a message.
    fn nobody_could(&self) {
        let windowed = [Strategy::Auto, Strategy::Lef, Strategy::KeyOrdered];
        if self.members.strategy().is_some_and(|strategy| windowed.contains(&strategy)) {
            return;
        }
        for view in self.here.iter().filter_map(|&(member, _)| self.members.view(member, self.now_us)) {
            assert!(view.is_closed || view.inflight >= view.limit, "{view:?} was passed over");
        }
    }

    fn acknowledge(&mut self, nth: usize, written_us: u64, read_us: u64, twice: bool) {
        if let Some(&(member, ticket)) = self.gone.get(nth % (self.gone.len() + 3)) {
            let stamps = Stamps { written_us, read_us };
            assert!(!self.members.acknowledged(member, ticket, stamps), "a ticket outlived its member");
        }
        if self.sent.is_empty() {
            return;
        }
        let (member, ticket) = self.sent.swap_remove(nth % self.sent.len());
        // Around now mostly, in any order.
        let stamps =
            Stamps { written_us: self.now_us.wrapping_sub(written_us), read_us: self.now_us.saturating_add(read_us) };
        assert!(self.members.acknowledged(member, ticket, stamps));
        if twice {
            assert!(!self.members.acknowledged(member, ticket, stamps));
        }
    }

    fn check(&mut self) {
        for &(member, receive_max) in &self.here {
            let view = self.members.view(member, self.now_us).expect("it is here");
            let sent = self.sent.iter().filter(|sent| sent.0 == member).count() as u32;
            assert_eq!(view.inflight, sent);
            assert!(view.inflight <= receive_max && view.limit <= receive_max, "{view:?}");
            let numbers = [view.rtt_ms, view.service_ms, view.queue, view.overdue_ms];
            assert!(numbers.iter().all(|number| number.is_finite() && *number >= 0.0), "{view:?}");
        }
        let backlog_s = self.members.backlog_s(10);
        assert_eq!(backlog_s.is_some(), !self.here.is_empty());
        assert!(backlog_s.is_none_or(|seconds| seconds.is_finite() && seconds >= 0.0));
        for stalled in self.members.stalled(self.now_us) {
            assert!(self.sent.iter().any(|sent| sent.0 == stalled), "stalled with nothing to do");
        }
        assert_eq!(self.members.counters().picks_refused, 0);
        assert_eq!(self.members.crew().here, self.here.len());
    }

    /// When all is acknowledged, who is not closed may have a message again.
    fn settle(&mut self) {
        for (member, ticket) in std::mem::take(&mut self.sent) {
            let stamps = Stamps { written_us: self.now_us, read_us: self.now_us };
            assert!(self.members.acknowledged(member, ticket, stamps));
        }
        self.check();
        let views = || self.here.iter().filter_map(|&(member, _)| self.members.view(member, self.now_us));
        let anybody_open = views().any(|view| !view.is_closed);
        let pick = self.members.pick(&Work::default(), 1, self.now_us);
        assert_eq!(matches!(pick, Pick::To(_)), anybody_open, "{pick:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_calls_keep_the_bounds(
        strategy in 0..Strategy::ALL.len(),
        calls in prop::collection::vec(call(), 1..120),
    ) {
        let mut model = Model::new(Strategy::ALL[strategy]);
        for call in &calls {
            model.call(call);
            model.check();
        }
        model.settle();
    }
}
