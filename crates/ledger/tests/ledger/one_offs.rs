//! Sessions, groups, retained messages and publishers that come once and are over: the state is as small behind them as before, and
//! so is its snapshot, which is what stays on disk.

use lapwing_ledger::{DataGroupState, Fact, KeeperId, Origin, SettledPublisher};

use crate::operation::{Operation, OwnOptions, OwnWill};
use crate::snapshots::snapshot;

/// Entries of one life.
const ENTRIES: u64 = 13;

/// How many come and go: tens of millions where there is a night for it, `make one-offs`.
fn count() -> u64 {
    std::env::var("LAPWING_ONE_OFFS").map_or(1_000, |count| count.parse().expect("LAPWING_ONE_OFFS is a number"))
}

/// Its entries begin here.
fn first_of(number: u64) -> u64 {
    1 + number * ENTRIES
}

/// A client that is there once: with a will, subscriptions, a message of each kind that waits for it, and a group of its own.
fn comes(number: u64) -> [Operation; 7] {
    let session = first_of(number);
    let group = session + 1;
    let options = |qos| OwnOptions { qos, retain: false, ids: vec![] };
    let publish = |qos, groups: &[u64], retained, origin| Operation::Publish {
        frame: vec![0; 20],
        keepers: vec![(session, options(qos))],
        groups: groups.to_vec(),
        retained,
        origin,
    };
    let origin = Origin { data_group: 3, session: KeeperId(session), packet_id: 1, use_number: 1, settled: 1 };
    let will = OwnWill { frame: vec![0; 9], delay_s: 1, message_expiry_s: None };
    [
        Operation::Open {
            client_id: format!("client-{number}"),
            identity: vec![],
            expiry_s: 60,
            opened_at_ms: number,
            will: Some(will),
        },
        Operation::OpenGroup(format!("group-{number}"), format!("jobs/{number}")),
        Operation::Subscribe(session, vec![(format!("one/{number}/#"), 1)]),
        publish(1, &[], Some(format!("one/{number}/value")), None),
        publish(2, &[group], None, Some(origin)),
        publish(1, &[group], None, None),
        Operation::Progress(vec![(session, Fact::PublishSent { packet_id: 7, entry: session + 4 })]),
    ]
}

/// How that ends: some of it is acknowledged, the rest goes with who waits for it.
fn goes(number: u64) -> [Operation; 6] {
    let session = first_of(number);
    let group = session + 1;
    let settled = SettledPublisher { data_group: 3, session: KeeperId(session), below: 2 };
    [
        Operation::Progress(vec![
            (session, Fact::PubRecReceived { packet_id: 7 }),
            (group, Fact::Finished { entry: session + 5 }),
        ]),
        Operation::Clear(vec![format!("one/{number}/value")]),
        Operation::Settle(vec![settled]),
        Operation::Unsubscribe(session, vec![format!("one/{number}/#")]),
        Operation::End(vec![session]),
        Operation::EndGroup(vec![group]),
    ]
}

/// Is there nothing left to be found, to be kept in the log, or to be written into a snapshot?
#[test]
fn what_is_over_leaves_nothing() {
    let mut state = DataGroupState::new();
    let empty: Vec<usize> = snapshot(&state).iter().map(Vec::len).collect();
    let mut index = 0;
    let mut apply = |state: &mut DataGroupState, operations: &[Operation]| {
        for operation in operations {
            index += 1;
            state.apply(index, &operation.encode()).expect("an entry behind the others");
        }
        state.covered(index);
    };
    for number in 0..count() {
        apply(&mut state, &comes(number));
        assert_eq!((state.holds(), state.live_entries()), (3 + 5, 4), "a session, a group, a value; what waits");
        apply(&mut state, &goes(number));
    }
    assert_eq!((state.holds(), state.queued(), state.live_entries(), state.strays()), (0, 0, 0, 0));
    assert_eq!((state.sessions().count(), state.groups().count(), state.unsettled().count()), (0, 0, 0));
    let now: Vec<usize> = snapshot(&state).iter().map(Vec::len).collect();
    // The index of the last entry is a number, which may have grown by some bytes.
    assert!(now.len() == empty.len() && now[0] <= empty[0] + 8, "{now:?} behind {empty:?}");
}
