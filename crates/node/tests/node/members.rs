//! Three members of a cluster in one process, over real sockets and certificates: one serves, the others stand by.

use std::path::Path;
use std::time::Instant;

use lapwing_codec::{QoS, SubscriptionOptions};
use lapwing_node::{
    Config, Extensions, Handle, Member, MemberConfig, NewCluster, NodeError, NodeStatus, OpenedLog, found_cluster,
    own_files,
};

use crate::client::Client;
use crate::marsh::{Marsh, active, certify, on_disk, seen, serve_at, status, until};
use crate::packets::lasting;

const QOS1: SubscriptionOptions = SubscriptionOptions::new(QoS::AtLeastOnce);

/// The one that serves is stopped, again and again: does the next one have everything that was acknowledged, in order?
#[test]
fn another_goes_on_with_everything() {
    let marsh = Marsh::new(3);
    let mut members = marsh.start_all();
    let mut last = None;
    for round in 0..4_u32 {
        let (place, handle) = active(&members);
        let (mut keeper, is_present) = Client::connect_with(&handle, &lasting("keeper"));
        assert_eq!(is_present, round > 0, "round {round}");
        if round == 0 {
            keeper.subscribe("t/#", QOS1);
        } else {
            for n in 0..20 {
                let message = keeper.receive();
                assert_eq!(String::from_utf8_lossy(&message.payload), format!("{}/{n}", round - 1));
                keeper.acknowledge(&message);
            }
        }
        keeper.expect_silence();
        drop(keeper);
        let mut publisher = crate::connect(&handle, "publisher");
        for n in 0..20 {
            publisher.publish_acked("t/a", format!("{round}/{n}").as_bytes());
        }
        drop((publisher, handle));
        members[place].take().expect("it ran").stop().expect("it ends well");
        if let Some(stopped) = last.replace(place) {
            members[stopped] = Some(marsh.start(stopped));
        }
    }
}

/// Does a folder that was founded serve with everything that it had, as one voter; is it nobody's else, and founded once?
#[test]
fn a_cluster_of_one_goes_on_with_its_folder() {
    let dir = tempfile::tempdir().expect("a folder");
    let config: Config = on_disk(dir.path());
    let alone = Handle::start(config.clone()).expect("a node");
    let (mut keeper, _) = Client::connect_with(&alone, &lasting("keeper"));
    keeper.subscribe("t/#", QOS1);
    drop(keeper);
    crate::connect(&alone, "publisher").publish_acked("t/a", b"before");
    alone.stop().expect("it ends well");
    let new = NewCluster {
        cluster_name: "marsh".into(),
        node_name: "north".into(),
        addresses: vec!["127.0.0.1:1890".into()],
        zone: String::new(),
        release: "lapwing".into(),
    };
    found_cluster(&config, &new).expect("founded");
    let again = found_cluster(&config, &new).expect_err("a member's folder").to_string();
    assert!(again.contains("is a member's folder already"), "{again}");
    match OpenedLog::open(&config) {
        Err(NodeError::OfCluster { dir: named }) => assert_eq!(named, dir.path()),
        other => panic!("{other:?}"),
    }
    let files = own_files(dir.path());
    let port = "127.0.0.1:0".parse().expect("an address");
    let mut settings =
        MemberConfig::new(vec![port], vec!["127.0.0.1:1890".into()], files.certificate, files.key, files.ca);
    (settings.heartbeat_ms, settings.election_ms) = (100, 300);
    for start in 1..=2 {
        let member =
            Member::start(config.clone(), &settings, Box::new(|| Ok(Extensions::default()))).expect("a member");
        let members = [Some(member)];
        let (_, handle) = active(&members);
        let (mut keeper, is_present) = Client::connect_with(&handle, &lasting("keeper"));
        assert!(is_present, "start {start}");
        let message = keeper.receive();
        assert_eq!(message.payload, if start == 1 { b"before".to_vec() } else { b"behind".to_vec() });
        keeper.acknowledge(&message);
        keeper.expect_silence();
        drop(keeper);
        crate::connect(&handle, "publisher").publish_acked("t/a", b"behind");
        drop(handle);
        members[0].as_ref().expect("it runs").stop().expect("it ends well");
    }
}

