//! The tree, the shared groups and the topic tree against matchers that are too simple to be wrong.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_router::{FilterTree, Insertion, Removal, TopicTree};
use proptest::prelude::*;

/// Whether `filter` matches `topic`, by the words of the specification (4.7).
fn matches(filter: &str, topic: &str) -> bool {
    let (filter, topic): (Vec<_>, Vec<_>) = (filter.split('/').collect(), topic.split('/').collect());
    let hidden = topic[0].starts_with('$') && matches!(filter[0], "+" | "#");
    !hidden && levels_match(&filter, &topic)
}

fn levels_match(filter: &[&str], topic: &[&str]) -> bool {
    match (filter, topic) {
        (["#"], _) => true,
        ([], []) => true,
        (["+", filter @ ..], [_, topic @ ..]) => levels_match(filter, topic),
        ([name, filter @ ..], [level, topic @ ..]) => name == level && levels_match(filter, topic),
        _ => false,
    }
}

/// Few names and few levels, so that filters and topics meet often.
fn topic() -> impl Strategy<Value = String> {
    let name = prop_oneof![Just("a"), Just("b"), Just(""), Just("$x"), Just("c")];
    prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
}

fn filter() -> impl Strategy<Value = String> {
    let name = prop_oneof![Just("a"), Just("b"), Just(""), Just("$x"), Just("+"), Just("+")];
    (prop::collection::vec(name, 0..4), any::<bool>()).prop_map(|(mut names, is_open)| {
        if is_open || names.is_empty() {
            names.push("#");
        }
        names.join("/")
    })
}

#[derive(Clone, Debug)]
enum Action {
    Insert(String, u8, u8),
    Remove(String, u8),
    /// Subscribes or unsubscribes many, so that a filter's index comes and goes.
    Crowd(String, bool),
    Match(String),
}

fn action() -> impl Strategy<Value = Action> {
    let any_filter = || prop_oneof![filter(), topic()];
    prop_oneof![
        4 => (any_filter(), 0..6_u8, any::<u8>()).prop_map(|(f, s, o)| Action::Insert(f, s, o)),
        3 => (any_filter(), 0..6_u8).prop_map(|(f, s)| Action::Remove(f, s)),
        1 => (any_filter(), any::<bool>()).prop_map(|(f, join)| Action::Crowd(f, join)),
        6 => topic().prop_map(Action::Match),
    ]
}

type Model = BTreeMap<(String, u8), u8>;

fn insert(tree: &mut FilterTree<u8, u8>, model: &mut Model, filter: &str, subscriber: u8, options: u8) {
    let is_first = !model.keys().any(|(other, _)| other == filter);
    let expected = match model.insert((filter.to_owned(), subscriber), options) {
        Some(_) => Insertion::Replaced,
        None if is_first => Insertion::FirstOfFilter,
        None => Insertion::NewSubscriber,
    };
    assert_eq!(tree.insert(filter, subscriber, options), expected);
    assert_eq!(tree.get(filter, subscriber), Some(options));
}

fn remove(tree: &mut FilterTree<u8, u8>, model: &mut Model, filter: &str, subscriber: u8) {
    let known = model.remove(&(filter.to_owned(), subscriber)).is_some();
    let expected = match known {
        false => Removal::NotFound,
        true if model.keys().any(|(other, _)| other == filter) => Removal::Removed,
        true => Removal::LastOfFilter,
    };
    assert_eq!(tree.remove(filter, subscriber), expected);
}

/// What the tree hands out for `topic`: subscriber -> options, each subscriber once.
fn handed_out(tree: &mut FilterTree<u8, u8>, topic: &str) -> BTreeMap<u8, Vec<u8>> {
    let mut found = BTreeMap::new();
    tree.matches(topic, |entries| {
        let subscriber = entries[0].subscriber;
        assert!(entries.iter().all(|entry| entry.subscriber == subscriber));
        let mut options: Vec<_> = entries.iter().map(|entry| entry.options).collect();
        options.sort_unstable();
        assert_eq!(found.insert(subscriber, options), None, "{subscriber} came twice for {topic}");
    });
    found
}

