//! Does a whole node on disk stand whatever several clients do at any moment, with several connections of one client id?
//!
//! `LAPWING_WILD_SECONDS` sets how long each arrangement is tried (six of them, two at a time on two cores; default 6, and 0
//! for the one that is a process); `LAPWING_WILD_SEED` the first seed (0). A failure prints its seed and what was done. What
//! happens when is the machine's affair: a seed that fails may pass the next time, and says what to look at.

use std::time::{Duration, Instant};

use lapwing_codec::{QoS, SubscriptionOptions, Version};
use lapwing_wild::action::{Action, ConnectSpec, PublishSpec};
use lapwing_wild::{Arrangement, SMALLEST_MAILBOXES, Step, Story, check, run};

/// Steps of one run.
const STEPS: usize = 200;
/// So many are tried, however long they take.
const RUNS_MIN: u64 = 3;
/// Each starts a program several times.
const RUNS_OF_A_PROCESS_MIN: u64 = 2;

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
        (&mut story.restarts, more.restarts),
    ];
    counts.into_iter().for_each(|(count, more)| *count += more);
}

fn check_for_a_while(arrangement: &Arrangement) {
    let (default_s, runs_min) = if arrangement.is_process { (0, RUNS_OF_A_PROCESS_MIN) } else { (6, RUNS_MIN) };
    let (seconds, first) = (number("LAPWING_WILD_SECONDS", default_s), number("LAPWING_WILD_SEED", 0));
    let (begun, mut seed, mut story) = (Instant::now(), first, Story::default());
    while begun.elapsed() < Duration::from_secs(seconds) || seed < first + runs_min {
        add(&mut story, check(arrangement, seed, STEPS).unwrap_or_else(|what| panic!("{what}")));
        seed += 1;
    }
    println!("{arrangement:?}: seeds {first}..{seed}, {STEPS} steps each, {story:?}");
    // Runs in which nothing happens would pass as well.
    let Story { greeted, present, messages, repeated, acknowledged, answered, taken_over, restarts } = story;
    assert!([greeted, messages, acknowledged, answered, restarts].into_iter().all(|count| count > 0), "{story:?}");
    // In a few runs these may not come about: when who is served is the machine's affair.
    let by_chance = [present, repeated, taken_over];
    assert!(arrangement.is_process || by_chance.into_iter().all(|count| count > 0), "{story:?}");
}

#[test]
fn one_shard() {
    check_for_a_while(&Arrangement { shards: 1, limits: "", sync_ms: 0, is_process: false });
}

#[test]
fn one_shard_on_a_slow_disk() {
    check_for_a_while(&Arrangement { shards: 1, limits: "", sync_ms: 8, is_process: false });
}

#[test]
fn two_shards() {
    check_for_a_while(&Arrangement { shards: 2, limits: "", sync_ms: 0, is_process: false });
}

#[test]
fn two_shards_with_the_smallest_mailboxes_on_a_slow_disk() {
    check_for_a_while(&Arrangement { shards: 2, limits: SMALLEST_MAILBOXES, sync_ms: 4, is_process: false });
}

#[test]
fn three_shards_with_the_smallest_mailboxes() {
    check_for_a_while(&Arrangement { shards: 3, limits: SMALLEST_MAILBOXES, sync_ms: 0, is_process: false });
}

/// `lapwing broker`, which is killed where the others stop, on two shards or one or three. As many seeds as there must be, but
/// for `LAPWING_WILD_SECONDS`: each start of it costs half a second of a core. `make wild` tries it for ten minutes.
#[test]
fn a_process_that_is_killed() {
    check_for_a_while(&Arrangement { shards: 2, limits: "", sync_ms: 0, is_process: true });
}

/// A step of the only connection of client id `id`.
fn step(id: usize, action: Action) -> Step {
    Step { id, age: 0, action, together: false }
}

fn together(id: usize, action: Action) -> Step {
    Step { together: true, ..step(id, action) }
}

fn connect(id: usize) -> Step {
    let spec = ConnectSpec {
        version: Version::V5,
        clean: false,
        expiry_s: 3600,
        receive_max: u16::MAX,
        alias_max: 0,
        will: None,
    };
    step(id, Action::Connect(spec))
}

/// QoS 2, to the first topic; `forgetful`: under the packet id of the message before.
fn publish(forgetful: bool) -> Action {
    Action::Publish(PublishSpec { topic: 0, qos: QoS::ExactlyOnce, padding: Some(0), twice: false, forgetful })
}

/// Fewest steps that once ended a node: a promise without bytes behind it stayed when its buffer was emptied, and was then
/// at a place that a shorter one did not have. Here a node that comes again does not know whether a message of QoS 2 was
/// acknowledged; the client uses its packet id for another one, which is written down and answered later.
#[test]
fn a_promise_without_bytes() {
    let subscribe = Action::Subscribe(vec![(2, SubscriptionOptions::new(QoS::ExactlyOnce))]);
    let steps = [
        connect(1),
        step(1, subscribe),
        step(1, Action::Settle),
        step(1, Action::Cut),
        connect(0),
        step(0, Action::Settle),
        step(0, Action::Slow { sync_ms: 200 }),
        step(0, publish(false)),
        step(0, Action::Settle),
        step(0, Action::Restart { shards: 1, drained: false }),
        connect(0),
        step(0, Action::Settle),
        together(0, Action::Ping),
        together(0, Action::Ping),
        step(0, publish(true)),
        step(0, Action::Settle),
        step(0, Action::Settle),
    ];
    let arrangement = Arrangement { shards: 1, limits: "", sync_ms: 0, is_process: false };
    run(&arrangement, &steps).unwrap_or_else(|(step, what)| panic!("step {step}: {what}"));
}
