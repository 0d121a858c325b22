//! What the design promises of whole days: latency from arrival at the broker to the end of the handler.

use lapwing_dispatch::{Acknowledges, Strategy};
use lapwing_traces::{Outcome, Policy, Scenario, Trace, over, replay};

/// Days on which nothing was tuned.
const SEEDS: [u64; 5] = [301, 302, 303, 304, 305];

/// As long as the days behind the design's figures.
const LONG_MS: f64 = 130e3;

fn of(scenario: &Scenario, strategy: Strategy) -> Outcome {
    over(&SEEDS, scenario, Policy::of(strategy))
}

/// Mean and p99 of `one` as shares of `other`.
fn ratios(one: &mut Outcome, other: &mut Outcome) -> (f64, f64) {
    assert_eq!(one.count(), other.count(), "the same messages");
    (one.mean_ms() / other.mean_ms(), one.percentile_ms(0.99) / other.percentile_ms(0.99))
}

#[track_caller]
fn assert_at_most((mean, p99): (f64, f64), mean_most: f64, p99_most: f64) {
    assert!(mean <= mean_most && p99 <= p99_most, "mean {mean:.3} (at most {mean_most}), p99 {p99:.3} ({p99_most})");
}

#[test]
fn lef_is_near_an_oracle_that_knows_everything() {
    let scenario = Scenario::hetero(0.7);
    let (mean, _) = ratios(&mut of(&scenario, Strategy::Lef), &mut over(&SEEDS, &scenario, Policy::Oracle));
    assert!((1.0..=1.35).contains(&mean), "{mean:.3} of the oracle's mean");
}

#[test]
fn lef_beats_c3_where_members_differ() {
    // The design asks for 0.9 of the mean and 0.85 of the p99 at each load. At 50 % the mean is missed, at 90 % the p99
    // is: docs/decisions/0019. What stands here is what these days show.
    for (load, mean_most, p99_most, missed_most) in
        [(0.5, 0.92, 0.85, 0.5), (0.7, 0.9, 0.85, 0.3), (0.9, 0.75, 1.0, 0.3)]
    {
        let scenario = Scenario { duration_ms: LONG_MS, ..Scenario::hetero(load) };
        let (mut lef, mut c3) = (of(&scenario, Strategy::Lef), of(&scenario, Strategy::C3));
        assert_at_most(ratios(&mut lef, &mut c3), mean_most, p99_most);
        let missed = lef.missed_share() / c3.missed_share();
        assert!(missed <= missed_most, "at {load}: {missed:.3} of the misses");
    }
}

#[test]
fn lef_beats_who_does_not_look() {
    for scenario in [Scenario::mild(0.7), Scenario::hetero(0.7)] {
        assert_at_most(ratios(&mut of(&scenario, Strategy::Lef), &mut of(&scenario, Strategy::RoundRobin)), 0.1, 0.05);
    }
    let hetero = Scenario { duration_ms: LONG_MS, ..Scenario::hetero(0.7) };
    assert_at_most(ratios(&mut of(&hetero, Strategy::Lef), &mut of(&hetero, Strategy::Broke)), 0.1, 0.05);
}

#[test]
fn lef_loses_little_to_c3_where_there_is_nothing_to_choose_and_nothing_in_bursts() {
    let equal = Scenario::equal(0.7);
    assert_at_most(ratios(&mut of(&equal, Strategy::Lef), &mut of(&equal, Strategy::C3)), 1.1, 1.1);
    let bursts = Scenario::bursts(0.7);
    assert_at_most(ratios(&mut of(&bursts, Strategy::Lef), &mut of(&bursts, Strategy::C3)), 1.05, 0.95);
}

#[test]
fn stalled_members_are_sent_away_before_anybody_waits_long() {
    let mut lef = over(&SEEDS, &Scenario::blackholes(0.7), Policy::kicking(Strategy::Lef));
    assert!(lef.kicks > 0);
    let (p999_ms, twice) = (lef.percentile_ms(0.999), lef.duplicates_share());
    assert!(p999_ms <= 2000.0 && twice <= 0.002, "p99.9 {p999_ms:.0} ms, {twice:.5} handed out twice");
}

