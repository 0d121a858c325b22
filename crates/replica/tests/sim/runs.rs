//! Clusters of three and five in all weathers.

use lapwing_peer::GroupNumber;

use crate::disk::place;
use crate::world::{Flaw, World};

/// Simulated seconds of all runs of a kind together; `make cluster-sim` sets more.
fn seconds(kind: &str) -> u64 {
    let set = std::env::var("LAPWING_SIM_SECONDS").ok();
    let seconds = set.map(|set| set.parse().expect("LAPWING_SIM_SECONDS is a number of seconds"));
    seconds.unwrap_or(if kind == "five" { 40 } else { 160 })
}

fn first_seed() -> u64 {
    std::env::var("LAPWING_SIM_SEED").map_or(1, |set| set.parse().expect("LAPWING_SIM_SEED is a number"))
}

fn weather(kind: &str, nodes: u8) {
    let (mut messages, mut servings) = (0, 0);
    let runs = seconds(kind).div_ceil(20);
    for seed in first_seed()..first_seed() + runs {
        let mut world = World::new(seed, nodes, Flaw::None);
        let ended = world.run(20_000, true).and_then(|()| calm(&mut world));
        ended.unwrap_or_else(|what| panic!("seed {seed} of {nodes} nodes: {what}"));
        messages += world.book.messages;
        servings += world.book.servings;
    }
    println!("{nodes} nodes, {runs} runs: {messages} messages committed, {servings} servings");
    assert!(servings > runs && messages > 100 * runs, "there was something to see");
}

/// When the trouble is over somebody serves, goes on, and everybody comes to have everything.
fn calm(world: &mut World) -> Result<(), String> {
    world.heal();
    world.run(8_000, false)?;
    let before = (world.book.messages, world.book.servings);
    world.run(2_000, false)?;
    if world.book.messages == before.0 {
        return Err("nothing is committed though nothing is wrong".into());
    }
    if world.book.servings != before.1 {
        return Err("a serving ends though nothing is wrong".into());
    }
    for group in GroupNumber::all() {
        for node in &world.nodes {
            let life = node.life.as_ref().ok_or("everybody is up")?;
            let behind = world.book.last(group) - life.states[place(group)].raft_index;
            if behind > 200 {
                return Err(format!("group {group}: {} is {behind} behind though nothing is wrong", node.id));
            }
        }
    }
    Ok(())
}

#[test]
fn three_nodes_in_all_weathers() {
    weather("three", 3);
}

#[test]
fn five_nodes_in_all_weathers() {
    weather("five", 5);
}

/// Does the same seed give the same run?
#[test]
fn every_seed_repeats() {
    let run = |seed| {
        let mut world = World::new(seed, 3, Flaw::None);
        world.run(6_000, true).expect("no violation");
        (world.book.messages, world.book.servings, world.nodes.iter().map(|node| node.rate).sum::<u64>())
    };
    for seed in 100..103 {
        assert_eq!(run(seed), run(seed), "seed {seed}");
    }
}
