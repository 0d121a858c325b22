//! Why bytes are no entry, or no snapshot.

use thiserror::Error;

/// What is wrong with them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// A node with a newer program has written it.
    #[error(
        "written in version {found}, and this program reads versions up to {supported}: use the version that wrote it"
    )]
    Newer {
        /// Its version.
        found: u64,
        /// The newest version that this program reads.
        supported: u64,
    },
    /// No program has written it.
    #[error("nothing that a cluster agrees on: {what}")]
    Malformed {
        /// What is wrong.
        what: String,
    },
    /// A field is longer than it may be.
    #[error("{what}: {bytes} bytes, at most {bytes_max}")]
    TooLong {
        /// The field.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
    },
}
