//! One rule, one history.

use lapwing_ledger::{
    Changed, DataGroupState, DeliveryOptions, Entry, Fact, Fault, GroupOpened, IDENTITY_BYTES_MAX, INDEX_MAX, KeeperId,
    KeepersBuf, List, Opened, Origin, Presence, ProgressBuf, Published, Settled, SettledPublisher, SubscriptionIds,
    TEXT_BYTES_MAX, Unsettled, Will, WillRef,
};

const OPENED: Opened<'static> = Opened { client_id: "c", identity: b"who", expiry_s: 60, opened_at_ms: 1, will: None };
const OPTIONS: DeliveryOptions<'static> = DeliveryOptions { qos: 2, retain: false, ids: SubscriptionIds::EMPTY };
const PUBLISHED: Published<'static> = Published {
    frame: b"frame",
    published_at_ms: 1,
    expires_at_ms: 0,
    publisher: 0,
    holder: None,
    origin: None,
    keepers: List::EMPTY,
    groups: List::EMPTY,
    retained: None,
};

fn bytes(entry: &Entry<'_>) -> Vec<u8> {
    let mut out = vec![];
    entry.encode(&mut out).unwrap();
    out
}

fn apply(state: &mut DataGroupState, entry: &Entry<'_>) -> u64 {
    let index = state.applied() + 1;
    state.apply(index, &bytes(entry)).unwrap();
    index
}

fn publish(state: &mut DataGroupState, id: KeeperId) -> u64 {
    let mut keepers = KeepersBuf::new();
    keepers.push(id, OPTIONS).unwrap();
    apply(state, &Entry::Published(Published { keepers: keepers.as_list(), ..PUBLISHED }))
}

fn note(state: &mut DataGroupState, id: KeeperId, facts: &[Fact]) {
    let mut progress = ProgressBuf::new();
    facts.iter().for_each(|fact| progress.push(id, *fact));
    apply(state, &Entry::Progress(progress.as_progress()));
}

/// Do indexes ascend, with gaps, each once, within their bound?
#[test]
fn entries_come_in_order() {
    let (mut state, entry) = (DataGroupState::new(), bytes(&Entry::Opened(OPENED)));
    assert_eq!(state.apply(0, &entry), Err(Fault::OutOfOrder { index: 0, applied: 0 }));
    assert_eq!(state.apply(5, &entry), Ok(()));
    assert_eq!(state.apply(5, &entry), Err(Fault::OutOfOrder { index: 5, applied: 5 }));
    assert_eq!(state.apply(INDEX_MAX + 1, &entry), Err(Fault::OutOfOrder { index: INDEX_MAX + 1, applied: 5 }));
    assert_eq!((state.apply(INDEX_MAX, &entry), state.applied()), (Ok(()), INDEX_MAX));
}

/// Is a field above its bound refused where it is written and where it is read?
#[test]
fn fields_have_bounds() {
    let mut out = vec![1, 2];
    let identity = [0; IDENTITY_BYTES_MAX + 1];
    let refused = Entry::Opened(Opened { identity: &identity, ..OPENED }).encode(&mut out);
    assert!(matches!(refused, Err(Fault::TooLong { bytes: 1025, bytes_max: 1024, .. })), "{refused:?}");
    let text = "x".repeat(TEXT_BYTES_MAX + 1);
    assert!(Entry::Published(Published { retained: Some(&text), ..PUBLISHED }).encode(&mut out).is_err());
    assert_eq!(out, [1, 2], "nothing half written");
    let longest = Entry::Opened(Opened { client_id: &text[1..], identity: &identity[1..], ..OPENED });
    assert!(Entry::decode(&bytes(&longest)).is_ok());
    // The same entry, its client id one byte longer: 65,536 = 0x80 0x80 0x04.
    let mut longer = bytes(&longest);
    longer.splice(3..6, [0x80, 0x80, 0x04]);
    assert!(matches!(Entry::decode(&longer), Err(Fault::TooLong { bytes: 65_536, .. })));
}

