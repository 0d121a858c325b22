//! Any events in any order, with clients all over the place: the rules hold after every step.

use lapwing_codec::QoS;
use lapwing_dispatch::{Declaration, Deferred, Report, Strategy};
use lapwing_groups::{AssignmentId, Epoch, Expired, Facts, Lane, MemberOptions, Overflow, Settings};
use proptest::prelude::*;
use proptest::strategy::Strategy as Strategy_;

use crate::later::Whim;
use crate::world::World;

#[derive(Clone, Debug)]
enum Step {
    Publish {
        qos: QoS,
        is_critical: bool,
        key: Option<u64>,
        deadline_us: Option<u64>,
        expiry_us: Option<u64>,
        bytes: u64,
    },
    Connect(MemberOptions),
    Arrive {
        nth: usize,
        count: usize,
    },
    Write {
        nth: usize,
        count: usize,
    },
    Answer {
        nth: usize,
        which: usize,
        is_refused: bool,
    },
    CannotHave(usize),
    HandOver {
        nth: usize,
        which: usize,
    },
    Hear {
        nth: usize,
        count: usize,
    },
    HearAgain(usize),
    Forge {
        nth: usize,
        epoch: u64,
        id: u64,
    },
    Report {
        nth: usize,
        queue: Option<u64>,
        is_paused: Option<bool>,
    },
    Disconnect(usize),
    ComeBack(usize),
    TakenOver(usize),
    Subscribe(usize, QoS),
    Redeclare(usize, Declaration),
    Unsubscribe(usize),
    End(usize),
    Wait(u64),
    Commit(u64),
    Tick,
    Strategy(usize),
    Set(Settings),
}

fn qos() -> impl Strategy_<Value = QoS> {
    prop_oneof![1 => Just(QoS::AtMostOnce), 4 => Just(QoS::AtLeastOnce), 3 => Just(QoS::ExactlyOnce)]
}

fn options() -> impl Strategy_<Value = MemberOptions> {
    let granted = prop_oneof![1 => Just(QoS::AtMostOnce), 1 => Just(QoS::AtLeastOnce), 5 => Just(QoS::ExactlyOnce)];
    (1_u16..5, 0_u64..6, any::<bool>(), granted).prop_map(|(receive_max, identity, is_processed, qos_max)| {
        let declare = if is_processed { Declaration::processed } else { Declaration::standard };
        MemberOptions { declaration: declare(identity, receive_max), qos_max }
    })
}

fn settings() -> impl Strategy_<Value = Settings> {
    let expired = prop_oneof![Just(Expired::Deliver), Just(Expired::Drop), Just(Expired::DeadLetter)];
    let overflow = prop_oneof![Just(Overflow::DropOldest), Just(Overflow::DropNewest)];
    let behind_s = prop_oneof![Just(0.0), Just(0.1)];
    let queue = (0_usize..12, 0_u64..60, overflow, expired);
    let members_max = prop_oneof![4 => Just(100_usize), 1 => 0_usize..5];
    let life = (any::<bool>(), members_max, prop::option::of(0_u64..3_000_000));
    (queue, life, behind_s, any::<bool>()).prop_map(|(queue, life, behind_s, tells_missed)| Settings {
        queue_messages_max: queue.0,
        queue_bytes_max: queue.1,
        overflow: queue.2,
        expired: queue.3,
        is_durable: life.0,
        members_max: life.1,
        expires_after_us: life.2,
        behind_s,
        tells_missed,
    })
}

fn publish() -> impl Strategy_<Value = Step> {
    let time_us = || prop::option::weighted(0.3, prop_oneof![0_u64..5_000, 0_u64..3_000_000]);
    (qos(), prop::bool::weighted(0.3), prop::option::of(0_u64..3), time_us(), time_us(), 0_u64..20).prop_map(
        |(qos, is_critical, key, deadline_us, expiry_us, bytes)| Step::Publish {
            qos,
            is_critical,
            key,
            deadline_us,
            expiry_us,
            bytes,
        },
    )
}

fn step() -> impl Strategy_<Value = Step> {
    let some = || 0_usize..8;
    prop_oneof![
        12 => publish(),
        2 => options().prop_map(Step::Connect),
        8 => (some(), 1_usize..4).prop_map(|(nth, count)| Step::Arrive { nth, count }),
        8 => (some(), 1_usize..4).prop_map(|(nth, count)| Step::Write { nth, count }),
        8 => (some(), some(), prop::bool::weighted(0.1)).prop_map(
            |(nth, which, is_refused)| Step::Answer { nth, which, is_refused }
        ),
        3 => some().prop_map(Step::CannotHave),
        2 => (some(), some()).prop_map(|(nth, which)| Step::HandOver { nth, which }),
        12 => (some(), 1_usize..4).prop_map(|(nth, count)| Step::Hear { nth, count }),
        3 => any::<usize>().prop_map(Step::HearAgain),
        2 => (some(), 0_u64..5, 0_u64..40).prop_map(|(nth, epoch, id)| Step::Forge { nth, epoch, id }),
        1 => (some(), prop::option::of(0_u64..50), any::<Option<bool>>()).prop_map(
            |(nth, queue, is_paused)| Step::Report { nth, queue, is_paused }
        ),
        2 => some().prop_map(Step::Disconnect),
        3 => some().prop_map(Step::ComeBack),
        1 => some().prop_map(Step::TakenOver),
        1 => (some(), qos()).prop_map(|(nth, qos)| Step::Subscribe(nth, qos)),
        1 => (some(), options()).prop_map(|(nth, options)| Step::Redeclare(nth, options.declaration)),
        1 => some().prop_map(Step::Unsubscribe),
        1 => some().prop_map(Step::End),
        4 => prop_oneof![0_u64..2_000, 0_u64..800_000].prop_map(Step::Wait),
        6 => (1_u64..6).prop_map(Step::Commit),
        4 => Just(Step::Tick),
        1 => (0..Strategy::ALL.len()).prop_map(Step::Strategy),
        1 => settings().prop_map(Step::Set),
    ]
}

