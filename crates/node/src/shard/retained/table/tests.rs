//! What the table keeps, refuses and shows.

use lapwing_codec::{Publish, PublishProperties, QoS};
use lapwing_session::SessionKey;

use super::*;
use crate::slot::ShardId;

/// Whether there was room for it.
fn set(table: &mut RetainedTable, topic: &str, payload: &[u8], expiry_s: Option<u32>, now_ms: u64) -> bool {
    let properties = PublishProperties { message_expiry_s: expiry_s, ..Default::default() };
    let publish =
        Publish { dup: false, qos: QoS::AtMostOnce, retain: true, topic, packet_id: None, properties, payload };
    table.set(&Routed::new(publish, SessionKey(0), now_ms), PUBLISHER, Durability::Disk, None, now_ms)
        != Retained::Refused
}

fn table_of(messages_max: u64, bytes_max: u64) -> RetainedTable {
    RetainedTable::new(Arc::new(RetainedShare::new(messages_max, bytes_max)), shares(0))
}

const PUBLISHER: Source = Source { publisher: 7, origin: ShardId(0), seq: 1, holder: None };

fn shares(retained_messages_per_identity_max: u32) -> Arc<IdentityShares> {
    let limits = crate::config::Limits { retained_messages_per_identity_max, ..Default::default() };
    Arc::new(IdentityShares::new(&limits))
}

fn request(filter: &str) -> PageRequest {
    let (filter, need) = (filter.into(), Box::default());
    PageRequest {
        to: SessionKey(0),
        id: 1,
        filter,
        after: None,
        messages_max: usize::MAX,
        bytes_max: usize::MAX,
        not_from: None,
        need,
    }
}

fn matching(table: &RetainedTable, filter: &str, now_ms: u64) -> Vec<Arc<Message>> {
    let (messages, next) = table.page(&request(filter), usize::MAX, now_ms);
    assert_eq!(next, None);
    messages.into_iter().map(|item| item.message).collect()
}

/// Is the newest kept, an empty one a deletion, and an expired one not shown?
#[test]
fn the_newest_is_kept_until_it_expires() {
    let mut table = table_of(10, 10_000);
    assert!(set(&mut table, "a/b", b"1", None, 0) && set(&mut table, "a/b", b"2", Some(5), 0));
    assert!(set(&mut table, "a/c", b"3", None, 0));
    assert_eq!(matching(&table, "a/+", 4_999).len(), 2);
    assert_eq!(matching(&table, "a/b", 2_000)[0].payload(), b"2");
    assert_eq!(matching(&table, "a/b", 5_000).len(), 0);
    assert!(set(&mut table, "a/c", b"", None, 0));
    assert_eq!((matching(&table, "#", 0).len(), table.messages()), (1, 1));
}

/// A value in memory alone: is the one on disk forgotten there once, and nothing when the topic is cleared or comes back
/// to the disk?
#[test]
fn what_is_on_disk_goes_when_memory_has_the_newest() {
    let mut table = table_of(10, 10_000);
    let (value, none) =
        (Publish { retain: true, ..Publish::qos0("a", b"1") }, Publish { retain: true, ..Publish::qos0("a", b"") });
    let routed = |publish| Routed::new(publish, SessionKey(0), 0);
    assert_eq!(table.set(&routed(value), PUBLISHER, Durability::Disk, None, 0), Retained::Kept);
    assert_eq!(table.set(&routed(value), PUBLISHER, Durability::Memory, None, 0), Retained::InMemory);
    assert_eq!(table.take_cleared(), ["a".into()]);
    assert_eq!(table.set(&routed(value), PUBLISHER, Durability::Memory, None, 0), Retained::InMemory);
    assert_eq!(table.set(&routed(none), PUBLISHER, Durability::Memory, None, 0), Retained::Cleared);
    assert!(!table.has_cleared(), "the disk has nothing of it");
    table.set(&routed(value), PUBLISHER, Durability::Memory, None, 0);
    assert_eq!(table.set(&routed(value), PUBLISHER, Durability::Disk, None, 0), Retained::Kept);
    assert!(table.set(&routed(none), PUBLISHER, Durability::Disk, None, 0) == Retained::Cleared && table.has_cleared());
}

