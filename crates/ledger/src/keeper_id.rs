//! Who keeps messages.

/// A durable session or a durable consumer group: the index of the entry that opened it, unique in its data group for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeeperId(pub u64);

/// Set in the name of the will of a session as a publisher. No log has as many entries.
const WILL: u64 = 1 << 63;

impl KeeperId {
    /// The will of this session, as a publisher of its own: its messages are no uses of the session's packet ids, and their numbers
    /// are the entries that brought them.
    #[must_use]
    pub const fn of_will(self) -> Self {
        KeeperId(self.0 | WILL)
    }

    /// The session whose will this is.
    pub(crate) const fn mourned(self) -> Option<Self> {
        if self.0 & WILL == 0 { None } else { Some(KeeperId(self.0 & !WILL)) }
    }
}
