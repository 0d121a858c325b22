//! What a group wants done.

use std::num::NonZeroU64;

use lapwing_codec::QoS;

use crate::assignment::{AssignmentId, Epoch};
use crate::counters::DropReason;
use crate::facts::Facts;

/// One thing to do. Actions are to be carried out in their order.
#[derive(Clone, Debug, PartialEq)]
pub enum Action<K, M> {
    /// Hand a message to a member's shard.
    Send(Delivery<K, M>),
    /// The member has stalled: send it DISCONNECT and close its connection, which then ends with `lost` like any other.
    Kick {
        /// Whom.
        member: K,
        /// Only this connection.
        epoch: Epoch,
    },
    /// Publish the message to the group's dead-letter topic.
    DeadLetter {
        /// The message.
        message: M,
        /// Its numbers. Where it is logged its end is to be told when the letter is.
        facts: Facts,
        /// Why it was not delivered.
        reason: DropReason,
    },
    /// A deadline was missed; only where `Settings::tells_missed` is set, then once for each that is counted.
    Missed {
        /// Who finished it too late (undeclared members: was sent it); None: it ended while it waited.
        member: Option<K>,
        /// The message.
        message: M,
        /// Its numbers.
        facts: Facts,
        /// From its ingress to its end.
        took_us: u64,
    },
    /// Tell an operator.
    Notice(Notice<K>),
}

/// A message for a member.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery<K, M> {
    /// Whose it is now.
    pub to: K,
    /// For this connection only: if it is over, the message is to be forgotten, and the `lost` of that connection brings it
    /// back here.
    pub epoch: Epoch,
    /// By which its end is reported; None: QoS 0, nothing is to be reported.
    pub assignment: Option<AssignmentId>,
    /// The message.
    pub message: M,
    /// Where it is logged; see [`Facts::entry`].
    pub entry: Option<NonZeroU64>,
    /// The lesser of its own and the member's.
    pub qos: QoS,
    /// An earlier member may have had it. This is no retransmission on the same connection: DUP stays 0 [MQTT-3.3.1-3].
    pub is_repeated: bool,
}

/// What an operator should know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notice<K> {
    /// More work waits than the group is set to bear.
    FellBehind {
        /// Seconds of work; None: nobody is here to do it.
        backlog_s: Option<f64>,
    },
    /// Half of that or less waits now.
    CaughtUp {
        /// Seconds of work; None: nothing waits and nobody is here.
        backlog_s: Option<f64>,
    },
    /// A member has stalled again without having finished anything well since the last time: its work may take longer than
    /// the group bears. Said at its second stall in a row.
    StallsAgain {
        /// Who.
        member: K,
    },
    /// A message was lost that no member can have; said once per group.
    Undeliverable {
        /// Who could not have it last; None: the one that could has left.
        member: Option<K>,
    },
    /// A member acknowledges on receipt and gets its fair turn only; said once per group.
    AcknowledgesOnReceipt {
        /// Who.
        member: K,
    },
}
