//! How much there may be of what a cluster agrees on.

/// Nodes that there ever may be: an id, from 1 on, is six bits of the ids of sessions and messages, and is never given again.
pub const MEMBERS_MAX: usize = 63;
/// Nodes that vote, and so have a copy of everything acknowledged; who comes then stays a learner.
pub const VOTERS_MAX: usize = 5;
/// For so long a token is good, in milliseconds of the wall clock.
pub const TOKEN_LIFE_MS: u64 = 60 * 60 * 1000;
/// No entry is longer.
pub const ENTRY_BYTES_MAX: usize = 64 << 10;
/// No snapshot of a state is longer: all members with all that each may say of itself, and all tokens, with room to spare.
pub const SNAPSHOT_BYTES_MAX: usize = 4 << 20;
/// No log comes to this sequence.
pub(crate) const SEQUENCE_END: u64 = 1 << 62;

/// Tokens that are good at the same time.
pub(crate) const TOKENS_MAX: usize = 256;
/// A name of a cluster, a node or a zone.
pub(crate) const NAME_BYTES_MAX: usize = 64;
/// One address, `HOST:PORT`.
pub(crate) const ADDRESS_BYTES_MAX: usize = 262;
/// Addresses of one node.
pub(crate) const ADDRESSES_MAX: usize = 8;
/// The text of a release.
pub(crate) const RELEASE_BYTES_MAX: usize = 64;
