//! The `swarm` room.
