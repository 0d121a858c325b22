//! What can go wrong when a listener is opened or a connection accepted; each error carries its remedy.

use std::io;
use std::path::PathBuf;

use crate::peer::PeerAddress;
use crate::refusal::Refusal;

/// A listener could not be opened. Always the configuration's or the machine's fault; worth a retry only after a change.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The address cannot be read.
    #[error("listen address \"{address}\" is not valid: {what}")]
    Address {
        /// As the user wrote it.
        address: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The host name is unknown.
    #[error("cannot resolve the host of {address}: {source}")]
    Resolve {
        /// The address with the unknown host.
        address: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The kernel refused the address.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address refused.
        address: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file of certificates or a key cannot be used.
    #[error("{}: {what}", file.display())]
    Certificate {
        /// The file.
        file: PathBuf,
        /// What is wrong with it; nothing of what is in it.
        what: String,
        /// What to do about it.
        remedy: &'static str,
    },
}

impl BindError {
    /// What the user can do about it.
    pub fn remedy(&self) -> String {
        match self {
            BindError::Address { .. } => {
                "Write the address as tcp://HOST:PORT, for example tcp://127.0.0.1:1883.".into()
            }
            BindError::Resolve { .. } => "Name a host that this machine knows, or a literal address.".into(),
            BindError::Certificate { remedy, .. } => (*remedy).into(),
            BindError::Bind { address, source } if address.starts_with("unix:") => unix_remedy(source).into(),
            BindError::Bind { source, .. } => match source.kind() {
                io::ErrorKind::AddrInUse => {
                    "Stop the program that uses this port, or choose another port (port 0 takes any free one).".into()
                }
                io::ErrorKind::PermissionDenied => {
                    "Choose a port of 1024 or above, or give the process CAP_NET_BIND_SERVICE.".into()
                }
                io::ErrorKind::AddrNotAvailable => {
                    "Name an address of this machine; 127.0.0.1 is loopback, 0.0.0.0 every interface.".into()
                }
                _ => "Check the address and the machine's network.".into(),
            },
        }
    }
}

fn unix_remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::AddrInUse => "Stop the program that listens there, or choose another path.",
        io::ErrorKind::AlreadyExists => {
            "A file that is no socket is never removed: choose another path, or move it away."
        }
        io::ErrorKind::NotFound => "Make the folder of the socket first.",
        io::ErrorKind::PermissionDenied => "Let this user write to the folder of the socket, or choose another.",
        _ => "Choose a path of fewer than 108 bytes in a folder that this user may write to.",
    }
}

/// Why no connection was accepted.
#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    /// The process or the machine has no descriptor or memory left; pause and try again.
    #[error("out of file descriptors or memory: {0}")]
    Exhausted(io::Error),
    /// This one connection failed before it was ours; go on with the next.
    #[error("a connection failed while it was accepted: {0}")]
    Connection(io::Error),
    /// This one connection is not taken and was closed; go on with the next.
    #[error("a connection of {1} was refused: {0}")]
    Refused(Refusal, PeerAddress),
}

impl AcceptError {
    /// What the kernel's answer means; `None`: nobody waits.
    pub(crate) fn of(error: io::Error) -> Option<Self> {
        match error.kind() {
            io::ErrorKind::WouldBlock => None,
            io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted => {
                Some(AcceptError::Connection(error))
            }
            _ => Some(AcceptError::Exhausted(error)),
        }
    }
}
