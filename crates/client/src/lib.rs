//! The `client` room.