fn expected(model: &Model, topic: &str) -> BTreeMap<u8, Vec<u8>> {
    let mut found = BTreeMap::<u8, Vec<u8>>::new();
    for ((filter, subscriber), options) in model {
        if matches(filter, topic) {
            found.entry(*subscriber).or_default().push(*options);
        }
    }
    found.values_mut().for_each(|options| options.sort_unstable());
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is subscribed, unsubscribed and matched in between, cached or not, the tree agrees with the simple matcher.
    #[test]
    fn the_tree_hands_out_what_the_simple_matcher_finds(
        actions in prop::collection::vec(action(), 1..120),
        cached in prop_oneof![Just(0), Just(2), Just(1000)],
    ) {
        let (mut tree, mut model) = (FilterTree::with_cache(cached), Model::new());
        for action in actions {
            match action {
                Action::Insert(filter, subscriber, options) => insert(&mut tree, &mut model, &filter, subscriber, options),
                Action::Remove(filter, subscriber) => remove(&mut tree, &mut model, &filter, subscriber),
                Action::Crowd(filter, true) => (0..60).for_each(|n| insert(&mut tree, &mut model, &filter, n, n)),
                Action::Crowd(filter, false) => (0..60).for_each(|n| remove(&mut tree, &mut model, &filter, n)),
                Action::Match(topic) => {
                    let wanted = expected(&model, &topic);
                    prop_assert_eq!(tree.has_match(&topic), !wanted.is_empty());
                    prop_assert_eq!(handed_out(&mut tree, &topic), wanted, "{}", topic);
                }
            }
            prop_assert_eq!(tree.stats().subscriptions, model.len());
        }
        for (filter, subscriber) in model.into_keys() {
            tree.remove(&filter, subscriber);
        }
        prop_assert_eq!((tree.stats().filters, tree.stats().nodes), (0, 0), "something was left behind");
    }

    /// A filter finds exactly the topics that it matches.
    #[test]
    fn the_topic_tree_finds_what_the_simple_matcher_finds(
        topics in prop::collection::btree_set(topic(), 0..40),
        removed in prop::collection::vec(topic(), 0..20),
        filters in prop::collection::vec(prop_oneof![filter(), topic()], 1..20),
    ) {
        let mut tree = TopicTree::new();
        topics.iter().for_each(|topic| assert_eq!(tree.insert(topic, topic.clone()), None));
        let mut left = topics;
        for topic in &removed {
            prop_assert_eq!(tree.remove(topic).is_some(), left.remove(topic));
        }
        prop_assert_eq!(tree.len(), left.len());
        for filter in &filters {
            let mut found = BTreeSet::new();
            tree.matching(filter, |topic| assert!(found.insert(topic.clone()), "{topic} came twice"));
            let wanted: BTreeSet<_> = left.iter().filter(|topic| matches(filter, topic)).cloned().collect();
            prop_assert_eq!(found, wanted, "{}", filter);
        }
    }
}

/// Deep topics and filters are walked without recursion: a peer chooses the depth.
#[test]
fn depth_costs_no_stack() {
    let deep = "/".repeat(30_000);
    let mut tree = FilterTree::<u8, ()>::new();
    tree.insert(&deep, 1, ());
    tree.insert(&format!("{}#", "+/".repeat(20_000)), 2, ());
    let mut found = Vec::new();
    tree.matches(&deep, |entries| found.push(entries[0].subscriber));
    found.sort_unstable();
    assert_eq!(found, [1, 2]);
}

/// [MQTT-4.7.2-1]: wildcards at the start do not see topics that begin with `$`; later ones do.
#[test]
fn leading_wildcards_do_not_match_system_topics() {
    let mut tree = FilterTree::<u8, ()>::new();
    for (subscriber, filter) in ["#", "+/load", "$SYS/#", "$SYS/+", "/+/load", "+"].into_iter().enumerate() {
        tree.insert(filter, subscriber as u8, ());
    }
    let mut found = |topic: &str| {
        let mut found = Vec::new();
        tree.matches(topic, |entries| found.push(entries[0].subscriber));
        found.sort_unstable();
        found
    };
    assert_eq!(found("$SYS/load"), [2, 3]);
    assert_eq!(found("/$SYS/load"), [0, 4]);
    assert_eq!(found("$SYS"), [2]);
}