/// Is a full table a refusal, without the older value staying, and are expired ones given up first?
#[test]
fn a_full_table_refuses_and_forgets() {
    let mut table = table_of(2, 10_000);
    assert!(set(&mut table, "a", b"1", Some(1), 0) && set(&mut table, "b", b"1", None, 0));
    assert!(!set(&mut table, "c", b"1", None, 500));
    assert!(set(&mut table, "c", b"1", None, 2_000));
    assert_eq!((table.messages(), matching(&table, "#", 2_000).len()), (2, 2));
    assert!(!set(&mut table, "b", &[0; 20_000], None, 4_000));
    assert_eq!(matching(&table, "b", 4_000).len(), 0);
}

/// Are expired messages given up as others come, each under its own time although its topic had others, and does the
/// list of times stay in proportion?
#[test]
fn expired_messages_are_given_up_as_others_come() {
    let mut table = table_of(100_000, 100_000_000);
    for n in 0..10_000 {
        assert!(set(&mut table, "often", b"x", Some(1 + n), 0));
    }
    assert!(table.expiries.len() <= 2 + expiries::STALE_SPARE);
    for n in 0..50 {
        assert!(set(&mut table, &format!("short/{n}"), b"x", Some(1), 0));
    }
    assert!(set(&mut table, "long", b"x", None, 500));
    assert_eq!(table.messages(), 52);
    for n in 0..400 {
        assert!(set(&mut table, &format!("later/{}", n % 2), b"x", None, 9_000_000));
    }
    assert_eq!(table.messages(), 4, "often, long and both of later");
}

/// Are the node's own topics beside the bounds, and nobody else's?
#[test]
fn sys_topics_are_beside_the_bounds() {
    let mut table = table_of(0, 0);
    let properties = PublishProperties::default();
    let publish = Publish {
        dup: false,
        qos: QoS::AtMostOnce,
        retain: true,
        topic: "$SYS/broker/uptime",
        packet_id: None,
        properties,
        payload: b"1",
    };
    let routed = Routed::new(publish, SessionKey(0), 0);
    assert_eq!(table.set(&routed, PUBLISHER, Durability::Disk, None, 0), Retained::Refused);
    assert_eq!(
        table.set(
            &routed,
            Source { publisher: stable_hash(OURSELVES.as_bytes()), ..PUBLISHER },
            Durability::Disk,
            None,
            0
        ),
        Retained::InMemory
    );
    assert_eq!((table.messages(), table.bytes(), matching(&table, "$SYS/#", 0).len()), (0, 0, 1));
}

/// Do pages give each message once, with the value it has by then, and does No Local leave out the publisher's own?
#[test]
fn a_page_shows_the_table_as_it_is() {
    let mut table = table_of(10, 10_000);
    for topic in ["r/1", "r/2", "r/3"] {
        assert!(set(&mut table, topic, b"old", None, 0));
    }
    let mut ask = PageRequest { messages_max: 2, ..request("r/#") };
    let (first, next) = table.page(&ask, usize::MAX, 0);
    assert_eq!(first.len(), 2);
    for topic in ["r/1", "r/2", "r/3"] {
        assert!(set(&mut table, topic, b"new", None, 0));
    }
    ask.after = next;
    let (second, next) = table.page(&ask, usize::MAX, 0);
    assert_eq!((second.len(), second[0].message.payload(), next), (1, &b"new"[..], None));
    // A page that was taken in part goes on behind what was taken.
    ask.after = Some(first[0].place.clone());
    assert_eq!(table.page(&ask, usize::MAX, 0).0.len(), 2);
    let own = PageRequest { not_from: Some(PUBLISHER.publisher), ..request("#") };
    assert!(table.page(&own, usize::MAX, 0).0.is_empty());
}

