//! Ids that dispatch hands out.

/// A member's place. Stable from `join` to `leave`; used again for another member later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemberIndex(pub(crate) u32);

impl MemberIndex {
    /// As a place in the caller's own table; small, because places are used again.
    pub const fn slot(self) -> usize {
        self.0 as usize
    }
}

/// One message that was sent to one member. Never given twice for the same place, not even after members have changed:
/// so an acknowledgement that comes too late finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub(crate) u64);
