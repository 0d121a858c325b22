//! Users and rules that changed while the node was down: what the log brings back is held against those of today.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::LazyLock;

use lapwing_codec::{Connect, ConnectProperties, QoS, ReasonCode, SubscriptionOptions, WillProperties};
use lapwing_node::Handle;

use crate::client::Client;
use crate::packets::{ConnectExt, connect, lasting, will};
use crate::{eventually, ids_on_both_shards, metric, node};

/// Hashing is costly by design: once for all tests.
static HASH: LazyLock<String> = LazyLock::new(|| lapwing_access::hash_password(b"right").expect("it can be hashed"));
const AT_MOST_ONCE: SubscriptionOptions = SubscriptionOptions::new(QoS::AtMostOnce);
const AT_LEAST_ONCE: SubscriptionOptions = SubscriptionOptions::new(QoS::AtLeastOnce);

/// A node with these users, each of whom may do everything with the topics that are named.
fn start(dir: &Path, users: &[(&str, &str)]) -> Handle {
    start_with(dir, &users.iter().map(|(name, _)| *name).collect::<Vec<_>>(), users)
}

/// The same with rights for others too.
fn start_with(dir: &Path, users: &[&str], rights: &[(&str, &str)]) -> Handle {
    let access = access(users, rights);
    node(&format!(r#"{{"shards": 2, "data_dir": {dir:?}, "durability": "disk", {access}}}"#))
}

/// The same as keys of a configuration, or of a reload.
fn access(users: &[&str], rights: &[(&str, &str)]) -> String {
    let named = users.iter().map(|name| format!(r#"{{"name": "{name}", "password": "{}"}}"#, *HASH));
    let may = rights.iter().map(|(name, topics)| {
        format!(r#"{{"identity": "{name}", "may": ["publish", "subscribe"], "topics": ["{topics}"]}}"#)
    });
    let (named, may) = (named.collect::<Vec<_>>().join(","), may.collect::<Vec<_>>().join(","));
    format!(r#""auth": {{"users": [{named}]}}, "rules": [{may}]"#)
}

fn connect_as(node: &Handle, user: &str) -> Client {
    Client::connect_with(node, &of(user, connect(&format!("{user}-now")))).0
}

fn of<'a>(user: &'a str, packet: Connect<'a>) -> Connect<'a> {
    Connect { username: Some(user), password: Some(b"right"), ..packet }
}

/// Is a right that was taken away while the node was down gone from the first turn on: the subscription, and the will that
/// falls due after the start?
#[test]
fn a_right_taken_away_while_the_node_was_down_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let before = start(dir.path(), &[("keeper", "#"), ("alice", "#")]);
    let properties = WillProperties { delay_s: 1, ..WillProperties::default() };
    let last_will = lapwing_codec::Will { properties, ..will("secret/will", b"w") };
    let (mut keeper, _) = Client::connect_with(&before, &of("keeper", lasting("keeper").with_will(last_will)));
    keeper.subscribe("secret/#", AT_MOST_ONCE);
    drop(keeper);
    before.stop().unwrap();

    let after = start(dir.path(), &[("keeper", "public/#"), ("alice", "#")]);
    let (mut alice, _) = Client::connect_with(&after, &of("alice", connect("alice")));
    let (mut watcher, _) = Client::connect_with(&after, &of("alice", connect("watcher")));
    watcher.subscribe("#", AT_MOST_ONCE);
    alice.publish_acked("secret/x", b"news");
    assert_eq!(watcher.receive().payload, b"news");
    let (mut keeper, present) = Client::connect_with(&after, &of("keeper", lasting("keeper")));
    assert!(present);
    alice.publish_acked("secret/x", b"more");
    alice.publish_acked("public/x", b"for all");
    keeper.subscribe("public/#", AT_MOST_ONCE);
    alice.publish_acked("public/x", b"only this");
    assert_eq!(keeper.receive().payload, b"only this", "by the old subscription there came more");
    for expected in [&b"more"[..], b"for all", b"only this"] {
        assert_eq!(watcher.receive().payload, expected, "the will went where it may not");
    }
    assert_eq!(metric(&after, "lapwing_rights_revoked_total", ""), 2);
    after.stop().unwrap();
}

/// Is a will that a reload has taken back gone for good: also where rules permit it again, and the node is killed then?
#[test]
fn a_will_that_was_taken_back_does_not_come_again() {
    let dir = tempfile::tempdir().unwrap();
    let both = [("dying", "#"), ("alice", "#")];
    let before = start(dir.path(), &both);
    Client::connect_with(&before, &of("alice", lasting("alice"))).0.subscribe("#", AT_LEAST_ONCE);
    let stays = of("dying", lasting("stays").with_will(will("w/stays", b"w")));
    let ends = of("dying", connect("ends").with_will(will("w/ends", b"w")));
    let dying = [stays, ends].map(|packet| Client::connect_with(&before, &packet).0);
    let reload = |rights: &[(&str, &str)]| {
        before.reload(&format!(r#"{{"access": {{{}}}}}"#, access(&["dying", "alice"], rights))).unwrap();
    };
    reload(&[("dying", "other/#"), ("alice", "#")]);
    eventually("both are taken back", || metric(&before, "lapwing_rights_revoked_total", "") == 2);
    reload(&both);
    connect_as(&before, "alice").publish_acked("mark", b"all of it is written");
    drop(before);
    drop(dying);

    let after = start(dir.path(), &both);
    let (mut alice, _) = Client::connect_with(&after, &of("alice", lasting("alice")));
    let first = alice.receive();
    alice.acknowledge(&first);
    connect_as(&after, "alice").publish_acked("mark", b"the end");
    assert_eq!((&*first.payload, &*alice.receive().payload), (&b"all of it is written"[..], &b"the end"[..]));
}

/// A reload without the rule by which somebody subscribed: is it told who has lost what, also of one that is away; and nothing
/// where the rule comes back, which brings no subscription back?
#[test]
fn subscriptions_that_a_reload_takes_back_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let both = [("room", "alarms/#"), ("plant", "other/#")];
    let node = start(dir.path(), &both);
    let (mut room, _) = Client::connect_with(&node, &of("room", lasting("room")));
    room.subscribe("alarms/#", AT_LEAST_ONCE);
    drop(Client::connect_with(&node, &of("plant", lasting("plant"))));
    let reload = |rights: &[(&str, &str)]| {
        node.reload(&format!(r#"{{"access": {{{}}}}}"#, access(&["room", "plant"], rights))).unwrap();
    };
    reload(&both[1..]);
    let mut told = vec![];
    eventually("it is told", || {
        told.extend(node.take_log().into_iter().filter(|line| line.text.starts_with("users or rules have changed")));
        !told.is_empty()
    });
    let line = "takes back 1 subscription of 1 client: client \"room\" \"alarms/#\"; a right that comes back does not";
    assert!(told[0].text.contains(line) && told[0].subject == "lost", "{told:?}");
    let facts: serde_json::Value = serde_json::from_str(told[0].facts.as_deref().unwrap()).unwrap();
    assert_eq!(facts["first"][0]["client_id"], "room");
    reload(&both);
    connect_as(&node, "room").publish_acked("alarms/1", b"x");
    room.expect_silence();
    let again = node.take_notices();
    assert!(!again.iter().any(|line| line.contains("takes back")), "{again:?}");
    node.stop().unwrap();
}

/// Does the session of a user who is no more end at the start, so that its client id is free?
#[test]
fn the_session_of_a_removed_user_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let before = start(dir.path(), &[("gone", "#"), ("alice", "#")]);
    drop(Client::connect_with(&before, &of("gone", lasting("device-1"))));
    before.stop().unwrap();

    let after = start(dir.path(), &[("alice", "#")]);
    let expiry = ConnectProperties { session_expiry_s: 60, ..ConnectProperties::default() };
    let again = Connect { properties: expiry, ..lasting("device-1") };
    let (_, present) = Client::connect_with(&after, &of("alice", again));
    assert!(!present, "the session of somebody else");
    assert_eq!(Client::try_connect(&after, &of("gone", connect("other"))), ReasonCode::BadUserNameOrPassword);
    after.stop().unwrap();
}

/// Does the will of a session that ends so reach those who are kept, by whichever shard?
#[test]
fn the_will_of_a_removed_user_reaches_every_shard() {
    let dir = tempfile::tempdir().unwrap();
    let rights = [("gone", "#"), ("alice", "#")];
    let before = start_with(dir.path(), &["gone", "alice"], &rights);
    let watchers = ids_on_both_shards();
    for id in &watchers {
        Client::connect_with(&before, &of("alice", lasting(id))).0.subscribe("w/#", AT_LEAST_ONCE);
    }
    for id in watchers.iter().map(|id| format!("{id}-gone")).chain((0..8).map(|n| format!("gone-{n}"))) {
        let properties = WillProperties { delay_s: 3_600, ..WillProperties::default() };
        let last_will = lapwing_codec::Will { properties, ..will("w/gone", b"w") };
        drop(Client::connect_with(&before, &of("gone", lasting(&id).with_will(last_will))));
    }
    before.stop().unwrap();

    let after = start_with(dir.path(), &["alice"], &rights);
    for id in &watchers {
        let (mut watcher, present) = Client::connect_with(&after, &of("alice", lasting(id)));
        assert!(present);
        for _ in 0..10 {
            assert_eq!(watcher.receive().topic, "w/gone");
        }
    }
    after.stop().unwrap();
}

/// Whatever the umask: can nobody but its owner read what lies in the data folder?
#[test]
fn a_data_folder_is_its_owners() {
    fn open_to_others(folder: &Path, found: &mut Vec<String>) {
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o077;
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if mode(&path) != 0 {
                found.push(path.display().to_string());
            }
            if path.is_dir() {
                open_to_others(&path, found);
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let node =
        node(&format!(r#"{{"data_dir": {data:?}, "durability": "disk", "streams": {{"all": {{"filter": "s/#"}}}}}}"#));
    Client::connect_with(&node, &lasting("c")).0.publish_acked("s/x", b"private");
    node.stop().unwrap();
    let mut found = Vec::new();
    open_to_others(dir.path(), &mut found);
    assert_eq!(found, Vec::<String>::new());
}
