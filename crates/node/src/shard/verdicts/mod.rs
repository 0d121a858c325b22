//! Packets that a hook judges: where they wait, and what becomes of them.

pub(super) mod gate;
pub(super) mod judged;
