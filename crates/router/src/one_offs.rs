//! Filters and topics that come once and never again: both trees are as small behind them as before.

use std::collections::VecDeque;

use crate::{FilterTree, Insertion, Removal, TopicTree};

/// So many lie beside each other before the oldest goes.
const ALIVE: usize = 64;
const TOPICS_CACHED: usize = 128;

/// How many come and go: tens of millions where there is a night for it, `make one-offs`.
fn count() -> u64 {
    std::env::var("LAPWING_ONE_OFFS").map_or(10_000, |count| count.parse().expect("LAPWING_ONE_OFFS is a number"))
}

/// Lets each of them live for a while; calls `come` and `go` with its number.
fn churn<T>(on: &mut T, mut come: impl FnMut(&mut T, u64), mut go: impl FnMut(&mut T, u64)) {
    let mut alive = VecDeque::new();
    for number in 0..count() {
        come(on, number);
        alive.push_back(number);
        if alive.len() > ALIVE
            && let Some(oldest) = alive.pop_front()
        {
            go(on, oldest);
        }
    }
    alive.into_iter().for_each(|number| go(on, number));
}

fn filters(number: u64) -> [String; 3] {
    [format!("one/{number}/off"), format!("{number}/+/#"), format!("+/{number}")]
}

/// Is there no node, no name and no place more than a few live filters need, and does the cache keep to its bound?
#[test]
fn one_off_filters_leave_nothing() {
    let mut tree = FilterTree::with_cache(TOPICS_CACHED);
    tree.insert("stays/+/#", 1_u64, ());
    let [nodes, names, ..] = tree.lengths();
    churn(
        &mut tree,
        |tree, number| {
            for filter in filters(number) {
                assert_eq!(tree.insert(&filter, number, ()), Insertion::FirstOfFilter);
            }
            tree.matches(&format!("one/{number}/off"), |_| {});
            tree.matches(&format!("nobody/{number}"), |_| {});
        },
        |tree, number| {
            for filter in filters(number) {
                assert_eq!(tree.remove(&filter, number), Removal::LastOfFilter);
            }
        },
    );
    let [nodes_now, names_now, places, cached] = tree.lengths();
    assert_eq!((nodes_now, names_now), (nodes, names));
    assert!(places < 16 * ALIVE && cached <= TOPICS_CACHED, "{places} places, {cached} cached topics");
    let stats = tree.stats();
    assert_eq!((stats.filters, stats.subscriptions), (1, 1));
}

/// The same for topics with a value.
#[test]
fn one_off_topics_leave_nothing() {
    let mut tree = TopicTree::new();
    tree.insert("stays", 0);
    let [nodes, names, _] = tree.lengths();
    churn(
        &mut tree,
        |tree, number| assert_eq!(tree.insert(&format!("one/{number}/off"), number), None),
        |tree, number| assert_eq!(tree.remove(&format!("one/{number}/off")), Some(number)),
    );
    let [nodes_now, names_now, places] = tree.lengths();
    assert_eq!((nodes_now, names_now, tree.len()), (nodes, names, 1));
    assert!(places < 16 * ALIVE, "{places} places");
}
