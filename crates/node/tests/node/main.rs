//! The node over real sockets, spoken to packet by packet through the codec.

mod audit;
mod basics;
mod beyond;
mod bound_names;
mod bridges;
mod certificates;
mod client;
mod copies;
mod declared_groups;
mod device;
mod doubts;
mod drain;
mod early;
mod exactly;
mod faulty_disk;
mod fields;
mod fronts;
mod full_queues;
mod goodbyes;
mod groups;
mod guesses;
mod handshakes;
mod holds;
mod holds_on_disk;
mod hook_double;
mod hooks;
mod hooks_connect;
mod hooks_failing;
mod hooks_wills;
mod hostile;
mod inspect;
mod kill;
mod limits;
mod linger;
mod losses;
mod marsh;
mod members;
mod members_join;
mod members_removed;
mod members_snapshot;
mod message_expiry;
mod named_entries;
mod newcomer;
mod notices;
mod one_offs;
mod operators;
mod outside;
mod owed_replays;
mod owed_wills;
mod packets;
#[cfg(debug_assertions)]
mod panics;
mod passwords;
mod privileges;
mod retained;
mod rights_at_start;
mod serving;
mod sessions;
mod shards;
mod shares;
mod sn;
mod stalls;
mod strangers;
mod streams;
mod subscriptions;
mod sys_tree;
mod takeovers;
mod tls_peer;
mod tokens;
mod tokens_fetched;
mod what_is_free;

use client::Client;
use lapwing_node::{Config, Handle};

/// A node on a free port, for a configuration in JSON (`listen` is added).
fn node(json: &str) -> Handle {
    Handle::start(config(json)).expect("the node starts")
}

fn config(json: &str) -> Config {
    let mut config = Config::from_json(json).expect("the test's configuration is right");
    config.listen = vec!["tcp://127.0.0.1:0".into()];
    config.pin = false;
    config
}

/// The value of a metric, its labels ignored when `labels` is empty.
fn metric(node: &Handle, name: &str, label: &str) -> u64 {
    let metrics = node.metrics();
    let found =
        metrics.iter().filter(|m| m.name == name && (label.is_empty() || m.labels.iter().any(|l| l.1 == label)));
    found.map(|m| m.value as u64).sum()
}

/// Polls until `done` or a deadline of ten seconds.
fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !done() {
        assert!(begun.elapsed().as_secs() < 60, "not within a minute: {what}");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// The shard of two on which a client, or a retained topic, of this name lives.
fn shard_of_two(name: &str) -> usize {
    lapwing_node::Placement::of_shards(2).owner_of(lapwing_node::Slot::of(name.as_bytes())).shard.index()
}

/// Two client ids that live on different shards of two.
fn ids_on_both_shards() -> [String; 2] {
    let on = |shard: usize| {
        let ids = (0..).map(|n| format!("client-{n}"));
        ids.into_iter().find(|id| shard_of_two(id) == shard).expect("endless")
    };
    [on(0), on(1)]
}

fn connect(node: &Handle, id: &str) -> Client {
    Client::connect(node, id).0
}
