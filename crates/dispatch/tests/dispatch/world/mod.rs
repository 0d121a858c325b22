//! A group on a simulated clock: members as the design's simulation disturbs them, traces that are the same for every
//! strategy, an oracle that knows everything.

pub mod chance;
pub mod group;
pub mod outcome;
pub mod scenario;
pub mod server;
pub mod trace;

pub use group::{Policy, replay};
pub use outcome::Outcome;
pub use scenario::Scenario;
pub use trace::Trace;

/// The outcome of several days under one policy.
pub fn over(seeds: &[u64], scenario: &Scenario, policy: Policy) -> Outcome {
    let mut all = Outcome::default();
    for &seed in seeds {
        all.merge(replay(scenario, &Trace::new(scenario, seed), policy, seed));
    }
    all
}
