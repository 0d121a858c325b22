//! Why a frame cannot be written.

use thiserror::Error;

/// What is wrong with a frame that should go out: the caller's mistake. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// There is more of something than a frame may have.
    #[error("{what}: {len}, at most {max} can be sent")]
    TooLong {
        /// Of what.
        what: &'static str,
        /// How much there is.
        len: usize,
        /// The bound.
        max: usize,
    },
    /// Whoever reads it would refuse it.
    #[error("a frame cannot have {0}")]
    Impossible(&'static str),
}
