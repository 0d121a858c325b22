//! Nodes that join a cluster, or found one: what people do by commands.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use lapwing_node::{
    Config, Extensions, Joined, Member, MemberConfig, MemberError, NewCluster, NewNode, found_cluster, join_cluster,
    own_files,
};

use crate::marsh::on_disk;

/// Somebody who wants to be a node.
pub struct Newcomer {
    pub config: Config,
    pub address: SocketAddr,
    pub name: String,
}

impl Newcomer {
    pub fn new(dir: &Path, name: &str) -> Newcomer {
        let held = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = held.local_addr().expect("an address");
        Newcomer { config: on_disk(&dir.join(name)), address, name: name.into() }
    }

    pub fn join(&self, token: &str) -> Result<Joined, MemberError> {
        let new = NewNode {
            name: self.name.clone(),
            addresses: vec![self.address.to_string()],
            zone: String::new(),
            release: "lapwing".into(),
        };
        join_cluster(&self.config, token, &new)
    }

    /// Its number in the cluster.
    pub fn joins(&self, token: &str) -> u8 {
        self.join(token).expect("it joins").node
    }

    /// Why it may not join, in a line.
    pub fn refused(&self, token: &str) -> String {
        let words = self.join(token).expect_err("it may not join").to_string();
        assert!(!words.contains('\n'), "{words}");
        words
    }

    pub fn dir(&self) -> &Path {
        self.config.data_dir.as_deref().expect("a folder")
    }

    pub fn start(&self) -> Member {
        let files = own_files(self.dir());
        let front = vec![self.address.to_string()];
        let mut settings = MemberConfig::new(vec![self.address], front, files.certificate, files.key, files.ca);
        (settings.heartbeat_ms, settings.election_ms) = (100, 1_000);
        Member::start(self.config.clone(), &settings, Box::new(|| Ok(Extensions::default())))
            .expect("a member's folder")
    }
}

/// A cluster of one, as people found it: its first node runs.
pub fn founded(dir: &Path) -> Vec<Option<Member>> {
    let founder = Newcomer::new(dir, "north");
    let new = NewCluster {
        cluster_name: "marsh".into(),
        node_name: founder.name.clone(),
        addresses: vec![founder.address.to_string()],
        zone: String::new(),
        release: "lapwing".into(),
    };
    found_cluster(&founder.config, &new).expect("founded");
    vec![Some(founder.start())]
}