/// Does the session that a client opens anew end the one before, with its queue and will, and is what still speaks of that
/// one passed over?
#[test]
fn a_new_session_ends_the_one_before() {
    let mut state = DataGroupState::new();
    let will = Will { frame: b"gone", delay_s: 1, message_expiry_s: None };
    let old = KeeperId(apply(&mut state, &Entry::Opened(Opened { will: Some(will), ..OPENED })));
    let first = publish(&mut state, old);
    assert_eq!((state.queued(), state.live_entries()), (1, 2));
    let new = KeeperId(apply(&mut state, &Entry::Opened(OPENED)));
    assert_eq!(state.session("c").map(|session| session.id()), Some(new));
    assert!(state.session_of(old).is_none() && state.sessions().count() == 1);
    assert_eq!((state.queued(), state.live_entries(), state.strays()), (0, 0, 0));
    publish(&mut state, old);
    note(&mut state, old, &[Fact::Finished { entry: first }]);
    assert_eq!((state.queued(), state.strays()), (0, 2));
}

/// Is the entry that brought a will live until another will, or none, takes its place?
#[test]
fn a_will_keeps_its_entry() {
    let mut state = DataGroupState::new();
    let session = KeeperId(apply(&mut state, &Entry::Opened(OPENED)));
    let will = Will { frame: b"gone", delay_s: 7, message_expiry_s: Some(3) };
    let of = |will| Entry::Changed(Changed { will: Some(will), ..Changed::of(session) });
    let first = apply(&mut state, &of(Some(will)));
    let found = |state: &DataGroupState| state.session("c").and_then(|session| session.will());
    assert_eq!(found(&state), Some(WillRef { entry: first, delay_s: 7, message_expiry_s: Some(3) }));
    let second = apply(&mut state, &of(Some(will)));
    state.covered(second);
    assert!(!state.is_live(first) && state.is_live(second));
    let presence = Some(Presence { connected: false, at_ms: 99 });
    apply(&mut state, &Entry::Changed(Changed { presence, ..Changed::of(session) }));
    assert_eq!(found(&state).map(|will| will.entry), Some(second));
    assert_eq!(state.session("c").and_then(|session| session.disconnected_at_ms()), Some(99));
    apply(&mut state, &of(None));
    assert!(!state.is_live(second) && found(&state).is_none());
}

/// A QoS 2 message to the client: is it in the queue until PUBREC, its packet id there until PUBCOMP?
#[test]
fn a_flight_keeps_its_packet_id_to_the_end() {
    let mut state = DataGroupState::new();
    let id = KeeperId(apply(&mut state, &Entry::Opened(OPENED)));
    let (first, second) = (publish(&mut state, id), publish(&mut state, id));
    note(
        &mut state,
        id,
        &[Fact::PublishSent { packet_id: 1, entry: first }, Fact::PublishSent { packet_id: 2, entry: second }],
    );
    let picture = |state: &DataGroupState| {
        let session = state.session("c").unwrap();
        let flights =
            session.flights().iter().map(|flight| (flight.packet_id, flight.entry, flight.pubrec_received)).collect();
        let queue = session.queue().map(|(entry, _)| entry).collect();
        (flights, queue)
    };
    assert_eq!(picture(&state), (vec![(1, first, false), (2, second, false)], vec![first, second]));
    note(&mut state, id, &[Fact::PubRecReceived { packet_id: 2 }, Fact::PubRecReceived { packet_id: 2 }]);
    assert_eq!(picture(&state), (vec![(1, first, false), (2, second, true)], vec![first]));
    assert_eq!((state.live_entries(), state.strays()), (1, 1));
    // PUBCOMP, and the same id for the next message in the same entry.
    let third = publish(&mut state, id);
    note(&mut state, id, &[Fact::Finished { entry: second }, Fact::PublishSent { packet_id: 2, entry: third }]);
    assert_eq!(picture(&state), (vec![(1, first, false), (2, third, false)], vec![first, third]));
    note(&mut state, id, &[Fact::Finished { entry: first }]);
    assert_eq!(picture(&state), (vec![(2, third, false)], vec![third]));
}

