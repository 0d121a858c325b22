//! The `node` room.
