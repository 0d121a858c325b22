//! What members declare and report, and who may not have a message.

use lapwing_dispatch::{
    Acknowledges, Declaration, Event, Leaving, MemberIndex, Members, Parameters, Pick, Report, ReportError, RttSource,
    Stamps, Strategy, Ticket, Work,
};

const MS: u64 = 1000;
const S: u64 = 1000 * MS;

fn group(strategy: Strategy, declarations: &[Declaration]) -> (Members, Vec<MemberIndex>) {
    let mut members = Members::new(strategy, Parameters::default(), 1);
    let indices = declarations.iter().map(|&declaration| members.join(declaration, 0)).collect();
    (members, indices)
}

fn send(members: &mut Members, work: &Work, now_us: u64) -> Option<(MemberIndex, Ticket)> {
    let Pick::To(member) = members.pick(work, 0, now_us) else { return None };
    members.sent(member, work, now_us).map(|ticket| (member, ticket))
}

fn acknowledge(members: &mut Members, (member, ticket): (MemberIndex, Ticket), now_us: u64) {
    assert!(members.acknowledged(member, ticket, Stamps { written_us: now_us, read_us: now_us }));
}

#[test]
fn a_message_waits_while_everybody_has_his_window() {
    let (mut members, _) = group(Strategy::Auto, &[Declaration::processed(1, 100), Declaration::processed(2, 100)]);
    let bulk = Work::default();
    let sent: Vec<_> = std::iter::from_fn(|| send(&mut members, &bulk, 0)).take(1000).collect();
    // Unknown members: 30 ms away, 20 ms of work, so 3 + 1.5 + 2 * sqrt(1.5) = 6.9 each.
    assert_eq!(sent.len(), 14);
    assert_eq!(members.pick(&bulk, 0, 0), Pick::Wait);
    let critical = Work { is_critical: true, ..bulk };
    assert!(matches!(members.pick(&critical, 0, 0), Pick::To(_)));
    assert!(matches!(members.pick(&bulk, 100, 0), Pick::To(_)), "a long queue widens the window");
    members.rtt_sample(sent[0].0, RttSource::Kernel, 30 * MS, 0);
    assert!(members.acknowledged(sent[0].0, sent[0].1, Stamps { written_us: 0, read_us: 40 * MS }));
    assert!(matches!(members.pick(&bulk, 0, 40 * MS), Pick::To(_)));
}

#[test]
fn batch_members_take_up_to_their_receive_maximum_the_emptiest_first() {
    let batch = |identity| Declaration { is_batch: true, ..Declaration::standard(identity, 500) };
    let (mut members, indices) = group(Strategy::Auto, &[batch(1), batch(2)]);
    let sent: Vec<_> = std::iter::from_fn(|| send(&mut members, &Work::default(), 0)).collect();
    assert_eq!(sent.len(), 1000);
    let view = |members: &Members, at: usize| members.view(indices[at], 0).unwrap();
    assert_eq!((view(&members, 0).inflight, view(&members, 1).inflight), (500, 500));
    // A whole batch is acknowledged at once: that is no acknowledgement on receipt.
    for &one in sent.iter().filter(|one| one.0 == indices[1]) {
        acknowledge(&mut members, one, 100 * MS);
    }
    assert!(!view(&members, 1).is_blind);
    let next: Vec<_> = (0..100).map(|_| send(&mut members, &Work::default(), 101 * MS).unwrap().0).collect();
    assert!(next.iter().all(|&member| member == indices[1]));
}

