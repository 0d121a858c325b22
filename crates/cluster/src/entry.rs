//! What the metadata group's log says.
//!
//! JSON, since there are few: somebody who reads a dump of the log at night sees what happened.

use serde::{Deserialize, Serialize};

use crate::bounds::ENTRY_BYTES_MAX;
use crate::fault::Fault;
use crate::ids::{Boot, ClusterId, FolderId, NodeId, SecretHash};
use crate::member::{Features, Newcomer, check_addresses, check_name, check_release};
use crate::tables::Tables;

/// The version that is written.
const VERSION: u64 = 1;

/// One thing that was said. Whether it holds, [`ClusterState`](crate::ClusterState) decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Entry {
    /// The first of all: there is a cluster, and this is its first node.
    Founded {
        /// Drawn at random.
        cluster: ClusterId,
        /// What people call it.
        name: String,
        /// Who has founded it.
        founder: Newcomer,
    },
    /// Somebody may join by this secret.
    TokenMade {
        /// Of the secret.
        secret: SecretHash,
        /// When, on the wall clock of who has made it, milliseconds since the epoch.
        made_at_ms: u64,
    },
    /// Somebody joins by a token, as a learner: it has nothing yet.
    Joined {
        /// Of the token's secret.
        secret: SecretHash,
        /// Who it is.
        newcomer: Newcomer,
        /// When, on the wall clock of who was asked.
        joined_at_ms: u64,
    },
    /// A member was started.
    Booted {
        /// Who.
        node: NodeId,
        /// In this folder.
        folder: FolderId,
        /// How often it was started as a member, this time included.
        boot: Boot,
        /// Where others reach it now.
        addresses: Vec<String>,
        /// Of its program, for people.
        release: String,
        /// Of its program.
        features: Features,
    },
    /// A learner has caught up, and votes from now on.
    Promoted {
        /// Who.
        node: NodeId,
    },
    /// A member is none any more.
    Removed {
        /// Who.
        node: NodeId,
    },
    /// The tables that must be the same at every node are these from now on.
    TablesSet {
        /// Hash by name.
        tables: Tables,
    },
    /// What is written may need so much from now on.
    LevelRaised {
        /// The feature level.
        level: u32,
    },
}

/// As it is written.
#[derive(Serialize, Deserialize)]
struct Document<T> {
    version: u64,
    entry: T,
}

/// As much of it as tells whether the rest can be read.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

impl Entry {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let document = Document { version: VERSION, entry: self };
        serde_json::to_vec(&document).expect("texts and numbers are JSON")
    }

    /// Reads it back. Any bytes may come.
    ///
    /// # Errors
    /// `Newer`: a newer program has written it. `TooLong`, `Malformed`: it is no entry.
    pub fn decode(bytes: &[u8]) -> Result<Self, Fault> {
        if bytes.len() > ENTRY_BYTES_MAX {
            return Err(Fault::TooLong { what: "an entry", bytes: bytes.len(), bytes_max: ENTRY_BYTES_MAX });
        }
        let malformed = |error: serde_json::Error| Fault::Malformed { what: error.to_string() };
        let head: Head = serde_json::from_slice(bytes).map_err(malformed)?;
        if head.version > VERSION {
            return Err(Fault::Newer { found: head.version, supported: VERSION });
        }
        let Document { entry, .. } = serde_json::from_slice::<Document<Entry>>(bytes).map_err(malformed)?;
        entry.check()?;
        Ok(entry)
    }

    /// Whether every field is within its bounds.
    fn check(&self) -> Result<(), Fault> {
        match self {
            Entry::Founded { name, founder, .. } => check_name("a cluster's name", name).and_then(|()| founder.check()),
            Entry::Joined { newcomer, .. } => newcomer.check(),
            Entry::Booted { addresses, release, features, .. } => {
                check_addresses(addresses).and_then(|()| check_release(release)).and_then(|()| features.check())
            }
            Entry::TablesSet { tables } => tables.check(),
            Entry::TokenMade { .. } | Entry::Promoted { .. } | Entry::Removed { .. } | Entry::LevelRaised { .. } => {
                Ok(())
            }
        }
    }
}