impl World {
    fn nth(&self, nth: usize) -> Option<usize> {
        (!self.clients.is_empty()).then(|| nth % self.clients.len())
    }

    fn step(&mut self, step: &Step) {
        let nth = match *step {
            Step::Arrive { nth, .. } | Step::Write { nth, .. } | Step::Answer { nth, .. } | Step::Hear { nth, .. } => {
                nth
            }
            Step::CannotHave(nth) | Step::Disconnect(nth) | Step::ComeBack(nth) | Step::TakenOver(nth) => nth,
            Step::Forge { nth, .. } | Step::Report { nth, .. } | Step::HandOver { nth, .. } => nth,
            Step::Subscribe(nth, _) | Step::Redeclare(nth, _) | Step::Unsubscribe(nth) | Step::End(nth) => nth,
            _ => return self.step_of_group(step),
        };
        let Some(at) = self.nth(nth) else { return };
        let now_us = self.now_us;
        match *step {
            Step::Arrive { count, .. } => (0..count).for_each(|_| self.clients[at].arrive()),
            Step::Write { count, .. } => (0..count).for_each(|_| self.write(at)),
            Step::Hear { count, .. } => (0..count).for_each(|_| self.hear(at)),
            Step::Answer { which, is_refused, .. } => self.clients[at].answer(which, is_refused, now_us),
            Step::Forge { epoch, id, .. } => self.forge(at, Epoch(epoch), AssignmentId(id)),
            Step::Report { queue, is_paused, .. } => self.report(at, &Report { queue, is_paused, ..Report::default() }),
            Step::CannotHave(_) => self.clients[at].cannot_have(),
            Step::HandOver { which, .. } => self.hand_over(at, which),
            Step::Disconnect(_) => self.clients[at].disconnect(),
            Step::ComeBack(_) => self.clients[at].come_back(),
            Step::TakenOver(_) => self.clients[at].taken_over(),
            Step::Subscribe(_, qos) => self.clients[at].subscribe(qos),
            Step::Redeclare(_, declaration) => self.clients[at].redeclare(declaration),
            Step::Unsubscribe(_) => self.clients[at].unsubscribe(),
            _ => self.clients[at].end(),
        }
    }

    fn step_of_group(&mut self, step: &Step) {
        match *step {
            Step::Publish { qos, is_critical, key, deadline_us, expiry_us, bytes } => {
                let lane = if is_critical { Lane::Critical } else { Lane::Bulk };
                let ingress_us = self.now_us - 1_000.min(self.now_us);
                let expires_at_us = expiry_us.map(|us| ingress_us + us);
                let facts = Facts::new(qos, bytes, ingress_us);
                self.publish(Facts { lane, key, deadline_us, expires_at_us, client: bytes, ..facts });
            }
            Step::Connect(options) => self.add_client(options),
            Step::HearAgain(which) => self.hear_again(which),
            Step::Wait(us) => self.now_us += us,
            Step::Commit(count) => self.commit(count),
            Step::Strategy(which) => self.set_strategy(Strategy::ALL[which]),
            Step::Set(settings) => self.set(settings),
            _ => self.tick(),
        }
    }
}

fn days(steps: usize) -> impl Strategy_<Value = (usize, Settings, Vec<MemberOptions>, Vec<Step>)> {
    let strategies = prop_oneof![3 => Just(0), 2 => 0..Strategy::ALL.len()];
    (strategies, settings(), prop::collection::vec(options(), 0..4), prop::collection::vec(step(), 1..steps))
}

fn live(mut world: World, options: &[MemberOptions], steps: &[Step]) {
    options.iter().for_each(|&options| world.add_client(options));
    (0..options.len()).for_each(|at| world.hear(at));
    steps.iter().for_each(|step| world.step(step));
    world.check_restart();
    world.settle();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_order_of_events_loses_doubles_or_misplaces_a_message((strategy, settings, options, steps) in days(200)) {
        live(World::new(settings, Strategy::ALL[strategy]), &options, &steps);
    }

    #[test]
    fn a_key_is_with_one_member_at_a_time((_, settings, mut options, mut steps) in days(200)) {
        let at_least_once = |options: &mut MemberOptions| options.qos_max = QoS::AtLeastOnce;
        options.iter_mut().for_each(at_least_once);
        for step in &mut steps {
            match step {
                Step::Publish { qos, .. } | Step::Subscribe(_, qos) => *qos = QoS::AtLeastOnce,
                Step::Connect(options) => at_least_once(options),
                Step::Strategy(_) => *step = Step::Tick,
                _ => {}
            }
        }
        let mut world = World::new(settings, Strategy::KeyOrdered);
        world.is_strict = true;
        live(world, &options, &steps);
    }

    #[test]
    fn a_strategy_that_answers_later_or_nonsense_loses_nothing((_, settings, options, steps) in days(200)) {
        let mut world = World::new(settings, Strategy::Auto);
        // Where a caller chooses, keys may have an order: see `Group::vacate`.
        world.was_ordered = true;
        world.group.set_chooser(Box::new(Deferred::new(Whim::default(), Strategy::Auto, 5_000)), world.now_us);
        live(world, &options, &steps);
    }
}