/// Who is asked to step down serves no more, another one does, and nobody ends.
#[test]
fn who_steps_down_stands_by() {
    let marsh = Marsh::new(3);
    let members = marsh.start_all();
    let (first, handle) = active(&members);
    crate::connect(&handle, "publisher").publish_retained("state", b"1");
    drop(handle);
    members[first].as_ref().expect("it runs").step_down(None).expect("somebody else");
    let another = |place: usize| place != first && members[place].as_ref().is_some_and(|one| one.serving().is_some());
    until("another one", &members, || (0..3).any(another));
    let (place, handle) = active(&members);
    assert_ne!(place, first);
    let mut client = crate::connect(&handle, "reader");
    client.subscribe("state", QOS1);
    assert_eq!(client.receive().payload, b"1");
}

/// Is the node that was named the one that serves next, whichever that is; and is it said why one cannot?
#[test]
fn a_successor_can_be_named() {
    let marsh = Marsh::new(3);
    let mut members = marsh.start_all();
    for wanted in [2, 0, 1] {
        serve_at(&members, wanted);
    }
    let (place, _) = active(&members);
    let refused = |members: &[Option<Member>], to: usize| {
        let words = members[place].as_ref().expect("it runs").step_down(Some(to as u8 + 1)).expect_err("it cannot");
        assert_eq!(words.code(), "no_successor");
        words.to_string()
    };
    assert!(refused(&members, place).contains("is the one that is to step down"));
    assert!(refused(&members, 8).contains("node 9 cannot serve in place of this node: it does not belong"));
    let away = (place + 1) % 3;
    members[away].take().expect("it ran").stop().expect("it ends well");
    until("away", &members, || !seen(&status(&members, place), away as u8 + 1).is_some_and(|seen| seen.is_connected));
    assert!(refused(&members, away).contains("is not connected"));
}

/// Does each node know of each other one's disk and clock, and the one that serves how far they are; and are these metrics?
#[test]
fn nodes_tell_of_themselves() {
    let begun = Instant::now();
    let marsh = Marsh::new(3);
    let mut members = marsh.start_all();
    let (_, handle) = active(&members);
    crate::connect(&handle, "publisher").publish_acked("t/a", b"1");
    drop(handle);
    let is_told =
        |node: &NodeStatus| node.disk == Some("ok") && node.disk_free_bytes > Some(0) && node.skew_ms.is_some();
    until("told", &members, || (0..3).all(|place| status(&members, place).nodes.iter().all(is_told)));
    // One clock: it reads as another one for no longer than a word was on its way.
    let skew_ms =
        |place: usize| status(&members, place).nodes.iter().filter_map(|node| node.skew_ms).max().unwrap_or(0);
    assert!((0..3).all(|place| u128::from(skew_ms(place).unsigned_abs()) <= begun.elapsed().as_millis()));
    until("caught up", &members, || {
        let status = status(&members, active(&members).0);
        status.nodes.iter().all(|node| node.behind == Some(0) && node.is_catching_up == Some(false))
            && status.uncommitted_age_ms == Some(0)
    });
    let (place, _) = active(&members);
    let found = status(&members, place);
    assert!(found.elections >= 17, "{found:?}");
    assert!(found.nodes.iter().all(|node| (node.sent_bytes > 0) == (node.node != found.node)), "{found:?}");
    let metrics = members[place].as_ref().expect("it runs").metrics().expect("it answers");
    let count = |name: &str| metrics.iter().filter(|metric| metric.name == name).count();
    for (name, samples) in [
        ("lapwing_cluster_elections_total", 1),
        ("lapwing_cluster_uncommitted_age_seconds", 1),
        ("lapwing_cluster_appended_bytes_total", 3),
        ("lapwing_cluster_snapshots_total", 2),
        ("lapwing_cluster_disk_free_bytes", 3),
        ("lapwing_cluster_skew_seconds", 3),
        ("lapwing_cluster_log_bytes", 1),
    ] {
        assert_eq!(count(name), samples, "{name}");
    }
    // Who is away says nothing any more.
    let away = (place + 1) % 3;
    members[away].take().expect("it ran").stop().expect("it ends well");
    until("forgotten", &members, || {
        let status = status(&members, place);
        let node = seen(&status, away as u8 + 1).expect("a member");
        node.disk.is_none() && node.disk_free_bytes.is_none() && node.skew_ms.is_none()
    });
}

