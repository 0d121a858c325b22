//! Why bytes are no entry and no snapshot, or an entry cannot be applied.

use thiserror::Error;

/// What is wrong, and where. Nothing was changed, except by a [`Restorer`](crate::Restorer), which is then of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The first byte names no kind of entry.
    #[error("unknown kind of entry {found}: written by a newer version, or not an entry")]
    Kind {
        /// The byte.
        found: u8,
    },
    /// The kind is known, its version is not.
    #[error("{what} of version {found}, this program reads version {supported}: use the version that wrote it")]
    Version {
        /// An entry's kind, or "a snapshot".
        what: &'static str,
        /// The version found.
        found: u8,
        /// The version read.
        supported: u8,
    },
    /// The bytes end early, go on behind the end, or hold what no encoder writes.
    #[error("malformed at byte {at}: {what}")]
    Malformed {
        /// The byte.
        at: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A field is longer than it may be.
    #[error("{what}: {bytes} bytes, at most {bytes_max} are kept")]
    TooLong {
        /// The field.
        what: &'static str,
        /// Its length.
        bytes: u64,
        /// The bound.
        bytes_max: u64,
    },
    /// An entry came that is not behind the last one.
    #[error("entry {index} comes after entry {applied}: entries are applied in ascending order, each once")]
    OutOfOrder {
        /// Its index.
        index: u64,
        /// The last one applied.
        applied: u64,
    },
    /// Parts of a snapshot are missing, or stand where they make no sense.
    #[error("not a whole snapshot: {what}")]
    Snapshot {
        /// What is missing.
        what: &'static str,
    },
}
