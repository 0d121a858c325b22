//! The `codec` room.
