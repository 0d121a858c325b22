//! The bytes of version 1 of each entry, as they will be found in logs for ever.

use lapwing_ledger::{
    Changed, Cleared, DeliveryOptions, Ended, Entry, Fact, Fault, GroupDeclared, GroupEnded, GroupOpened, Keeper,
    KeeperId, List, Opened, Origin, Presence, ProgressBuf, Published, Settled, SettledPublisher, Subscribed,
    Subscription, SubscriptionIds, Unsubscribed, Will,
};

const WILL: Will<'static> = Will { frame: b"w", delay_s: 300, message_expiry_s: Some(9) };

fn check(entry: &Entry<'_>, bytes: &[u8]) {
    let mut encoded = vec![0xEE];
    entry.encode(&mut encoded).unwrap();
    assert_eq!(encoded[1..], *bytes, "{entry:?}");
    assert_eq!(Entry::decode(bytes), Ok(*entry));
    for length in 0..bytes.len() {
        assert!(Entry::decode(&bytes[..length]).is_err(), "{length} bytes of {entry:?}");
    }
    assert!(Entry::decode(&[bytes, &[0]].concat()).is_err(), "a byte too many: {entry:?}");
    let mut newer = bytes.to_vec();
    newer[1] = 2;
    assert!(matches!(Entry::decode(&newer), Err(Fault::Version { found: 2, supported: 1, .. })));
}

#[test]
fn entries_of_sessions() {
    let opened = Opened { client_id: "c1", identity: &[7], expiry_s: 128, opened_at_ms: 5, will: None };
    check(&Entry::Opened(opened), &[1, 1, 0, 2, b'c', b'1', 1, 7, 0x80, 1, 5]);
    let with_will = Opened { will: Some(WILL), ..opened };
    check(&Entry::Opened(with_will), &[1, 1, 1, 2, b'c', b'1', 1, 7, 0x80, 1, 5, 1, 0xAC, 2, 9, 1, b'w']);
    assert_eq!(Entry::Opened(with_will).will(), Some(WILL));

    let nothing = Changed::of(KeeperId(300));
    check(&Entry::Changed(nothing), &[2, 1, 0xAC, 2, 0]);
    let presence = Some(Presence { connected: false, at_ms: 6 });
    let changed = Changed { expiry_s: Some(3), identity: Some(&[]), presence, ..nothing };
    check(&Entry::Changed(changed), &[2, 1, 0xAC, 2, 0b1_0011, 3, 0, 6]);
    let back = Changed { will: Some(None), presence: Some(Presence { connected: true, at_ms: 6 }), ..nothing };
    check(&Entry::Changed(back), &[2, 1, 0xAC, 2, 0b11_0100, 6]);
    let plain_will = Will { message_expiry_s: None, delay_s: 0, ..WILL };
    let changed = Changed { will: Some(Some(plain_will)), ..nothing };
    check(&Entry::Changed(changed), &[2, 1, 0xAC, 2, 0b1100, 0, 0, 1, b'w']);
    assert_eq!(Entry::Changed(changed).will(), Some(plain_will));

    let sessions = [KeeperId(1), KeeperId(128)];
    check(&Entry::Ended(Ended { sessions: List::from_slice(&sessions) }), &[3, 1, 2, 1, 0x80, 1]);
    let subscriptions = [Subscription { filter: "a/#", grant: 200 }, Subscription { filter: "", grant: 0 }];
    let subscribed = Subscribed { session: KeeperId(4), subscriptions: List::from_slice(&subscriptions) };
    check(&Entry::Subscribed(subscribed), &[4, 1, 4, 2, 3, b'a', b'/', b'#', 0xC8, 1, 0, 0]);
    let unsubscribed = Unsubscribed { session: KeeperId(4), filters: List::from_slice(&["a"]) };
    check(&Entry::Unsubscribed(unsubscribed), &[5, 1, 4, 1, 1, b'a']);
}

