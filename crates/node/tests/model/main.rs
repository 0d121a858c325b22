//! Does the node do what a small model of MQTT says, whatever several clients do?
//!
//! Clients of both versions connect, take over, leave with and without a word, subscribe, publish, hold back their
//! acknowledgements and break the protocol, in an order drawn from a seed. After each action everything that must come has
//! to have come, to whom, in which order, how often, with which flags; what nobody owes fails the run. `LAPWING_MODEL_SECONDS`
//! sets how long each arrangement of shards is tried (four of them; default 5); a failure prints its seed and the fewest
//! actions that show it. A seed that once failed stays in `regressions`.

mod act;
mod action;
mod illegal;
mod model;
mod peer;
mod run;
mod witness;

use std::time::{Duration, Instant};

use action::{Action, actions};
use lapwing_node::{Config, Handle};

/// Actions of one run.
const ACTIONS: usize = 120;
/// Mailboxes between shards of one batch of one message.
const SMALLEST_MAILBOXES: &str = r#""mailbox_batches": 1, "mailbox_batch_messages": 1"#;
/// How long a failure is made smaller.
const SHRINK: Duration = Duration::from_secs(30);

fn node(shards: u32, limits: &str) -> Handle {
    let json = format!(r#"{{"shards": {shards}, "limits": {{{limits}}}}}"#);
    let mut config = Config::from_json(&json).expect("the test's configuration is right");
    config.listen = vec!["tcp://127.0.0.1:0".into()];
    config.pin = false;
    Handle::start(config).expect("the node starts")
}

/// What kind of failure it is: the words behind what was sent.
fn kind(error: &str) -> &str {
    error.rsplit_once("}: ").map_or(error, |(_, kind)| kind)
}

/// Leaves out what is not needed to fail in the same way.
fn shrink(shards: u32, limits: &str, mut actions: Vec<Action>, mut error: String) -> (Vec<Action>, String) {
    let begun = Instant::now();
    let mut size = actions.len();
    while size > 0 {
        let mut at = 0;
        while at < actions.len() && begun.elapsed() < SHRINK {
            let mut fewer = actions.clone();
            fewer.drain(at..(at + size).min(fewer.len()));
            match run::run(shards, limits, &fewer) {
                Err((step, what)) if kind(&what) == kind(&error) => {
                    fewer.truncate(step + 1);
                    (actions, error) = (fewer, what);
                }
                _ => at += size,
            }
        }
        size /= 2;
    }
    (actions, error)
}

fn check(shards: u32, limits: &str, seed: u64) {
    let mut actions = actions(seed, ACTIONS);
    let Err((step, first)) = run::run(shards, limits, &actions) else { return };
    actions.truncate(step + 1);
    let last = actions.last().cloned();
    let (actions, error) = shrink(shards, limits, actions, first.clone());
    let list: String = actions.iter().map(|action| format!("  {action:?}\n")).collect();
    panic!(
        "seed {seed}, {shards} shards, {{{limits}}}, step {step}: {first}\nafter {last:?}\nfewest actions:\n{list}{error}"
    );
}

/// So many are tried, however long they take.
const RUNS_MIN: u64 = 4;

fn check_for_a_while(shards: u32, limits: &str) {
    let seconds = std::env::var("LAPWING_MODEL_SECONDS").map_or(5, |text| text.parse().expect("seconds"));
    let first = std::env::var("LAPWING_MODEL_SEED").map_or(0, |text| text.parse().expect("a number"));
    let begun = Instant::now();
    let mut seed = first;
    while begun.elapsed() < Duration::from_secs(seconds) || seed < first + RUNS_MIN {
        check(shards, limits, seed);
        seed += 1;
    }
    println!("{shards} shards, {{{limits}}}: seeds {first}..{seed}, {ACTIONS} actions each");
    // A wake-up that is lost delays by a second what waits for it, of which a run has hundreds; nothing else would show it.
    let allowed = Duration::from_secs(seconds + 60);
    assert!(begun.elapsed() < allowed, "{} runs in {:?}", seed - first, begun.elapsed());
}

#[test]
fn one_shard() {
    check_for_a_while(1, "");
}

#[test]
fn two_shards() {
    check_for_a_while(2, "");
}

#[test]
fn two_shards_with_the_smallest_mailboxes() {
    check_for_a_while(2, SMALLEST_MAILBOXES);
}

#[test]
fn three_shards_with_the_smallest_mailboxes() {
    check_for_a_while(3, SMALLEST_MAILBOXES);
}

/// Seeds that failed once, with the actions of their time.
#[test]
fn regressions() {
    check(1, "", 1);
}
