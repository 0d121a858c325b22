//! What choosing a member costs, and what a message costs in all. `cargo bench -p lapwing-dispatch --bench pick [--
//! STRATEGY]`.

use std::collections::VecDeque;
use std::hint::black_box;

use lapwing_dispatch::{Declaration, MemberIndex, Members, Parameters, Pick, Stamps, Strategy, Ticket, Work};
use lapwing_stopwatch::best_ns;

/// A group at work: messages arrive, are sent, and are acknowledged 1 to 20 ms later.
struct Group {
    members: Members,
    sent: VecDeque<(MemberIndex, Ticket, u64)>,
    now_us: u64,
    nth: u64,
}

impl Group {
    fn new(strategy: Strategy, count: u64) -> Group {
        let mut members = Members::new(strategy, Parameters::default(), 1);
        for identity in 0..count {
            members.join(Declaration::processed(identity, 1000), 0);
        }
        let mut group = Group { members, sent: VecDeque::new(), now_us: 0, nth: 0 };
        (0..20_000).for_each(|_| group.message(count));
        group
    }

    fn work(&self) -> Work {
        Work {
            is_critical: self.nth.is_multiple_of(10),
            key: Some(self.nth % 997),
            client: self.nth % 101,
            ..Work::default()
        }
    }

    /// One message from pick to acknowledgement; `count` members have about one and a half on average.
    fn message(&mut self, count: u64) {
        self.nth += 1;
        self.now_us += 10_000 / count;
        let work = self.work();
        if let Pick::To(member) = self.members.pick(&work, 3, self.now_us)
            && let Some(ticket) = self.members.sent(member, &work, self.now_us)
        {
            self.sent.push_back((member, ticket, self.now_us));
        }
        if self.sent.len() as u64 > count * 3 / 2
            && let Some((member, ticket, written_us)) = self.sent.pop_front()
        {
            let stamps = Stamps { written_us, read_us: self.now_us };
            self.members.acknowledged(member, ticket, stamps);
        }
    }
}

fn main() {
    println!("{:<16} {:>8} {:>12} {:>28}", "strategy", "members", "pick", "pick, sent, acknowledged");
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let is_wanted = |strategy: &Strategy| wanted.as_deref().is_none_or(|wanted| wanted == strategy.name());
    for strategy in Strategy::ALL.into_iter().filter(is_wanted) {
        for count in [16, 64, 1000] {
            let mut group = Group::new(strategy, count);
            let (work, now_us) = (group.work(), group.now_us);
            let pick = best_ns(200_000, |nth| {
                black_box(group.members.pick(&work, 3, now_us + u64::from(nth % 64)));
            });
            let message = best_ns(200_000, |_| group.message(count));
            println!("{:<16} {count:>8} {pick:>9.0} ns {message:>25.0} ns", strategy.name());
        }
    }
}
