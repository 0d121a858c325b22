//! A cluster's folders, certificates and addresses, for members in one process.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use lapwing_authority::{Authority, NodeKey};
use lapwing_cluster::Token;
use lapwing_node::{
    Config, Extensions, Handle, Member, MemberConfig, MemberError, MemberStatus, NodeStatus, found_together,
};

use crate::config;

/// Only reached on failure.
pub const PATIENCE: Duration = Duration::from_secs(30);
const CLUSTER: [u8; 16] = [7; 16];

/// Folders, certificates and addresses of a cluster that can be started, node by node.
pub struct Marsh {
    pub dir: tempfile::TempDir,
    pub configs: Vec<Config>,
    addresses: Vec<SocketAddr>,
    /// Where the others reach each.
    fronts: Vec<String>,
    /// What differs from the settings of the design.
    pub change: fn(&mut MemberConfig),
}

impl Marsh {
    pub fn new(nodes: usize) -> Marsh {
        Marsh::behind(nodes, |address| address)
    }

    /// `front`: where the others reach who listens there.
    pub fn behind(nodes: usize, front: impl Fn(SocketAddr) -> SocketAddr) -> Marsh {
        let dir = tempfile::tempdir().expect("a folder");
        // Kept until all are known, so that they differ.
        let held: Vec<TcpListener> = (0..nodes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
        let addresses: Vec<SocketAddr> = held.iter().map(|held| held.local_addr().expect("an address")).collect();
        let configs: Vec<Config> = (1..=nodes).map(|node| on_disk(&dir.path().join(format!("n{node}")))).collect();
        let fronts: Vec<String> = addresses.iter().map(|address| front(*address).to_string()).collect();
        found_together(CLUSTER, &configs, &fronts).expect("members");
        certify(dir.path(), nodes as u8);
        for config in &configs {
            let own = config.data_dir.as_deref().expect("a folder").join("cluster-ca.key");
            std::fs::copy(dir.path().join("ca.key"), own).expect("copied");
        }
        Marsh { dir, configs, addresses, fronts, change: |_| {} }
    }

    /// All of them, by place.
    pub fn start_all(&self) -> Vec<Option<Member>> {
        (0..self.configs.len()).map(|node| Some(self.start(node))).collect()
    }

    pub fn start(&self, node: usize) -> Member {
        self.try_start(self.configs[node].clone(), &self.settings(node)).expect("a member")
    }

    pub fn try_start(&self, config: Config, settings: &MemberConfig) -> Result<Member, MemberError> {
        Member::start(config, settings, Box::new(|| Ok(Extensions::default())))
    }

    /// As real ones are: where the machine is busy nobody is elected because of that.
    pub fn settings(&self, node: usize) -> MemberConfig {
        let address = self.addresses[node];
        let file = |name: &str| self.dir.path().join(name);
        let (certificate, key) = (file(&format!("{}.pem", node + 1)), file(&format!("{}.key", node + 1)));
        let front = vec![self.fronts[node].clone()];
        let mut settings = MemberConfig::new(vec![address], front, certificate, key, file("ca.pem"));
        (settings.heartbeat_ms, settings.election_ms) = (100, 1_000);
        (self.change)(&mut settings);
        settings
    }
}

pub fn on_disk(dir: &Path) -> Config {
    config(&format!(r#"{{"data_dir": {dir:?}, "durability": "disk"}}"#))
}

/// An authority, and a certificate of it for each node.
pub fn certify(dir: &Path, nodes: u8) {
    let now = SystemTime::now();
    let authority = Authority::found(CLUSTER, now).expect("an authority");
    write(&dir.join("ca.pem"), authority.certificate_pem());
    write(&dir.join("ca.key"), &authority.key_pem());
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
pub fn active(members: &[Option<Member>]) -> (usize, Arc<Handle>) {
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

/// Has this one serve: whoever does instead is asked to step down for it, again where it came to nothing.
pub fn serve_at(members: &[Option<Member>], wanted: usize) -> Arc<Handle> {
    let begun = Instant::now();
    loop {
        let (place, handle) = active(members);
        if place == wanted {
            return handle;
        }
        drop(handle);
        let asked = members[place].as_ref().expect("it runs").step_down(Some(wanted as u8 + 1));
        assert!(begun.elapsed() < PATIENCE, "{wanted} never serves, {asked:?}: {:#?}", statuses(members));
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn statuses(members: &[Option<Member>]) -> Vec<String> {
    members.iter().flatten().map(|member| format!("{:?}", member.status())).collect()
}

/// Waits until it is so.
pub fn until(what: &str, members: &[Option<Member>], is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "never {what}: {:#?}", statuses(members));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// As that one sees it.
pub fn status(members: &[Option<Member>], place: usize) -> MemberStatus {
    members[place].as_ref().expect("it runs").status().expect("it answers")
}

/// What a status says of a node.
pub fn seen(status: &MemberStatus, node: u8) -> Option<&NodeStatus> {
    status.nodes.iter().find(|seen| seen.node == node)
}

/// Asks whoever serves; who did when that was looked at may do so no more, and then the next one is asked.
pub fn led<T>(
    members: &[Option<Member>],
    ask: impl Fn(usize, &Member) -> Result<T, MemberError>,
) -> Result<T, MemberError> {
    let begun = Instant::now();
    loop {
        let (place, _) = active(members);
        match ask(place, members[place].as_ref().expect("it serves")) {
            Err(MemberError::NotLeader { .. }) if begun.elapsed() < PATIENCE => {}
            asked => return asked,
        }
    }
}

/// A token of whoever serves.
pub fn token(members: &[Option<Member>]) -> Token {
    led(members, |_, leader| leader.make_token()).expect("a token")
}
