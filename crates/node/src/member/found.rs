//! The first member of a cluster, made of a stopped node's folder: its log, its identity, the cluster's authority and the
//! certificate for other nodes.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lapwing_authority::{Authority, NodeKey};
use lapwing_transport::PeerFiles;

use super::error::MemberError;
use super::news::features;
use crate::config::Config;
use crate::replica::{self, Founding};

/// The authority's certificate and key, and the node's own, in the data folder.
const CA: &str = "cluster-ca.pem";
const CA_KEY: &str = "cluster-ca.key";
const CERTIFICATE: &str = "cluster-node.pem";
const KEY: &str = "cluster-node.key";

/// What is said of a cluster and of its first node.
#[derive(Clone, Debug)]
pub struct NewCluster {
    /// What people call the cluster: letters, digits, `-`, `_` and `.`.
    pub cluster_name: String,
    /// What people call the node.
    pub node_name: String,
    /// Where other nodes reach it, `HOST:PORT`.
    pub addresses: Vec<String>,
    /// Where it stands; empty: nobody has said.
    pub zone: String,
    /// Of its program, for people.
    pub release: String,
}

/// Where the certificates of a member lie that were made for it.
pub fn own_files(data_dir: &Path) -> PeerFiles {
    let file = |name: &str| -> PathBuf { data_dir.join(name) };
    PeerFiles { certificate: file(CERTIFICATE), key: file(KEY), ca: file(CA) }
}

/// Founds a cluster in the configuration's data folder, which no broker uses meanwhile. Everything that the folder has goes on.
///
/// # Errors
/// The folder is a member's already, cannot be written, or what is said cannot be; it is as it was then. `Authority`, `System`:
/// the folder is a member's, and its certificate could not be made.
pub fn found_cluster(config: &Config, new: &NewCluster) -> Result<(), MemberError> {
    let NewCluster { cluster_name, node_name, addresses, zone, release } = new.clone();
    let founding = Founding { cluster_name, node_name, addresses, zone, release, features: features() };
    let identity = replica::found_cluster(config, founding)?;
    let dir = config.data_dir.as_deref().unwrap_or(Path::new(""));
    let now = SystemTime::now();
    let authority = Authority::found(identity.cluster.0, now)?;
    let key = NodeKey::generate()?;
    let certificate = authority.issue(identity.node.0, &key.request()?, now)?;
    write_certificates(dir, &authority, &key, &certificate)
}

/// What a member shows others, and the authority with its key, so that joining does not depend on one node.
pub(super) fn write_certificates(
    dir: &Path,
    authority: &Authority,
    key: &NodeKey,
    certificate: &str,
) -> Result<(), MemberError> {
    write(&dir.join(CA_KEY), &authority.key_pem())?;
    write(&dir.join(KEY), &key.to_pem())?;
    write(&dir.join(CERTIFICATE), certificate)?;
    write(&dir.join(CA), authority.certificate_pem())
}

/// The cluster's own authority, whose key lies in the data folder; `None`: the certificates are of somebody else's.
///
/// # Errors
/// `System`: the files cannot be read. `Authority`: they are not what they should be.
pub(super) fn own_authority(dir: &Path, ca: &Path, cluster: [u8; 16]) -> Result<Option<Authority>, MemberError> {
    let unread = |source| MemberError::System { doing: "read the cluster's authority", source };
    let key = match std::fs::read_to_string(dir.join(CA_KEY)) {
        Ok(key) => key,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(unread(source)),
    };
    let certificate = std::fs::read_to_string(ca).map_err(unread)?;
    match Authority::load(&certificate, &key) {
        Ok(authority) => Ok(Some(authority).filter(|authority| authority.cluster() == cluster)),
        // Certificates are of somebody else's authority by now, and the first one's key was left.
        Err(lapwing_authority::Fault::OtherKey | lapwing_authority::Fault::NoAuthority) => Ok(None),
        Err(fault) => Err(fault.into()),
    }
}

/// For the account of the broker alone, and durable.
fn write(path: &Path, text: &str) -> Result<(), MemberError> {
    let mut options = OpenOptions::new();
    let written = options.write(true).create(true).truncate(true).mode(0o600).open(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|source| MemberError::System { doing: "write the certificates of a cluster", source })
}
