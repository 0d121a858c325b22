//! The table `[cluster]`, as the configuration says it, and what a member is started with for it.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use lapwing_transport::PeerFiles;
use serde::Deserialize;

use super::found::{NewCluster, own_files};
use super::join::NewNode;
use super::settings::MemberConfig;
use crate::error::NodeError;

/// What a node says of its program.
const RELEASE: &str = concat!("lapwing/", env!("CARGO_PKG_VERSION"));

/// `[cluster]`, in the units of its keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterTable {
    /// What people call the node.
    pub name: String,
    /// Where other nodes connect, `HOST:PORT`.
    pub listen: String,
    /// Where they are told to; none: where it listens.
    #[serde(default)]
    pub advertise: Vec<String>,
    /// Where it stands; empty: nobody has said.
    #[serde(default)]
    pub zone: String,
    /// The leader speaks to everybody at least so often.
    pub heartbeat_ms: u64,
    /// Who hears nothing for so long, and up to half more, stands for election.
    pub election_ms: u64,
    /// Batches in memory for who lags a little, all groups together.
    pub tail_bytes: u64,
    /// Snapshots go to others no faster than so many bytes a second, to each.
    pub move_bytes_per_s: u64,
    /// The node's certificate for the others; none of the three: what `init` and `join` have made.
    #[serde(default)]
    pub certificate: Option<PathBuf>,
    /// Its key.
    #[serde(default)]
    pub key: Option<PathBuf>,
    /// Whose certificates count.
    #[serde(default)]
    pub ca: Option<PathBuf>,
}

impl ClusterTable {
    /// Reads it.
    ///
    /// # Errors
    /// `Config`: it is no such table.
    pub fn from_json(text: &str) -> Result<ClusterTable, NodeError> {
        serde_json::from_str(text)
            .map_err(|error| NodeError::config("cluster", error.to_string(), "Correct this table."))
    }

    /// What a member on this data folder is started with.
    ///
    /// # Errors
    /// `Config`: an address that cannot be found, or that others cannot connect to.
    pub fn settings(&self, data_dir: &Path) -> Result<MemberConfig, NodeError> {
        let PeerFiles { certificate, key, ca } = self.files(data_dir)?;
        let mut settings = MemberConfig::new(self.addresses()?, self.advertised()?, certificate, key, ca);
        settings.heartbeat_ms = self.heartbeat_ms;
        settings.election_ms = self.election_ms;
        settings.tail_bytes = self.tail_bytes;
        settings.move_bytes_per_s = self.move_bytes_per_s;
        Ok(settings)
    }

    /// A cluster of this name with this node as its first.
    ///
    /// # Errors
    /// `Config`: as of [`ClusterTable::settings`].
    pub fn founder(&self, cluster_name: &str) -> Result<NewCluster, NodeError> {
        Ok(NewCluster {
            cluster_name: cluster_name.to_owned(),
            node_name: self.name.clone(),
            addresses: self.advertised()?,
            zone: self.zone.clone(),
            release: RELEASE.into(),
        })
    }

    /// A node that joins a cluster.
    ///
    /// # Errors
    /// `Config`: as of [`ClusterTable::settings`].
    pub fn joiner(&self) -> Result<NewNode, NodeError> {
        Ok(NewNode {
            name: self.name.clone(),
            addresses: self.advertised()?,
            zone: self.zone.clone(),
            release: RELEASE.into(),
        })
    }

    fn files(&self, data_dir: &Path) -> Result<PeerFiles, NodeError> {
        match (self.certificate.clone(), self.key.clone(), self.ca.clone()) {
            (None, None, None) => Ok(own_files(data_dir)),
            (Some(certificate), Some(key), Some(ca)) => Ok(PeerFiles { certificate, key, ca }),
            _ => Err(NodeError::config(
                "cluster.certificate",
                "is named, or cluster.key or cluster.ca, and not all three".into(),
                "Name all three, or none: then those of `lapwing cluster init` and `join` are used.",
            )),
        }
    }

    fn addresses(&self) -> Result<Vec<SocketAddr>, NodeError> {
        let found = self.listen.to_socket_addrs().map(|found| found.collect::<Vec<_>>());
        let wrong =
            |what: String| NodeError::config("cluster.listen", what, "Name an address of this machine and a port.");
        match found {
            Ok(found) if !found.is_empty() => Ok(found),
            Ok(_) => Err(wrong(format!("is {:?}, which is no address", self.listen))),
            Err(error) => Err(wrong(format!("is {:?}: {error}", self.listen))),
        }
    }

    /// An address that means all of a machine's means another machine somewhere else.
    fn advertised(&self) -> Result<Vec<String>, NodeError> {
        if !self.advertise.is_empty() {
            return Ok(self.advertise.clone());
        }
        let is_any = self.addresses()?.iter().any(|address| address.ip().is_unspecified());
        if is_any {
            let what =
                format!("is not given, and cluster.listen = {:?} says no address that others can use", self.listen);
            return Err(NodeError::config("cluster.advertise", what, "Say where other nodes reach this one."));
        }
        Ok(vec![self.listen.clone()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(listen: &str, rest: &str) -> ClusterTable {
        let text = format!(
            r#"{{"name": "n1", "listen": "{listen}", "heartbeat_ms": 200, "election_ms": 1000, "tail_bytes": 67108864, "move_bytes_per_s": 1048576{rest}}}"#
        );
        ClusterTable::from_json(&text).expect("a table")
    }

    /// Is an address that others cannot connect to refused, unless they are told another one?
    #[test]
    fn others_are_told_an_address_of_use() {
        let dir = Path::new("data");
        let settings = table("127.0.0.1:1890", "").settings(dir).expect("settings");
        assert_eq!(settings.advertise, ["127.0.0.1:1890"]);
        assert_eq!(settings.files.key, dir.join("cluster-node.key"));
        let refused = table("0.0.0.0:1890", "").settings(dir).expect_err("every machine's");
        assert!(refused.to_string().contains("cluster.advertise"), "{refused}");
        let told = table("0.0.0.0:1890", r#", "advertise": ["north.example:1890"]"#).settings(dir);
        assert_eq!(told.expect("settings").advertise, ["north.example:1890"]);
        assert!(table("nowhere", "").settings(dir).is_err());
    }

    /// Are files of one's own named all, or none?
    #[test]
    fn a_certificate_comes_with_its_key_and_authority() {
        let refused =
            table("127.0.0.1:1890", r#", "key": "own.key""#).settings(Path::new("data")).expect_err("one of three");
        assert!(refused.to_string().contains("not all three"), "{refused}");
    }
}
