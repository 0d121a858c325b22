//! Probes that are answered, lost, answered twice, out of order, by somebody else, and for very long.

use lapwing_codec::topic::validate_topic_name;
use lapwing_codec::{Limits, topic};
use lapwing_oracle::variants::Random;

use super::*;
use crate::signals::Unprompted;

#[test]
fn an_answer_gives_the_way_once() {
    let mut probes = Probes::new(100, 1_000);
    assert_eq!(probes.next_due_us(), 1_000);
    let id = probes.sent(1_000);
    assert_eq!(probes.last_us(), None);
    assert_eq!(probes.answered(id, 3_500), Some(2_500));
    assert_eq!(probes.answered(id, 4_000), None);
    assert_eq!(probes.last_us(), Some(2_500));
}

#[test]
fn an_id_that_was_not_asked_changes_nothing() {
    let mut probes = Probes::new(100, 0);
    for id in [0, 1, 17, u16::MAX] {
        assert_eq!(probes.answered(id, 5), None);
    }
    let id = probes.sent(10);
    // The same place, another probe.
    assert_eq!(probes.answered(id.wrapping_add(4), 11), None);
    assert_eq!(probes.answered(id, 20), Some(10));
}

/// Are the last four answered in any order, and is the fifth before forgotten?
#[test]
fn four_may_be_on_their_way() {
    let mut probes = Probes::new(100, 0);
    let ids: Vec<u16> = (0..5).map(|n| probes.sent(n * 100)).collect();
    assert_eq!(probes.answered(ids[0], 1_000), None);
    for (n, way_us) in [(3, 700), (1, 900), (4, 600), (2, 800)] {
        assert_eq!(probes.answered(ids[n], 1_000), Some(way_us));
    }
}

/// Do ids go on behind the last one, for weeks, with and without answers?
#[test]
fn ids_wrap() {
    let mut probes = Probes::new(50, 0);
    for n in 0..200_000_u64 {
        let id = probes.sent(n * 50_000);
        assert_eq!(u64::from(id), n % 65_536);
        if n % 3 == 0 {
            assert_eq!(probes.answered(id, n * 50_000 + 7), Some(7));
        }
    }
}

/// Is one lost probe after the other no reason to stop, and are there never more than were asked for?
#[test]
fn probes_keep_their_time() {
    let mut probes = Probes::new(100, 0);
    for n in 0..50 {
        assert_eq!(probes.next_due_us(), n * 100_000);
        // A little late each time: the times do not drift.
        probes.sent(n * 100_000 + 900);
    }
    // The shard was busy for a second: one probe, and the next after half an interval at least.
    probes.sent(6_000_000);
    assert_eq!(probes.next_due_us(), 6_050_000);
    probes.set_interval(1_000);
    probes.sent(6_050_000);
    assert_eq!(probes.next_due_us(), 7_050_000);
}

/// Whatever is sent and answered: is a way measured exactly for the last four that were not answered before?
#[test]
fn a_naive_table_says_the_same() {
    let mut random = Random::new(7);
    for _ in 0..200 {
        let (mut probes, mut table, mut now_us) = (Probes::new(50, 0), Vec::<(u16, u64)>::new(), 0);
        for _ in 0..300 {
            now_us += random.below(1_000) as u64;
            if random.below(2) == 0 {
                table.push((probes.sent(now_us), now_us));
                continue;
            }
            let id = random.below(table.len() + 3) as u16;
            let known =
                table.iter().position(|&(asked, _)| asked == id).filter(|_| usize::from(id) + 4 >= sent(&probes));
            let expected = known.map(|at| now_us - std::mem::replace(&mut table[at], (u16::MAX, 0)).1);
            assert_eq!(probes.answered(id, now_us), expected);
        }
    }
}

fn sent(probes: &Probes) -> usize {
    usize::from(probes.next_id)
}

/// Is the answer what was asked, and the topic one that may be published to, whatever the client is called?
#[test]
fn probes_can_be_sent_and_answered() {
    for id in [0, 9, 65_535] {
        assert_eq!(Unprompted::parse(probe_payload(id).as_bytes()).unwrap().probe, Some(id));
    }
    assert_eq!(probe_topic("camera-7"), "$lapwing/probe/camera-7");
    for client_id in ["a/b", "a+b", "#", "+/#/+", "", "Zoë"] {
        let topic = probe_topic(client_id);
        assert!(validate_topic_name(&topic, &Limits::default()).is_ok(), "{topic}");
        assert!(topic::matches("$lapwing/probe/#", &topic), "{topic}");
    }
    assert_eq!(probe_topic("a+b/#"), "$lapwing/probe/a_b/_");
}