#[test]
fn entries_of_messages() {
    let published = Published {
        frame: &[0x30, 0],
        published_at_ms: 1,
        expires_at_ms: 2,
        publisher: 0x0807_0605_0403_0201,
        holder: None,
        origin: None,
        keepers: List::EMPTY,
        groups: List::EMPTY,
        retained: None,
    };
    check(&Entry::Published(published), &[6, 1, 0, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 0, 2, 0x30, 0]);
    let ids = [5, 300];
    let keepers = [
        Keeper { id: KeeperId(9), options: DeliveryOptions { qos: 1, retain: false, ids: SubscriptionIds::EMPTY } },
        Keeper {
            id: KeeperId(10),
            options: DeliveryOptions { qos: 2, retain: true, ids: SubscriptionIds::from_slice(&ids) },
        },
    ];
    let whole = Published {
        origin: Some(Origin { data_group: 15, session: KeeperId(8), packet_id: 300, use_number: 129, settled: 127 }),
        keepers: List::from_slice(&keepers),
        groups: List::from_slice(&[KeeperId(11)]),
        retained: Some("t"),
        ..published
    };
    let mut bytes = vec![6, 1, 0b111, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8];
    bytes.extend_from_slice(&[
        15, 8, 0xAC, 2, 0x81, 1, 2, 1, b't', 2, 9, 1, 10, 0b1_0110, 5, 0xAC, 2, 1, 11, 2, 0x30, 0,
    ]);
    check(&Entry::Published(whole), &bytes);

    let holder = std::num::NonZeroU64::new(0x0100_0000_0000_0007);
    let held = Published { retained: Some("t"), holder, ..published };
    let bytes = [6, 1, 0b1010, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 1, b't', 7, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0x30, 0];
    check(&Entry::Published(held), &bytes);
    let nobodys = [&bytes[..15], &[0; 8], &bytes[23..]].concat();
    assert!(Entry::decode(&nobodys).is_err(), "0 is nobody");

    let mut progress = ProgressBuf::new();
    progress.push(KeeperId(3), Fact::Finished { entry: 200 });
    progress.push(KeeperId(3), Fact::PublishSent { packet_id: 1, entry: 4 });
    progress.push(KeeperId(5), Fact::PubRecReceived { packet_id: 2 });
    progress.push(KeeperId(3), Fact::Received { packet_id: 300, use_number: 6 });
    progress.push(KeeperId(3), Fact::Released { packet_id: 300 });
    progress.push(KeeperId(3), Fact::Doubted { packet_id: 9, use_number: 7 });
    let bytes = [7, 1, 6, 8, 3, 0xC8, 1, 1, 1, 4, 10, 5, 2, 11, 3, 0xAC, 2, 6, 4, 0xAC, 2, 5, 9, 7];
    check(&Entry::Progress(progress.as_progress()), &bytes);
    assert_eq!((progress.len(), progress.bytes()), (6, bytes.len() - 3));
    progress.clear();
    check(&Entry::Progress(progress.as_progress()), &[7, 1, 0]);
    progress.push(KeeperId(3), Fact::PubRecReceived { packet_id: 1 });
    assert_eq!(progress.as_progress().facts.iter().next(), Some((KeeperId(3), Fact::PubRecReceived { packet_id: 1 })));

    let publishers = [SettledPublisher { data_group: 2, session: KeeperId(300), below: 128 }];
    check(&Entry::Settled(Settled { publishers: List::from_slice(&publishers) }), &[11, 1, 1, 2, 0xAC, 2, 0x80, 1]);
    check(&Entry::Cleared(Cleared { topics: List::from_slice(&["t"]) }), &[8, 1, 1, 1, b't']);
}

#[test]
fn entries_of_consumer_groups() {
    check(&Entry::GroupOpened(GroupOpened { name: "g", filter: "f/#" }), &[9, 1, 1, b'g', 3, b'f', b'/', b'#']);
    check(&Entry::GroupEnded(GroupEnded { groups: List::from_slice(&[KeeperId(2)]) }), &[10, 1, 1, 2]);
    let declared = GroupDeclared { group: KeeperId(2), settings: Some(b"{}") };
    check(&Entry::GroupDeclared(declared), &[12, 1, 2, 1, 2, b'{', b'}']);
    check(&Entry::GroupDeclared(GroupDeclared { settings: None, ..declared }), &[12, 1, 2, 0]);
    assert_eq!(Entry::decode(&[13, 1]), Err(Fault::Kind { found: 13 }));
    assert_eq!(Entry::decode(&[0, 1]), Err(Fault::Kind { found: 0 }));
}
