//! Is each fault that is planted found?

use crate::world::{Flaw, World};

/// Runs with a flaw until it is found, by a check that says one of these words; a replica that stops says "stopped".
fn is_found(flaw: Flaw, words: &[&str]) -> bool {
    (1..60).any(|seed| {
        let mut world = World::new(seed, 3, flaw);
        let ended = world.run(20_000, true);
        let said = ended.err().unwrap_or_else(|| if world.stopped > 0 { "stopped".into() } else { String::new() });
        words.iter().any(|word| said.contains(word))
    })
}

#[test]
fn what_is_said_to_be_on_disk_and_is_not() {
    assert!(is_found(Flaw::PersistedBeforeSync, &["disks", "another entry", "behind", "messages", "lost"]));
}

#[test]
fn a_disk_that_loses_what_it_had() {
    assert!(is_found(Flaw::SuffixLost, &["stopped", "disks", "another entry", "messages", "lost"]));
}

/// The node that serves stands still, another one takes over, and it goes on.
#[test]
fn a_node_that_serves_without_being_confirmed() {
    let ended = |flaw| {
        let mut world = World::new(5, 3, flaw);
        world.run(6_000, false)?;
        let active = world.nodes.iter().position(|node| node.answers(world.now_ms, true)).ok_or("nobody serves")?;
        world.nodes[active].still_until_ms = world.now_ms + 5_000;
        world.run(6_000, false)
    };
    assert_eq!(ended(Flaw::None), Ok(()));
    let said = ended(Flaw::ServesUnconfirmed).expect_err("it is found");
    assert!(said.contains("2 nodes serve"), "{said}");
}

#[test]
fn a_node_that_serves_before_it_has_everything() {
    assert!(is_found(Flaw::ServesEarly, &["serves with", "nodes serve", "has sequence"]));
}

#[test]
fn a_snapshot_that_is_taken_without_its_state() {
    assert!(is_found(Flaw::InstalledWithoutState, &["comes behind"]));
}