/// Two shards with one bound: is it exact however the topics fall, is room given back with a topic, and has what was on disk
/// its room in any case?
#[test]
fn shards_share_their_bounds() {
    let share = Arc::new(RetainedShare::new(3, 10_000));
    let (mut one, mut other) = (RetainedTable::new(share.clone(), shares(0)), RetainedTable::new(share, shares(0)));
    assert!(
        set(&mut one, "a", b"1", None, 0) && set(&mut one, "b", b"1", None, 0) && set(&mut other, "c", b"1", None, 0)
    );
    assert!(!set(&mut other, "d", b"1", None, 0) && !set(&mut one, "e", b"1", None, 0));
    assert!(set(&mut one, "a", b"", None, 0) && set(&mut other, "d", b"1", Some(1), 0));
    assert!(!set(&mut one, "e", b"1", None, 2_000));
    other.give_up_some_expired(1, 2_000);
    assert!(set(&mut one, "e", b"1", None, 2_000));
    let publish = Publish { retain: true, ..Publish::qos0("f", b"1") };
    other.restore(Routed::new(publish, SessionKey(0), 0).keep(), PUBLISHER);
    assert_eq!((one.messages(), other.messages()), (2, 2));
    assert!(!set(&mut one, "g", b"1", None, 2_000) && set(&mut one, "b", b"2", None, 2_000));
}

/// Two shards, and identities with two messages each: is a third refused on either, its topic left without one; does a topic go
/// over to who publishes there next, and is there room again for what was cleared, has expired, or is another's now?
#[test]
fn identities_have_shares() {
    let (share, holders) = (Arc::new(RetainedShare::new(100, 10_000)), shares(2));
    let mut tables = [(); 2].map(|()| RetainedTable::new(share.clone(), holders.clone()));
    let mut put = |table: usize, who: &str, topic: &str, payload: &[u8], expiry_s: Option<u32>, now_ms: u64| {
        let properties = PublishProperties { message_expiry_s: expiry_s, ..Default::default() };
        let publish = Publish { retain: true, properties, ..Publish::qos0(topic, payload) };
        let source = Source { holder: Some(Holder::of_client(Some(who), "any")), ..PUBLISHER };
        tables[table].set(&Routed::new(publish, SessionKey(0), now_ms), source, Durability::Disk, None, now_ms)
    };
    assert_eq!(put(0, "alice", "a", b"1", None, 0), Retained::Kept);
    assert_eq!(put(1, "alice", "b", b"1", None, 0), Retained::Kept);
    assert_eq!(put(0, "bob", "c", b"1", None, 0), Retained::Kept);
    assert_eq!(put(1, "alice", "d", b"1", None, 0), Retained::BeyondShare);
    assert_eq!(put(0, "alice", "c", b"1", None, 0), Retained::BeyondShare, "bob's value is older now");
    assert_eq!(put(0, "alice", "a", b"2", None, 0), Retained::Kept, "in the place of its own");
    assert_eq!(put(0, "bob", "a", b"3", None, 0), Retained::Kept);
    assert_eq!(put(0, "alice", "e", b"1", Some(1), 0), Retained::Kept, "what is bob's now made room");
    assert_eq!(put(0, "alice", "f", b"1", None, 0), Retained::BeyondShare);
    assert_eq!(put(0, "alice", "f", b"1", None, 2_000), Retained::Kept, "one had expired");
    assert_eq!(put(1, "alice", "b", b"", None, 2_000), Retained::Cleared);
    assert_eq!(put(1, "alice", "g", b"1", None, 2_000), Retained::Kept);
    assert_eq!(put(1, "alice", "h", b"1", None, 2_000), Retained::BeyondShare);
    assert_eq!(tables.each_ref().map(RetainedTable::messages), [2, 1]);
}
