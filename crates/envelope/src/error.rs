//! Why a body is no envelope, or a run of records no batch.

use thiserror::Error;

/// Errors of the envelope.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The body's first byte names a version that this program does not read.
    #[error("envelope version {found}, this program reads version {supported}")]
    Version {
        /// The version found.
        found: u8,
        /// The version read.
        supported: u8,
    },
    /// The body ends early, has bytes to spare, or holds a value that no encoder writes.
    #[error("malformed envelope at byte {at}: {what}")]
    Malformed {
        /// The byte.
        at: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A batch would pass 2 GiB in one column (Arrow's 32-bit offsets). Finish it and begin another.
    #[error("a batch holds at most {bytes_max} bytes in one column")]
    BatchFull {
        /// The limit.
        bytes_max: usize,
    },
    /// The Arrow library refused the batch.
    #[error("cannot encode an Arrow batch: {0}")]
    Arrow(#[from] arrow_schema::ArrowError),
}
