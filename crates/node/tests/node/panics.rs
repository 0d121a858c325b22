//! A defect in a shard: the node ends and says where and over whom; whoever starts it again finds all that was acknowledged.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use lapwing_codec::{Connect, Packet, QoS, SubscriptionOptions};
use lapwing_node::Handle;

use crate::client::Client;
use crate::eventually;
use crate::kill::publish_until_killed;
use crate::packets::{connect, lasting};

/// Names the data folder to the child process.
const DIR: &str = "LAPWING_TEST_PANICKING_CHILD_DIR";
/// How the child says that a defect has ended it: as `lapwing broker` does.
const DEFECT: i32 = 70;
/// A client id that would clear a terminal and begin a line of its own.
const WRECKER: &str = "wrecker\u{1b}[2J\nerror:";
const ROUNDS: u32 = 3;

fn start(dir: &Path) -> Handle {
    crate::node(&format!(
        r#"{{"shards": 2, "data_dir": {dir:?}, "durability": "disk",
            "streams": {{"readings": {{"filter": "s/+/r"}}}}}}"#
    ))
}

/// Not a test of its own: the process that ends by a defect and is started again.
#[test]
#[ignore = "runs only as a child process"]
fn child() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    // Nobody is left to start it again, or to stop it, when its parent is gone.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let node = start(Path::new(&dir));
    println!("listening {}", node.listeners()[0]);
    while node.failure().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let error = node.stop().expect_err("it has failed");
    println!("failed {} {error}", error.code());
    std::process::exit(DEFECT);
}

/// What a supervisor has of the process that it starts.
struct Supervised {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    /// Open for as long as the child is to live: `Child::wait` would close it, and end the child in another way.
    _stdin: Option<ChildStdin>,
    url: String,
}

impl Supervised {
    fn start(dir: &Path) -> Supervised {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "panics::child", "--ignored", "--nocapture"])
            .env(DIR, dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = after(&mut lines, "listening ");
        let stdin = child.stdin.take();
        Supervised { child, lines, _stdin: stdin, url }
    }

    /// Waits for its end; returns its exit code and what it said of its failure.
    fn end(mut self) -> (Option<i32>, String) {
        let said = after(&mut self.lines, "failed ");
        (self.child.wait().unwrap().code(), said)
    }

    fn connect(&self, packet: &Connect<'_>) -> Client {
        let mut client = Client::open_url(&self.url);
        client.send(&Packet::Connect(*packet));
        client.expect("CONNACK", |packet| matches!(packet, Packet::ConnAck(_)).then_some(()));
        client
    }
}

/// What stands behind `word` in the first line that has it.
fn after(lines: &mut impl Iterator<Item = std::io::Result<String>>, word: &str) -> String {
    let found = lines.map_while(Result::ok).find_map(|line| line.split_once(word).map(|(_, rest)| rest.to_owned()));
    found.unwrap_or_else(|| panic!("the child has not said {word:?}"))
}

/// Publishes under load, has a shard panic in the middle of it; returns how many of each client were acknowledged.
fn round(broker: Supervised, round: u32) -> [u32; 2] {
    let (begun, all_begun) = mpsc::channel();
    let publishers = [0, 1].map(|n| {
        let (url, id, begun) = (broker.url.clone(), format!("device-{n}-{round}"), begun.clone());
        std::thread::spawn(move || publish_until_killed(&url, &id, &begun))
    });
    (0..2).for_each(|_| all_begun.recv_timeout(Duration::from_secs(60)).expect("all publish before the defect"));
    let mut wrecker = broker.connect(&connect(WRECKER));
    wrecker.publish("$fault/panic", b"\x1b[2J", QoS::AtMostOnce, None);
    let acknowledged = publishers.map(|publisher| publisher.join().unwrap());
    let (code, said) = broker.end();
    assert_eq!(code, Some(DEFECT));
    assert!(said.starts_with("defect lapwing-"), "{said}");
    assert!(said.contains(" stopped unexpectedly at crates/node/src/shard/faults.rs:"), "the place: {said}");
    assert!(said.contains(r#"with a packet of client "wrecker\u{1b}[2J\nerror:" in hand"#), "the client: {said}");
    assert!(said.ends_with(r": a fault of the test: \u{1b}[2J"), "the message: {said}");
    acknowledged
}

/// Does a defect end the process with its own code and one line that says where and over whose packet, whatever that one is
/// called, and is everything that was acknowledged there when a supervisor starts it again, and again?
#[test]
fn a_supervisor_starts_a_node_again_and_nothing_acknowledged_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path());
    let (mut keeper, _) = Client::connect_with(&node, &lasting("keeper"));
    keeper.subscribe("s/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    keeper.disconnect();
    node.stop().unwrap();

    let rounds: Vec<_> = (0..ROUNDS).map(|n| round(Supervised::start(dir.path()), n)).collect();

    let node = start(dir.path());
    Client::connect(&node, "last").0.publish_acked("s/last/r", b"last");
    let (mut keeper, was_there) = Client::connect_with(&node, &lasting("keeper"));
    assert!(was_there);
    let mut got = std::collections::BTreeSet::new();
    loop {
        let message = keeper.receive();
        keeper.acknowledge(&message);
        if message.topic == "s/last/r" {
            break;
        }
        got.insert((message.topic, message.payload));
    }
    for (round, acknowledged) in rounds.iter().enumerate() {
        for (n, count) in acknowledged.iter().enumerate() {
            let topic = format!("s/device-{n}-{round}/r");
            let lost = (0..*count).find(|serial| !got.contains(&(topic.clone(), serial.to_be_bytes().to_vec())));
            let there = got.iter().filter(|(name, _)| *name == topic).count();
            assert_eq!(lost, None, "{topic}: of {count} acknowledged; {there} came");
        }
    }
}

/// The same in this process, for whoever runs a node in his own: is it over for all, and said as a failure?
#[test]
fn a_defect_of_one_shard_ends_the_node() {
    let node = crate::node(r#"{"shards": 2}"#);
    let [here, there] = crate::ids_on_both_shards();
    let (mut wrecker, mut other) = (crate::connect(&node, &here), crate::connect(&node, &there));
    wrecker.publish("$fault/panic", b"", QoS::AtMostOnce, None);
    eventually("the node has failed", || node.failure().is_some());
    other.expect_end_anyhow();
    let failure = node.failure().unwrap();
    assert_eq!(failure.code, "defect");
    assert!(failure.message.contains(&format!("a packet of client {here:?}")), "{}", failure.message);
    assert!(!node.ready());
    node.stop().unwrap_err();
}