/// Messages of the client: is the order of facts within one entry kept, and the use number never given twice?
#[test]
fn released_ids_may_be_received_again_at_once() {
    let mut state = DataGroupState::new();
    let id = KeeperId(apply(&mut state, &Entry::Opened(OPENED)));
    let received = |use_number| Fact::Received { packet_id: 7, use_number };
    note(&mut state, id, &[received(1), Fact::Released { packet_id: 7 }, received(2)]);
    let session = state.session("c").unwrap();
    assert_eq!((session.received(), session.next_use()), (vec![(7, 2)], 3));
    note(&mut state, id, &[Fact::Released { packet_id: 7 }, Fact::Released { packet_id: 7 }]);
    let session = state.session("c").unwrap();
    assert_eq!((session.received(), session.next_use(), state.strays()), (vec![], 3, 1));
}

/// Is a message in doubt one that was not received, until it is, its id is released, or the id is doubted anew?
#[test]
fn a_doubt_ends_when_it_is_resolved() {
    let mut state = DataGroupState::new();
    let id = KeeperId(apply(&mut state, &Entry::Opened(OPENED)));
    let received = |packet_id, use_number| Fact::Received { packet_id, use_number };
    let doubted = |packet_id, use_number| Fact::Doubted { packet_id, use_number };
    note(&mut state, id, &[received(7, 1), doubted(7, 4), doubted(8, 5), doubted(9, 6), received(1, 9)]);
    let picture = |state: &DataGroupState| {
        let session = state.session("c").unwrap();
        (session.received(), session.doubted(), session.next_use())
    };
    assert_eq!(picture(&state), (vec![(1, 9)], vec![(7, 4), (8, 5), (9, 6)], 10));
    assert_eq!(state.settled_below(id), Some(4), "its client may send it again");
    note(&mut state, id, &[received(7, 4), Fact::Released { packet_id: 8 }, received(9, 10)]);
    assert_eq!(picture(&state), (vec![(7, 4), (1, 9), (9, 10)], vec![], 11));
    note(&mut state, id, &[Fact::Released { packet_id: 7 }]);
    assert_eq!((state.settled_below(id), state.strays()), (Some(9), 0));
}

/// Is a message of QoS 2 remembered until its publisher calls it settled, without its body?
#[test]
fn a_message_is_remembered_until_it_is_settled() {
    let mut state = DataGroupState::new();
    let publish = |state: &mut DataGroupState, use_number, settled| {
        let (data_group, session, packet_id) = (3, KeeperId(5), 70 + use_number as u16);
        let origin = Origin { data_group, session, packet_id, use_number, settled };
        apply(state, &Entry::Published(Published { origin: Some(origin), ..PUBLISHED }))
    };
    let doubts = |state: &DataGroupState| {
        let each = |(data_group, id, one): (u16, KeeperId, Unsettled)| {
            (data_group, id.0, one.packet_id, one.use_number, one.entry)
        };
        state.unsettled().map(each).collect::<Vec<_>>()
    };
    let (first, second) = (publish(&mut state, 1, 1), publish(&mut state, 2, 1));
    state.covered(second);
    assert_eq!(doubts(&state), [(3, 5, 71, 1, first), (3, 5, 72, 2, second)]);
    assert!(!state.is_live(first) && !state.is_live(second));
    let third = publish(&mut state, 3, 2);
    assert_eq!(doubts(&state), [(3, 5, 72, 2, second), (3, 5, 73, 3, third)]);
    let settled = [SettledPublisher { data_group: 3, session: KeeperId(5), below: u64::MAX }];
    apply(&mut state, &Entry::Settled(Settled { publishers: List::from_slice(&settled) }));
    assert_eq!((doubts(&state), state.live_entries()), (vec![], 0));
}

/// Are a use and its publisher told from others, and does what was settled count as known?
#[test]
fn a_repeat_is_known_by_its_origin() {
    let mut state = DataGroupState::new();
    let origin = Origin { data_group: 3, session: KeeperId(5), packet_id: 1, use_number: 8, settled: 6 };
    assert!(!state.is_repeat(&origin));
    apply(&mut state, &Entry::Published(Published { origin: Some(origin), ..PUBLISHED }));
    let knows = |use_number| state.is_repeat(&Origin { use_number, ..origin });
    assert_eq!([5, 6, 7, 8, 9].map(knows), [true, false, false, true, false]);
    assert!(!state.is_repeat(&Origin { data_group: 4, ..origin }));
    assert!(!state.is_repeat(&Origin { session: KeeperId(6), ..origin }));
}

