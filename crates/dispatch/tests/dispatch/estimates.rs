//! What is learnt of a member from standard signals alone.

use std::collections::VecDeque;

use lapwing_dispatch::{Declaration, MemberIndex, Members, Parameters, Pick, RttSource, Stamps, Strategy, Work};

const MS: u64 = 1000;

fn group() -> Members {
    Members::new(Strategy::Lef, Parameters::default(), 1)
}

/// A member as it really is.
struct Real {
    rtt_us: u64,
    work_us: u64,
    workers: usize,
    free_us: Vec<u64>,
}

impl Real {
    fn new(rtt_us: u64, work_us: u64, workers: usize) -> Real {
        Real { rtt_us, work_us, workers, free_us: vec![0; workers] }
    }

    /// When a message written now is acknowledged.
    fn answers_us(&mut self, now_us: u64) -> u64 {
        let worker = (0..self.workers).min_by_key(|&worker| self.free_us[worker]).expect("it has workers");
        self.free_us[worker] = self.free_us[worker].max(now_us + self.rtt_us / 2) + self.work_us;
        self.free_us[worker] + self.rtt_us / 2
    }
}

/// Sends `bursts` times so many messages at once, every `every_us`, each burst acknowledged before the next one.
fn serve(members: &mut Members, member: MemberIndex, real: &mut Real, bursts: u64, burst: usize, every_us: u64) -> u64 {
    for nth in 0..bursts {
        let now_us = nth * every_us;
        let mut answers: Vec<_> = (0..burst)
            .map(|_| {
                let ticket = members.sent(member, &Work::default(), now_us).expect("it may have more");
                (real.answers_us(now_us), ticket)
            })
            .collect();
        answers.sort_unstable();
        for (read_us, ticket) in answers {
            assert!(read_us < now_us + every_us, "the burst is over before the next one");
            assert!(members.acknowledged(member, ticket, Stamps { written_us: now_us, read_us }));
        }
    }
    bursts * every_us
}

#[test]
fn a_handler_of_20_ms_on_loopback_is_estimated_at_20_ms() {
    for (burst, every_us) in [(1, 30 * MS), (5, 120 * MS)] {
        let mut members = group();
        let member = members.join(Declaration::processed(1, 100), 0);
        // What tcpi_min_rtt says there; the smoothed value would be 20,153 us.
        members.rtt_sample(member, RttSource::Kernel, 6, 0);
        let now_us = serve(&mut members, member, &mut Real::new(6, 20 * MS, 1), 50, burst, every_us);
        let view = members.view(member, now_us).expect("it is here");
        assert!((18.0..=22.0).contains(&view.service_ms) && view.rtt_ms < 0.1, "{view:?}");
    }
}

#[test]
fn four_declared_workers_are_estimated_at_what_each_takes() {
    let mut members = group();
    let declaration = Declaration { workers: 4, ..Declaration::processed(1, 100) };
    let member = members.join(declaration, 0);
    members.rtt_sample(member, RttSource::Kernel, 6, 0);
    let now_us = serve(&mut members, member, &mut Real::new(6, 20 * MS, 4), 100, 12, 100 * MS);
    let view = members.view(member, now_us).expect("it is here");
    assert!((18.0..=22.0).contains(&view.service_ms), "{view:?}");
}

#[test]
fn a_member_behind_a_proxy_does_not_look_better_than_it_is() {
    for (rtt_us, work_us, burst) in
        [(100 * MS, 20 * MS, 1), (100 * MS, 20 * MS, 4), (2 * MS, 20 * MS, 1), (200 * MS, MS, 8)]
    {
        let mut members = group();
        let member = members.join(Declaration { is_proxied: true, ..Declaration::processed(1, 100) }, 0);
        members.rtt_sample(member, RttSource::Kernel, 50, 0);
        let now_us = serve(&mut members, member, &mut Real::new(rtt_us, work_us, 1), 200, burst, 400 * MS);
        let view = members.view(member, now_us).expect("it is here");
        let (looks_ms, is_ms) = (view.rtt_ms / 2.0 + view.service_ms, (rtt_us / 2 + work_us) as f64 / 1e3);
        assert!(looks_ms >= 0.95 * is_ms, "it looks like {looks_ms:.1} ms and is {is_ms:.1}: {view:?}");
    }
}

#[test]
fn a_probe_tells_the_distance_behind_a_proxy() {
    let mut members = group();
    let member = members.join(Declaration { is_proxied: true, ..Declaration::processed(1, 100) }, 0);
    members.rtt_sample(member, RttSource::Kernel, 50, 0);
    members.rtt_sample(member, RttSource::Probe, 100 * MS, 0);
    let now_us = serve(&mut members, member, &mut Real::new(100 * MS, 20 * MS, 1), 50, 1, 150 * MS);
    let view = members.view(member, now_us).expect("it is here");
    assert!((view.rtt_ms - 100.0).abs() < 1.0 && (view.service_ms - 20.0).abs() < 1.0, "{view:?}");
}

