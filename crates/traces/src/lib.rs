//! Days of a consumer group on a simulated clock: replayable traces with seeds, and what each strategy makes of them.
//!
//! Rules of this room:
//! - One scenario and one seed give one trace, on every machine: who is how fast and how far when, which message comes when
//!   and how much work it is. Every strategy is given the same one.
//! - The disturbances are those of the design's simulation: slowdowns, pauses, members that move, bursts, blackholes.
//! - Times are milliseconds from the beginning of the day, as `f64`. There is no clock, no thread, no I/O.
//! - [`replay`] is an owner of a group as the node is one: it knows only what a node can know. [`Policy::Oracle`] knows all.
//!
//! No room of the broker depends on it: tests, benches and the lab do.

#![forbid(unsafe_code)]

mod chance;
mod json_lines;
mod outcome;
mod replay;
mod scenario;
mod server;
mod trace;

pub use chance::Chance;
pub use outcome::Outcome;
pub use replay::{Policy, replay};
pub use scenario::Scenario;
pub use server::{Fate, Server};
pub use trace::{MemberTrace, Message, Trace};

/// The outcome of several days under one policy.
pub fn over(seeds: &[u64], scenario: &Scenario, policy: Policy) -> Outcome {
    let mut all = Outcome::default();
    for &seed in seeds {
        all.merge(replay(scenario, &Trace::new(scenario, seed), policy, seed));
    }
    all
}
