//! What can go wrong in a run of the swarm, whose fault it is, and what to do about it.

use std::io;

/// An error of the swarm or of a fleet.
#[derive(Debug, thiserror::Error)]
pub enum SwarmError {
    /// A setting is wrong: the caller's fault.
    #[error("{key} = {value}: {remedy}")]
    Profile {
        /// The setting.
        key: &'static str,
        /// What it was.
        value: String,
        /// What it may be.
        remedy: String,
    },
    /// A profile or configuration that is not the JSON it should be: the caller's fault.
    #[error("the profile is not valid: {0}")]
    Json(#[from] serde_json::Error),
    /// More clients than this process may have open files.
    #[error(
        "{clients} clients need {needed} open files, this process may have {limit}: raise `ulimit -n`, \
         or spread the clients over processes (`--processes {processes}`)"
    )]
    Files {
        /// Clients asked for in this process.
        clients: u64,
        /// Files they need, with the swarm's own.
        needed: u64,
        /// The hard limit.
        limit: u64,
        /// How many processes would do.
        processes: u64,
    },
    /// A client could not connect or subscribe before the start, so there is no run to measure.
    #[error("client {client_id}: {reason}")]
    Client {
        /// Which client.
        client_id: String,
        /// Why, in full.
        reason: String,
        /// Why, as counters name it.
        label: String,
    },
    /// Not every client was ready in time.
    #[error("{ready} of {clients} clients of a thread were connected and subscribed after {after_s} s")]
    NotReady {
        /// Clients connected and subscribed.
        ready: u64,
        /// Clients asked for.
        clients: u64,
        /// How long it waited, in seconds.
        after_s: f64,
    },
    /// The operating system refused something the swarm itself needs (a poll, a thread, a listener).
    #[error("{what}: {source}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// The caller called things in the wrong order or after the end.
    #[error("{0}")]
    Usage(&'static str),
    /// A thread of the swarm ended by a panic, which is a bug of ours.
    #[error("a thread of the swarm panicked; this is a bug")]
    Panicked,
}

impl SwarmError {
    /// Wraps an answer of the operating system.
    pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { what, source }
    }

    /// A stable name, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Profile { .. } | Self::Json(_) => "profile",
            Self::Files { .. } => "files",
            Self::Client { label, .. } if label.starts_with("timed out") => "timed_out",
            Self::Client { label, .. } if label.starts_with("rejected") => "rejected",
            Self::Client { .. } => "unreachable",
            Self::NotReady { .. } => "timed_out",
            Self::System { .. } => "system",
            Self::Usage(_) => "usage",
            Self::Panicked => "defect",
        }
    }

    /// What to do about it; empty where the message says it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Client { label, .. } if label.ends_with("address not available") => {
                "This machine has no port left for that address: use fewer clients (net.ipv4.ip_local_port_range), \
                 or a second machine."
            }
            Self::Client { .. } => "Check the address, and that the broker takes these clients.",
            Self::NotReady { .. } => "Wait longer (`--connect-timeout`), use fewer clients, or look at the broker.",
            Self::System { .. } => "Look at the limits of this process and machine.",
            Self::Panicked => "Please report it.",
            Self::Profile { .. } | Self::Json(_) | Self::Files { .. } | Self::Usage(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_client::ClientError;

    /// Is who has used up the ports of this machine sent to look for those, and not at the broker's address?
    #[test]
    fn ports_that_are_used_up_are_no_wrong_address() {
        let remedy = |kind: io::ErrorKind| {
            let error = ClientError::Unreachable { address: "tcp://h".to_owned(), source: kind.into() };
            SwarmError::Client { client_id: "d1".to_owned(), reason: error.to_string(), label: error.label() }.remedy()
        };
        assert!(remedy(io::ErrorKind::AddrNotAvailable).contains("no port left"));
        assert!(remedy(io::ErrorKind::ConnectionRefused).contains("address"));
    }
}