#[test]
fn qos_0_goes_by_socket_backlog_then_by_reports_then_in_turn() {
    let declarations: Vec<_> = (0..3).map(|identity| Declaration::standard(identity, 10)).collect();
    let (mut members, indices) = group(Strategy::Auto, &declarations);
    let work = Work { is_unacknowledged: true, ..Work::default() };
    let next = |members: &mut Members| {
        let Pick::To(member) = members.pick(&work, 0, 0) else { panic!("nobody") };
        assert_eq!(members.sent(member, &work, 0), None);
        indices.iter().position(|&index| index == member).unwrap()
    };
    assert_eq!((0..6).map(|_| next(&mut members)).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
    members.unsent(indices[1], 100_000);
    assert_eq!((0..4).map(|_| next(&mut members)).collect::<Vec<_>>(), [0, 2, 0, 2]);
    let report = Report { queue: Some(50), service_us: Some(10_000), ..Report::default() };
    members.report(indices[2], &report, 0).unwrap();
    assert_eq!((0..3).map(|_| next(&mut members)).collect::<Vec<_>>(), [0, 0, 0]);
}

#[test]
fn a_reported_queue_is_believed_and_a_paused_member_left_alone() {
    let received =
        |identity| Declaration { acknowledges: Acknowledges::Received, ..Declaration::standard(identity, 100) };
    let (mut members, indices) = group(Strategy::Auto, &[received(1), received(2)]);
    let report =
        |queue, is_paused| Report { queue: Some(queue), service_us: Some(10_000), is_paused, ..Report::default() };
    members.report(indices[0], &report(40, None), 0).unwrap();
    members.report(indices[1], &report(0, None), 0).unwrap();
    for nth in 0..5 {
        let sent = send(&mut members, &Work::default(), nth * MS).unwrap();
        assert_eq!(sent.0, indices[1], "it has nothing to do");
        // On receipt: only the reports say more.
        acknowledge(&mut members, sent, nth * MS + 500);
    }
    let view = members.view(indices[0], 5 * MS).unwrap();
    assert_eq!((view.queue, view.service_ms, view.is_blind), (40.0, 10.0, false));
    members.report(indices[1], &report(50, Some(true)), 10 * MS).unwrap();
    assert_eq!(send(&mut members, &Work::default(), 11 * MS).unwrap().0, indices[0]);
    members.report(indices[0], &report(0, Some(true)), 12 * MS).unwrap();
    assert_eq!(members.pick(&Work::default(), 1, 12 * MS), Pick::Wait);
    assert_eq!(members.next_turn_us(12 * MS), Some(30 * S + 10 * MS));
    members.report(indices[0], &report(0, Some(false)), 13 * MS).unwrap();
    assert_eq!(members.pick(&Work::default(), 1, 13 * MS), Pick::To(indices[0]));
}

#[test]
fn what_no_member_can_mean_is_refused_and_counted() {
    let (mut members, indices) = group(Strategy::Auto, &[Declaration::standard(1, 10)]);
    let before = members.view(indices[0], 0);
    let wrong = [
        Report { queue: Some(1_000_001), ..Report::default() },
        Report { queue: Some(1), service_us: Some(0), ..Report::default() },
        Report { service_us: Some(u64::MAX), is_paused: Some(true), ..Report::default() },
        Report { rate_per_s: Some(10_000_001), ..Report::default() },
    ];
    for report in &wrong {
        let error = members.report(indices[0], report, 0).unwrap_err().to_string();
        assert!(error.contains("are believed"), "{error}");
    }
    assert_eq!(members.view(indices[0], 0), before);
    members.leave(indices[0], Leaving::Left, 0);
    assert_eq!(members.report(indices[0], &Report::default(), 0), Err(ReportError::Gone));
    assert_eq!(members.counters().reports_refused, 5);
}

#[test]
fn a_member_is_stalled_when_its_oldest_message_is_overdue_by_a_second() {
    let (mut members, indices) = group(Strategy::Auto, &[Declaration::processed(1, 10)]);
    send(&mut members, &Work::default(), 0).unwrap();
    let stalled = |members: &Members, now_us| members.stalled(now_us).collect::<Vec<_>>();
    // Due after 30 ms of way and 20 ms of work.
    assert_eq!(stalled(&members, 1049 * MS), []);
    assert_eq!(stalled(&members, 1051 * MS), indices);
    let mut never = Parameters::default();
    never.set("stall_ms", 0.0).unwrap();
    members.set_parameters(never);
    assert_eq!(stalled(&members, 3600 * S), []);
}

#[test]
fn a_report_counts_as_a_heartbeat() {
    let (mut members, indices) = group(Strategy::Auto, &[Declaration::processed(1, 10)]);
    send(&mut members, &Work::default(), 0).unwrap();
    let report = Report { queue: Some(1), service_us: Some(100_000), ..Report::default() };
    for second in 1..9 {
        members.report(indices[0], &report, second * S).unwrap();
        assert_eq!(members.stalled(second * S + 900 * MS).count(), 0);
    }
    assert_eq!(members.stalled(11 * S).collect::<Vec<_>>(), indices);
}

/// Who acknowledges when finished is judged by an overdue message, though it reports; who is known by reports alone is not.
#[test]
fn a_report_hides_no_overdue_message_of_who_acknowledges_when_finished() {
    for (declaration, is_seen) in [(Declaration::processed(1, 10), true), (Declaration::standard(1, 10), false)] {
        let (mut members, indices) = group(Strategy::Auto, &[declaration]);
        send(&mut members, &Work::default(), 0).unwrap();
        members.report(indices[0], &Report { queue: Some(1), ..Report::default() }, 100 * MS).unwrap();
        let overdue_ms = members.view(indices[0], S).unwrap().overdue_ms;
        assert_eq!(overdue_ms > 900.0, is_seen, "{overdue_ms}");
    }
}

/// Work of 1.6 s at default settings: is it given the time that it takes, in the end?
#[test]
fn who_stalls_twice_in_a_row_is_given_twice_the_time() {
    let (mut members, indices) = group(Strategy::Auto, &[Declaration::standard(1, 1)]);
    let mut member = indices[0];
    for (bound_ms, stalls) in [(1050, 1), (1050, 2), (2050, 3), (4050, 4)] {
        let begin_us = members.next_turn_us(0).unwrap_or(0);
        members.sent(member, &Work::default(), begin_us).unwrap();
        assert_eq!(members.stalled(begin_us + (bound_ms - 1) * MS).count(), 0, "after {stalls} stalls");
        assert_eq!(members.stalled(begin_us + (bound_ms + 1) * MS).collect::<Vec<_>>(), [member]);
        members.leave(member, Leaving::Stalled, 0);
        assert_eq!(members.stalls_in_a_row(1), stalls);
        member = members.join(Declaration::standard(1, 1), 0);
    }
    let mut now_us = members.next_turn_us(0).unwrap();
    for _ in 0..2 {
        let ticket = members.sent(member, &Work::default(), now_us).unwrap();
        assert!(members.acknowledged(member, ticket, Stamps { written_us: now_us, read_us: now_us + 20 * MS }));
        now_us += 20 * MS;
    }
    assert_eq!(members.stalls_in_a_row(1), 0, "it has acknowledged well");
}

/// Is any word of a member a sign of life, as docs/signals.md has it?
#[test]
fn a_watermark_is_a_sign_of_life() {
    let (mut members, indices) = group(Strategy::Auto, &[Declaration::processed(1, 10)]);
    send(&mut members, &Work::default(), 0).unwrap();
    let low = Report { is_paused: Some(false), ..Report::default() };
    for tenth in 1..100 {
        members.report(indices[0], &low, tenth * 300 * MS).unwrap();
        assert_eq!(members.stalled(tenth * 300 * MS + 299 * MS).count(), 0);
    }
    assert_eq!(members.stalled(31 * S).collect::<Vec<_>>(), indices, "it has said nothing more");
}

/// A member that says when it finishes has all it may have and is silent. Does the group go on with who acknowledges on receipt?
#[test]
fn a_silent_member_does_not_stop_those_that_are_not_waited_for() {
    let received = Declaration { acknowledges: Acknowledges::Received, ..Declaration::standard(1, 100) };
    let (mut members, indices) = group(Strategy::Auto, &[received, Declaration::processed(2, 2)]);
    let sent = std::iter::from_fn(|| send(&mut members, &Work::default(), 0)).count();
    assert!((2..10).contains(&sent), "it is waited for: {sent}");
    assert_eq!(members.pick(&Work::default(), 100, 100 * MS), Pick::Wait, "it may come any moment");
    assert_eq!(members.pick(&Work::default(), 100, 300 * MS), Pick::To(indices[0]));
}

#[test]
fn who_stalls_again_comes_back_later_and_with_one_message_at_a_time() {
    let (mut members, indices) = group(Strategy::Auto, &[Declaration::processed(1, 10)]);
    let mut member = indices[0];
    for wait_us in [0, S, 2 * S] {
        members.leave(member, Leaving::Stalled, 0);
        member = members.join(Declaration::processed(1, 10), 0);
        assert_eq!(members.next_turn_us(0), (wait_us > 0).then_some(wait_us));
        let sent = send(&mut members, &Work::default(), wait_us).unwrap();
        assert_eq!(members.pick(&Work::default(), 1, wait_us), Pick::Wait, "one at a time");
        acknowledge(&mut members, sent, wait_us + MS);
    }
    assert_eq!(members.counters().stalls, 3);
}

#[test]
fn acknowledgements_on_receipt_are_told_once() {
    let declarations: Vec<_> = (0..3).map(|identity| Declaration::standard(identity, 100)).collect();
    let (mut members, _) = group(Strategy::Auto, &declarations);
    let mut events = Vec::new();
    let mut picks = Vec::new();
    for nth in 0..600 {
        let sent = send(&mut members, &Work::default(), nth * MS).unwrap();
        picks.push(sent.0);
        acknowledge(&mut members, sent, nth * MS);
        events.extend(members.take_event());
    }
    assert!(matches!(events[..], [Event::AcknowledgesOnReceipt { .. }]), "{events:?}");
    assert!(members.counters().blind_members >= 2);
    let last = &picks[picks.len() - 30..];
    for index in &last[..3] {
        assert_eq!(last.iter().filter(|&pick| pick == index).count(), 10, "in turn");
    }
}

#[test]
fn above_64_members_a_sample_is_looked_at_and_nobody_is_passed_over_for_long() {
    let declarations: Vec<_> = (0..200).map(|identity| Declaration::processed(identity, 1)).collect();
    let (mut members, _) = group(Strategy::Lef, &declarations);
    let sent: Vec<_> = std::iter::from_fn(|| send(&mut members, &Work::default(), 0)).collect();
    assert_eq!(sent.len(), 200, "the last free one is found");
}

#[test]
fn who_stops_reporting_is_judged_by_what_it_declared() {
    let (mut members, indices) = group(Strategy::Auto, &[Declaration::standard(1, 100), Declaration::standard(2, 100)]);
    let report = Report { queue: Some(0), service_us: Some(10_000), ..Report::default() };
    members.report(indices[0], &report, 0).unwrap();
    let answered = |members: &mut Members, now_us| {
        let ticket = members.sent(indices[0], &Work::default(), now_us).unwrap();
        let stamps = Stamps { written_us: now_us, read_us: now_us + 40 * MS };
        assert!(members.acknowledged(indices[0], ticket, stamps));
        members.view(indices[0], now_us + 40 * MS).unwrap().service_ms
    };
    assert_eq!(answered(&mut members, S), 10.0, "as reported");
    members.rtt_sample(indices[0], RttSource::Kernel, 6, S);
    let later_ms: Vec<_> = (20..30).map(|second| answered(&mut members, second * S)).collect();
    assert!(later_ms.is_sorted() && later_ms[9] > 15.0, "as it answers: {later_ms:?}");
}

#[test]
fn who_says_something_else_keeps_what_is_known_of_it() {
    let (mut members, indices) = group(Strategy::Auto, &[Declaration::standard(1, 1), Declaration::processed(2, 1)]);
    members.rtt_sample(indices[0], RttSource::Kernel, 10 * MS, 0);
    let ticket = members.sent(indices[0], &Work::default(), 0).unwrap();
    assert!(members.acknowledged(indices[0], ticket, Stamps { written_us: 0, read_us: 40 * MS }));
    let held = members.sent(indices[0], &Work::default(), 40 * MS).unwrap();
    let before = members.view(indices[0], 40 * MS).unwrap();
    let other = Declaration { workers: 8, ..Declaration::processed(1, 100) };
    members.redeclare(indices[0], other, 40 * MS);
    let after = members.view(indices[0], 40 * MS).unwrap();
    assert_eq!((after.service_ms, after.rtt_ms, after.picks), (30.0, 10.0, before.picks));
    assert_eq!((before.limit, after.limit, after.inflight), (1, 100, 1));
    assert_eq!(after.queue, 0.0, "seven of its workers are free");
    assert!(members.acknowledged(indices[0], held, Stamps { written_us: 40 * MS, read_us: 80 * MS }));
    members.leave(indices[1], Leaving::Left, 0);
    members.redeclare(indices[1], other, 0);
    assert_eq!(members.view(indices[1], 0), None);
}

#[test]
fn who_reports_is_judged_by_its_reports_whatever_it_says_of_its_acknowledgements() {
    let (mut members, indices) = group(Strategy::Auto, &[Declaration::standard(1, 9), Declaration::standard(2, 9)]);
    for index in &indices {
        let report = Report { queue: Some(0), service_us: Some(10_000), ..Report::default() };
        members.report(*index, &report, 0).unwrap();
    }
    members.redeclare(
        indices[0],
        Declaration { acknowledges: Acknowledges::Received, ..Declaration::standard(1, 9) },
        0,
    );
    let full = Report { queue: Some(50), ..Report::default() };
    members.report(indices[1], &full, 0).unwrap();
    let view = members.view(indices[0], 0).unwrap();
    assert_eq!((view.is_blind, view.service_ms), (false, 10.0));
    assert_eq!(members.pick(&Work::default(), 0, 0), Pick::To(indices[0]));
}
