//! Why something that was said does not hold.

use thiserror::Error;

use crate::bounds::MEMBERS_MAX;
use crate::ids::{Boot, NodeId};

/// Nothing has changed. Every node refuses the same.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is a cluster already.
    #[error("this log has a cluster already")]
    Founded,
    /// There is no cluster yet.
    #[error("this log has no cluster yet: it begins with who founds it")]
    NotFounded,
    /// No token has this secret: it was used, is too old to be known, or is of another cluster.
    #[error(
        "the token is not known here: it was used already, or is another cluster's; make one with `lapwing cluster token`"
    )]
    UnknownToken,
    /// It was good once.
    #[error("the token is {age_s} s old, and good for an hour: make one with `lapwing cluster token`")]
    OldToken {
        /// Its age in seconds.
        age_s: u64,
    },
    /// Nobody may make one more now.
    #[error("there are {tokens} tokens that nobody has used: one is good for an hour")]
    ManyTokens {
        /// How many.
        tokens: usize,
    },
    /// There are no ids left.
    #[error("a cluster has {MEMBERS_MAX} nodes in its life, and this one had them")]
    Full,
    /// The folder belongs to a member, or did.
    #[error("this folder is that of node {node}: join with an empty one, or start the broker, which is a member")]
    FolderTaken {
        /// Whose it is.
        node: NodeId,
    },
    /// Another node is called so.
    #[error("node {node} has the name {name:?}: give this one another, `cluster.node`")]
    NameTaken {
        /// Who has it.
        node: NodeId,
        /// The name.
        name: String,
    },
    /// There is no such member.
    #[error("there is no node {node}")]
    NoMember {
        /// Who was named.
        node: NodeId,
    },
    /// It was removed.
    #[error("node {node} was removed: empty its folder and join anew")]
    Gone {
        /// Who.
        node: NodeId,
    },
    /// A member's number with another folder: it was emptied, or the configuration names another one.
    #[error("node {node} has another folder: `lapwing cluster remove {node}`, then join anew")]
    OtherFolder {
        /// Who.
        node: NodeId,
    },
    /// An older state of a folder, or a second copy of it, was started.
    #[error(
        "node {node} has been started {known} times, and this folder {found}: it is a copy, or an older state of it; \
         `lapwing cluster remove {node}`, then join anew"
    )]
    OldBoot {
        /// Who.
        node: NodeId,
        /// The last start that the cluster has heard of.
        known: Boot,
        /// The one that was said.
        found: Boot,
    },
    /// Without it nobody could decide anything.
    #[error("node {node} is the last that votes: a cluster is ended by removing its folders")]
    LastVoter {
        /// Who.
        node: NodeId,
    },
    /// As many vote as may.
    #[error("{voters} nodes vote already, as many as may")]
    ManyVoters {
        /// How many.
        voters: usize,
    },
    /// A program cannot live with the cluster's feature level, or a member not with the new one.
    #[error(
        "node {node} reads feature levels {least} to {most}, and {level} is wanted: use another version of lapwing"
    )]
    Level {
        /// Whose program.
        node: NodeId,
        /// Its least.
        least: u32,
        /// Its most.
        most: u32,
        /// The level.
        level: u32,
    },
    /// It never falls.
    #[error("the feature level is {level} already")]
    LevelFell {
        /// As it is.
        level: u32,
    },
}

impl std::fmt::Display for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::fmt::Display for Boot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
