//! Whole groups in rough weather: nothing committed is lost, changed or repeated, and every run repeats.

use crate::world::World;
use crate::world::faults::Plan;

const STEPS: u64 = 1500;

fn run(nodes: u64, seed: u64, plan: Plan) -> World {
    let mut world = World::new(nodes, nodes, seed, plan).expect("logs that are whole");
    let done = world.run(STEPS).and_then(|()| world.heal());
    assert_eq!(done, Ok(()), "{nodes} nodes, seed {seed}");
    world
}

/// Three replicas, lost and doubled messages, crashes, stuck disks, splits, transfers, snapshots: does all hold?
#[test]
fn three_replicas_in_rough_weather() {
    let worlds: Vec<World> = (0..12).map(|seed| run(3, seed, Plan::ROUGH)).collect();
    // A run in which nothing happens proves nothing.
    assert!(worlds.iter().map(|world| world.book.batches()).sum::<usize>() > 5_000);
    assert!(worlds.iter().map(|world| world.book.elections()).sum::<usize>() > 60);
    assert!(worlds.iter().map(|world| world.reads_granted).sum::<u64>() > 100);
}

/// The same with five.
#[test]
fn five_replicas_in_rough_weather() {
    (100..108).for_each(|seed| drop(run(5, seed, Plan::ROUGH)));
}

/// Only the network is bad: is more committed than in rough weather, and is there no election without need?
#[test]
fn a_bad_network_alone() {
    let plan = Plan { bad_message: 50, delay_max: 2, ..Plan::default() };
    for seed in 200..203 {
        let world = run(3, seed, plan);
        assert!(world.book.elections() < 5, "seed {seed}: {} elections", world.book.elections());
    }
}

/// Is the same seed the same run, turn by turn, and another seed another one?
#[test]
fn a_seed_repeats() {
    let digest = |seed| run(3, seed, Plan { change: 150, ..Plan::ROUGH }).digest;
    let first: Vec<u64> = (300..304).map(digest).collect();
    let second: Vec<u64> = (300..304).map(digest).collect();
    assert_eq!(first, second);
    assert!(first.windows(2).all(|pair| pair[0] != pair[1]));
}

/// Members come, go, and change their vote, in rough weather.
#[test]
fn members_that_change_in_rough_weather() {
    for seed in 400..408 {
        let plan = Plan { change: 60, ..Plan::ROUGH };
        let mut world = World::new(5, 3, seed, plan).expect("logs that are whole");
        let done = world.run(STEPS).and_then(|()| world.heal());
        assert_eq!(done, Ok(()), "seed {seed}");
    }
}
