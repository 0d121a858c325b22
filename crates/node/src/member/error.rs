//! Why a member of a cluster ends, or does not begin.

use std::io;
use std::path::PathBuf;

use lapwing_peer::EncodeError;
use lapwing_replica::NotStarted;
use lapwing_transport::BindError;
use thiserror::Error;

use crate::error::{NodeError, bind_code};
use crate::replica::ReplicaError;

/// What went wrong.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MemberError {
    /// Its folder, or what is in it.
    #[error("{0}")]
    Replica(String),
    /// The logs are not what engines can go on with.
    #[error("{0}")]
    NotStarted(#[from] NotStarted),
    /// The address for other nodes, or the certificates for them.
    #[error("{0}")]
    Bind(#[from] BindError),
    /// Certificates between nodes.
    #[error("{0}")]
    Authority(#[from] lapwing_authority::Fault),
    /// The node that serves.
    #[error("{0}")]
    Node(#[from] NodeError),
    /// The kernel refuses.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A message that no frame can have: a defect.
    #[error("{0}: this is a defect of Lapwing")]
    Frame(EncodeError),
    /// The folder is no member's.
    #[error("{} is no member's folder: make a cluster with `lapwing cluster init`, or join one with `lapwing cluster join`", .dir.display())]
    NoMember {
        /// The folder.
        dir: PathBuf,
    },
    /// The certificate names another node, or another cluster.
    #[error("the certificate for other nodes is not that of node {node} of this cluster: correct cluster.certificate")]
    OtherCertificate {
        /// Whose it should be.
        node: u8,
    },
    /// Another node has said why this one cannot be a member as it is.
    #[error("node {by} refuses this node: {words}")]
    Refused {
        /// Who.
        by: u8,
        /// Its words.
        words: String,
    },
    /// Only the leader of the metadata group can do that.
    #[error("{}", elsewhere(*.leader))]
    NotLeader {
        /// Who leads, as far as this node knows.
        leader: Option<u8>,
    },
    /// The cluster does not take what was to be said, or it would do harm.
    #[error("{0}")]
    Unsaid(String),
    /// It was proposed, and nobody can say what came of it.
    #[error("no answer came in time, and it may hold all the same: look with `lapwing cluster status`, then try again")]
    Unanswered,
    /// Too many wait for what they had this node say.
    #[error("{waiting} changes of the cluster wait to be taken already: try again")]
    ManyWishes {
        /// How many.
        waiting: usize,
    },
    /// A token could not be made.
    #[error(
        "this cluster's certificates are of an authority of its owner's, whose key is not here: have a certificate issued for \
         the next node, and nobody needs a token"
    )]
    NoAuthority,
    /// It did not join.
    #[error("{0}")]
    Join(#[from] super::join::JoinError),
    /// Nobody could serve in its place.
    #[error("no other node that votes is connected: there is nobody to serve in place of this one")]
    NoSuccessor,
    /// The node that was named could not.
    #[error("{name} cannot serve in place of this node: it {why}")]
    NotSuccessor {
        /// What people call it.
        name: String,
        /// What stands against it.
        why: &'static str,
    },
    /// Its thread has panicked: its state is unknown.
    #[error("a thread of the node stopped unexpectedly: this is a defect of Lapwing")]
    Panicked,
    /// Its thread has ended.
    #[error("the node has ended")]
    Ended,
}

impl MemberError {
    /// A short, stable name of the kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            MemberError::Node(error) => error.code(),
            MemberError::Bind(error) => bind_code(error),
            MemberError::Replica(_) | MemberError::NotStarted(_) | MemberError::NoMember { .. } => "data_folder",
            MemberError::Authority(_) | MemberError::OtherCertificate { .. } => "certificate",
            MemberError::System { .. } => "system",
            MemberError::Frame(_) | MemberError::Panicked => "defect",
            MemberError::Refused { .. } => "refused_by_cluster",
            MemberError::NoSuccessor | MemberError::NotSuccessor { .. } => "no_successor",
            MemberError::NotLeader { .. } => "not_leader",
            MemberError::Unsaid(_) => "not_taken",
            MemberError::Unanswered => "no_answer",
            MemberError::ManyWishes { .. } => "too_many_changes",
            MemberError::NoAuthority => "no_authority",
            MemberError::Join(_) => "join",
            MemberError::Ended => "state",
        }
    }

    /// What to do about it; empty where its text says that.
    pub fn remedy(&self) -> String {
        match self {
            MemberError::Node(error) => error.remedy(),
            MemberError::Bind(error) => error.remedy(),
            MemberError::Panicked => {
                "Start it again: nothing acknowledged is lost; and report it with its last lines.".into()
            }
            _ => String::new(),
        }
    }
}

impl From<ReplicaError> for MemberError {
    fn from(error: ReplicaError) -> Self {
        match error {
            ReplicaError::Node(error) => MemberError::Node(error),
            other => MemberError::Replica(other.to_string()),
        }
    }
}

fn elsewhere(leader: Option<u8>) -> String {
    match leader {
        Some(leader) => format!("node {leader} leads the cluster: do it there"),
        None => "nobody leads the cluster at the moment: try again".to_owned(),
    }
}