/// One of three alone serves nobody; with a second one it goes on with everything.
#[test]
fn nobody_serves_without_a_majority() {
    let marsh = Marsh::new(3);
    let mut members = marsh.start_all();
    let (first, handle) = active(&members);
    let (mut keeper, _) = Client::connect_with(&handle, &lasting("keeper"));
    keeper.subscribe("t/#", QOS1);
    drop(keeper);
    crate::connect(&handle, "publisher").publish_acked("t/a", b"kept");
    drop(handle);
    let others: Vec<usize> = (0..3).filter(|place| *place != first).collect();
    for place in &others {
        members[*place].take().expect("it ran").stop().expect("it ends well");
    }
    until("alone", &members, || members[first].as_ref().is_some_and(|member| member.serving().is_none()));
    members[others[0]] = Some(marsh.start(others[0]));
    let (_, handle) = active(&members);
    let (mut keeper, is_present) = Client::connect_with(&handle, &lasting("keeper"));
    assert!(is_present);
    assert_eq!(keeper.receive().payload, b"kept");
}

/// A folder that was copied is started beside its original, be it one that connects to others or that waits for them: the others
/// know, and it ends with words that say so.
#[test]
fn a_copied_folder_is_sent_away() {
    let marsh = Marsh::new(3);
    let mut members = marsh.start_all();
    for copied in [0, 2] {
        active(&members);
        members[copied].take().expect("it ran").stop().expect("it ends well");
        let copy = marsh.dir.path().join(format!("copy{copied}"));
        copy_folder(marsh.configs[copied].data_dir.as_deref().expect("a folder"), &copy);
        members[copied] = Some(marsh.start(copied));
        until("connected", &members, || {
            let status = members[copied].as_ref().and_then(|member| member.status().ok());
            status.is_some_and(|status| status.nodes.iter().all(|node| node.is_connected))
        });
        let elsewhere = "127.0.0.1:0".parse().expect("an address");
        let settings = MemberConfig { listen: vec![elsewhere], ..marsh.settings(copied) };
        let twin = marsh.try_start(on_disk(&copy), &settings).expect("it looks whole from inside");
        let is_told = || twin.failure().is_some_and(|failure| failure.message.contains("one of the folders is a copy"));
        until("sent away", &members, is_told);
        assert!(members.iter().flatten().all(|member| member.failure().is_none()));
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let copy = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy_folder(&entry.path(), &copy),
            false => drop(std::fs::copy(entry.path(), copy).expect("copied")),
        }
    }
}

/// A certificate of another authority, or of another node: no member, and nothing else is felt.
#[test]
fn another_certificate_is_no_member() {
    let marsh = Marsh::new(3);
    let other = tempfile::tempdir().expect("a folder");
    certify(other.path(), 3);
    let file = |name: &str| other.path().join(name);
    let mut settings = marsh.settings(2);
    (settings.files.certificate, settings.files.key) = (file("2.pem"), file("2.key"));
    settings.files.ca = file("ca.pem");
    let wrong = marsh.try_start(marsh.configs[2].clone(), &settings).err().expect("that of another node").to_string();
    assert!(wrong.contains("cluster.certificate"), "{wrong}");
    (settings.files.certificate, settings.files.key) = (file("3.pem"), file("3.key"));
    let stranger = marsh.try_start(marsh.configs[2].clone(), &settings).expect("it knows no better");
    let members = [Some(marsh.start(0)), Some(marsh.start(1)), None];
    let (_, handle) = active(&members);
    crate::connect(&handle, "publisher").publish_acked("t/a", b"two of three");
    until("cut", &members, || {
        let cuts = |member: &Member| member.status().map_or(0, |status| status.cuts.values().sum::<u64>());
        members.iter().flatten().map(cuts).sum::<u64>() > 0
    });
    let status = stranger.status().expect("it runs");
    assert!(status.nodes.iter().all(|node| node.is_connected == (node.node == 3)), "{status:?}");
    assert_eq!(status.role, "standby");
}
