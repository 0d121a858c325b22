//! What a shard's timers are for, and what is done when one is due.

use std::num::NonZeroU64;

use lapwing_session::SessionKey;

use super::Shard;
use super::turn::SLEEP_MAX;
use crate::shard::groups::GroupRoom;

/// A shard that has not gone on for so long was stopped, or its machine was.
const STOOD_STILL_MS: u64 = 2 * SLEEP_MAX.as_millis() as u64;

/// What a deadline is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// The connection must have sent its CONNECT.
    Connect { index: usize, born: u64 },
    /// The connection must have taken bytes.
    Stall { index: usize, born: u64 },
    /// The connection may be read on: its bucket has filled, or its pause is over.
    Rate { index: usize, born: u64 },
    /// The connection must have been ended by its peer too.
    Linger { index: usize, born: u64 },
    /// A refusal that waited is said.
    Refusal { index: usize, born: u64 },
    /// The CONNECT of a client whose former connection was not heard out looks again.
    Former { index: usize, born: u64 },
    /// What the client has proved itself with ends: a certificate, a token.
    Proof { index: usize, born: u64 },
    /// Keep alive, will delay or expiry of a session.
    Session(SessionKey),
    /// A client that has asked for it is probed.
    Probe { key: SessionKey, epoch: u64 },
    /// Something of a group: a stall to be looked for, a message that waits too long.
    Group(NonZeroU64),
    /// Something of a hold, by its place: a message expires, or may be tried again.
    Hold(usize),
    /// Retained messages may have expired.
    Retained,
    /// The next share of what ended sessions leave.
    Endings,
    /// Publishers of QoS 2 that have been silent are looked at.
    Settlement,
    /// The `$SYS` tree is published.
    Sys,
}

impl Shard {
    /// Whether time has passed in which nobody was heard: what was said meanwhile comes before what is due, in the next turn,
    /// or acknowledgements that lie there would be overdue. Once: a shard whose turns take so long has its timers too.
    pub(super) fn must_hear_first(&mut self, before_ms: u64) -> bool {
        let stood_still = self.now_ms.saturating_sub(before_ms) > STOOD_STILL_MS;
        self.mail.timers_wait = stood_still && !self.mail.timers_wait;
        self.mail.timers_wait
    }

    pub(super) fn run_timers(&mut self) {
        if !self.connections.is_listening {
            // A will, or a dead letter, must reach sessions of every shard: before, their subscriptions are not known here.
            return;
        }
        // Only as many as there are now: what they add waits for the next turn.
        for _ in 0..self.timers.len() {
            let Some((at_ms, due)) = self.timers.due(self.now_ms) else { break };
            match due {
                Due::Connect { index, born } => self.connect_timeout(index, born),
                Due::Stall { index, born } => self.stalled(index, born),
                Due::Rate { index, born } => self.rate_due(index, born),
                Due::Linger { index, born } => self.linger_due(index, born),
                Due::Refusal { index, born } => self.refusal_due(index, born),
                Due::Former { index, born } => self.former_due(index, born),
                Due::Proof { index, born } => self.proof_due(index, born),
                Due::Session(key) => self.session_due(key, at_ms),
                Due::Retained => self.retained_due(at_ms),
                Due::Endings => self.withdraw_ended(),
                Due::Probe { key, epoch } => self.probe_due(key, epoch),
                Due::Group(tag) => self.group_due(tag, at_ms),
                Due::Hold(place) => self.hold_due(place, at_ms),
                Due::Sys => self.publish_sys(),
                Due::Settlement => self.settle_silent(),
            }
        }
        if self.timers.is_full() {
            self.forget_stale_timers();
        }
    }

    /// Sessions and connections that come and go leave their timers behind; those that nobody waits for go now.
    fn forget_stale_timers(&mut self) {
        let Shard { timers, clients, groups: GroupRoom { table: groups, .. }, holds, retained, .. } = self;
        timers.retain(|at_ms, due| match due {
            Due::Connect { index, born } => {
                clients.connection(*index).is_some_and(|c| c.born == *born && c.is_connecting())
            }
            Due::Stall { index, born }
            | Due::Rate { index, born }
            | Due::Refusal { index, born }
            | Due::Former { index, born }
            | Due::Proof { index, born }
            | Due::Linger { index, born } => {
                clients.connection(*index).is_some_and(|connection| connection.born == *born)
            }
            Due::Session(key) => clients.row(*key).is_some_and(|row| row.timer_ms == at_ms),
            Due::Probe { key, epoch } => clients.row(*key).is_some_and(|row| row.membership.epoch == *epoch),
            Due::Group(tag) => groups.timer_ms(*tag) == Some(at_ms),
            Due::Hold(place) => holds.timer_ms(*place) == Some(at_ms),
            Due::Retained => retained.timer_ms == Some(at_ms),
            Due::Endings | Due::Settlement | Due::Sys => true,
        });
    }
}
