//! What the design promises of whole days: latency from arrival at the broker to the end of the handler.

use lapwing_dispatch::{Acknowledges, Strategy};

use crate::world::{Outcome, Policy, Scenario, over};

/// Days on which nothing was tuned.
const SEEDS: [u64; 2] = [71, 72];

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
    for (load, missed_most) in [(0.5, 0.5), (0.7, 0.3)] {
        let scenario = Scenario::hetero(load);
        let (mut lef, mut c3) = (of(&scenario, Strategy::Lef), of(&scenario, Strategy::C3));
        assert_at_most(ratios(&mut lef, &mut c3), 0.9, 0.85);
        let missed = lef.missed_share() / c3.missed_share();
        assert!(missed <= missed_most, "at {load}: {missed:.3} of the misses");
    }
}

#[test]
fn lef_beats_who_does_not_look() {
    let mild = Scenario::mild(0.7);
    assert_at_most(ratios(&mut of(&mild, Strategy::Lef), &mut of(&mild, Strategy::RoundRobin)), 0.1, 0.05);
    let hetero = Scenario::hetero(0.7);
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
fn members_that_declare_their_workers_are_served_better_than_by_c3() {
    let scenario = Scenario { workers: 4, ..Scenario::hetero(0.7) };
    let mut undeclared = over(&SEEDS, &scenario, Policy::undeclared(Strategy::C3));
    assert_at_most(ratios(&mut of(&scenario, Strategy::Lef), &mut undeclared), 1.0, 1.0);
}

#[test]
fn one_key_stays_in_order() {
    // The order itself is asserted by the world, at every message.
    let scenario = Scenario { keys: 10_000, duration_ms: 30e3, ..Scenario::hetero(0.5) };
    let mut ordered = of(&scenario, Strategy::KeyOrdered);
    assert_at_most(ratios(&mut ordered, &mut of(&scenario, Strategy::HashTopic)), 1.0, 1.0);
}

#[test]
fn who_acknowledges_on_receipt_is_served_in_turn() {
    let scenario = Scenario { liars: (0..20).collect(), duration_ms: 40e3, ..Scenario::mild(0.7) };
    let mut round_robin = of(&scenario, Strategy::RoundRobin);
    for acknowledges in [Acknowledges::Undeclared, Acknowledges::Received, Acknowledges::Processed] {
        let mut auto = over(&SEEDS, &scenario, Policy::Of { strategy: Strategy::Auto, acknowledges, kick: false });
        assert_at_most(ratios(&mut auto, &mut round_robin), 1.1, 1.1);
    }
}

#[test]
fn a_liar_never_makes_it_worse_than_round_robin() {
    for (liar, scenario) in [(0, Scenario::equal(0.7)), (19, Scenario::equal(0.5)), (3, Scenario::mild(0.5))] {
        let scenario = Scenario { liars: vec![liar], duration_ms: 40e3, ..scenario };
        let mut round_robin = of(&scenario, Strategy::RoundRobin);
        for policy in [Policy::of(Strategy::Auto), Policy::undeclared(Strategy::Auto)] {
            assert_at_most(ratios(&mut over(&SEEDS, &scenario, policy), &mut round_robin), 1.1, 1.1);
        }
    }
}
