//! The `py` room.
