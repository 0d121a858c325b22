//! What an operator is shown of the groups that live here.

use lapwing_groups::{MemberView, Presence};
use lapwing_session::SessionKey;

use super::Shard;
use super::owned::OwnedGroup;
use crate::group_pages::{GroupQuery, ShardPage};
use crate::group_reports::{CounterReport, GroupAsk, GroupReport, MemberReport};
use crate::metrics::{GroupRoom, GroupSample};

impl Shard {
    /// Answers whoever has asked for the groups.
    pub(in crate::shard) fn report_groups(&mut self) {
        for asked in self.shared.report_desk(self.id.index()).take() {
            match asked {
                GroupAsk::Page(query, reply) => reply.send(self.page_of_groups(&query)),
                GroupAsk::Sample(reply) => reply.send(self.sample_of_groups()),
            }
        }
    }

    fn page_of_groups(&self, query: &GroupQuery) -> ShardPage {
        let now_us = self.shared.now_us();
        let wanted = self.groups.table.behind(query.begins_behind()).take_while(|owned| query.wants(&owned.name));
        let mut page = ShardPage::of(self.groups.table.len());
        for owned in wanted {
            if !page.has_room(query) {
                page.has_more = true;
                break;
            }
            page.add(report(owned, now_us, true));
        }
        page
    }

    /// Declared groups come first: whether there is room for others is known when there are no more of them.
    fn sample_of_groups(&self) -> GroupSample {
        let (now_us, config) = (self.shared.now_us(), &self.shared.config.dispatch);
        let (groups, members) =
            (self.groups.table.len(), self.groups.table.iter().map(|(_, one)| one.group.member_count()).sum());
        let mut room = GroupRoom::new(config);
        let mut reports = Vec::new();
        let is_declared = |owned: &&OwnedGroup| owned.group.settings().is_durable;
        let declared = self.groups.table.behind(None).filter(is_declared);
        let others = self.groups.table.behind(None).filter(|owned| !is_declared(owned));
        for owned in declared.chain(others) {
            if room.is_full() {
                break;
            }
            if room.may_take(&owned.name, &owned.filter) {
                let report = report(owned, now_us, members <= config.member_metrics_max as usize);
                reports.extend(room.takes(&report).then_some(report));
            }
        }
        GroupSample { groups, members, reports }
    }
}

fn report(owned: &OwnedGroup, now_us: u64, with_members: bool) -> GroupReport {
    let view = owned.group.view(now_us);
    let views = owned.group.member_views(now_us).take_while(|_| with_members);
    let mut members: Vec<MemberReport> = views.map(|one| member(owned, &one)).collect();
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
