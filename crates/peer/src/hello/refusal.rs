//! Why two nodes do not speak to each other.

use std::fmt;

use thiserror::Error;

use super::{Link, Table, Versions};
use crate::NodeId;

/// The reason, and what to do about it. The words are for both sides: they name nodes, and speak of no "this" and "other".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Another cluster's.
    #[error("one node is of cluster {}, the other of {}: an address or a folder is another cluster's", Hex(.mine), Hex(.theirs))]
    OtherCluster {
        /// This node's cluster.
        mine: [u8; 16],
        /// The other's.
        theirs: [u8; 16],
    },
    /// The connection leads to where it comes from.
    #[error("the address leads to the node that connects: correct `cluster.advertise`")]
    Itself,
    /// One folder's uuid, two processes.
    #[error("node {node} is there twice, in its boot {boot}: one of the folders is a copy. {}", Anew(*.node))]
    CopiedFolder {
        /// The node.
        node: NodeId,
        /// The boot that it says.
        boot: u64,
    },
    /// The node was known with another folder.
    #[error("the folder of node {node} is not the one that the cluster knows: it was emptied or exchanged. {}", Anew(*.node))]
    OtherFolder {
        /// The node.
        node: NodeId,
    },
    /// The node has been further than its folder is.
    #[error("the folder of node {node} is older than it: boot {boot} of {known}, as of a backup. {}", Anew(*.node))]
    OlderBoot {
        /// The node.
        node: NodeId,
        /// The boot that it says.
        boot: u64,
        /// The newest that it has had.
        known: u64,
    },
    /// Both sides think differently of what the connection is for.
    #[error("one node means a connection of {mine:?}, the other one of {theirs:?}: a defect, please report it")]
    OtherLink {
        /// What this node means.
        mine: Link,
        /// What the other means.
        theirs: Link,
    },
    /// No version of the protocol is spoken by both.
    #[error(
        "one node speaks versions {mine} of the protocol, the other {theirs}: upgrade the older one, by one release at a time"
    )]
    NoCommonVersion {
        /// What this node speaks.
        mine: Versions,
        /// What the other speaks.
        theirs: Versions,
    },
    /// The cluster writes what one of the nodes cannot read.
    #[error("the cluster is at feature level {in_force}, node {node} reads up to {newest}: upgrade node {node}")]
    LevelTooNew {
        /// The node that is too old.
        node: NodeId,
        /// The newest level that it reads.
        newest: u16,
        /// The level at which the cluster writes.
        in_force: u16,
    },
    /// The configuration is another one where it must be the same.
    #[error(
        "the table of {table} is another one on node {theirs} than on node {mine}: make them the same, and start again"
    )]
    TablesDiffer {
        /// The first table that differs.
        table: Table,
        /// This node.
        mine: NodeId,
        /// The other.
        theirs: NodeId,
    },
    /// The cluster has removed it.
    #[error("node {node} was removed from the cluster: empty its folder, then join anew")]
    Gone {
        /// The node.
        node: NodeId,
    },
}

impl Refusal {
    /// The byte on the wire, for ever.
    pub const fn code(&self) -> u8 {
        match self {
            Refusal::OtherCluster { .. } => 1,
            Refusal::Itself => 2,
            Refusal::CopiedFolder { .. } => 3,
            Refusal::OtherFolder { .. } => 4,
            Refusal::OlderBoot { .. } => 5,
            Refusal::OtherLink { .. } => 6,
            Refusal::NoCommonVersion { .. } => 7,
            Refusal::LevelTooNew { .. } => 8,
            Refusal::TablesDiffer { .. } => 9,
            Refusal::Gone { .. } => 10,
        }
    }

    /// A short name, for labels of counters; it is the same for ever.
    pub const fn name(&self) -> &'static str {
        match self {
            Refusal::OtherCluster { .. } => "other_cluster",
            Refusal::Itself => "itself",
            Refusal::CopiedFolder { .. } => "copied_folder",
            Refusal::OtherFolder { .. } => "other_folder",
            Refusal::OlderBoot { .. } => "older_boot",
            Refusal::OtherLink { .. } => "other_link",
            Refusal::NoCommonVersion { .. } => "no_common_version",
            Refusal::LevelTooNew { .. } => "level_too_new",
            Refusal::TablesDiffer { .. } => "tables_differ",
            Refusal::Gone { .. } => "gone",
        }
    }
}

/// An id in hexadecimal digits.
struct Hex<'a>(&'a [u8; 16]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What is done with a folder that is not the node's any more.
struct Anew(NodeId);

impl fmt::Display for Anew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Remove node {} (`lapwing cluster remove {0}`), then join anew", self.0)
    }
}
