//! What a group knows of a message besides the message.

use std::num::NonZeroU64;

use lapwing_codec::QoS;
use lapwing_dispatch::Work;

use crate::counters::DropReason;
use crate::settings::Expired;

/// Which messages go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    /// Goes before all of the other lane.
    Critical,
    /// Everything else.
    Bulk,
}

impl Lane {
    /// Both, the one that goes first in front.
    pub const ALL: [Lane; 2] = [Lane::Critical, Lane::Bulk];
}

/// The numbers of one message. Times are microseconds of the clock of `now_us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// With which it was published; a member gets it with the QoS of its subscription at most.
    pub qos: QoS,
    /// Its lane.
    pub lane: Lane,
    /// What it takes up while it waits.
    pub bytes: u64,
    /// When the broker had received it.
    pub ingress_us: u64,
    /// How long after `ingress_us` it should be finished.
    pub deadline_us: Option<u64>,
    /// When its Message Expiry Interval is over.
    pub expires_at_us: Option<u64>,
    /// Hash of its key, if it has one.
    pub key: Option<u64>,
    /// Hash of the publisher's client id.
    pub client: u64,
    /// Hash of its topic.
    pub topic: u64,
    /// Where it is logged, if the group is kept; its end is told by this. None at QoS 0. These numbers ascend.
    pub entry: Option<NonZeroU64>,
}

impl Facts {
    /// A bulk message of `bytes` bytes received at `ingress_us`, with no deadline, expiry or key.
    pub const fn new(qos: QoS, bytes: u64, ingress_us: u64) -> Facts {
        Facts {
            qos,
            lane: Lane::Bulk,
            bytes,
            ingress_us,
            deadline_us: None,
            expires_at_us: None,
            key: None,
            client: 0,
            topic: 0,
            entry: None,
        }
    }

    /// The same in the critical lane.
    pub const fn critical(self) -> Facts {
        Facts { lane: Lane::Critical, ..self }
    }

    /// Whether nobody may be bound to it before its entry is committed: with QoS 2 another log may name that entry.
    pub(crate) fn waits_for_commit(&self) -> bool {
        self.qos == QoS::ExactlyOnce && self.entry.is_some()
    }

    /// When it should be finished.
    pub(crate) fn due_us(&self) -> Option<u64> {
        self.deadline_us.map(|deadline_us| self.ingress_us.saturating_add(deadline_us))
    }

    /// Whether what happens at `at_us` is too late.
    pub(crate) fn is_missed(&self, at_us: u64) -> bool {
        self.due_us().is_some_and(|due_us| at_us > due_us)
    }

    /// Until when it may wait, and why no longer.
    pub(crate) fn end(&self, expired: Expired) -> Option<(u64, DropReason)> {
        let expiry = self.expires_at_us.map(|at_us| (at_us, DropReason::MessageExpired));
        let due = self.due_us().filter(|_| expired != Expired::Deliver);
        // A deadline is missed after its microsecond, an expiry is over with it.
        let deadline = due.map(|due_us| (due_us.saturating_add(1), DropReason::DeadlinePassed));
        match (expiry, deadline) {
            (Some(expiry), Some(deadline)) => Some(if deadline.0 < expiry.0 { deadline } else { expiry }),
            (expiry, deadline) => expiry.or(deadline),
        }
    }

    /// As dispatch sees it; `nth`: which message of the group; `qos`: with which it would be sent.
    pub(crate) fn work(&self, nth: u64, qos: QoS) -> Work {
        Work {
            number: nth,
            is_critical: self.lane == Lane::Critical,
            is_unacknowledged: !qos.is_acknowledged(),
            key: self.key,
            client: self.client,
            topic: self.topic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_of_deadline_and_expiry_ends_a_wait() {
        let facts = Facts::new(QoS::AtLeastOnce, 1, 100);
        assert_eq!(facts.end(Expired::Drop), None);
        let both = Facts { deadline_us: Some(50), expires_at_us: Some(160), ..facts };
        assert_eq!(both.end(Expired::Drop), Some((151, DropReason::DeadlinePassed)));
        assert_eq!(both.end(Expired::Deliver), Some((160, DropReason::MessageExpired)));
        let sooner = Facts { expires_at_us: Some(120), ..both };
        assert_eq!(sooner.end(Expired::DeadLetter), Some((120, DropReason::MessageExpired)));
        assert!(!both.is_missed(150) && both.is_missed(151));
    }

    #[test]
    fn a_deadline_beyond_all_time_is_never_missed() {
        let facts = Facts { deadline_us: Some(u64::MAX), ..Facts::new(QoS::AtLeastOnce, 1, 100) };
        assert!(!facts.is_missed(u64::MAX));
        assert_eq!(facts.end(Expired::Drop), Some((u64::MAX, DropReason::DeadlinePassed)));
    }
}
