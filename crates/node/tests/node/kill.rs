//! SIGKILL: a real process is killed while clients publish; nothing acknowledged may be missing.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use lapwing_codec::{Packet, QoS};
use lapwing_node::Handle;

use crate::client::Client;
use crate::packets::connect;
use crate::streams::{read_all, streams};

/// Names the data folder to the child process.
const DIR: &str = "LAPWING_TEST_CHILD_DIR";

/// Not a test of its own: the process that `killed_while_publishing` starts and kills.
#[test]
#[ignore = "runs only as a child process"]
fn child() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let node = Handle::start(streams(Path::new(&dir), 2, "")).unwrap();
    println!("listening {}", node.listeners()[0]);
    // Lives until it is killed, or until its parent is gone.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

fn start_child(dir: &Path) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::child", "--ignored", "--nocapture"])
        .env(DIR, dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = lines.map_while(Result::ok).find_map(|line| line.split("listening ").nth(1).map(str::to_owned));
    (child, url.expect("the child says where it listens"))
}

/// Publishes with a window until the node is gone, and says when the first is acknowledged; returns how many of its
/// messages were, in order.
pub fn publish_until_killed(url: &str, id: &str, begun: &mpsc::Sender<()>) -> u32 {
    let mut client = Client::open_url(url);
    client.send(&Packet::Connect(connect(id)));
    client.expect("CONNACK", |packet| matches!(packet, Packet::ConnAck(_)).then_some(()));
    let topic = format!("s/{id}/r");
    let (mut sent, mut acknowledged) = (0_u32, 0_u32);
    loop {
        while sent - acknowledged < 100 {
            let mut bytes = Vec::new();
            let packet_id = (sent % 1000) as u16 + 1;
            crate::packets::publish(&topic, &sent.to_be_bytes(), QoS::AtLeastOnce, Some(packet_id))
                .encode(client.version, &mut bytes)
                .unwrap();
            if !client.try_send_bytes(&bytes) {
                return acknowledged;
            }
            sent += 1;
        }
        let Some(packet_id) = client.try_ack() else { return acknowledged };
        assert_eq!(packet_id, (acknowledged % 1000) as u16 + 1);
        acknowledged += 1;
        if acknowledged == 1 {
            begun.send(()).expect("the killer waits");
        }
    }
}

/// Is every acknowledged message there when the killed node is opened again, each once and in the order of its client?
#[test]
fn killed_while_publishing() {
    let dir = tempfile::tempdir().unwrap();
    let mut kept: [Vec<u32>; 4] = Default::default();
    for round in 0..3_u32 {
        let (mut child, url) = start_child(dir.path());
        let (begun, all_begun) = mpsc::channel();
        let publishers: Vec<_> = (0..4)
            .map(|n| {
                let (url, id, begun) = (url.clone(), format!("device-{n}-{round}"), begun.clone());
                std::thread::spawn(move || publish_until_killed(&url, &id, &begun))
            })
            .collect();
        (0..4).for_each(|_| all_begun.recv_timeout(Duration::from_secs(60)).expect("all publish before the kill"));
        // Somewhere in the middle: the moment is not the point, only that it differs.
        std::thread::sleep(Duration::from_millis(20 + u64::from(round) * 57));
        child.kill().unwrap();
        child.wait().unwrap();
        for (n, publisher) in publishers.into_iter().enumerate() {
            kept[n].push(publisher.join().unwrap());
        }
    }
    let node = Handle::start(streams(dir.path(), 1, "")).unwrap();
    let all = read_all(&node);
    for (n, rounds) in kept.iter().enumerate() {
        for (round, acknowledged) in rounds.iter().enumerate() {
            let id = format!("device-{n}-{round}");
            let serials: Vec<u32> = all
                .iter()
                .filter(|(_, client, ..)| *client == id)
                .map(|row| u32::from_be_bytes(row.3[..].try_into().unwrap()))
                .collect();
            assert!(serials.len() >= *acknowledged as usize, "{id}: {} of {acknowledged}", serials.len());
            assert!(serials.iter().copied().eq(0..serials.len() as u32), "{id}: out of order or twice");
        }
    }
}
