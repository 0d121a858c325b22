//! The bytes of snapshots of versions 1 and 2, as they may be found beside a log for ever.

use lapwing_ledger::{
    Changed, DataGroupState, DeliveryOptions, Entry, Fact, GroupDeclared, GroupOpened, Keeper, KeeperId, List, Opened,
    Origin, Presence, ProgressBuf, Published, Subscribed, Subscription, SubscriptionIds, Will,
};

use crate::picture::Picture;
use crate::snapshots::{restore, snapshot};

/// With a record of every kind.
fn state() -> DataGroupState {
    let mut state = DataGroupState::new();
    let mut apply = |index, entry: &Entry<'_>| {
        let mut bytes = vec![];
        entry.encode(&mut bytes).unwrap();
        state.apply(index, &bytes).unwrap();
    };
    let will = Some(Will { frame: b"will", delay_s: 300, message_expiry_s: Some(60) });
    let (session, group) = (KeeperId(1), KeeperId(2));
    apply(1, &Entry::Opened(Opened { client_id: "c", identity: b"who", expiry_s: 3600, opened_at_ms: 1000, will }));
    apply(2, &Entry::GroupOpened(GroupOpened { name: "g", filter: "f/#" }));
    let subscriptions = [Subscription { filter: "a/+", grant: 513 }];
    apply(3, &Entry::Subscribed(Subscribed { session, subscriptions: List::from_slice(&subscriptions) }));
    let ids = [7, 300];
    let plain = DeliveryOptions { qos: 1, retain: false, ids: SubscriptionIds::EMPTY };
    let many = DeliveryOptions { qos: 2, retain: true, ids: SubscriptionIds::from_slice(&ids) };
    let origin = Origin { data_group: 9, session: KeeperId(77), packet_id: 5, use_number: 2, settled: 2 };
    for (index, options, origin, retained) in
        [(10, plain, None, None), (11, plain, Some(origin), None), (300, many, None, Some("t"))]
    {
        let (keepers, groups) = ([Keeper { id: session, options }], [group]);
        let published = Published {
            frame: b"frame",
            published_at_ms: 1,
            expires_at_ms: 0,
            publisher: 7,
            holder: None,
            origin,
            keepers: List::from_slice(&keepers),
            groups: List::from_slice(&groups),
            retained,
        };
        apply(index, &Entry::Published(published));
    }
    let mut progress = ProgressBuf::new();
    progress.push(session, Fact::PublishSent { packet_id: 4, entry: 300 });
    progress.push(session, Fact::Received { packet_id: 8, use_number: 6 });
    progress.push(group, Fact::Finished { entry: 11 });
    progress.push(KeeperId(99), Fact::PubRecReceived { packet_id: 1 });
    apply(301, &Entry::Progress(progress.as_progress()));
    let presence = Some(Presence { connected: false, at_ms: 2000 });
    apply(302, &Entry::Changed(Changed { presence, ..Changed::of(session) }));
    state
}

#[rustfmt::skip]
const VERSION_1: &[u8] = &[
    // Version and place in the series; head: applied, strays.
    1, 0,
    1, 0xAE, 2, 1,
    // Session: gone, with a will that expires; id, client, identity, expiry, opened, gone, will, last use.
    2, 0b111, 1, 1, b'c', 3, b'w', b'h', b'o', 0x90, 28, 0xE8, 7, 0xD0, 15, 0xAE, 2, 1, 0xAC, 2, 60, 6,
    3, 3, b'a', b'/', b'+', 0x81, 4,
    // Three references: 10 with options, 11 with the same, 300 with others.
    4, 3, 21, 1, 2, 0xC3, 4, 0b1_0110, 7, 0xAC, 2,
    5, 4, 0xAC, 2, 0,
    6, 8, 6,
    // Consumer group; its references have no options of their own.
    7, 2, 1, b'g', 3, b'f', b'/', b'#',
    4, 2, 21, 0, 0xC4, 4,
    8, 1, b't', 0xAC, 2,
    // Origin: publisher, settled, named in; one use: number, packet id, entry.
    9, 9, 77, 2, 11, 1, 2, 5, 11,
    10, 1,
];

/// Is version 1 read as it always was?
#[test]
fn version_1_is_read() {
    let (state, restored) = (state(), restore(&[VERSION_1.to_vec()]).unwrap());
    assert_eq!(Picture::of(&restored), Picture::of(&state));
    assert_eq!((restored.strays(), restored.live_entries()), (1, state.live_entries()));
    // It knows nothing of sizes, and neither does what is written of it.
    let sizes = |state: &DataGroupState| {
        state.sessions().flat_map(|s| s.references().map(|(.., frame_bytes)| frame_bytes).collect::<Vec<_>>()).collect()
    };
    let (known, unknown): (Vec<u64>, Vec<u64>) = (sizes(&state), sizes(&restored));
    assert_eq!((known, unknown.clone()), (vec![64; 3], vec![0; 3]));
    assert_eq!(sizes(&restore(&snapshot(&restored)).unwrap()), unknown);
}

/// Like version 1, with the sizes of messages behind their options.
fn version_2() -> Vec<u8> {
    let mut bytes = VERSION_1.to_vec();
    bytes[0] = 2;
    for (references, with_sizes) in [
        (
            &[4, 3, 21, 1, 2, 0xC3, 4, 0b1_0110, 7, 0xAC, 2][..],
            &[4, 3, 21, 1, 1, 2, 0xC3, 4, 0b1_0110, 7, 0xAC, 2, 1][..],
        ),
        (&[4, 2, 21, 0, 0xC4, 4], &[4, 2, 21, 0, 1, 0xC4, 4]),
    ] {
        let at = bytes.windows(references.len()).position(|window| window == references).unwrap();
        bytes.splice(at..at + references.len(), with_sizes.iter().copied());
    }
    bytes
}

/// Is version 2 written and read as it always was?
#[test]
fn version_2_has_these_very_bytes() {
    let (state, bytes) = (state(), [version_2()]);
    assert_eq!(snapshot(&state), bytes);
    let restored = restore(&bytes).unwrap();
    assert_eq!(Picture::of(&restored), Picture::of(&state));
    assert_eq!(snapshot(&restored), snapshot(&state));
}

/// A consumer group that was declared has a record more: is that one, too, as it always was, and nobody's without a group?
#[test]
fn a_declared_group_has_a_record_of_its_own() {
    let mut state = state();
    let mut bytes = vec![];
    let declared = GroupDeclared { group: KeeperId(2), settings: Some(b"{}") };
    Entry::GroupDeclared(declared).encode(&mut bytes).unwrap();
    state.apply(303, &bytes).unwrap();
    let before = version_2();
    let at = before.windows(4).position(|window| window == [4, 2, 21, 0]).unwrap();
    let mut expected = [&before[..at], &[11, 2, b'{', b'}'], &before[at..]].concat();
    // The head: one entry more is applied.
    expected[3] += 1;
    let expected = [expected];
    assert_eq!(snapshot(&state), expected);
    let restored = restore(&expected).unwrap();
    assert_eq!(Picture::of(&restored), Picture::of(&state));
    let head_only = [1, 0, 1, 1, 0];
    assert!(restore(&[[&head_only[..], &[11, 1, b'x', 10, 1]].concat()]).is_err());
    assert!(restore(&[[&head_only[..], &[10, 1]].concat()]).is_ok());
}
