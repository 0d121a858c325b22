//! Why connections end.

use std::io;

use lapwing_peer::{Fault, Refusal};
use lapwing_replica::FrameFault;
use lapwing_transport::PeerRefusal;
use thiserror::Error;

/// Why a connection is over.
#[derive(Debug, Error)]
pub(crate) enum Cut {
    /// The other node has ended it.
    #[error("it has ended the connection")]
    Ended,
    /// The network.
    #[error("{0}")]
    Io(io::Error),
    /// Certificates, or no TLS at all.
    #[error("{0}")]
    Tls(PeerRefusal),
    /// It came for something else.
    #[error("it does not come to speak as a node")]
    Protocol,
    /// It is another node than its certificate, or than was to be there.
    #[error("it is not the node that it says to be")]
    OtherNode,
    /// No frame.
    #[error("{0}")]
    Frame(Fault),
    /// A frame that is not for here.
    #[error("{0}")]
    FrameFault(FrameFault),
    /// This node does not speak to it.
    #[error("{0}")]
    Refused(Refusal),
    /// It does not speak to this node.
    #[error("it refuses this node: {words}")]
    RefusedByPeer {
        /// [`Refusal::code`].
        code: u8,
        /// Its words.
        words: String,
    },
    /// It has not said who it is.
    #[error("it has not said who it is")]
    Silent,
    /// Too many have come.
    #[error("too many have come to join")]
    Strangers,
    /// Another connection of the same node has taken its place.
    #[error("it has made another connection")]
    Replaced,
}

impl Cut {
    /// Of what a stream says.
    pub(crate) fn of(error: io::Error) -> Cut {
        PeerRefusal::of(&error).map_or(Cut::Io(error), Cut::Tls)
    }

    /// A short, stable name, for counters.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Cut::Ended => "ended",
            Cut::Io(_) => "io",
            Cut::Tls(refusal) => refusal.name(),
            Cut::Protocol => "protocol",
            Cut::OtherNode => "other_node",
            Cut::Frame(fault) | Cut::FrameFault(FrameFault::Frame(fault)) => fault.kind.name(),
            Cut::FrameFault(_) => "malformed",
            Cut::Refused(_) => "refused",
            Cut::RefusedByPeer { .. } => "by_peer",
            Cut::Silent => "silent",
            Cut::Strangers => "strangers",
            Cut::Replaced => "replaced",
        }
    }
}
