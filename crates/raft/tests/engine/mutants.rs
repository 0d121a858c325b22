//! Environments that do one thing wrong: does a run find it?

use crate::world::World;
use crate::world::disk::Mutant;
use crate::world::faults::Plan;

/// The first violation that one of these seeds finds.
fn found(mutant: Mutant) -> Option<String> {
    (0..40).find_map(|seed| {
        let mut world = World::new(3, 3, seed, Plan { crash: 60, ..Plan::ROUGH }).ok()?;
        world.mutant = Some(mutant);
        world.run(1500).err()
    })
}

/// A disk that says that it has what it does not have.
#[test]
fn a_word_before_the_disk_is_found() {
    let violation = found(Mutant::PersistedTooEarly).expect("40 runs and nothing found");
    assert!(violation.contains("without a quorum of disks"), "{violation}");
}

/// A node that acknowledges before its disk has it.
#[test]
fn an_acknowledgement_before_the_disk_is_found() {
    let violation = found(Mutant::AnswersTooEarly).expect("40 runs and nothing found");
    assert!(violation.contains("without a quorum of disks"), "{violation}");
}

/// A node that forgets whom it voted for.
#[test]
fn a_vote_that_was_not_written_is_found() {
    let violation = found(Mutant::VotesNotWritten).expect("40 runs and nothing found");
    assert!(violation.contains("led in term") || violation.contains("one position"), "{violation}");
}

/// A node that comes back with less than it acknowledged.
#[test]
fn a_lost_suffix_is_found() {
    let violation = found(Mutant::SuffixLost).expect("40 runs and nothing found");
    let is_named = violation.contains("this replica lost entries") || violation.contains("lost entries");
    assert!(is_named || violation.contains("was committed") || violation.contains("quorum"), "{violation}");
}
