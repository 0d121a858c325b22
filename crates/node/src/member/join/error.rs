//! Why a node did not join: one line each, with what to do.

use std::io;

use lapwing_cluster::TokenFault;
use thiserror::Error;

/// What went wrong. But for `Cut` the cluster is as it was.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JoinError {
    /// It is no token.
    #[error("{0}")]
    Token(#[from] TokenFault),
    /// The member that the token names is not there.
    #[error("cannot reach {address}: {source}; see that the member there runs, and that this machine reaches it")]
    Unreachable {
        /// Where.
        address: String,
        /// Why not.
        source: io::Error,
    },
    /// Who answers is of another cluster, or of none.
    #[error(
        "who answers at {address} is not of the token's cluster ({what}): make a token at a member of the cluster that is meant"
    )]
    Stranger {
        /// Where.
        address: String,
        /// What gave it away.
        what: String,
    },
    /// Nobody may join there now.
    #[error(
        "nobody may join at {address} now: the token was used, is older than an hour, or is not known there; make one with \
         `lapwing cluster token`"
    )]
    Closed {
        /// Where.
        address: String,
    },
    /// The cluster says no.
    #[error("{words}")]
    Refused {
        /// `lapwing_peer::JoinCode`.
        code: u8,
        /// Its words.
        words: String,
    },
    /// One node sends to the next.
    #[error("{redirects} nodes have each named another one as the leader: wait until one serves, then try again")]
    Redirects {
        /// How many.
        redirects: usize,
    },
    /// Nobody has answered in time.
    #[error("{address} has not answered in time: see that a member serves there, then try again")]
    Silent {
        /// Where.
        address: String,
    },
    /// The connection ended behind the question: the node may be a member.
    #[error(
        "the connection to {address} ended before the answer: if `lapwing cluster status` there shows this node, remove it; then \
         join with a new token"
    )]
    Cut {
        /// Where.
        address: String,
    },
    /// What was given does not fit together.
    #[error(
        "what {address} has given is not what a member needs ({what}): remove the node there, then join with a new token"
    )]
    Unfit {
        /// Where.
        address: String,
        /// What is wrong.
        what: String,
    },
    /// Something that was to be said cannot be.
    #[error("{what}: correct it, then join")]
    Unsayable {
        /// What is wrong.
        what: String,
    },
}