/// One body: is it live as long as one of session, consumer group and retained table has it?
#[test]
fn a_body_lives_as_long_as_somebody_keeps_it() {
    let mut state = DataGroupState::new();
    let session = KeeperId(apply(&mut state, &Entry::Opened(OPENED)));
    let group = KeeperId(apply(&mut state, &Entry::GroupOpened(GroupOpened { name: "g", filter: "#" })));
    let mut keepers = KeepersBuf::new();
    keepers.push(session, OPTIONS).unwrap();
    let groups = [group];
    let (keepers, groups) = (keepers.as_list(), List::from_slice(&groups));
    let published = Published { keepers, groups, retained: Some("t"), ..PUBLISHED };
    let entry = apply(&mut state, &Entry::Published(published));
    state.covered(entry);
    assert_eq!((state.retained_of("t"), state.queued(), state.live_entries()), (Some(entry), 2, 1));
    note(&mut state, session, &[Fact::Finished { entry }]);
    note(&mut state, group, &[Fact::Finished { entry }]);
    assert!(state.is_live(entry) && state.queued() == 0);
    let next = apply(&mut state, &Entry::Published(Published { retained: Some("t"), ..PUBLISHED }));
    assert!(!state.is_live(entry) && state.is_live(next));
    assert_eq!(state.retained().collect::<Vec<_>>(), [("t", next)]);
    assert_eq!(state.group_of(group).map(|group| group.queued()), Some(0));
}

/// Are messages of a session settled when it has released them, those of a group when it has finished them, and all of who is
/// over; and is nothing said of who has not been heard of yet?
#[test]
fn what_is_released_or_finished_is_settled() {
    let mut state = DataGroupState::new();
    let session = KeeperId(apply(&mut state, &Entry::Opened(OPENED)));
    assert_eq!(state.settled_below(session), Some(1), "the first use has not come");
    note(&mut state, session, &[Fact::Received { packet_id: 7, use_number: 5 }]);
    assert_eq!(state.settled_below(session), Some(5), "it may be asked for again");
    note(&mut state, session, &[Fact::Released { packet_id: 7 }]);
    assert_eq!(state.settled_below(session), Some(6));

    let group = KeeperId(apply(&mut state, &Entry::GroupOpened(GroupOpened { name: "g", filter: "f" })));
    let groups = [group];
    let of_group = Published { groups: List::from_slice(&groups), ..PUBLISHED };
    let entry = apply(&mut state, &Entry::Published(of_group));
    assert_eq!(state.settled_below(group), Some(entry));
    note(&mut state, group, &[Fact::Finished { entry }]);
    assert_eq!(state.settled_below(group), Some(state.applied() + 1));

    assert_eq!(state.settled_below(KeeperId(state.applied() + 1)), None);
    assert_eq!(state.settled_below(KeeperId(entry)), Some(u64::MAX), "it is over, or never was");
}

/// Are publishers found by the entry that named them last, and no more once they are settled?
#[test]
fn silent_publishers_are_found() {
    let mut state = DataGroupState::new();
    let from = |session, use_number| {
        let origin =
            Origin { data_group: 3, session: KeeperId(session), packet_id: 1, use_number, settled: use_number };
        Entry::Published(Published { origin: Some(origin), ..PUBLISHED })
    };
    for (session, use_number) in [(10, 1), (20, 4), (10, 2)] {
        apply(&mut state, &from(session, use_number));
    }
    let named = |state: &DataGroupState, entries| state.publishers_named_in(entries).collect::<Vec<_>>();
    assert_eq!(named(&state, 0..9), [(2, 3, KeeperId(20), 4), (3, 3, KeeperId(10), 2)]);
    assert_eq!(named(&state, 0..3), [(2, 3, KeeperId(20), 4)]);
    let (from, before) = (3, 1);
    assert_eq!(named(&state, from..before), []);
    let settled = [SettledPublisher { data_group: 3, session: KeeperId(20), below: 5 }];
    apply(&mut state, &Entry::Settled(Settled { publishers: List::from_slice(&settled) }));
    assert_eq!(named(&state, 0..9), [(3, 3, KeeperId(10), 2)]);
}