#[test]
fn the_nearer_of_two_equal_members_gets_more_though_its_proxy_is_nearer_still() {
    let mut members = group();
    let direct = members.join(Declaration::processed(1, 100), 0);
    let proxied = members.join(Declaration { is_proxied: true, ..Declaration::processed(2, 100) }, 0);
    let mut real = [Real::new(10 * MS, 10 * MS, 1), Real::new(80 * MS, 10 * MS, 1)];
    let mut picks = [0, 0];
    for nth in 0..500 {
        // Far apart: each message finds both idle.
        let now_us = nth * 300 * MS;
        members.rtt_sample(direct, RttSource::Kernel, 10 * MS, now_us);
        members.rtt_sample(proxied, RttSource::Kernel, 50, now_us);
        let Pick::To(member) = members.pick(&Work::default(), 1, now_us) else { panic!("both are idle") };
        let which = usize::from(member == proxied);
        picks[which] += 1;
        let ticket = members.sent(member, &Work::default(), now_us).expect("it is idle");
        let read_us = real[which].answers_us(now_us);
        assert!(members.acknowledged(member, ticket, Stamps { written_us: now_us, read_us }));
    }
    assert!(picks[0] > 10 * picks[1], "{picks:?}");
}

/// Work waits all the time until `until_us`; returns how many messages were acknowledged.
fn saturate(members: &mut Members, real: &mut Real, kernel_us: u64, from_us: u64, until_us: u64) -> u32 {
    let (mut now_us, mut done) = (from_us, 0);
    let mut under_way = VecDeque::new();
    while now_us < until_us {
        while let Pick::To(member) = members.pick(&Work::default(), 100, now_us) {
            let ticket = members.sent(member, &Work::default(), now_us).expect("it may have more");
            under_way.push_back((real.answers_us(now_us), member, ticket, now_us));
        }
        let Some((read_us, member, ticket, written_us)) = under_way.pop_front() else {
            now_us += 10 * MS;
            continue;
        };
        now_us = now_us.max(read_us);
        members.rtt_sample(member, RttSource::Kernel, kernel_us, now_us);
        assert!(members.acknowledged(member, ticket, Stamps { written_us, read_us }));
        done += 1;
    }
    for (read_us, member, ticket, written_us) in under_way {
        assert!(members.acknowledged(member, ticket, Stamps { written_us, read_us }));
    }
    done
}

#[test]
fn a_member_that_moves_away_is_found_within_seconds_although_it_is_never_idle_and_the_kernel_remembers() {
    let mut members = group();
    let member = members.join(Declaration::processed(1, 1000), 0);
    let (second, before_us) = (1000 * MS, 5 * MS);
    let mut real = Real::new(before_us, 5 * MS, 1);
    let near = saturate(&mut members, &mut real, before_us, 0, 10 * second);
    assert!((1900..=2000).contains(&near), "{near}");
    real.rtt_us = 150 * MS;
    saturate(&mut members, &mut real, before_us, 11 * second, 25 * second);
    let view = members.view(member, 25 * second).expect("it is here");
    assert!((100.0..=160.0).contains(&view.rtt_ms) && view.service_ms < 10.0, "{view:?}");
    let far = saturate(&mut members, &mut real, before_us, 26 * second, 36 * second);
    assert!(far >= 1700, "{far} messages in ten seconds, of 2,000 that it can do: {view:?}");
}

#[test]
fn a_member_that_cannot_become_idle_is_not_kept_from_work_for_long() {
    let mut members = group();
    let member = members.join(Declaration::processed(1, 1000), 0);
    let (second, rtt_us) = (1000 * MS, 5 * MS);
    let mut real = Real::new(rtt_us, 5 * MS, 1);
    saturate(&mut members, &mut real, rtt_us, 0, 10 * second);
    // It works on this one for an hour, beside the others.
    members.sent(member, &Work::default(), 10 * second).expect("it may have more");
    real.rtt_us = 150 * MS;
    let most = saturate(&mut members, &mut real, rtt_us, 10 * second, 12 * second) * 5;
    let ten_seconds = |members: &mut Members, real: &mut Real, nth: u64| {
        saturate(members, real, rtt_us, (13 + 11 * nth) * second, (23 + 11 * nth) * second)
    };
    for nth in 0..4 {
        let done = ten_seconds(&mut members, &mut real, nth);
        assert!(done >= most * 3 / 4, "{done} of {most} in ten seconds");
    }
}
