//! What the loop asks of every room of a shard.

use super::Shard;

/// A room: its state is a field of [`Shard`], and what the loop has to know of it is said beside it. `turn.rs` has one list of them.
pub(super) trait Room {
    /// True when a turn would get something done in it now. A shard that says no goes to sleep: whoever makes work for it
    /// from another thread wakes it.
    fn has_work(_shard: &mut Shard) -> bool {
        false
    }

    /// When something in it is due, by the node's clock, besides the timers; `None`: nothing is.
    fn next_at_ms(_shard: &Shard) -> Option<u64> {
        None
    }

    /// Hands over what it has gathered for other threads.
    fn flush(_shard: &mut Shard) {}

    /// True when nothing in it has still to leave: a node that drains does not end before.
    fn is_settled(_shard: &mut Shard) -> bool {
        true
    }
}

/// What one room answers with.
pub(super) struct RoomCalls {
    pub(super) has_work: fn(&mut Shard) -> bool,
    pub(super) next_at_ms: fn(&Shard) -> Option<u64>,
    pub(super) flush: fn(&mut Shard),
    pub(super) is_settled: fn(&mut Shard) -> bool,
}

impl RoomCalls {
    pub(super) const fn of<R: Room>() -> Self {
        RoomCalls { has_work: R::has_work, next_at_ms: R::next_at_ms, flush: R::flush, is_settled: R::is_settled }
    }
}
