//! Another broker as a bridge: what its level asks for, the topic of its state, and who may be one.

use lapwing_codec::{Connect, QoS, ReasonCode, SubscriptionOptions, Version};

use crate::client::Client;
use crate::packets::{ConnectExt, connect, lasting, will};
use crate::{metric, node};

const AT_LEAST_ONCE: SubscriptionOptions = SubscriptionOptions::new(QoS::AtLeastOnce);
const STATE: &str = "$SYS/broker/connection/br-1/state";

fn bridge<'a>(id: &'a str, version: Version) -> Connect<'a> {
    Connect { is_bridge: true, clean_start: false, ..connect(id) }.in_version(version)
}

fn level(is_bridge: bool) -> Connect<'static> {
    Connect { is_bridge, ..connect("br-1") }.in_version(Version::V311)
}

/// Does a bridge get nothing of its own back, and RETAIN as it was published, in both versions that have no options for it?
#[test]
fn a_bridge_hears_others_only_and_retain_as_it_was() {
    let node = node(r#"{"shards": 2}"#);
    for (id, version) in [("a-bridge-of-3.1-with-a-long-name", Version::V31), ("br-1", Version::V311)] {
        let (mut bridge, _) = Client::connect_with(&node, &bridge(id, version));
        bridge.subscribe("#", AT_LEAST_ONCE);
        bridge.publish_acked("mine", b"1");
        let (mut other, _) = Client::connect(&node, "other");
        other.publish_retained(id, b"kept");
        other.publish_acked("theirs", b"2");
        let first = bridge.receive();
        assert_eq!((first.topic.as_str(), first.retain), (id, true));
        bridge.acknowledge(&first);
        let second = bridge.receive();
        assert_eq!((second.topic.as_str(), second.retain), ("theirs", false));
        bridge.acknowledge(&second);
        bridge.expect_silence();
        other.publish_retained(id, b"");
        let cleared = bridge.receive();
        bridge.acknowledge(&cleared);
        bridge.disconnect();
    }
}

/// Is the state of a bridge kept as any retained message, with its will when it is cut off?
#[test]
fn a_bridge_says_whether_it_is_connected() {
    let node = node(r#"{"shards": 2}"#);
    let (mut watcher, _) = Client::connect(&node, "watcher");
    watcher.subscribe("$SYS/broker/connection/#", AT_LEAST_ONCE);
    let left = lapwing_codec::Will { retain: true, ..will(STATE, b"0") };
    let (mut bridge, _) = Client::connect_with(&node, &bridge("br-1", Version::V311).with_will(left));
    bridge.publish_retained(STATE, b"1");
    let up = watcher.receive();
    assert_eq!((up.topic.as_str(), up.payload.as_slice()), (STATE, &b"1"[..]));
    watcher.acknowledge(&up);
    drop(bridge);
    let down = watcher.receive();
    assert_eq!(down.payload, b"0");
    watcher.acknowledge(&down);
    let (mut late, _) = Client::connect(&node, "late");
    late.subscribe(STATE, AT_LEAST_ONCE);
    assert_eq!((late.receive().payload.as_slice(), metric(&node, "lapwing_retained_messages", "")), (&b"0"[..], 1));
    // Its neighbours in the tree are the broker's own.
    for topic in ["$SYS/broker/connection/br-1", "$SYS/broker/uptime", "$SYS/broker/connection//state"] {
        let refused = Client::try_connect(&node, &lasting("liar").with_will(will(topic, b"0")));
        assert_eq!(refused, ReasonCode::NotAuthorized, "{topic}");
    }
}

/// Where there are rules: is a bridge who has the right, and may it publish only what they permit?
#[test]
fn rules_say_who_may_be_a_bridge() {
    let all = r##"{"identity": "anonymous", "may": ["publish", "subscribe"], "topics": ["#", "$SYS/broker/connection/+/state"]}"##;
    let right = r#"{"identity": "anonymous", "may": ["bridge"]}"#;
    let plain = r##"{"identity": "anonymous", "may": ["publish", "subscribe"], "topics": ["#"]}"##;
    let state = level(false).with_will(will(STATE, b"0"));
    for (rules, setting, as_bridge, with_state) in [
        (vec![all, right], true, ReasonCode::Success, ReasonCode::Success),
        (vec![plain, right], true, ReasonCode::Success, ReasonCode::NotAuthorized),
        (vec![all], true, ReasonCode::UnsupportedProtocolVersion, ReasonCode::NotAuthorized),
        (vec![all, right], false, ReasonCode::UnsupportedProtocolVersion, ReasonCode::NotAuthorized),
        (vec![], true, ReasonCode::Success, ReasonCode::Success),
        (vec![], false, ReasonCode::UnsupportedProtocolVersion, ReasonCode::NotAuthorized),
    ] {
        let limits = format!(r#""limits": {{"mqtt_bridges": {setting}}}"#);
        let node = node(&format!(r#"{{"shards": 1, {limits}, "rules": [{}]}}"#, rules.join(",")));
        assert_eq!(Client::try_connect(&node, &level(true)), as_bridge, "{rules:?} {setting}");
        assert_eq!(Client::try_connect(&node, &state), with_state, "{rules:?} {setting}");
        let refused = u64::from(as_bridge != ReasonCode::Success);
        assert_eq!(metric(&node, "lapwing_not_authorized_total", "bridge"), refused);
    }
}
