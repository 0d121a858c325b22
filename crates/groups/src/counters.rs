//! What became of messages, by name.

/// Why a message ended without being delivered.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The group's queue was full; see `Overflow`.
    QueueFull,
    /// Its Message Expiry Interval passed while it waited.
    MessageExpired,
    /// Its deadline passed while it waited, and the group is set not to deliver it then.
    DeadlinePassed,
    /// Nobody could have it and the group keeps no such message: QoS 0 with no member connected, any QoS with no member.
    GroupEmpty,
    /// QoS 0 while every connected member is paused or kept apart after a stall.
    GroupBusy,
    /// It waited when the group lost its last member, and the group is not durable.
    GroupEnded,
    /// QoS 2 whose delivery had begun when the session that it belonged to ended.
    SessionEnded,
    /// No member can have it: larger than the Maximum Packet Size of each, say; or its key has gone on without it.
    Undeliverable,
}

impl DropReason {
    /// Every reason, in the order of their numbers.
    pub const ALL: [DropReason; 8] = [
        DropReason::QueueFull,
        DropReason::MessageExpired,
        DropReason::DeadlinePassed,
        DropReason::GroupEmpty,
        DropReason::GroupBusy,
        DropReason::GroupEnded,
        DropReason::SessionEnded,
        DropReason::Undeliverable,
    ];

    /// The label in metrics, and the reason in a dead letter.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::QueueFull => "queue_full",
            DropReason::MessageExpired => "message_expired",
            DropReason::DeadlinePassed => "deadline_passed",
            DropReason::GroupEmpty => "group_empty",
            DropReason::GroupBusy => "group_busy",
            DropReason::GroupEnded => "group_ended",
            DropReason::SessionEnded => "session_ended",
            DropReason::Undeliverable => "undeliverable",
        }
    }
}

/// Counts since the group began.
///
/// `published` = acknowledged + unacknowledged + refused + dropped + dead-lettered + what waits + what members have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages given to the group, those that an earlier life of it had kept among them.
    pub published: u64,
    /// Ended by PUBACK or PUBCOMP.
    pub acknowledged: u64,
    /// Ended by being sent: QoS 0.
    pub unacknowledged: u64,
    /// Ended by a PUBACK or PUBREC of 0x80 or above.
    pub refused: u64,
    pub(crate) dropped: [u64; DropReason::ALL.len()],
    pub(crate) dead_lettered: [u64; DropReason::ALL.len()],
    /// Finished (undeclared members: sent) after the deadline, or ended while waiting by it or after it.
    pub missed: u64,
    /// Those of them in the critical lane.
    pub missed_critical: u64,
    /// Ended by deadline or expiry while waiting; each is dropped or a dead letter, too.
    pub expired: u64,
    /// Taken back from a member.
    pub moved: u64,
    /// Sent although an earlier member may have had it.
    pub redelivered: u64,
    /// Acknowledgements of messages that the member does not have: too late, twice, of an earlier connection.
    pub late_acknowledgements: u64,
    /// Other words of a connection that is over, or of somebody who is no member.
    pub stale_events: u64,
    /// Members sent away because they had stalled.
    pub kicks: u64,
    /// Times that the group fell behind.
    pub fell_behind: u64,
    /// Members that were not let in because there are too many.
    pub joins_refused: u64,
}

impl Counters {
    /// Messages dropped for `reason`.
    pub const fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped[reason as usize]
    }

    /// Dead letters for `reason`.
    pub const fn dead_lettered(&self, reason: DropReason) -> u64 {
        self.dead_lettered[reason as usize]
    }

    /// All that has ended, in whatever way.
    pub fn ended(&self) -> u64 {
        let lost: u64 = self.dropped.iter().chain(&self.dead_lettered).sum();
        self.acknowledged + self.unacknowledged + self.refused + lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_stands_at_its_number_and_has_its_own_name() {
        for (number, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, number);
            assert_eq!(DropReason::ALL.iter().filter(|other| other.name() == reason.name()).count(), 1);
        }
    }
}
