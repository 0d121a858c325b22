//! Messages from shard to shard.

pub(super) mod mailroom;
pub(super) mod post;
