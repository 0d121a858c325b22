//! What may be set for a group, beside its strategy and the strategy's parameters.

/// Which messages give way when the queue is full. Bulk always gives way to critical.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The longest waiting.
    #[default]
    DropOldest,
    /// The last that came.
    DropNewest,
}

/// What happens to work whose deadline passes while it waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expired {
    /// It is sent nevertheless, and counted as missed. A Message Expiry Interval that is over still ends it.
    #[default]
    Deliver,
    /// It is dropped under a name.
    Drop,
    /// It leaves as a dead letter with the reason; so does what its Message Expiry Interval ends.
    DeadLetter,
}

/// What one group is set to. Everything may change while it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// It was declared: it takes and keeps messages without any member.
    pub is_durable: bool,
    /// Messages that may wait.
    pub queue_messages_max: usize,
    /// Bytes that may wait.
    pub queue_bytes_max: u64,
    /// What happens beyond these two.
    pub overflow: Overflow,
    /// What happens to work that is too late while it waits.
    pub expired: Expired,
    /// The group is behind when more seconds of work wait than this, and has caught up at half of it; 0: nobody is told.
    pub behind_s: f64,
    /// Each missed deadline is an [`Action::Missed`](crate::Action::Missed), not only counted.
    pub tells_missed: bool,
    /// Members, connected or not. Who is one too many is refused by `Group::can_join`, which whoever lets members in asks.
    pub members_max: usize,
    /// A durable group is over when it was without members and messages for so long; None: never.
    pub expires_after_us: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            is_durable: false,
            queue_messages_max: 100_000,
            queue_bytes_max: 64 << 20,
            overflow: Overflow::default(),
            expired: Expired::default(),
            behind_s: 10.0,
            tells_missed: false,
            members_max: 10_000,
            expires_after_us: None,
        }
    }
}
