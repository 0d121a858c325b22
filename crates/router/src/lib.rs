//! The `router` room.
