//! What each strategy is known for.

use std::collections::HashMap;

use lapwing_dispatch::{
    Ask, Choose, Declaration, Leaving, MemberIndex, Members, Parameters, Pick, Stamps, Strategy, Work,
};

fn group(strategy: Strategy, count: u64) -> (Members, Vec<MemberIndex>) {
    let mut members = Members::new(strategy, Parameters::default(), 3);
    let indices = (0..count).map(|identity| members.join(Declaration::processed(identity, 1000), 0)).collect();
    (members, indices)
}

/// Sends one message and has it acknowledged 10 ms later; who got it.
fn next(members: &mut Members, work: &Work, now_us: u64) -> MemberIndex {
    let Pick::To(member) = members.pick(work, 0, now_us) else { panic!("nobody") };
    let ticket = members.sent(member, work, now_us).unwrap();
    assert!(members.acknowledged(member, ticket, Stamps { written_us: now_us, read_us: now_us + 10_000 }));
    member
}

fn by_client(members: &mut Members, clients: u64) -> HashMap<u64, MemberIndex> {
    (0..clients).map(|client| (client, next(members, &Work { client, topic: client, ..Work::default() }, 0))).collect()
}

#[test]
fn affinity_moves_only_what_the_one_had_that_left() {
    for strategy in [Strategy::Sticky, Strategy::HashClient, Strategy::HashTopic] {
        let (mut members, indices) = group(strategy, 8);
        let before = by_client(&mut members, 200);
        assert_eq!(before, by_client(&mut members, 200), "{strategy} keeps");
        let used = indices.iter().filter(|&&member| before.values().any(|&other| other == member)).count();
        assert_eq!(used, 8, "{strategy} uses all");
        members.leave(indices[3], Leaving::Left, 0);
        let after = by_client(&mut members, 200);
        for (client, member) in &before {
            assert_eq!(*member != indices[3], after[client] == *member, "{strategy}, client {client}");
        }
    }
}

#[test]
fn turns_and_chance_are_fair() {
    let strategies = [Strategy::RoundRobin, Strategy::Random, Strategy::LeastInflight, Strategy::P2c, Strategy::C3];
    for strategy in strategies {
        let (mut members, indices) = group(strategy, 5);
        let mut picks = HashMap::new();
        for nth in 0..1000 {
            *picks.entry(next(&mut members, &Work::default(), nth * 20_000)).or_insert(0) += 1;
        }
        for index in indices {
            let share = picks.get(&index).copied().unwrap_or(0);
            assert!((150..=250).contains(&share), "{strategy}: {share} of 200");
        }
    }
}

#[test]
fn broke_prefers_the_near_by_the_published_weights() {
    let (mut members, indices) = group(Strategy::Broke, 2);
    // 30 ms nearer weighs twice.
    let rtts_us = [10_000, 40_000];
    let mut near = 0;
    for nth in 0..3000 {
        for (&member, rtt_us) in indices.iter().zip(rtts_us) {
            members.rtt_sample(member, lapwing_dispatch::RttSource::Kernel, rtt_us, 0);
        }
        let Pick::To(member) = members.pick(&Work::default(), 0, nth) else { panic!("nobody") };
        near += u32::from(member == indices[0]);
    }
    assert!((1900..=2100).contains(&near), "{near} of 2000");
}

#[test]
fn a_key_keeps_its_member_while_it_has_something_of_it_and_moves_with_nobody() {
    let (mut members, _) = group(Strategy::KeyOrdered, 4);
    let work = Work { key: Some(1), ..Work::default() };
    let Pick::To(first) = members.pick(&work, 0, 0) else { panic!("nobody") };
    let ticket = members.sent(first, &work, 0).unwrap();
    assert_eq!(members.pick(&work, 0, 1000), Pick::To(first));
    // It becomes overdue: worse than the others by more than 100 ms. The key waits until it is free.
    assert_eq!(members.pick(&work, 0, 400_000), Pick::Park);
    assert!(matches!(members.pick(&Work::default(), 0, 400_000), Pick::To(other) if other != first));
    assert!(members.acknowledged(first, ticket, Stamps { written_us: 0, read_us: 500_000 }));
    assert!(matches!(members.pick(&work, 0, 500_000), Pick::To(other) if other != first));
    // Under way when the strategy changes, and known to the new one.
    let ticket = members.sent(first, &work, 500_000).unwrap();
    members.set_strategy(Strategy::KeyOrdered);
    assert_eq!(members.pick(&work, 0, 900_000), Pick::Park);
    assert!(members.withdrawn(first, ticket, 900_000));
    assert!(matches!(members.pick(&work, 0, 900_000), Pick::To(_)));
}

#[test]
fn what_is_known_outlives_a_change_of_strategy() {
    let (mut members, indices) = group(Strategy::RoundRobin, 2);
    for nth in 0..100 {
        next(&mut members, &Work::default(), nth * 20_000);
    }
    let before = members.view(indices[0], 0);
    members.set_strategy(Strategy::Lef);
    assert_eq!(members.view(indices[0], 0), before);
    assert_eq!(members.strategy(), Some(Strategy::Lef));
}

#[test]
fn the_same_seed_and_calls_give_the_same_picks() {
    for strategy in Strategy::ALL {
        let run = || {
            let (mut members, _) = group(strategy, 100);
            (0..200)
                .map(|nth| next(&mut members, &Work { client: nth, ..Work::default() }, nth * 500))
                .collect::<Vec<_>>()
        };
        assert_eq!(run(), run(), "{strategy}");
    }
}

/// The member with the most room; of those with the same, whose identity is least.
struct Roomiest;

impl Choose for Roomiest {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        let open = ask.members().filter(|(_, one)| one.can_take(ask.now_ms()));
        let roomiest = open.max_by_key(|(_, one)| (one.limit() - one.inflight(), std::cmp::Reverse(one.identity())));
        roomiest.map_or(Pick::Wait, |(member, _)| Pick::To(member))
    }
}

#[test]
fn a_strategy_of_another_crate_sees_who_is_here_and_names_one() {
    let (mut members, _) = group(Strategy::Auto, 0);
    let receive_max = [2, 3, 4];
    let indices: Vec<_> = receive_max.map(|most| members.join(Declaration::processed(u64::from(most), most), 0)).into();
    members.leave(indices[2], Leaving::Left, 0);
    members.set_chooser(Box::new(Roomiest));
    let picks = std::iter::from_fn(|| {
        let Pick::To(member) = members.pick(&Work::default(), 0, 0) else { return None };
        members.sent(member, &Work::default(), 0).map(|_| member)
    });
    assert_eq!(picks.collect::<Vec<_>>(), [1, 0, 1, 0, 1].map(|at| indices[at]));
    assert_eq!((members.strategy(), members.counters().picks_refused), (None, 0));
}
