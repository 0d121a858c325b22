//! Who serves, over a simulated election: nodes with clocks of their own rates, messages that are late or lost, splits, nodes that
//! stand still and go on. Everything comes from a seed.

mod election;

use election::{ELECTION_MS, Election};
use lapwing_cluster::{Ending, Failover, NodeId, Observed, Role, Step, Timing};

const TIMING: Timing = Timing { election_ms: ELECTION_MS, give_up_ms: 5_000 };

/// Whatever happens: do never two nodes serve at the same time, and does one serve again soon when all is well?
#[test]
fn one_serves_at_a_time() {
    let (mut served_ms, mut changes) = (0, 0);
    for seed in 1..=30 {
        let mut election = Election::new(seed, 3 + 2 * (seed % 2) as usize, TIMING);
        let before = election.served_ms;
        election.run(60_000, true);
        assert_eq!(election.two_at_once_ms, 0, "seed {seed}");
        served_ms += election.served_ms - before;
        changes += election.began;
        election.heal();
        election.run(6_000, false);
        let before = election.served_ms;
        election.run(3_000, false);
        assert!(election.served_ms - before >= 2_900, "seed {seed}: served for {} ms", election.served_ms - before);
    }
    assert!(served_ms > 500_000, "of 1,800,000 ms of trouble somebody served {served_ms}");
    assert!(changes > 100, "it changed {changes} times");
}

/// Does the same seed give the same run?
#[test]
fn a_run_repeats() {
    let run = || {
        let mut election = Election::new(5, 3, TIMING);
        election.run(30_000, true);
        (election.served_ms, election.began)
    };
    assert_eq!(run(), run());
}

/// The simulation finds what it is for: nodes that believe a confirmation for longer than others wait serve beside each other.
#[test]
fn one_that_serves_for_too_long_is_found() {
    let too_long = Timing { election_ms: ELECTION_MS * 2, ..TIMING };
    let found = (1..=30).any(|seed| {
        let mut election = Election::new(seed, 3, too_long);
        election.run(60_000, true);
        election.two_at_once_ms > 0
    });
    assert!(found);
}

const WELL: Observed = Observed {
    leads_metadata: true,
    leads: u16::MAX,
    applied: u16::MAX,
    confirmed_at_ms: Some(10_000),
    has_space: true,
};

fn active() -> Failover {
    let mut failover = Failover::new(TIMING);
    assert_eq!((failover.tick(&WELL, 10_000), failover.role()), (Step::Serve, Role::Active));
    failover
}

/// Does each thing that is needed for serving end it when it goes, and by its name?
#[test]
fn each_loss_ends_serving() {
    let losses = [
        (Observed { leads_metadata: false, ..WELL }, Ending::Metadata),
        (Observed { leads: 0xFFF7, ..WELL }, Ending::DataGroup),
        (Observed { confirmed_at_ms: Some(9_000), ..WELL }, Ending::Unconfirmed),
        (Observed { has_space: false, ..WELL }, Ending::NoSpace),
    ];
    for (observed, ending) in losses {
        let mut failover = active();
        assert_eq!(failover.tick(&WELL, 10_100), Step::Nothing);
        assert_eq!(failover.tick(&observed, 10_100), Step::End(ending));
        assert_eq!(failover.role(), Role::Standby);
    }
    assert_eq!(active().tick(&WELL, 10_000 + ELECTION_MS), Step::End(Ending::Unconfirmed), "nobody has answered since");
}

/// Does a new life wait until the one before is over?
#[test]
fn nothing_begins_beside_what_ends() {
    let mut failover = active();
    assert_eq!(failover.tick(&Observed { leads: 0, ..WELL }, 10_100), Step::End(Ending::DataGroup));
    assert_eq!(failover.tick(&WELL, 10_120), Step::Nothing);
    failover.ended();
    assert_eq!(failover.tick(&WELL, 10_140), Step::Serve);
}

/// Does it hand over when it is asked to, but only behind its last client, and only once?
#[test]
fn stepping_down_ends_serving_first() {
    let mut failover = active();
    failover.step_down(None);
    assert_eq!(failover.tick(&WELL, 10_100), Step::End(Ending::StepDown));
    assert_eq!(failover.tick(&WELL, 10_120), Step::Nothing, "its clients are still being closed");
    failover.ended();
    assert_eq!(failover.tick(&WELL, 10_140), Step::GiveUp(None));
    let well = Observed { confirmed_at_ms: Some(15_100), ..WELL };
    assert_eq!(failover.tick(&well, 15_100), Step::Nothing, "another node may still take over");
    assert_eq!(failover.tick(&well, 15_140), Step::Serve, "nobody has");
}

/// Is the node that was named the one that it hands over to, that time and no other?
#[test]
fn a_successor_is_named_once() {
    let mut failover = active();
    failover.step_down(Some(NodeId(3)));
    assert_eq!(failover.tick(&Observed { leads: 0, ..WELL }, 10_100), Step::End(Ending::DataGroup));
    failover.ended();
    assert_eq!(failover.tick(&WELL, 10_120), Step::Serve, "it ended for another reason");
    failover.step_down(Some(NodeId(3)));
    assert_eq!(failover.tick(&WELL, 10_140), Step::End(Ending::StepDown));
    failover.ended();
    assert_eq!(failover.tick(&WELL, 10_160), Step::GiveUp(Some(NodeId(3))));
    assert_eq!(failover.tick(&Observed { has_space: false, ..WELL }, 15_200), Step::GiveUp(None), "by its own will");
}

/// Does it draw the groups that it lacks, and let another try when it gets them not?
#[test]
fn who_cannot_serve_lets_another_try() {
    let mut failover = Failover::new(TIMING);
    let lacks = Observed { leads: 0x7FFF, confirmed_at_ms: Some(14_900), ..WELL };
    assert_eq!((failover.tick(&lacks, 10_000), failover.role()), (Step::Draw(0x8000), Role::Arriving));
    let behind = Observed { applied: 1, ..lacks };
    assert_eq!(failover.tick(&Observed { leads: u16::MAX, ..behind }, 14_990), Step::Nothing, "it applies");
    assert_eq!(failover.tick(&lacks, 15_000), Step::GiveUp(None));
    assert_eq!(failover.tick(&lacks, 15_020), Step::Nothing, "said once");
    assert_eq!(failover.tick(&Observed { leads_metadata: false, ..lacks }, 15_040), Step::Nothing);
    assert_eq!(failover.role(), Role::Standby);
    assert_eq!(
        failover.tick(&Observed { has_space: false, ..WELL }, 15_060),
        Step::GiveUp(None),
        "a full disk serves nobody"
    );
}
