//! Whole groups in rough weather: nothing committed is lost, changed or repeated, and every run repeats.
//! `LAPWING_RAFT_SEEDS=1000 cargo test -p lapwing-raft --test engine runs`: so many of each kind.

use std::ops::Range;

use crate::world::World;
use crate::world::faults::Plan;

const STEPS: u64 = 1500;

fn run(nodes: u64, voters: u64, seed: u64, plan: Plan) -> World {
    let mut world = World::new(nodes, voters, seed, plan).expect("logs that are whole");
    let done = world.run(STEPS).and_then(|()| world.heal());
    assert_eq!(done, Ok(()), "{nodes} nodes, seed {seed}");
    world
}

/// Seeds from `first` on; as many as the environment says, or `many`.
fn seeds(first: u64, many: u64) -> Range<u64> {
    let asked = std::env::var("LAPWING_RAFT_SEEDS").ok().and_then(|many| many.parse().ok());
    first..first + asked.unwrap_or(many)
}

/// Three replicas, lost and doubled messages, crashes, stuck disks, splits, transfers, snapshots: does all hold?
#[test]
fn three_replicas_in_rough_weather() {
    let worlds: Vec<World> = seeds(0, 12).map(|seed| run(3, 3, seed, Plan::ROUGH)).collect();
    // A run in which nothing happens proves nothing.
    assert!(worlds.iter().map(|world| world.book.batches()).sum::<usize>() > 5_000);
    assert!(worlds.iter().map(|world| world.book.elections()).sum::<usize>() > 60);
    assert!(worlds.iter().map(|world| world.reads_granted).sum::<u64>() > 100);
}

/// The same with five.
#[test]
fn five_replicas_in_rough_weather() {
    seeds(100_000, 8).for_each(|seed| drop(run(5, 5, seed, Plan::ROUGH)));
}

/// Only the network is bad: is more committed than in rough weather, and is there no election without need?
#[test]
fn a_bad_network_alone() {
    let plan = Plan { bad_message: 50, delay_max: 2, ..Plan::default() };
    for seed in seeds(200_000, 3) {
        let world = run(3, 3, seed, plan);
        assert!(world.book.elections() < 5, "seed {seed}: {} elections", world.book.elections());
    }
}

/// Is the same seed the same run, turn by turn, and another seed another one?
#[test]
fn a_seed_repeats() {
    let digest = |seed| {
        let mut world = World::new(5, 3, seed, Plan { change: 100, ..Plan::ROUGH }).expect("logs that are whole");
        world.digest = Some(0xcbf2_9ce4_8422_2325);
        assert_eq!(world.run(STEPS), Ok(()), "seed {seed}");
        world.digest
    };
    let first: Vec<_> = (300..303).map(digest).collect();
    let second: Vec<_> = (300..303).map(digest).collect();
    assert_eq!(first, second);
    assert!(first.windows(2).all(|pair| pair[0] != pair[1]));
}

/// Members come, go, and change their vote, in rough weather.
#[test]
fn members_that_change_in_rough_weather() {
    let plan = Plan { change: 60, ..Plan::ROUGH };
    seeds(400_000, 8).for_each(|seed| drop(run(5, 3, seed, plan)));
}
