//! Three members of a cluster in one process, over real sockets and certificates: one serves, the others stand by.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use lapwing_authority::{Authority, NodeKey};
use lapwing_codec::{QoS, SubscriptionOptions};
use lapwing_node::{
    Config, Extensions, Handle, Member, MemberConfig, NewCluster, NodeError, OpenedLog, found_cluster, found_together,
    own_files,
};

use crate::client::Client;
use crate::config;
use crate::packets::lasting;

const QOS1: SubscriptionOptions = SubscriptionOptions::new(QoS::AtLeastOnce);
/// Only reached on failure.
const PATIENCE: Duration = Duration::from_secs(30);
const CLUSTER: [u8; 16] = [7; 16];

/// Folders, certificates and addresses of a cluster that can be started, node by node.
struct Marsh {
    dir: tempfile::TempDir,
    configs: Vec<Config>,
    addresses: Vec<SocketAddr>,
}

impl Marsh {
    fn new(nodes: usize) -> Marsh {
        let dir = tempfile::tempdir().expect("a folder");
        // Kept until all are known, so that they differ.
        let held: Vec<TcpListener> = (0..nodes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
        let addresses: Vec<SocketAddr> = held.iter().map(|held| held.local_addr().expect("an address")).collect();
        let configs: Vec<Config> = (1..=nodes).map(|node| on_disk(&dir.path().join(format!("n{node}")))).collect();
        let texts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        found_together(CLUSTER, &configs, &texts).expect("members");
        certify(dir.path(), nodes as u8);
        Marsh { dir, configs, addresses }
    }

    fn start(&self, node: usize) -> Member {
        let address = self.addresses[node];
        let file = |name: &str| self.dir.path().join(name);
        let mut settings = MemberConfig::new(
            vec![address],
            vec![address.to_string()],
            file(&format!("{}.pem", node + 1)),
            file(&format!("{}.key", node + 1)),
            file("ca.pem"),
        );
        (settings.heartbeat_ms, settings.election_ms) = (100, 500);
        Member::start(self.configs[node].clone(), &settings, Box::new(Extensions::default)).expect("a member")
    }
}

fn on_disk(dir: &Path) -> Config {
    config(&format!(r#"{{"data_dir": {dir:?}, "durability": "disk"}}"#))
}

fn certify(dir: &Path, nodes: u8) {
    let now = SystemTime::now();
    let authority = Authority::found(CLUSTER, now).expect("an authority");
    write(&dir.join("ca.pem"), authority.certificate_pem());
    for node in 1..=nodes {
        let key = NodeKey::generate().expect("a key");
        let request = key.request().expect("a request");
        write(&dir.join(format!("{node}.pem")), &authority.issue(node, &request, now).expect("a certificate"));
        write(&dir.join(format!("{node}.key")), &key.to_pem());
    }
}

/// For its owner alone.
fn write(path: &Path, text: &str) {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path).expect("a new file");
    file.write_all(text.as_bytes()).expect("written");
}

/// The node that serves, and its place among `members`, once one does.
fn active(members: &[Option<Member>]) -> (usize, Arc<Handle>) {
    let begun = Instant::now();
    loop {
        let serving =
            members.iter().enumerate().filter_map(|(place, member)| Some((place, member.as_ref()?.serving()?)));
        let serving: Vec<(usize, Arc<Handle>)> = serving.filter(|(_, handle)| handle.ready()).collect();
        if let [(place, handle)] = &serving[..] {
            return (*place, handle.clone());
        }
        for member in members.iter().flatten() {
            assert_eq!(member.failure(), None);
        }
        assert!(begun.elapsed() < PATIENCE, "{} serve: {:#?}", serving.len(), statuses(members));
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn statuses(members: &[Option<Member>]) -> Vec<String> {
    members.iter().flatten().map(|member| format!("{:?}", member.status())).collect()
}

/// The one that serves is stopped, again and again: does the next one have everything that was acknowledged, in order?
#[test]
fn another_goes_on_with_everything() {
    let marsh = Marsh::new(3);
    let mut members: Vec<Option<Member>> = (0..3).map(|node| Some(marsh.start(node))).collect();
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
    let config = on_disk(dir.path());
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
        Err(NodeError::Config { key, .. }) => assert_eq!(key, "data_dir"),
        other => panic!("{other:?}"),
    }
    let files = own_files(dir.path());
    let port = "127.0.0.1:0".parse().expect("an address");
    let mut settings =
        MemberConfig::new(vec![port], vec!["127.0.0.1:1890".into()], files.certificate, files.key, files.ca);
    (settings.heartbeat_ms, settings.election_ms) = (100, 300);
    for start in 1..=2 {
        let member = Member::start(config.clone(), &settings, Box::new(Extensions::default)).expect("a member");
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
