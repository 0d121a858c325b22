//! Who refuses, or cannot have, what it gets: others are preferred, as long as there are others.

use lapwing_dispatch::{Declaration, MemberIndex, Members, Parameters, Pick, Stamps, Strategy, Work};

const MS: u64 = 1000;

/// The first member refuses at once, the other works for 3 ms; a message each 5 ms. How many did the first get?
fn refused_of(strategy: Strategy, messages: u64) -> u64 {
    let mut members = Members::new(strategy, Parameters::default(), 1);
    let [refuser, other] = [1, 2].map(|identity| members.join(Declaration::standard(identity, 100), 0));
    let mut refused = 0;
    for number in 0..messages {
        let now_us = number * 5 * MS;
        let work = Work { number, client: number, topic: number, ..Work::default() };
        let Pick::To(member) = members.pick(&work, 1, now_us) else { panic!("{strategy}: nobody") };
        let ticket = members.sent(member, &work, now_us).expect("it may have it");
        if member == refuser {
            refused += 1;
            assert!(members.refused(refuser, ticket, now_us + 100));
        } else {
            let stamps = Stamps { written_us: now_us, read_us: now_us + 3 * MS };
            assert!(members.acknowledged(other, ticket, stamps));
        }
    }
    refused
}

#[test]
fn who_refuses_at_once_does_not_look_fastest() {
    for strategy in Strategy::ALL {
        let refused = refused_of(strategy, 1000);
        assert!(refused <= 12, "{strategy}: {refused} of 1000 were lost");
    }
}

fn pick(members: &mut Members, now_us: u64) -> Option<MemberIndex> {
    match members.pick(&Work::default(), 1, now_us) {
        Pick::To(member) => Some(member),
        Pick::Wait | Pick::Park => None,
    }
}

/// Is a refusal forgotten when the member acknowledges, and does it count for nothing where there is nobody else?
#[test]
fn a_refusal_costs_only_where_there_is_somebody_else_and_until_an_acknowledgement() {
    let mut members = Members::new(Strategy::RoundRobin, Parameters::default(), 1);
    let one = members.join(Declaration::standard(1, 10), 0);
    for n in 0..20 {
        assert_eq!(pick(&mut members, n), Some(one), "it is alone");
        let ticket = members.sent(one, &Work::default(), n).expect("it may have it");
        assert!(members.refused(one, ticket, n));
    }
    let other = members.join(Declaration::standard(2, 10), 20);
    assert_eq!([pick(&mut members, 20), pick(&mut members, 20)], [Some(other); 2]);
    assert!(members.view(one, 20).is_some_and(|view| view.is_closed));
    assert_eq!(members.next_turn_us(20), Some(5000 * MS + 19));
    let ticket = members.sent(one, &Work::default(), 20).expect("the hard bounds allow it");
    assert!(members.acknowledged(one, ticket, Stamps { written_us: 20, read_us: 21 }));
    assert_eq!([pick(&mut members, 21), pick(&mut members, 21)].map(|one| one.is_some()), [true; 2]);
    assert!(members.view(one, 21).is_some_and(|view| !view.is_closed));
}

#[test]
fn who_cannot_have_a_message_is_not_picked_for_it_under_any_strategy() {
    for strategy in Strategy::ALL {
        let mut members = Members::new(strategy, Parameters::default(), 1);
        let [small, large] = [1, 2].map(|identity| members.join(Declaration::standard(identity, 2), 0));
        for number in 0..2 {
            let work = Work { number, ..Work::default() };
            assert_eq!(members.pick_beside(&work, &[small], 1, 0), Pick::To(large), "{strategy}");
            members.sent(large, &work, 0).expect("it may have it");
        }
        assert_eq!(members.pick_beside(&Work::default(), &[small], 1, 0), Pick::Wait, "{strategy}");
        assert_eq!(members.pick(&Work::default(), 1, 0), Pick::To(small), "{strategy}: others pass");
    }
}
