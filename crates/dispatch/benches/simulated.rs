//! Every strategy on the same simulated days: latency from arrival to the end of the handler.
//! `cargo bench -p lapwing-dispatch --bench simulated [-- SCENARIO [STRATEGY...]]`.

use lapwing_dispatch::Strategy;
use lapwing_traces::{Outcome, Policy, Scenario, over};

/// Days that nothing was tuned on.
const SEEDS: [u64; 5] = [9001, 9002, 9003, 9004, 9005];

fn row(name: &str, mut outcome: Outcome) {
    println!(
        "{name:<28} {:>9.1} {:>8.1} {:>9.1} {:>9.1} {:>8.2} % {:>7.3} %",
        outcome.mean_ms(),
        outcome.percentile_ms(0.5),
        outcome.percentile_ms(0.99),
        outcome.percentile_ms(0.999),
        outcome.missed_share() * 100.0,
        outcome.duplicates_share() * 100.0,
    );
}

fn table(name: &str, scenario: &Scenario, strategies: &[String]) {
    println!(
        "\n{name}, {:.0} % load, {} seeds of {:.0} s",
        scenario.load * 100.0,
        SEEDS.len(),
        scenario.duration_ms / 1e3
    );
    println!(
        "{:<28} {:>9} {:>8} {:>9} {:>9} {:>10} {:>9}",
        "strategy", "mean ms", "p50", "p99", "p99.9", "missed", "twice"
    );
    row("oracle", over(&SEEDS, scenario, Policy::Oracle));
    let is_wanted =
        |strategy: &Strategy| strategies.is_empty() || strategies.iter().any(|name| name == strategy.name());
    for strategy in Strategy::ALL.into_iter().filter(is_wanted) {
        row(strategy.name(), over(&SEEDS, scenario, Policy::of(strategy)));
    }
    row("auto, undeclared", over(&SEEDS, scenario, Policy::undeclared(Strategy::Auto)));
    row("lef, stalled members kicked", over(&SEEDS, scenario, Policy::kicking(Strategy::Lef)));
}

/// A scenario at an offered load.
type AtLoad = fn(f64) -> Scenario;

fn proxied(load: f64) -> Scenario {
    Scenario { proxied: true, ..Scenario::hetero(load) }
}

fn main() {
    // Cargo itself adds `--bench`.
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    let (wanted, strategies) = (arguments.next(), arguments.collect::<Vec<_>>());
    let scenarios: [(&str, AtLoad, &[f64]); 6] = [
        ("hetero", Scenario::hetero, &[0.5, 0.7, 0.9]),
        ("mild", Scenario::mild, &[0.7]),
        ("equal", Scenario::equal, &[0.7]),
        ("bursts", Scenario::bursts, &[0.7]),
        ("blackholes", Scenario::blackholes, &[0.7]),
        ("proxied", proxied, &[0.7]),
    ];
    for (name, scenario, loads) in scenarios {
        if wanted.as_deref().is_none_or(|wanted| wanted == name) {
            loads.iter().for_each(|&load| table(name, &scenario(load), &strategies));
        }
    }
}
