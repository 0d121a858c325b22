//! What must hold of everything that any client may say; for the fuzzer, and for the test on a stable compiler.

use std::fmt::Write;

use lapwing_codec::{UserProperties, UserPropertiesBuf};
use lapwing_dispatch::{Acknowledges, REPORT_QUEUE_MAX, Report, WORKERS_MAX};
use lapwing_groups::Lane;

use crate::signals::{
    DEADLINE_MS_MAX, Declared, Defaults, PROBE_MS_MAX, PROBE_MS_MIN, Probes, REPORT_BYTES_MAX, Said, SaidBy,
    Unprompted, in_acknowledgement,
};

/// Takes `input` as a payload, and as lines of `name=value`. Panics when something is understood that nobody may say, or
/// when what was understood, written again, is not understood the same.
pub(crate) fn check(input: &[u8]) {
    check_payload(input);
    let mut user = UserPropertiesBuf::new();
    for line in String::from_utf8_lossy(input).lines() {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        if user.push(name, value).is_err() {
            return;
        }
    }
    check_properties(&user.as_ref());
    check_probes(input);
}

fn check_payload(input: &[u8]) {
    let Ok(said) = Unprompted::parse(input) else { return };
    assert!(input.len() <= REPORT_BYTES_MAX, "{} bytes were read", input.len());
    check_declared(said.declared);
    let text = written(&said);
    assert_eq!(Unprompted::parse(text.as_bytes()), Ok(said), "{text}");
}

fn check_properties(user: &UserProperties<'_>) {
    let (declared, ignored) = Declared::in_connect(user);
    assert!(ignored as usize <= user.len());
    check_declared(declared);
    if let Some(Ok(report)) = in_acknowledgement(user) {
        assert_ne!(report, Report::default(), "a report that says nothing");
    }
    let names = SaidBy { deadline: "lapwing-deadline-ms", priority: "lapwing-priority" };
    let (said, ignored) = Said::in_publish(user, names);
    assert!(ignored as usize <= user.len());
    assert!(said.deadline_us.is_none_or(|us| (1_000..=DEADLINE_MS_MAX * 1_000).contains(&us)));
    let (lane, deadline_us) = said.or_rule(Said::default());
    assert_eq!((said.lane.unwrap_or(Lane::Bulk), said.deadline_us), (lane, deadline_us));
}

fn check_declared(declared: Declared) {
    assert_ne!(declared.acknowledges, Some(Acknowledges::Undeclared));
    assert!(declared.workers.is_none_or(|workers| (1..=WORKERS_MAX).contains(&workers)));
    assert_ne!(declared.batch, Some(0));
    assert!(declared.probe_ms.is_none_or(|ms| (PROBE_MS_MIN..=PROBE_MS_MAX).contains(&u64::from(ms))));
    let defaults = Defaults { acknowledges: Acknowledges::Undeclared, workers: 1 };
    let declaration = declared.for_group(1, 2, true, defaults);
    assert_eq!((declaration.identity, declaration.receive_max, declaration.is_proxied), (1, 2, true));
    assert!(!declaration.is_batch || declared.batch.is_some());
}

/// Each byte is an answer or a probe: no way is longer than the time that has passed, nor measured twice.
fn check_probes(input: &[u8]) {
    let (mut probes, mut sent, mut measured) = (Probes::new(50, 0), 0_u64, 0_u64);
    for (now_us, byte) in (0_u64..).zip(input) {
        if byte % 2 == 0 {
            probes.sent(now_us);
            sent += 1;
            assert!(probes.next_due_us() > now_us);
        } else if let Some(way_us) = probes.answered(u16::from(byte / 2), now_us) {
            assert!(way_us <= now_us);
            measured += 1;
        }
        assert!(measured <= sent);
    }
}

/// A payload that says the same.
fn written(said: &Unprompted) -> String {
    let report = said.report.unwrap_or_default();
    let word = |is_paused| if is_paused { "high" } else { "low" };
    let ack = |acknowledges| if acknowledges == Acknowledges::Processed { "processed" } else { "received" };
    let numbers = [
        ("queue", report.queue),
        ("service_us", report.service_us),
        ("rate_per_s", report.rate_per_s),
        ("probe", said.probe.map(u64::from)),
        ("workers", said.declared.workers.map(u64::from)),
        ("batch", said.declared.batch.map(u64::from)),
        ("probe_ms", said.declared.probe_ms.map(u64::from)),
    ];
    let words = [("watermark", report.is_paused.map(word)), ("ack", said.declared.acknowledges.map(ack))];
    let mut text = format!("{{\"max\":{REPORT_QUEUE_MAX}");
    for (name, value) in numbers.iter().filter_map(|(name, value)| Some((name, (*value)?))) {
        write!(text, ",\"{name}\":{value}").expect("a string takes everything");
    }
    for (name, value) in words.iter().filter_map(|(name, value)| Some((name, (*value)?))) {
        write!(text, ",\"{name}\":\"{value}\"").expect("a string takes everything");
    }
    text + "}"
}

/// Does it hold for the kept inputs of the fuzzer and for thousands of variants?
#[cfg(test)]
#[test]
fn it_holds_around_the_seeds() {
    lapwing_oracle::variants::check_around("signals", 20_000, check);
}
