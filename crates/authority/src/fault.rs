//! What can be wrong with what is given in.

use thiserror::Error;

use crate::name::NODES_MAX;
use crate::request::REQUEST_BYTES_MAX;

/// Why there is no certificate, or no name in one. Nothing of a key is ever in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The bytes are no certificate (X.509).
    #[error("this is no certificate")]
    NoCertificate,
    /// It is a certificate, and of no node.
    #[error("this certificate names no node of a cluster: it lacks the URI lapwing://CLUSTER/node/NODE")]
    Nameless,
    /// Which of several names counts must not be a guess.
    #[error("this certificate names more than one node of a cluster")]
    SeveralNames,
    /// It is not the certificate of an authority that was made here.
    #[error("this is not the certificate of a cluster's own authority")]
    NoAuthority,
    /// The text is no private key of the kind that is made here.
    #[error("this is no private key of ECDSA on P-256 in PEM")]
    NoKey,
    /// Key and certificate are of two authorities.
    #[error("the key does not belong to the certificate of the authority")]
    OtherKey,
    /// The text is no request, or was not signed with the key in it.
    #[error(
        "this is no request for a certificate of at most {REQUEST_BYTES_MAX} bytes, signed with an ECDSA key on P-256"
    )]
    NoRequest,
    /// No cluster has a node of that number.
    #[error("a node's number is below {NODES_MAX}, and this one is {node}")]
    NoSuchNode {
        /// The number.
        node: u8,
    },
    /// What is made by a clock that was never set would be over when it is.
    #[error("the clock of this machine is wrong by years: set it first")]
    Clock,
    /// The authority itself is over, so nothing that it signs is worth anything.
    #[error("the authority's own certificate is over")]
    AuthorityOver,
    /// The system gives no random numbers, or the library cannot write what it is asked for.
    #[error("the certificate could not be made: the system may give no random numbers")]
    NotMade,
}
