//! Rules that name groups and client ids: who may take messages away from others, and whose a client id is.

use std::path::Path;
use std::sync::LazyLock;

use lapwing_codec::{Connect, QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_node::{GroupQuery, Handle};

use crate::client::Client;
use crate::packets::{ConnectExt, connect, lasting};
use crate::{eventually, ids_on_both_shards, metric, node};

/// Hashing is costly by design: once for all tests.
static HASH: LazyLock<String> = LazyLock::new(|| lapwing_access::hash_password(b"right").expect("it can be hashed"));
const AT_LEAST_ONCE: SubscriptionOptions = SubscriptionOptions::new(QoS::AtLeastOnce);
const EVERYTHING: &str = r##"{"identity": "*", "may": ["publish", "subscribe"], "topics": ["#"]}"##;

/// Users and rules, as a reload has them.
fn access(rules: &[&str]) -> String {
    let named = ["alice", "bob", "device-7"].map(|name| format!(r#"{{"name": "{name}", "password": "{}"}}"#, *HASH));
    format!(r#""auth": {{"users": [{}]}}, "rules": [{}]"#, named.join(","), rules.join(","))
}

fn start(rules: &[&str], rest: &str) -> Handle {
    node(&format!(r#"{{"shards": 2, {}{rest}}}"#, access(rules)))
}

fn reload(node: &Handle, rules: &[&str]) {
    node.reload(&format!(r#"{{"access": {{{}}}}}"#, access(rules))).unwrap();
}

fn on_disk(dir: &Path) -> String {
    format!(r#", "data_dir": {dir:?}, "durability": "disk""#)
}

fn of<'a>(user: &'a str, packet: Connect<'a>) -> Connect<'a> {
    Connect { username: Some(user), password: Some(b"right"), ..packet }
}

/// Rules by which everybody may read `jobs/#`, and only bob in the group `workers`.
const GROUPS: [&str; 3] = [
    r##"{"identity": "*", "may": ["publish"], "topics": ["#"]}"##,
    r##"{"identity": "*", "may": ["subscribe"], "topics": ["jobs/#"], "groups": ["%u-*"]}"##,
    r##"{"identity": "bob", "may": ["subscribe"], "topics": ["jobs/#"], "groups": ["workers"]}"##,
];

/// Who may read a topic: does it take nothing away from a group that its rules do not name, in both versions?
#[test]
fn a_reader_joins_no_group_of_others() {
    let node = start(&GROUPS, "");
    let (mut bob, _) = Client::connect_with(&node, &of("bob", connect("bob")));
    bob.subscribe("$share/workers/jobs/#", AT_LEAST_ONCE);
    for version in [Version::V5, Version::V311] {
        let (mut alice, _) = Client::connect_with(&node, &of("alice", connect("alice")).in_version(version));
        let refused = if version == Version::V5 { ReasonCode::NotAuthorized } else { ReasonCode::UnspecifiedError };
        for filter in ["$share/workers/jobs/#", "$share/workers/jobs/1", "$share/bob-1/jobs/#"] {
            assert_eq!(alice.try_subscribe(filter, AT_LEAST_ONCE), refused, "{filter} {version:?}");
        }
        alice.subscribe("$share/alice-1/jobs/#", AT_LEAST_ONCE);
        alice.subscribe("jobs/1", AT_LEAST_ONCE);
    }
    let (mut device, _) = Client::connect_with(&node, &of("device-7", connect("d")));
    for payload in [&b"1"[..], b"2", b"3", b"4"] {
        device.publish_acked("jobs/x", payload);
        let got = bob.receive();
        assert_eq!(got.payload, payload, "somebody else has it");
        bob.acknowledge(&got);
    }
    assert_eq!(metric(&node, "lapwing_not_authorized_total", "subscribe"), 6);
}

/// Members of all groups.
fn members(node: &Handle) -> usize {
    let query = GroupQuery { name: None, after: None, limit: 100, bytes_max: 1 << 20 };
    let page = node.groups(query).expect("all answer");
    page.groups.iter().map(|group| group.matches("\"client_id\"").count()).sum()
}

/// Is a membership that rules no longer permit taken back by a reload, and the messages with the others from then on?
#[test]
fn a_reload_takes_a_membership_back() {
    let node = start(&[EVERYTHING], "");
    let [first, second] = ids_on_both_shards();
    let (mut alice, _) = Client::connect_with(&node, &of("alice", lasting(&first)));
    alice.subscribe("$share/workers/jobs/#", AT_LEAST_ONCE);
    alice.subscribe("jobs/own", AT_LEAST_ONCE);
    let (mut bob, _) = Client::connect_with(&node, &of("bob", lasting(&second)));
    bob.subscribe("$share/workers/jobs/#", AT_LEAST_ONCE);
    reload(&node, &GROUPS);
    eventually("it is taken back", || metric(&node, "lapwing_rights_revoked_total", "") == 1);
    eventually("it has left", || members(&node) == 1);
    let (mut device, _) = Client::connect_with(&node, &of("device-7", connect("d")));
    for payload in [&b"1"[..], b"2", b"3", b"4"] {
        device.publish_acked("jobs/x", payload);
        let got = bob.receive();
        assert_eq!(got.payload, payload);
        bob.acknowledge(&got);
    }
    device.publish_acked("jobs/own", b"for alice");
    assert_eq!(alice.receive().payload, b"for alice", "its own subscription is no group");
}

/// The same for rules that changed while the node was down: a kept member of a group is none from the first turn on.
#[test]
fn a_membership_taken_away_while_the_node_was_down_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let before = start(&[EVERYTHING], &on_disk(dir.path()));
    let (mut alice, _) = Client::connect_with(&before, &of("alice", lasting("alice")));
    alice.subscribe("$share/workers/jobs/#", AT_LEAST_ONCE);
    drop(alice);
    before.stop().unwrap();

    let after = start(&GROUPS, &on_disk(dir.path()));
    let (mut bob, _) = Client::connect_with(&after, &of("bob", connect("bob")));
    assert_eq!(metric(&after, "lapwing_rights_revoked_total", ""), 1);
    bob.subscribe("$share/workers/jobs/#", AT_LEAST_ONCE);
    let (mut device, _) = Client::connect_with(&after, &of("device-7", connect("d")));
    let (mut alice, present) = Client::connect_with(&after, &of("alice", lasting("alice")));
    assert!(present, "the session goes on, without the group");
    for payload in [&b"1"[..], b"2"] {
        device.publish_acked("jobs/x", payload);
        let got = bob.receive();
        assert_eq!(got.payload, payload);
        bob.acknowledge(&got);
    }
    alice.expect_silence();
    after.stop().unwrap();
}

/// Rules by which devices have client ids of their own name.
const OWN_IDS: [&str; 3] = [
    EVERYTHING,
    r#"{"identity": "anonymous", "may": ["publish"], "topics": ["hello"]}"#,
    r#"{"identity": "device-*", "may": ["connect"], "client_ids": ["%u", "%u/*"]}"#,
];

/// Does a device get its own client ids and none else, and nobody one of its, in both versions and on both shards?
#[test]
fn client_ids_are_whose_the_rules_say() {
    let node = start(&OWN_IDS, "");
    let refused = ReasonCode::ClientIdentifierNotValid;
    for version in [Version::V5, Version::V311] {
        let ask = |packet: Connect<'_>| Client::try_connect(&node, &packet.in_version(version));
        for id in ["device-7", "device-7/a", "device-7/b"] {
            assert_eq!(ask(of("device-7", connect(id))), ReasonCode::Success, "{id} {version:?}");
            assert_eq!(ask(of("alice", connect(id))), refused, "{id} {version:?}");
            assert_eq!(ask(connect(id)), refused, "{id} {version:?}");
        }
        for id in ["device-8", "device-7x", "alice", "DEVICE-7"] {
            assert_eq!(ask(of("device-7", connect(id))), refused, "{id} {version:?}");
        }
        for id in ids_on_both_shards() {
            assert_eq!(ask(of("alice", connect(&id))), ReasonCode::Success);
        }
        assert_eq!(ask(of("device-7", connect(""))), ReasonCode::Success, "an id that it is given");
    }
    assert_eq!(metric(&node, "lapwing_not_authorized_total", "client_id"), 20);
}

/// Does somebody with a client id that is not his disturb neither its session nor its connection?
#[test]
fn a_client_id_of_another_takes_nothing_over() {
    let node = start(&OWN_IDS, "");
    let (mut device, _) = Client::connect_with(&node, &of("device-7", lasting("device-7")));
    device.subscribe("t", AT_LEAST_ONCE);
    for packet in [of("alice", connect("device-7")), of("bob", lasting("device-7")), connect("device-7")] {
        assert_eq!(Client::try_connect(&node, &packet), ReasonCode::ClientIdentifierNotValid);
    }
    device.expect_silence();
    drop(device);
    assert!(Client::connect_with(&node, &of("device-7", lasting("device-7"))).1, "the session is still there");
}

/// Who has squatted a client id before a rule gave it to somebody: does a reload end its session, here or away?
#[test]
fn a_reload_ends_sessions_under_client_ids_of_others() {
    let node = start(&[EVERYTHING], "");
    let [mine, theirs] = ["device-7", "device-7/b"];
    let (mut squatter, _) = Client::connect_with(&node, &of("alice", lasting(mine)));
    drop(Client::connect_with(&node, &of("bob", lasting(theirs))));
    let (mut bystander, _) = Client::connect_with(&node, &of("alice", lasting("alice")));
    reload(&node, &OWN_IDS);
    squatter.expect_end(Some(ReasonCode::NotAuthorized));
    eventually("both have ended", || metric(&node, "lapwing_sessions", "") == 1);
    bystander.expect_silence();
    for id in [mine, theirs] {
        let (_, present) = Client::connect_with(&node, &of("device-7", lasting(id)));
        assert!(!present, "the session of somebody else");
    }
    assert_eq!(metric(&node, "lapwing_rights_revoked_total", ""), 2);
}

/// The same for a rule that came while the node was down; who was given an id keeps its session.
#[test]
fn sessions_under_client_ids_of_others_end_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let before = start(&[EVERYTHING], &on_disk(dir.path()));
    drop(Client::connect_with(&before, &of("alice", lasting("device-7"))));
    let mut given = Client::open(&before);
    let given_id = given.connect_given(&of("device-7", Connect { clean_start: true, ..lasting("") }));
    drop(given);
    before.stop().unwrap();

    let after = start(&OWN_IDS, &on_disk(dir.path()));
    let (_, present) = Client::connect_with(&after, &of("device-7", lasting("device-7")));
    assert!(!present, "the session of somebody else");
    let (_, present) = Client::connect_with(&after, &of("device-7", lasting(&given_id)));
    assert!(present, "{given_id} was given to it");
    after.stop().unwrap();
}
