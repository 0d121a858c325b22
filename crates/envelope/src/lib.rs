//! The `envelope` room.
