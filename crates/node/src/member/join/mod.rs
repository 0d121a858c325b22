//! How a node joins, at its own side: an empty folder, a token, a question to the leader; then its certificates are written, its
//! logs without entries, and who it is, last.

mod error;
mod question;
mod welcomed;

use std::time::{Duration, Instant};

use lapwing_authority::NodeKey;
use lapwing_cluster::{Boot, ClusterId, FolderId, NodeId, Token};
use lapwing_peer::bounds::JOIN_ASK_BYTES_MAX;
use lapwing_peer::{Frame, JoinAsk, List, TableHashes};
use lapwing_store::random_bytes;
use lapwing_transport::PeerTls;

pub use error::JoinError;
use question::{Answer, question};
use welcomed::Welcomed;

use super::error::MemberError;
use super::found::{own_files, write_certificates};
use super::{features, settings};
use crate::config::Config;
use crate::replica::{EmptyFolder, Identity, ReplicaError};

/// How long all of it may take.
const JOIN_MAX: Duration = Duration::from_secs(30);
/// Members that may send on to the next one.
const REDIRECTS_MAX: usize = 5;
/// Pause before the same member is asked again.
const PAUSE: Duration = Duration::from_millis(200);

/// What is said of a node that joins.
#[derive(Clone, Debug)]
pub struct NewNode {
    /// What people call it: letters, digits, `-`, `_` and `.`; one of its own in the cluster.
    pub name: String,
    /// Where other nodes reach it, `HOST:PORT`.
    pub addresses: Vec<String>,
    /// Where it stands; empty: nobody has said.
    pub zone: String,
    /// Of its program, for people.
    pub release: String,
}

/// What a node is that has joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Its number.
    pub node: u8,
    /// What people call the cluster.
    pub cluster_name: String,
    /// Whether it will vote when it has caught up; if not, as many vote as may, and it has a copy without a vote.
    pub is_to_vote: bool,
    /// All other members, and where they are.
    pub members: Vec<(u8, Vec<String>)>,
}

/// Makes a member of a cluster out of the configuration's data folder, which is empty or absent, and which no broker uses.
/// `token`: the text that a member has made.
///
/// # Errors
/// Each is one line that says what to do. `Join`: what the cluster says, or that nobody does. The folder is nobody's then.
pub fn join_cluster(config: &Config, token: &str, new: &NewNode) -> Result<Joined, MemberError> {
    config.check()?;
    let token = Token::parse(token).map_err(JoinError::Token)?;
    let folder = EmptyFolder::open(config)?;
    let (id, key) = (FolderId(random_bytes().map_err(ReplicaError::from)?), NodeKey::generate()?);
    let ask = ask(config, &token, new, id, &key.request()?)?;
    let (address, welcomed) = ask_around(&token, &ask)?;
    let Welcomed { node, is_to_vote, cluster, cluster_name, certificate, authority, members } = welcomed;
    write_certificates(folder.dir(), &authority, &key, &certificate)?;
    check_certificates(&folder, (cluster, node)).map_err(|what| JoinError::Unfit { address, what })?;
    let identity = Identity {
        cluster: ClusterId(cluster),
        cluster_name: cluster_name.clone(),
        node: NodeId(node),
        folder: id,
        boot: Boot(0),
    };
    folder.begin(&identity)?;
    Ok(Joined { node, cluster_name, is_to_vote, members })
}

/// The question as a frame.
fn ask(config: &Config, token: &Token, new: &NewNode, id: FolderId, request: &str) -> Result<Vec<u8>, JoinError> {
    let (tables, levels) = (settings::tables(config), features());
    let addresses: Vec<&str> = new.addresses.iter().map(String::as_str).collect();
    let ask = Frame::JoinAsk(JoinAsk {
        secret: token.secret(),
        folder: id.0,
        least_level: levels.least,
        most_level: levels.most,
        tables: TableHashes::new(&tables),
        name: &new.name,
        zone: &new.zone,
        release: &new.release,
        addresses: List::from_slice(&addresses),
        request,
    });
    let mut out = Vec::new();
    ask.encode(JOIN_ASK_BYTES_MAX, &mut out).map_err(|error| JoinError::Unsayable { what: error.to_string() })?;
    Ok(out)
}

/// Asks the member of the token, and whom that one names.
fn ask_around(token: &Token, ask: &[u8]) -> Result<(String, Welcomed), MemberError> {
    let (deadline, mut address, mut redirects) = (Instant::now() + JOIN_MAX, token.address.clone(), 0);
    loop {
        match question(&address, token, ask, deadline)? {
            Answer::Welcome(welcomed) => return Ok((address, *welcomed)),
            Answer::Elsewhere(_) if redirects == REDIRECTS_MAX => {
                return Err(JoinError::Redirects { redirects }.into());
            }
            Answer::Elsewhere(leader) => (address, redirects) = (leader, redirects + 1),
            Answer::Again if Instant::now() + PAUSE >= deadline => return Err(JoinError::Silent { address }.into()),
            Answer::Again => std::thread::sleep(PAUSE),
        }
    }
}

/// Whether the files are those of this node, as a start reads them.
fn check_certificates(folder: &EmptyFolder, (cluster, node): ([u8; 16], u8)) -> Result<(), String> {
    let tls = PeerTls::load(&own_files(folder.dir())).map_err(|error| error.to_string())?;
    match (tls.name().cluster(), tls.name().node()) == (cluster, node) {
        true => Ok(()),
        false => Err("the certificate is another node's".to_owned()),
    }
}
