//! Who keeps messages.

/// A durable session or a durable consumer group: the index of the entry that opened it, unique in its data group for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeeperId(pub u64);
