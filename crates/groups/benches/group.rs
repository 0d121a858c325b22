//! What a message costs the owner of its group. `cargo bench -p lapwing-groups`.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;

use lapwing_codec::QoS;
use lapwing_dispatch::{Declaration, Parameters, Stamps, Strategy};
use lapwing_groups::{Action, AssignmentId, Epoch, Facts, Group, MemberOptions, Settings};
use lapwing_stopwatch::best_ns;

const ROUNDS: u32 = 200_000;

/// A group at work. `busy`: messages that its members have at a time, each; what comes beyond waits.
struct Day {
    group: Group<u64, Arc<[u8]>>,
    under_way: VecDeque<(u64, AssignmentId, u64)>,
    message: Arc<[u8]>,
    now_us: u64,
    nth: u64,
    members: u64,
    busy: u64,
}

impl Day {
    fn new(strategy: Strategy, members: u64, busy: u64) -> Day {
        let mut group = Group::new(Settings::default(), strategy, Parameters::default(), 1);
        for key in 0..members {
            let options = MemberOptions { declaration: Declaration::processed(key, 1000), qos_max: QoS::ExactlyOnce };
            group.join(key, Epoch(1), options, 0);
        }
        let message = Arc::from([0_u8; 100].as_slice());
        let mut day = Day { group, under_way: VecDeque::new(), message, now_us: 0, nth: 0, members, busy };
        (0..20_000).for_each(|_| day.message());
        day
    }

    /// One message from `publish` to its acknowledgement.
    fn message(&mut self) {
        self.nth += 1;
        self.now_us += 10_000 / self.members;
        let key = Some(self.nth % 997);
        let facts = Facts { key, client: self.nth % 101, ..Facts::new(QoS::AtLeastOnce, 100, self.now_us) };
        let facts = if self.nth.is_multiple_of(10) { facts.critical() } else { facts };
        self.group.publish(Arc::clone(&self.message), facts, self.now_us);
        self.collect();
        if self.under_way.len() as u64 + self.group.queued() as u64 > self.members * self.busy {
            self.acknowledge();
        }
    }

    fn acknowledge(&mut self) {
        let Some((member, id, written_us)) = self.under_way.pop_front() else { return };
        let stamps = Stamps { written_us, read_us: self.now_us };
        black_box(self.group.acknowledged(member, Epoch(1), id, stamps, self.now_us));
        self.collect();
    }

    fn collect(&mut self) {
        for action in self.group.take_actions() {
            if let Action::Send(delivery) = action {
                self.under_way.extend(delivery.assignment.map(|id| (delivery.to, id, self.now_us)));
            }
        }
    }
}

fn main() {
    println!("one message: publish, pick, acknowledged");
    println!("{:<16} {:>8} {:>18} {:>18}", "strategy", "members", "bound at once", "through the queue");
    for strategy in [Strategy::Auto, Strategy::C3, Strategy::RoundRobin, Strategy::KeyOrdered] {
        for members in [16, 64] {
            let mut idle = Day::new(strategy, members, 1);
            let at_once = best_ns(ROUNDS, |_| idle.message());
            let mut full = Day::new(strategy, members, if strategy == Strategy::Auto { 20 } else { 1010 });
            let queued = best_ns(ROUNDS, |_| full.message());
            println!("{:<16} {members:>8} {at_once:>15.0} ns {queued:>15.0} ns", strategy.name());
        }
    }
}
