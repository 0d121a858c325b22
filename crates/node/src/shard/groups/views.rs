//! What an operator is shown of the groups that live here.

use lapwing_groups::{MemberView, Presence};
use lapwing_session::SessionKey;

use super::Shard;
use super::table::OwnedGroup;
use crate::group_reports::{CounterReport, GroupReport, MemberReport};

impl Shard {
    /// Answers whoever has asked for the groups.
    pub(in crate::shard) fn report_groups(&mut self) {
        let asked = self.shared.report_desk(self.id.index()).take();
        if asked.is_empty() {
            return;
        }
        let now_us = self.shared.now_us();
        let reports: Vec<GroupReport> = self.groups.iter().map(|(_, owned)| report(owned, now_us)).collect();
        for sender in asked {
            // Whoever asked may have given up.
            let _ = sender.send(reports.clone());
        }
    }
}

fn report(owned: &OwnedGroup, now_us: u64) -> GroupReport {
    let view = owned.group.view(now_us);
    let mut members: Vec<MemberReport> = owned.group.member_views(now_us).map(|one| member(owned, &one)).collect();
    members.sort_by(|a, b| a.client_id.cmp(&b.client_id));
    GroupReport {
        name: owned.name.to_string(),
        filter: owned.filter.to_string(),
        strategy: owned.config.r#use.clone().unwrap_or_else(|| owned.config.strategy.clone()),
        is_durable: owned.group.settings().is_durable,
        is_kept: owned.kept.is_some(),
        is_behind: view.is_behind,
        members_here: view.here,
        waiting_critical: view.critical,
        waiting_bulk: view.bulk,
        waiting_bytes: view.bytes,
        parked: view.parked,
        unacknowledged: view.assigned,
        oldest_ms: view.oldest_us.map(|us| us / 1000),
        backlog_s: view.backlog_s,
        counters: CounterReport::new(&view.counters, &view.dispatch),
        deferred: view.deferred.map(Into::into),
        members,
    }
}

fn member(owned: &OwnedGroup, view: &MemberView<SessionKey>) -> MemberReport {
    let dispatch = view.dispatch;
    let client_id = owned.people.get(&view.key).map(|person| person.client_id.to_string()).unwrap_or_default();
    MemberReport {
        client_id,
        presence: presence(view.presence),
        rtt_ms: dispatch.map(|known| known.rtt_ms),
        service_ms: dispatch.map(|known| known.service_ms),
        queue: dispatch.map(|known| known.queue),
        inflight: view.assigned,
        limit: dispatch.map(|known| known.limit),
        overdue_ms: dispatch.map(|known| known.overdue_ms),
        picks: view.tally.bound,
        acknowledged: view.tally.acknowledged,
        refused: view.tally.refused,
        moved: view.tally.moved,
        missed: view.tally.missed,
        kicks: view.tally.kicks,
        is_blind: dispatch.is_some_and(|known| known.is_blind),
        is_closed: dispatch.is_some_and(|known| known.is_closed),
    }
}

fn presence(presence: Presence) -> &'static str {
    match presence {
        Presence::Here => "here",
        Presence::Kicked => "kicked",
        Presence::Away => "away",
        Presence::Leaving => "leaving",
    }
}
