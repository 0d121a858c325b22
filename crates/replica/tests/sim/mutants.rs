//! Is each fault that is planted found?

use crate::world::{Flaw, World};

/// Runs with a flaw until it is found.
fn is_found(flaw: Flaw) -> bool {
    (1..40).any(|seed| {
        let mut world = World::new(seed, 3, flaw);
        let ended = world.run(20_000, true);
        ended.is_err() || world.stopped > 0
    })
}

#[test]
fn what_is_said_to_be_on_disk_and_is_not() {
    assert!(is_found(Flaw::PersistedBeforeSync));
}

#[test]
fn a_disk_that_loses_what_it_had() {
    assert!(is_found(Flaw::SuffixLost));
}

#[test]
fn a_node_that_serves_without_being_confirmed() {
    assert!(is_found(Flaw::ServesUnconfirmed));
}

#[test]
fn a_node_that_serves_before_it_has_everything() {
    assert!(is_found(Flaw::ServesEarly));
}

#[test]
fn a_snapshot_that_is_taken_without_its_state() {
    assert!(is_found(Flaw::InstalledWithoutState));
}
