//! What a member's shard and the owner of its groups say to each other.
//!
//! To the owner everything goes over one lane in order: a message that is acknowledged before its connection is lost must
//! not seem lost. From the owner messages and kicks go over one lane too ([`crate::mail::Direct`]). Each word names the
//! connection that it is about by its epoch; one about a connection that is over finds nothing.

use std::sync::Arc;

use lapwing_access::Identity;
use lapwing_dispatch::{Declaration, Report, RttSource};
use lapwing_session::{Bound, Grant, Outcome, SessionKey};

use crate::config::GroupConfig;
use crate::signals::{Declared, Defaults};

/// A member's shard tells the owner of its groups.
#[derive(Debug)]
pub(crate) enum Word {
    /// A session joins a group, or changes its options; answered by `Control::Joined`.
    Join(Box<Join>),
    /// A session has unsubscribed from one group.
    Unsubscribe {
        /// Group and filter, as [`share_name`] joins them.
        share: Box<str>,
        member: SessionKey,
        epoch: u64,
    },
    /// A connection is over, and its session lives: of all its groups there. `sent`: bound messages that may have reached it.
    Lost { member: SessionKey, epoch: u64, sent: Box<[Bound]> },
    /// The session has a connection again.
    Back { member: SessionKey, epoch: u64, profile: Profile },
    /// The session is over.
    End { member: SessionKey, epoch: u64, sent: Box<[Bound]> },
    /// What became of bound messages, in order.
    Outcomes(Vec<Told>),
    /// A member says something else about itself than before.
    Declare { member: SessionKey, epoch: u64, profile: Profile },
    /// A member says how it does.
    Report { member: SessionKey, epoch: u64, report: Report },
    /// What the kernel says of the way to a member.
    Sample { member: SessionKey, epoch: u64, rtt: Option<(RttSource, u64)>, unsent_bytes: u64 },
}

/// What waits for a join, on the member's shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JoinRequest {
    /// The SUBACK, by its place in the table.
    pub(crate) place: usize,
    /// Which of its reason codes.
    pub(crate) at: usize,
}

impl JoinRequest {
    /// Of a session that has come back with the node: its SUBACK has left long before.
    pub(crate) const NOBODY_WAITS: JoinRequest = JoinRequest { place: usize::MAX, at: 0 };
}

/// A session that joins a group.
#[derive(Debug)]
pub(crate) struct Join {
    pub(crate) request: JoinRequest,
    pub(crate) group: Box<str>,
    pub(crate) filter: Box<str>,
    pub(crate) member: SessionKey,
    pub(crate) client_id: Arc<str>,
    pub(crate) epoch: u64,
    pub(crate) grant: Grant,
    pub(crate) profile: Profile,
    /// The session is kept on disk.
    pub(crate) is_kept: bool,
    /// Whose share a group counts to that begins with it.
    pub(crate) identity: Identity,
}

/// What became of one bound message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) member: SessionKey,
    pub(crate) epoch: u64,
    pub(crate) outcome: Outcome,
}

/// Outcomes in one word.
const OUTCOMES_PER_WORD: usize = 512;

impl Word {
    /// Adds an outcome if this word has room for it.
    pub(crate) fn append(&mut self, told: Told) -> bool {
        match self {
            Word::Outcomes(all) if all.len() < OUTCOMES_PER_WORD => {
                all.push(told);
                true
            }
            _ => false,
        }
    }

    /// How much there is to do for it, in words.
    pub(crate) fn weight(&self) -> usize {
        if let Word::Outcomes(all) = self { all.len() } else { 1 }
    }
}

/// Group and filter in one: a group's name has no '/', so the pair can be told apart.
pub(crate) fn share_name(group: &str, filter: &str) -> Box<str> {
    [group, "/", filter].concat().into_boxed_str()
}

/// What is known of a member before it has done anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    /// A stable hash of the client id.
    pub(crate) identity: u64,
    /// Messages that it may have at a time.
    pub(crate) receive_max: u16,
    /// The kernel sees the near leg of the way to it only.
    pub(crate) is_proxied: bool,
    /// What it has said.
    pub(crate) declared: Declared,
}

impl Profile {
    /// As dispatch wants it, in a group that says what holds for those who say nothing.
    pub(crate) fn declaration(&self, group: &GroupConfig) -> Declaration {
        let defaults = Defaults { acknowledges: group.acknowledges.into(), workers: group.workers };
        self.declared.for_group(self.identity, self.receive_max, self.is_proxied, defaults)
    }
}
