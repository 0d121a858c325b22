//! What a notice is about.

/// Alarms and clients may come so many times as often as other kinds: recovery has something to say of each stream.
const OFTEN: u64 = 10;

/// What a notice is about; each kind has its own rate, room and counters.
#[repr(usize)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoticeKind {
    /// Memory of clients and messages is above or below its marks.
    Memory,
    /// The disk is full, or has room again; a file of the data folder cannot be written.
    Disk,
    /// Retention took away what a named reader had not read.
    Retention,
    /// What recovery found and mended; what the log could not do at once.
    Log,
    /// How the clocks stand cannot be noted.
    Clock,
    /// The audit trail cannot be written, or can again.
    Audit,
    /// A shard does not go on, or does again.
    Stalled,
    /// What was found at the start.
    Start,
    /// Consumer groups: behind, caught up, members that cannot be measured.
    Group,
    /// Connections, messages and filters that were refused for want of a right.
    Refused,
    /// Clients that came and went.
    Clients,
    /// Sessions that lose what was acknowledged.
    Lost,
    /// Hooks that failed.
    Hooks,
    /// Strategies that failed.
    Strategies,
    /// All else.
    Other,
}

impl NoticeKind {
    pub(super) const COUNT: usize = 15;
    pub(super) const ALL: [NoticeKind; Self::COUNT] = [
        NoticeKind::Memory,
        NoticeKind::Disk,
        NoticeKind::Retention,
        NoticeKind::Log,
        NoticeKind::Clock,
        NoticeKind::Audit,
        NoticeKind::Stalled,
        NoticeKind::Start,
        NoticeKind::Group,
        NoticeKind::Refused,
        NoticeKind::Clients,
        NoticeKind::Lost,
        NoticeKind::Hooks,
        NoticeKind::Strategies,
        NoticeKind::Other,
    ];

    /// As in metrics and in the line that says what was left out.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            NoticeKind::Memory => "memory",
            NoticeKind::Disk => "disk",
            NoticeKind::Retention => "retention",
            NoticeKind::Log => "log",
            NoticeKind::Clock => "clock",
            NoticeKind::Audit => "audit",
            NoticeKind::Stalled => "stalled",
            NoticeKind::Start => "start",
            NoticeKind::Group => "group",
            NoticeKind::Refused => "refused",
            NoticeKind::Clients => "clients",
            NoticeKind::Lost => "lost",
            NoticeKind::Hooks => "hooks",
            NoticeKind::Strategies => "strategies",
            NoticeKind::Other => "other",
        }
    }

    /// How many times as often as others it may come: clients come and go where all is well.
    pub(super) const fn rate(self) -> u64 {
        if self.is_alarm() || matches!(self, NoticeKind::Clients) { OFTEN } else { 1 }
    }

    /// Whether it is of the node itself, so that the newest ones count; of the others the first ones do.
    pub(crate) const fn is_alarm(self) -> bool {
        matches!(
            self,
            NoticeKind::Memory
                | NoticeKind::Disk
                | NoticeKind::Retention
                | NoticeKind::Log
                | NoticeKind::Clock
                | NoticeKind::Audit
                | NoticeKind::Stalled
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does each kind find its own place and name?
    #[test]
    fn the_table_is_in_the_order_of_the_variants() {
        for (n, kind) in NoticeKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, n);
            assert_eq!(NoticeKind::ALL.iter().filter(|other| other.as_str() == kind.as_str()).count(), 1);
        }
    }
}
