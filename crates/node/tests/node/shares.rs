//! What one session and one identity may have of the tables that all share.

use lapwing_codec::{Connect, Packet, PacketId, Publish, QoS, ReasonCode, SubscriptionOptions, Version, Will};
use lapwing_node::Handle;

use crate::client::Client;
use crate::packets::{ConnectExt, connect, lasting, will};
use crate::{eventually, ids_on_both_shards, metric, node};

pub(crate) const AT_MOST_ONCE: SubscriptionOptions = SubscriptionOptions::new(QoS::AtMostOnce);
pub(crate) const SHARE_REFUSED: &str = "lapwing_identity_share_refused_total";

/// A node on two shards with these limits; alice and bob come by their tokens' user names.
pub(crate) fn start(limits: &str, rest: &str) -> Handle {
    let hash = lapwing_access::hash_password(b"right").expect("it can be hashed");
    let user = |name: &str| format!(r#"{{"name": "{name}", "password": "{hash}"}}"#);
    let users = format!(r#""auth": {{"users": [{}, {}]}}"#, user("alice"), user("bob"));
    node(&format!(r#"{{"shards": 2, {users}, "limits": {{{limits}}}{rest}}}"#))
}

pub(crate) fn of<'a>(user: &'a str, packet: Connect<'a>) -> Connect<'a> {
    Connect { username: Some(user), password: Some(b"right"), ..packet }
}

pub(crate) fn told(node: &Handle, words: &str) -> usize {
    node.take_notices().iter().filter(|notice| notice.contains(words)).count()
}

/// Does a session that begins group after group come to its bound, in both versions, and may it have another for one it
/// leaves, while a subscription of its own is no group?
#[test]
fn a_session_has_so_many_groups() {
    let node = start(r#""groups_per_session_max": 3"#, "");
    for version in [Version::V5, Version::V311] {
        let (mut client, _) = Client::connect_with(&node, &connect("greedy").in_version(version));
        for n in 0..3 {
            client.subscribe(&format!("$share/g{n}/t"), AT_MOST_ONCE);
        }
        let refused = if version == Version::V5 { ReasonCode::QuotaExceeded } else { ReasonCode::UnspecifiedError };
        assert_eq!(client.try_subscribe("$share/g3/t", AT_MOST_ONCE), refused);
        client.subscribe("$share/g0/t", AT_MOST_ONCE);
        client.subscribe("own", AT_MOST_ONCE);
        client.unsubscribe("$share/g1/t");
        client.subscribe("$share/g3/t", AT_MOST_ONCE);
        assert_eq!(client.try_subscribe("$share/g1/t", AT_MOST_ONCE), refused);
        let (mut other, _) = Client::connect_with(&node, &connect("other").in_version(version));
        other.subscribe("$share/g9/t", AT_MOST_ONCE);
    }
    assert_eq!(metric(&node, "lapwing_subscriptions_refused_total", ""), 4);
}

/// Does an identity begin no more groups than its share, over all its sessions, while another does and it may still join
/// those that there are?
#[test]
fn an_identity_begins_so_many_groups() {
    let node = start(r#""groups_per_identity_max": 3"#, "");
    let [first, second] = ids_on_both_shards();
    let (mut one, _) = Client::connect_with(&node, &of("alice", connect(&first)));
    let (mut two, _) = Client::connect_with(&node, &of("alice", connect(&second)));
    one.subscribe("$share/a/t", AT_MOST_ONCE);
    two.subscribe("$share/b/t", AT_MOST_ONCE);
    one.subscribe("$share/c/t", AT_MOST_ONCE);
    for n in 0..20 {
        let client = if n % 2 == 0 { &mut one } else { &mut two };
        assert_eq!(client.try_subscribe(&format!("$share/more{n}/t"), AT_MOST_ONCE), ReasonCode::QuotaExceeded);
    }
    assert_eq!((metric(&node, SHARE_REFUSED, "groups"), told(&node, "alice has begun 3 groups")), (20, 1));
    two.subscribe("$share/a/t", AT_MOST_ONCE);
    let (mut bob, _) = Client::connect_with(&node, &of("bob", connect("bob")));
    bob.subscribe("$share/bobs/t", AT_MOST_ONCE);
    one.subscribe("$share/bobs/t", AT_MOST_ONCE);
    one.unsubscribe("$share/c/t");
    eventually("a group that has ended makes room", || {
        two.try_subscribe("$share/d/t", AT_MOST_ONCE) == ReasonCode::Success
    });
}

/// Is one session more than the share refused, on either shard, while those there are come back, others come in, and one
/// that has ended makes room?
#[test]
fn an_identity_has_so_many_sessions() {
    let node = start(r#""sessions_per_identity_max": 2"#, "");
    let [first, second] = ids_on_both_shards();
    let (mut here, _) = Client::connect_with(&node, &of("alice", connect(&first)));
    drop(Client::connect_with(&node, &of("alice", lasting(&second))));
    for version in [Version::V5, Version::V311] {
        for id in ["third", "fourth", "fifth"] {
            let packet = of("alice", connect(id)).in_version(version);
            let expected =
                if version == Version::V5 { ReasonCode::QuotaExceeded } else { ReasonCode::ServerUnavailable };
            assert_eq!(Client::try_connect(&node, &packet), expected, "{id} {version:?}");
        }
    }
    assert_eq!((metric(&node, SHARE_REFUSED, "sessions"), told(&node, "alice has 2 sessions")), (6, 1));
    here.expect_silence();
    let (away, present) = Client::connect_with(&node, &of("alice", lasting(&second)));
    assert!(present, "who has a session comes back to it");
    Client::connect_with(&node, &of("bob", connect("bob")));
    Client::connect_with(&node, &connect("anonymous"));
    away.disconnect();
    here.disconnect();
    eventually("it has ended", || metric(&node, "lapwing_sessions", "") == 1);
    Client::connect_with(&node, &of("alice", connect("third")));
}

/// Do sessions that came back from the disk count, and is none of them lost because the share has become smaller?
#[test]
fn what_comes_back_counts_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let on_disk = format!(r#", "data_dir": {:?}, "durability": "disk""#, dir.path());
    let before = start("", &on_disk);
    for id in ["a", "b", "c"] {
        let (mut client, _) = Client::connect_with(&before, &of("alice", lasting(id)));
        client.subscribe(&format!("$share/{id}/t"), AT_MOST_ONCE);
    }
    before.stop().unwrap();

    let after = start(r#""sessions_per_identity_max": 2, "groups_per_identity_max": 2"#, &on_disk);
    assert_eq!(Client::try_connect(&after, &of("alice", connect("d"))), ReasonCode::QuotaExceeded);
    assert_eq!(metric(&after, "lapwing_sessions", ""), 3);
    for id in ["a", "b", "c"] {
        let (mut client, present) = Client::connect_with(&after, &of("alice", lasting(id)));
        assert!(present, "{id}");
        assert_eq!(client.try_subscribe(&format!("$share/{id}-more/t"), AT_MOST_ONCE), ReasonCode::QuotaExceeded);
        client.subscribe(&format!("$share/{id}/t"), AT_MOST_ONCE);
    }
    after.stop().unwrap();
}

fn retained<'a>(topic: &'a str, payload: &'a [u8], qos: QoS) -> Publish<'a> {
    let packet_id = (qos != QoS::AtMostOnce).then(|| PacketId::new(1).unwrap());
    Publish { retain: true, qos, packet_id, ..Publish::qos0(topic, payload) }
}

/// The answer to a retained message of QoS 1.
pub(crate) fn retain(client: &mut Client, topic: &str, payload: &[u8]) -> ReasonCode {
    client.send(&Packet::Publish(retained(topic, payload, QoS::AtLeastOnce)));
    client.expect("PUBACK", |packet| match packet {
        // Nobody has subscribed, which is no refusal.
        Packet::PubAck(ack) if ack.reason == ReasonCode::NoMatchingSubscribers => Some(ReasonCode::Success),
        Packet::PubAck(ack) => Some(ack.reason),
        _ => None,
    })
}

/// Waits until so many are kept: without a disk a message is acknowledged before the shard that keeps it has counted it.
pub(crate) fn kept_in_all(node: &Handle, count: u64) {
    eventually("kept", || metric(node, "lapwing_retained_messages", "") == count);
}

/// Is one retained message more than the share refused in 5.0, and delivered but not kept where nobody can be told (3.1.1, QoS 0,
/// wills), on either shard, while others keep theirs and there is room again for what is cleared?
#[test]
fn an_identity_has_so_many_retained_messages() {
    let node = start(r#""retained_messages_per_identity_max": 4"#, "");
    let [first, second] = ids_on_both_shards();
    let (mut one, _) = Client::connect_with(&node, &of("alice", connect(&first)));
    let (mut two, _) = Client::connect_with(&node, &of("alice", connect(&second)));
    for n in 0..4 {
        let client = if n % 2 == 0 { &mut one } else { &mut two };
        assert_eq!(retain(client, &format!("alice/{n}"), b"1"), ReasonCode::Success);
    }
    kept_in_all(&node, 4);
    for n in 4..12 {
        let client = if n % 2 == 0 { &mut one } else { &mut two };
        assert_eq!(retain(client, &format!("alice/{n}"), b"1"), ReasonCode::QuotaExceeded);
    }
    assert_eq!(
        (metric(&node, SHARE_REFUSED, "retained"), told(&node, "alice has its share of retained messages")),
        (8, 1)
    );
    assert_eq!(retain(&mut one, "alice/0", b"another"), ReasonCode::Success);

    let (mut watcher, _) = Client::connect_with(&node, &of("bob", connect("watcher")));
    watcher.subscribe("live/#", AT_MOST_ONCE);
    let (mut old, _) = Client::connect_with(&node, &of("alice", connect("old").in_version(Version::V311)));
    assert_eq!(retain(&mut old, "live/1", b"1"), ReasonCode::Success);
    one.send(&Packet::Publish(retained("live/2", b"2", QoS::AtMostOnce)));
    let last_words = Will { retain: true, ..will("live/3", b"3") };
    drop(Client::connect_with(&node, &of("alice", connect("dies").with_will(last_words))));
    let mut came: Vec<_> = (0..3).map(|_| watcher.receive().topic).collect();
    came.sort_unstable();
    assert_eq!(came, ["live/1", "live/2", "live/3"]);
    // The shard that would keep one may be another than the one that it was delivered by.
    eventually("all are refused", || metric(&node, SHARE_REFUSED, "retained") == 11);
    assert_eq!(metric(&node, "lapwing_retained_messages", ""), 4);

    let (mut bob, _) = Client::connect_with(&node, &of("bob", connect("bob")));
    for n in 0..4 {
        assert_eq!(retain(&mut bob, &format!("bob/{n}"), b"1"), ReasonCode::Success);
    }
    kept_in_all(&node, 8);
    assert_eq!(retain(&mut bob, "bob/4", b"1"), ReasonCode::QuotaExceeded);
    assert_eq!(retain(&mut two, "alice/1", b""), ReasonCode::Success);
    assert_eq!(retain(&mut one, "alice/4", b"1"), ReasonCode::Success);
}

/// Are bytes a share of their own, and does what was on disk count for whom it was of, and stay where the share became smaller?
#[test]
fn retained_messages_that_come_back_count() {
    let dir = tempfile::tempdir().unwrap();
    let on_disk = format!(r#", "data_dir": {:?}, "durability": "disk""#, dir.path());
    let before = start(r#""retained_bytes_per_identity_max": 10000"#, &on_disk);
    let (mut alice, _) = Client::connect_with(&before, &of("alice", connect("a")));
    assert_eq!(retain(&mut alice, "a/1", &[7; 4_000]), ReasonCode::Success);
    assert_eq!(retain(&mut alice, "a/2", &[7; 4_000]), ReasonCode::Success);
    assert_eq!(retain(&mut alice, "a/3", &[7; 4_000]), ReasonCode::QuotaExceeded);
    before.stop().unwrap();

    let after = start(r#""retained_bytes_per_identity_max": 5000"#, &on_disk);
    let (mut alice, _) = Client::connect_with(&after, &of("alice", connect("a")));
    assert_eq!(metric(&after, "lapwing_retained_messages", ""), 2);
    assert_eq!(retain(&mut alice, "a/3", b"1"), ReasonCode::QuotaExceeded);
    assert_eq!(retain(&mut alice, "a/1", &[8; 4_000]), ReasonCode::Success, "in its place");
    let (mut bob, _) = Client::connect_with(&after, &of("bob", connect("b")));
    assert_eq!(retain(&mut bob, "b", &[7; 4_000]), ReasonCode::Success);
    assert_eq!(retain(&mut alice, "a/1", b""), ReasonCode::Success);
    assert_eq!(retain(&mut alice, "a/2", b""), ReasonCode::Success);
    assert_eq!(retain(&mut alice, "a/3", b"1"), ReasonCode::Success);
}
