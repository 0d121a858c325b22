//! The fuzz target's oracle on a stable compiler: any bytes are frames or a fault, and the books stay in order.

use std::collections::HashSet;

use lapwing_oracle::allocations::assert_installed;
use lapwing_oracle::variants::check_near;
use lapwing_peer::{FaultKind, Kind, Stage, parse};

use crate::oracle::{Outcome, check_frames, frames_seeds};

#[test]
fn any_frames() {
    assert_installed();
    let (mut frames, mut faults, mut batches, mut snapshots) = (0, 0, 0, 0);
    check_near("peer_frames", &frames_seeds(), 20_000, |input| {
        let outcome = check_frames(input);
        frames += outcome.frames;
        faults += usize::from(outcome.is_fault);
        batches += outcome.batches;
        snapshots += outcome.snapshots;
    });
    assert!(frames > 10_000 && faults > 5_000, "{frames} frames, {faults} faults");
    assert!(batches > 500 && snapshots > 100, "{batches} batches, {snapshots} snapshots");
}

/// Are the seeds what they are meant to be: connections with frames of every kind, most of them in order?
#[test]
fn seeds_are_connections() {
    let outcomes: Vec<Outcome> = frames_seeds().iter().map(|seed| check_frames(seed)).collect();
    assert!(outcomes.iter().filter(|outcome| !outcome.is_fault).count() >= 9, "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| outcome.frames >= 2), "{outcomes:?}");
    assert!(
        outcomes.iter().any(|outcome| outcome.batches == 2) && outcomes.iter().any(|outcome| outcome.snapshots == 1)
    );
}

/// Every header that there can be, but for its length: is each a frame's, or refused where it is wrong?
#[test]
fn all_headers() {
    let mut kinds = HashSet::new();
    for (kind, version) in (0..=255).flat_map(|kind| (0..=255).map(move |version| (kind, version))) {
        for stage in [Stage::Hello, Stage::Raft, Stage::Snapshot, Stage::Asking, Stage::Answered] {
            match parse(&[1, 0, 0, 0, kind, version, 0, 0], stage, 64) {
                Ok(_) => _ = kinds.insert(kind),
                Err(fault) if fault.at == 4 => {
                    assert!(matches!(fault.kind, FaultKind::UnknownKind | FaultKind::OutOfPlace), "{fault}");
                }
                Err(fault) => assert_eq!((fault.kind, fault.at), (FaultKind::Version, 5), "{fault}"),
            }
        }
    }
    assert_eq!(kinds.len(), Kind::ALL.len());
}
