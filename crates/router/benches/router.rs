//! What matching and subscribing cost with one filter and with a million. `cargo bench -p lapwing-router`.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use lapwing_router::{Entry, FilterTree};
use lapwing_stopwatch::{best_ns, on_cpu};

const FILTERS: u32 = 1_000_000;
/// Subscriptions that are measured together.
const PART: u32 = 10_000;
/// Sizes at which they are: the first tree fits into a cache, the others into none.
const SIZES: [u32; 4] = [PART, 100_000, 300_000, FILTERS];

/// A filter as devices have them: a few levels, some with wildcards.
fn filter_of(n: u32) -> String {
    match n % 10 {
        0 => format!("city/{}/+/d{n}/readings", n % 97),
        1 => format!("city/{}/sensor/d{n}/#", n % 97),
        _ => format!("city/{}/sensor/d{n}/commands", n % 97),
    }
}

/// Reads what is handed out, as a delivery would.
fn look_at(entries: &[Entry<u32, u64>]) {
    black_box((entries[0].subscriber, entries.len()));
}

fn one_exact_filter() {
    let topic = "city/17/sensor/d1000017/commands";
    for (name, cached) in [("cache", 8192), ("walk", 0)] {
        let mut tree = FilterTree::<u32, u64>::with_cache(cached);
        tree.insert(topic, 1, 0);
        let ns = best_ns(2_000_000, |_| tree.matches(black_box(topic), look_at));
        println!("match, 1 exact filter, {name:<28} {ns:>10.1} ns");
    }
}

/// What `insert` costs as a table grows to a million: the mean of the ten thousand that end at each of [`SIZES`].
fn grow(name: &str, filters: &[String], mut insert: impl FnMut(&str, u32)) {
    let mut start = on_cpu();
    for (n, filter) in (1..).zip(filters) {
        insert(filter, n - 1);
        if SIZES.contains(&(n + PART)) {
            start = on_cpu();
        }
        if SIZES.contains(&n) {
            let mean = on_cpu().saturating_sub(start).as_nanos() as f64 / f64::from(PART);
            println!("{:<50}{mean:>10.1} ns", format!("{name}, the last {PART} of {n}"));
        }
    }
}

/// Subscribes a million filters, beside a plain hash map of them; then the spread by the wall clock.
fn fill(tree: &mut FilterTree<u32, u64>) {
    let filters: Vec<String> = (0..FILTERS).map(filter_of).collect();
    let mut plain = HashMap::<String, u32>::new();
    grow("hash map of the same filters", &filters, |filter, n| {
        plain.insert(filter.to_owned(), n);
    });
    drop(plain);
    let mut times = Vec::with_capacity(filters.len());
    grow("subscribe", &filters, |filter, n| {
        let wall = Instant::now();
        tree.insert(filter, n, 0);
        times.push(wall.elapsed());
    });
    times.sort_unstable();
    for (name, share) in [("p50, wall", 0.5), ("p99, wall", 0.99), ("p99.9, wall", 0.999)] {
        let at = ((times.len() - 1) as f64 * share) as usize;
        println!("subscribe, {name:<39} {:>10.1} ns", times[at].as_nanos() as f64);
    }
}

fn match_in_million(tree: &mut FilterTree<u32, u64>) {
    // Ten filters that all match the topics below.
    let wide = ["city/#", "city/+/#", "city/+/sensor/#", "+/+/sensor/+/commands", "#", "+/#", "city/+/+/+/commands"];
    let wide = wide.into_iter().chain(["+/+/+/+/commands", "city/+/sensor/+/commands"]);
    for (n, filter) in wide.enumerate() {
        tree.insert(filter, FILTERS + n as u32, 0);
    }
    let topics: Vec<String> = (0..100_000).map(|n| filter_of(n * 10 + 7)).collect();
    let mut deliveries = 0_u64;
    let ns = best_ns(100_000, |n| {
        tree.matches(&topics[n as usize], |entries| deliveries += entries.len() as u64);
    });
    let each = deliveries as f64 / 7e5;
    println!("match, 1M filters, 100,000 topics, {each:>4.1} matches   {ns:>10.1} ns");
    let ns = best_ns(1_000_000, |n| {
        tree.matches(&topics[(n % 1000) as usize], |entries| deliveries += entries.len() as u64);
    });
    println!("match, 1M filters, 1,000 topics (cached)          {ns:>10.1} ns");
}

fn churn_in_million(tree: &mut FilterTree<u32, u64>) {
    let filters: Vec<String> = (0..100_000).map(|n| filter_of(n * 10)).collect();
    let ns = best_ns(100_000, |n| {
        tree.remove(&filters[n as usize], n * 10);
        tree.insert(&filters[n as usize], n * 10, 0);
    });
    println!("unsubscribe + subscribe, 1M filters               {ns:>10.1} ns");
}

fn many_subscribers() {
    let mut tree = FilterTree::<u32, u64>::new();
    for n in 0..100_000 {
        tree.insert("news/+", n, 0);
    }
    tree.insert("news/#", 5, 0);
    let ns = best_ns(200, |_| tree.matches("news/today", look_at));
    println!("match, 100,000 subscribers of 2 filters, each     {:>10.1} ns", ns / 100_000.0);
    let ns = best_ns(100_000, |n| {
        tree.remove("news/+", n);
        tree.insert("news/+", n, 0);
    });
    println!("unsubscribe + subscribe, 100,000 on the filter    {ns:>10.1} ns");
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

fn main() {
    one_exact_filter();
    let before = resident_bytes();
    let mut tree = FilterTree::new();
    fill(&mut tree);
    let bytes = resident_bytes().saturating_sub(before) / u64::from(FILTERS);
    println!("memory per filter, 1M filters (with test data)    {bytes:>10} bytes");
    match_in_million(&mut tree);
    churn_in_million(&mut tree);
    many_subscribers();
}
