//! Does a whole node on disk stand whatever several clients do at any moment, with several connections of one client id?
//!
//! `LAPWING_WILD_SECONDS` sets how long each arrangement is tried (five of them, two at a time on two cores; default 6);
//! `LAPWING_WILD_SEED` the first seed (0). A failure prints its seed and what was done. What happens when is the machine's
//! affair: a seed that fails may pass the next time, and says what to look at.

use std::time::{Duration, Instant};

use lapwing_wild::{Arrangement, SMALLEST_MAILBOXES, Story, check};

/// Steps of one run.
const STEPS: usize = 200;
/// So many are tried, however long they take.
const RUNS_MIN: u64 = 3;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn add(story: &mut Story, more: Story) {
    let counts = [
        (&mut story.greeted, more.greeted),
        (&mut story.present, more.present),
        (&mut story.messages, more.messages),
        (&mut story.repeated, more.repeated),
        (&mut story.acknowledged, more.acknowledged),
        (&mut story.answered, more.answered),
        (&mut story.taken_over, more.taken_over),
    ];
    counts.into_iter().for_each(|(count, more)| *count += more);
}

fn check_for_a_while(arrangement: &Arrangement) {
    let (seconds, first) = (number("LAPWING_WILD_SECONDS", 6), number("LAPWING_WILD_SEED", 0));
    let (begun, mut seed, mut story) = (Instant::now(), first, Story::default());
    while begun.elapsed() < Duration::from_secs(seconds) || seed < first + RUNS_MIN {
        add(&mut story, check(arrangement, seed, STEPS).unwrap_or_else(|what| panic!("{what}")));
        seed += 1;
    }
    println!("{arrangement:?}: seeds {first}..{seed}, {STEPS} steps each, {story:?}");
    // Runs in which nothing happens would pass as well.
    let Story { greeted, present, messages, repeated, acknowledged, answered, taken_over } = story;
    let all = [greeted, present, messages, repeated, acknowledged, answered, taken_over];
    assert!(all.into_iter().all(|count| count > 0), "{story:?}");
}

#[test]
fn one_shard() {
    check_for_a_while(&Arrangement { shards: 1, limits: "", sync_ms: 0 });
}

#[test]
fn one_shard_on_a_slow_disk() {
    check_for_a_while(&Arrangement { shards: 1, limits: "", sync_ms: 8 });
}

#[test]
fn two_shards() {
    check_for_a_while(&Arrangement { shards: 2, limits: "", sync_ms: 0 });
}

#[test]
fn two_shards_with_the_smallest_mailboxes_on_a_slow_disk() {
    check_for_a_while(&Arrangement { shards: 2, limits: SMALLEST_MAILBOXES, sync_ms: 4 });
}

#[test]
fn three_shards_with_the_smallest_mailboxes() {
    check_for_a_while(&Arrangement { shards: 3, limits: SMALLEST_MAILBOXES, sync_ms: 0 });
}
