//! What happens although nothing comes: waits end, members stall and open again, work piles up.

use std::hash::Hash;

use lapwing_dispatch::{Leaving, MemberIndex};

use crate::action::{Action, Notice};
use crate::group::Group;
use crate::membership::Presence;

/// Stalls and the backlog are looked at so often while there is anything to look at.
pub const CHECK_US: u64 = 250_000;
/// Once may be chance; at this stall in a row it is told who stalls.
const TOLD_AT_STALL: u32 = 2;
/// A group that was behind has caught up at this share of the setting: it is not told of every message around it.
const CAUGHT_UP_SHARE: f64 = 0.5;

impl<K: Copy + Eq + Hash, M: Clone> Group<K, M> {
    /// Time has come to `now_us`. Harmless at any time; needed at [`Group::next_wake_us`].
    pub fn tick(&mut self, now_us: u64) {
        if self.check_at_us.is_some_and(|at_us| at_us <= now_us) {
            self.check_at_us = None;
            self.kick_stalled(now_us);
            self.judge_backlog();
            // Their members may have become better or worse by time alone.
            self.queue.keys().wake_all();
        }
        self.members.hear(now_us);
        self.pump(now_us);
        self.arm(now_us);
        if self.is_vacant() {
            self.vacancy.begin(now_us);
            self.vacancy.judge(self.settings.expires_after_us, now_us);
        }
    }

    /// When to call [`Group::tick`] although nothing comes; None: not before something comes. Later than `now_us` if `tick`
    /// has been called with it.
    pub fn next_wake_us(&self, now_us: u64) -> Option<u64> {
        let opens = || self.members.next_turn_us(now_us).map(|at_us| at_us.max(now_us.saturating_add(1)));
        let turn = if self.queue.is_empty() { None } else { opens() };
        let expiry = if self.is_vacant() { self.vacancy.next_us(self.settings.expires_after_us, now_us) } else { None };
        self.check_at_us.into_iter().chain(self.queue.next_end_us()).chain(turn).chain(expiry).min()
    }

    /// Whether a strategy that answers later has answers: call [`Group::tick`] then.
    pub fn has_news(&self) -> bool {
        self.members.deferral().is_some_and(|deferral| deferral.has_news)
    }

    /// Seconds of work that wait, in the queue and with members; None: nobody is here to do it.
    pub fn backlog_s(&self) -> Option<f64> {
        self.members.backlog_s(self.queue.len())
    }

    /// Sees to it that the next look is planned, while there is anything to look at.
    pub(crate) fn arm(&mut self, now_us: u64) {
        if self.check_at_us.is_none() && self.has_to_look() {
            self.check_at_us = Some(now_us.saturating_add(CHECK_US));
        }
    }

    /// Whether time alone may change anything but the wait of a message. With nobody here, that is only what is said of
    /// the backlog: a group may wait for days for its members.
    fn has_to_look(&self) -> bool {
        if self.members.crew().here == 0 {
            let is_told = self.is_behind != self.queue.is_empty();
            return !is_told && (self.is_behind || self.settings.behind_s > 0.0);
        }
        self.is_behind || !self.queue.is_empty() || self.has_assigned()
    }

    /// Whether nobody has anything to do with the group and nothing waits in it.
    fn is_vacant(&self) -> bool {
        self.settings.is_durable && self.roster.is_empty() && self.queue.is_empty()
    }

    /// Whether anybody who is here has a message.
    fn has_assigned(&self) -> bool {
        self.roster.iter().any(|member| member.presence == Presence::Here && !member.assigned.is_empty())
    }

    /// Sends members away that have stalled. They are not chosen any more; what they have, their shards give back by
    /// `lost` when the connection is closed: until then a PUBACK still counts, so nothing is needlessly done twice.
    fn kick_stalled(&mut self, now_us: u64) {
        let stalled: Vec<MemberIndex> = self.members.stalled(now_us).collect();
        for place in stalled {
            let Some(member) = self.roster.at(place) else { continue };
            let (key, epoch, identity) = (member.key, member.epoch, member.options.declaration.identity);
            member.tally.kicks += 1;
            member.was_kicked = true;
            self.counters.kicks += 1;
            self.vacate(key, Leaving::Stalled, now_us);
            self.roster.set_presence(key, Presence::Kicked);
            self.actions.push(Action::Kick { member: key, epoch });
            if self.members.stalls_in_a_row(identity) == TOLD_AT_STALL {
                self.actions.push(Action::Notice(Notice::StallsAgain { member: key }));
            }
        }
    }

    /// Says when the group falls behind, and when it has caught up.
    fn judge_backlog(&mut self) {
        let (backlog_s, behind_s) = (self.backlog_s(), self.settings.behind_s);
        let waits_for_nobody = backlog_s.is_none() && !self.queue.is_empty();
        let is_above = |mark_s: f64| waits_for_nobody || backlog_s.is_some_and(|seconds| seconds > mark_s);
        if !self.is_behind && behind_s > 0.0 && is_above(behind_s) {
            self.is_behind = true;
            self.counters.fell_behind += 1;
            self.actions.push(Action::Notice(Notice::FellBehind { backlog_s }));
        } else if self.is_behind && (behind_s <= 0.0 || !is_above(behind_s * CAUGHT_UP_SHARE)) {
            self.is_behind = false;
            self.actions.push(Action::Notice(Notice::CaughtUp { backlog_s }));
        }
    }
}
