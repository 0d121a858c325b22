//! One message, as dispatch sees it, and where it may go.

use crate::index::MemberIndex;

/// What dispatch knows of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Which message of its group it is: the same number, the same message. Strategies that answer later know it by that.
    pub number: u64,
    /// It lies in the critical lane.
    pub is_critical: bool,
    /// It will be sent at QoS 0: nobody will acknowledge it.
    pub is_unacknowledged: bool,
    /// Hash of its key, if it has one: messages of one key stay in order under `key-ordered`.
    pub key: Option<u64>,
    /// Hash of the publisher's client id.
    pub client: u64,
    /// Hash of its topic.
    pub topic: u64,
}

/// The answer for one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Send it to this member now, then say so with `sent`.
    To(MemberIndex),
    /// No member may have it now: leave it at the head of the queue. Ask again after an acknowledgement, a report, a
    /// join, or at `Members::next_turn_us`.
    Wait,
    /// Only this message must wait: its key is bound to a member that cannot have it now. Ask for the next message, but
    /// not for another one of the same key before this one.
    Park,
}