#[test]
fn auto_is_lef_for_who_declares_and_c3_for_who_does_not() {
    let scenario = Scenario { duration_ms: 30e3, ..Scenario::hetero(0.7) };
    let mut declared = of(&scenario, Strategy::Auto);
    assert_at_most(ratios(&mut declared, &mut of(&scenario, Strategy::Lef)), 1.0, 1.0);
    let mut undeclared = over(&SEEDS, &scenario, Policy::undeclared(Strategy::Auto));
    assert_at_most(ratios(&mut undeclared, &mut of(&scenario, Strategy::C3)), 1.05, 1.05);
}

#[test]
fn members_behind_a_proxy_are_judged_nearly_as_well() {
    let scenario = Scenario::hetero(0.7);
    let mut proxied = of(&Scenario { proxied: true, ..scenario.clone() }, Strategy::Lef);
    assert_at_most(ratios(&mut proxied, &mut of(&scenario, Strategy::Lef)), 1.1, 1.2);
}

#[test]
fn members_that_declare_their_workers_have_a_shorter_tail_than_under_c3() {
    let scenario = Scenario { workers: 4, ..Scenario::hetero(0.7) };
    let mut undeclared = over(&SEEDS, &scenario, Policy::undeclared(Strategy::C3));
    // The mean is no better: 1.04 on these days, up to 1.09 on others.
    assert_at_most(ratios(&mut of(&scenario, Strategy::Lef), &mut undeclared), 1.1, 0.95);
}

#[test]
fn one_key_stays_in_order() {
    // The order itself is asserted by the replay, at every message.
    let scenario = Scenario { keys: 10_000, duration_ms: 30e3, ..Scenario::hetero(0.5) };
    let mut ordered = of(&scenario, Strategy::KeyOrdered);
    assert_at_most(ratios(&mut ordered, &mut of(&scenario, Strategy::HashTopic)), 1.0, 1.0);
}

#[test]
fn who_acknowledges_on_receipt_is_served_in_turn() {
    let liars = |scenario| Scenario { liars: (0..20).collect(), duration_ms: 40e3, ..scenario };
    let policy = |acknowledges| Policy::Of { strategy: Strategy::Auto, acknowledges, kick: false };
    let (near, far) = (liars(Scenario::equal(0.7)), liars(Scenario::mild(0.7)));
    // Those that say "processed", lie and are far are not all found: docs/decisions/0019.
    let cases = [
        (&near, Acknowledges::Undeclared),
        (&near, Acknowledges::Received),
        (&near, Acknowledges::Processed),
        (&far, Acknowledges::Undeclared),
        (&far, Acknowledges::Received),
    ];
    for (scenario, acknowledges) in cases {
        let mut auto = over(&SEEDS, scenario, policy(acknowledges));
        assert_at_most(ratios(&mut auto, &mut of(scenario, Strategy::RoundRobin)), 1.1, 1.1);
    }
}

#[test]
fn near_liars_never_make_it_worse_than_round_robin() {
    for liars in [vec![0], vec![3, 10, 16], (0..5).collect(), (10..20).collect()] {
        let scenario = Scenario { liars, duration_ms: 40e3, ..Scenario::equal(0.7) };
        let mut round_robin = of(&scenario, Strategy::RoundRobin);
        for policy in [Policy::of(Strategy::Auto), Policy::undeclared(Strategy::Auto)] {
            assert_at_most(ratios(&mut over(&SEEDS, &scenario, policy), &mut round_robin), 1.1, 1.1);
        }
    }
}

#[test]
fn a_few_members_that_are_much_faster_do_not_bring_down_the_group() {
    // They may be taken for liars and get a fair share only; the others are not: with them in turn, it would be 1.
    let scenario = Scenario { duration_ms: 40e3, ..Scenario::equal(0.7) };
    for faster in [1, 2, 4] {
        let days = |strategy| {
            let mut all = Outcome::default();
            for seed in SEEDS {
                let mut trace = Trace::new(&scenario, seed);
                let speeds = trace.members[..faster].iter_mut().flat_map(|member| &mut member.speeds);
                speeds.for_each(|(_, speed)| *speed *= 8.0);
                all.merge(replay(&scenario, &trace, Policy::of(strategy), seed));
            }
            all
        };
        assert_at_most(ratios(&mut days(Strategy::Lef), &mut days(Strategy::RoundRobin)), 0.25, 0.25);
    }
}
