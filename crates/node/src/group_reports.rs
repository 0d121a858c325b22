//! What the shards say of their groups when somebody asks.

use std::collections::BTreeMap;
use std::sync::Arc;

use lapwing_dispatch::DeferredCounters;
use lapwing_groups::{Counters, DropReason};
use serde::Serialize;

use crate::desk::Reply;
use crate::group_pages::{GroupQuery, ShardPage};
use crate::metrics::GroupSample;

/// One group.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct GroupReport {
    pub(crate) name: String,
    pub(crate) filter: String,
    pub(crate) strategy: String,
    pub(crate) is_durable: bool,
    /// Its queue is on disk.
    pub(crate) is_kept: bool,
    pub(crate) is_behind: bool,
    pub(crate) members_here: usize,
    pub(crate) waiting_critical: usize,
    pub(crate) waiting_bulk: usize,
    pub(crate) waiting_bytes: u64,
    pub(crate) parked: usize,
    pub(crate) unacknowledged: usize,
    pub(crate) oldest_ms: Option<u64>,
    pub(crate) backlog_s: Option<f64>,
    pub(crate) counters: CounterReport,
    /// Of a strategy of the user's own; None: the group uses none.
    pub(crate) deferred: Option<DeferredReport>,
    pub(crate) members: Vec<MemberReport>,
}

impl GroupReport {
    /// Where it stands among all.
    pub(crate) fn place(&self) -> (&str, &str) {
        (&self.name, &self.filter)
    }

    /// A part of what its JSON has, without looking at all of it: what strangers choose the length of.
    pub(crate) fn names_bytes(&self) -> usize {
        let of_members: usize = self.members.iter().map(|member| member.client_id.len()).sum();
        self.name.len() + self.filter.len() + of_members
    }
}

/// What a group has counted since it began.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CounterReport {
    pub(crate) published: u64,
    pub(crate) acknowledged: u64,
    pub(crate) unacknowledged: u64,
    pub(crate) refused: u64,
    pub(crate) missed: u64,
    pub(crate) missed_critical: u64,
    pub(crate) expired: u64,
    pub(crate) moved: u64,
    pub(crate) redelivered: u64,
    pub(crate) kicks: u64,
    pub(crate) fell_behind: u64,
    pub(crate) late_acknowledgements: u64,
    pub(crate) stale_events: u64,
    pub(crate) joins_refused: u64,
    pub(crate) reports_refused: u64,
    pub(crate) dropped: BTreeMap<&'static str, u64>,
    pub(crate) dead_lettered: BTreeMap<&'static str, u64>,
}

/// What a group has asked of a strategy of the user's own since it uses it, and what came of it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct DeferredReport {
    pub(crate) asked: u64,
    pub(crate) answered: u64,
    pub(crate) held: u64,
    pub(crate) failed: u64,
    pub(crate) timed_out: u64,
    pub(crate) late: u64,
    pub(crate) unable: u64,
    pub(crate) overflowed: u64,
}

impl From<DeferredCounters> for DeferredReport {
    fn from(counters: DeferredCounters) -> Self {
        let DeferredCounters { asked, answered, held, failed, timed_out, late, unable, overflowed } = counters;
        DeferredReport { asked, answered, held, failed, timed_out, late, unable, overflowed }
    }
}

/// One member.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MemberReport {
    pub(crate) client_id: String,
    pub(crate) presence: &'static str,
    pub(crate) rtt_ms: Option<f64>,
    pub(crate) service_ms: Option<f64>,
    pub(crate) queue: Option<f64>,
    pub(crate) inflight: usize,
    pub(crate) limit: Option<u32>,
    pub(crate) overdue_ms: Option<f64>,
    pub(crate) picks: u64,
    pub(crate) acknowledged: u64,
    pub(crate) refused: u64,
    pub(crate) moved: u64,
    pub(crate) missed: u64,
    pub(crate) kicks: u64,
    pub(crate) is_blind: bool,
    pub(crate) is_closed: bool,
}

impl CounterReport {
    pub(crate) fn new(counters: &Counters, dispatch: &lapwing_dispatch::Counters) -> Self {
        let by_reason = |count: &dyn Fn(DropReason) -> u64| {
            DropReason::ALL.into_iter().map(|reason| (reason.name(), count(reason))).filter(|(_, n)| *n > 0).collect()
        };
        CounterReport {
            published: counters.published,
            acknowledged: counters.acknowledged,
            unacknowledged: counters.unacknowledged,
            refused: counters.refused,
            missed: counters.missed,
            missed_critical: counters.missed_critical,
            expired: counters.expired,
            moved: counters.moved,
            redelivered: counters.redelivered,
            kicks: counters.kicks,
            fell_behind: counters.fell_behind,
            late_acknowledgements: counters.late_acknowledgements,
            stale_events: counters.stale_events,
            joins_refused: counters.joins_refused,
            reports_refused: dispatch.reports_refused,
            dropped: by_reason(&|reason| counters.dropped(reason)),
            dead_lettered: by_reason(&|reason| counters.dead_lettered(reason)),
        }
    }
}

/// What is asked of a shard.
pub(crate) enum GroupAsk {
    /// Its part of a page.
    Page(Arc<GroupQuery>, Reply<ShardPage>),
    /// What of its groups may stand in an answer to a scraper.
    Sample(Reply<GroupSample>),
}
