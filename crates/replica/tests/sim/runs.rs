//! Clusters of three and five in all weathers.

use lapwing_peer::GroupNumber;

use crate::disk::place;
use crate::world::{Flaw, World};

/// Simulated seconds of all runs of a kind together; `make cluster-sim` sets more.
fn seconds(kind: &str) -> u64 {
    let set = std::env::var("LAPWING_SIM_SECONDS").ok();
    let seconds = set.map(|set| set.parse().expect("LAPWING_SIM_SECONDS is a number of seconds"));
    seconds.unwrap_or(match kind {
        "five" => 40,
        "members" => 80,
        _ => 160,
    })
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
        for node in world.nodes.iter().filter(|node| node.is_member) {
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

/// Nodes join, learn, vote and are taken out, in all weathers: does everything hold, and does whoever belongs to the cluster in the
/// end belong to all groups?
#[test]
fn members_come_and_go_in_all_weathers() {
    let (mut promoted, mut removed) = (0, 0);
    let runs = seconds("members").div_ceil(20);
    for seed in first_seed()..first_seed() + runs {
        let mut world = World::with_newcomers(seed, 3);
        let ended = world.run(20_000, true).and_then(|()| calm(&mut world)).and_then(|()| all_belong(&world));
        ended.unwrap_or_else(|what| panic!("seed {seed} with members that come and go: {what}"));
        (promoted, removed) = (promoted + world.promoted, removed + world.removed);
    }
    println!("{runs} runs: {promoted} learners got a vote, {removed} members were taken out");
    assert!(promoted > runs / 2 && removed > runs / 2, "there was something to see: {promoted}, {removed}");
}

/// Each group has the voters and learners that the metadata has; who learns yet has no room to vote.
fn all_belong(world: &World) -> Result<(), String> {
    let voters: Vec<u64> = world.cluster.voters().map(|node| node.0.into()).collect();
    let learners: Vec<u64> = world.cluster.learners().map(|node| node.0.into()).collect();
    if !learners.is_empty() && world.cluster.has_room_for_a_voter() {
        return Err(format!("{learners:?} have no vote though there is room"));
    }
    let serving = world.nodes.iter().find(|node| node.answers(world.now_ms, true)).ok_or("nobody serves")?;
    let replica = &serving.life.as_ref().ok_or("it serves")?.replica;
    for group in GroupNumber::all() {
        let membership = replica.engine(group).membership();
        if membership.voters != voters || membership.learners != learners {
            return Err(format!("group {group}: {membership:?}, and {voters:?} are to vote, {learners:?} to learn"));
        }
    }
    Ok(())
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
