//! Random rules against their definition, word by word: nothing compiled, nothing shared, every topic and name tried.

use lapwing_access::{Effect, Identity, Right, RuleConfig, Rules, Voucher};
use proptest::prelude::*;

/// One letter of a pattern for names.
#[derive(Clone, Copy, PartialEq)]
enum Letter {
    Is(char),
    Any,
}

/// A pattern with its places filled in; `None`: a value is missing, or has a star.
fn letters(text: &str, client_id: Option<&str>, user: Option<&str>) -> Option<Vec<Letter>> {
    let is_void = |place, value: Option<&str>| text.contains(place) && value.is_none_or(|value| value.contains('*'));
    if is_void("%c", client_id) || is_void("%u", user) { None } else { spelled(text, client_id, user) }
}

/// The same, whatever the values are.
fn spelled(text: &str, client_id: Option<&str>, user: Option<&str>) -> Option<Vec<Letter>> {
    let mut found = Vec::new();
    let mut left = text.chars();
    while let Some(letter) = left.next() {
        let value = match letter {
            '*' => {
                found.push(Letter::Any);
                continue;
            }
            '%' => match left.next() {
                Some('c') => client_id?,
                Some('u') => user?,
                _ => "%",
            },
            letter => {
                found.push(Letter::Is(letter));
                continue;
            }
        };
        found.extend(value.chars().map(Letter::Is));
    }
    Some(found)
}

fn is_named(pattern: &[Letter], name: &[char]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([Letter::Any, rest @ ..], _) => is_named(rest, name) || (!name.is_empty() && is_named(pattern, &name[1..])),
        ([Letter::Is(wanted), pattern @ ..], [letter, name @ ..]) => wanted == letter && is_named(pattern, name),
        _ => false,
    }
}

fn name_is(pattern: &[Letter], name: &str) -> bool {
    is_named(pattern, &name.chars().collect::<Vec<_>>())
}

fn is_about(rule: &RuleConfig, name: Option<&str>) -> bool {
    match name {
        None => rule.identity == "anonymous",
        Some(name) => {
            rule.identity != "anonymous" && letters(&rule.identity, None, None).is_some_and(|it| name_is(&it, name))
        }
    }
}

fn topic_is(filter: &[&str], topic: &[&str], is_first: bool) -> bool {
    match (filter, topic) {
        (["#" | "+", ..], [level, ..]) if is_first && level.starts_with('$') => false,
        (["#"], _) | ([], []) => true,
        (["+", filter @ ..], [_, topic @ ..]) => topic_is(filter, topic, false),
        ([wanted, filter @ ..], [level, topic @ ..]) => wanted == level && topic_is(filter, topic, false),
        _ => false,
    }
}

fn matches(filter: &str, topic: &str) -> bool {
    topic_is(&filter.split('/').collect::<Vec<_>>(), &topic.split('/').collect::<Vec<_>>(), true)
}

/// A topic pattern filled in, level by level.
fn topic_of(text: &str, client_id: &str, user: Option<&str>) -> Option<String> {
    let mut filter = text.to_owned();
    for (place, value) in [("%c", Some(client_id)), ("%u", user)] {
        if text.contains(place) {
            let value = value.filter(|value| !value.is_empty() && !value.contains(['+', '#', '/']))?;
            if text.starts_with(place) && value.starts_with('$') {
                return None;
            }
            filter = filter.replace(place, value);
        }
    }
    Some(filter)
}

/// Every topic of up to three levels, as deep as a pattern or filter below, of all words that one of them has, and another.
fn topics(client_id: &str, name: Option<&str>) -> Vec<String> {
    let mut words = vec!["t", "u", "c", "a", "x", "other"];
    words.extend([Some(client_id), name].into_iter().flatten().filter(|word| !word.contains(['/', '+', '#'])));
    let mut all = vec!["$x/x".to_owned(), "$x".to_owned()];
    let mut longest = vec![String::new()];
    for _ in 0..3 {
        let longer = |head: &String| words.iter().map(|word| format!("{head}/{word}")).collect::<Vec<_>>();
        longest = longest.iter().flat_map(longer).collect();
        all.extend(longest.iter().map(|topic| topic[1..].to_owned()));
    }
    all
}

/// What the rules say, as docs/access.md has it.
struct Definition<'a> {
    rules: &'a [RuleConfig],
    name: Option<&'a str>,
    client_id: &'a str,
}

impl Definition<'_> {
    fn of(&self, right: Right, effect: Effect) -> impl Iterator<Item = &RuleConfig> {
        let about = move |rule: &&RuleConfig| rule.effect == effect && rule.may.contains(&right);
        self.rules.iter().filter(about).filter(|rule| is_about(rule, self.name))
    }

    fn filters(&self, rule: &RuleConfig) -> Vec<Option<String>> {
        rule.topics.iter().map(|text| topic_of(text, self.client_id, self.name)).collect()
    }

    fn may_publish(&self, topic: &str) -> bool {
        let hits = |filter: &Option<String>| filter.as_ref().is_some_and(|filter| matches(filter, topic));
        let is_allowed = self.of(Right::Publish, Effect::Allow).any(|rule| self.filters(rule).iter().any(hits));
        let denies = |filter: &Option<String>| filter.is_none() || hits(filter);
        is_allowed && !self.of(Right::Publish, Effect::Deny).any(|rule| self.filters(rule).iter().any(denies))
    }

    fn has_group(&self, rule: &RuleConfig, group: &str) -> bool {
        let has = |text: &String| match letters(text, Some(self.client_id), self.name) {
            Some(pattern) => name_is(&pattern, group),
            None => rule.effect == Effect::Deny,
        };
        rule.groups.as_ref().is_none_or(|groups| groups.iter().any(has))
    }

    fn may_subscribe(&self, group: Option<&str>, filter: &str) -> bool {
        let topics = topics(self.client_id, self.name);
        let brought: Vec<&String> = topics.iter().filter(|topic| matches(filter, topic)).collect();
        let covers = |pattern: &Option<String>| {
            pattern.as_ref().is_some_and(|pattern| brought.iter().all(|topic| matches(pattern, topic)))
        };
        let permits = |rule: &RuleConfig| {
            group.is_none_or(|group| self.has_group(rule, group)) && self.filters(rule).iter().any(covers)
        };
        let denies = |rule: &RuleConfig| {
            let filters = self.filters(rule);
            let is_theirs = group.map_or(rule.groups.is_none(), |group| self.has_group(rule, group));
            let meets = |pattern: &Option<String>| {
                pattern.as_ref().is_some_and(|pattern| brought.iter().any(|topic| matches(pattern, topic)))
            };
            filters.iter().any(Option::is_none) || (is_theirs && filters.iter().any(meets))
        };
        self.of(Right::Subscribe, Effect::Allow).any(permits) && !self.of(Right::Subscribe, Effect::Deny).any(denies)
    }

    fn may_connect(&self) -> bool {
        let has = |rule: &RuleConfig| {
            let is_it = |text: &String| match letters(text, None, self.name) {
                Some(pattern) => name_is(&pattern, self.client_id),
                None => rule.effect == Effect::Deny,
            };
            rule.client_ids.iter().any(is_it)
        };
        if self.of(Right::Connect, Effect::Deny).any(has) {
            return false;
        }
        if self.of(Right::Connect, Effect::Allow).next().is_some() {
            return self.of(Right::Connect, Effect::Allow).any(has);
        }
        let others =
            self.rules.iter().filter(|rule| rule.effect == Effect::Allow && rule.may.contains(&Right::Connect));
        !others.filter(|rule| !is_about(rule, self.name)).any(|rule| self.is_reserved(rule))
    }

    /// Whether somebody of whom the rule speaks may have this client id: a name in it is a part of it, and if it has none,
    /// one name of each pattern will do.
    fn is_reserved(&self, rule: &RuleConfig) -> bool {
        let id: Vec<char> = self.client_id.chars().collect();
        let parts = (0..id.len()).flat_map(|from| (from + 1..=id.len()).map(move |to| (from, to)));
        let mut names: Vec<String> = parts.map(|(from, to)| id[from..to].iter().collect()).collect();
        names.extend(["a", "b"].map(str::to_owned));
        let has = |text: &String, name: &String| {
            // Rather too much than too little: names with a star in them count, which could not use theirs.
            spelled(text, None, Some(name)).is_some_and(|pattern| name_is(&pattern, self.client_id))
        };
        let own = rule.client_ids.iter().filter(|text| *text != "*");
        own.into_iter().any(|text| {
            let is_theirs = |name: &&String| rule.identity == "anonymous" || is_about(rule, Some(name));
            names.iter().filter(is_theirs).any(|name| has(text, name))
        })
    }
}

fn some(of: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop::sample::select(of).prop_map(str::to_owned), 1..3)
}

fn effect() -> impl Strategy<Value = Effect> {
    prop_oneof![3 => Just(Effect::Allow), 1 => Just(Effect::Deny)]
}

fn identity() -> impl Strategy<Value = String> {
    prop::sample::select(&["*", "anonymous", "a*", "a", "b", "*b"][..]).prop_map(str::to_owned)
}

fn about_topics() -> impl Strategy<Value = RuleConfig> {
    let may = prop::sample::subsequence(vec![Right::Publish, Right::Subscribe], 1..3);
    let topics = some(&["t/a", "t/+", "t/#", "#", "+/a", "u/%u/x", "c/%c", "%u/x", "x"]);
    let groups = prop_oneof![
        2 => Just(None),
        1 => Just(Some(Vec::new())),
        3 => some(&["g", "g*", "*", "%u-g", "%c", "g-%c*"]).prop_map(Some),
    ];
    (identity(), may, topics, groups, effect()).prop_map(|(identity, may, topics, groups, effect)| RuleConfig {
        identity,
        may,
        topics,
        streams: Vec::new(),
        groups,
        client_ids: Vec::new(),
        effect,
    })
}

fn about_client_ids() -> impl Strategy<Value = RuleConfig> {
    let client_ids = some(&["%u", "%u-*", "x", "*", "a-1", "*%u", "g*"]);
    (identity(), client_ids, effect()).prop_map(|(identity, client_ids, effect)| RuleConfig {
        identity,
        may: vec![Right::Connect],
        topics: Vec::new(),
        streams: Vec::new(),
        groups: None,
        client_ids,
        effect,
    })
}

/// Rules that are in order: the others are refused where they are read.
fn rules() -> impl Strategy<Value = Vec<RuleConfig>> {
    let rule = prop_oneof![3 => about_topics(), 2 => about_client_ids()];
    prop::collection::vec(rule.prop_filter("in order", |rule| Rules::new(std::slice::from_ref(rule)).is_ok()), 1..6)
}

const NAMES: [Option<&str>; 7] = [None, Some("a"), Some("b"), Some("ab"), Some("a*"), Some("a+"), Some("$x")];
const CLIENT_IDS: [&str; 9] = ["x", "a", "a-1", "b-1", "a*", "+", "a/b", "g", "ab-x"];
const TOPICS: [&str; 8] = ["t/a", "t", "t/a/x", "u/a/x", "c/x", "a/x", "$x/x", "x"];
const FILTERS: [&str; 9] = ["t/a", "t/+", "t/#", "#", "+/a", "u/a/x", "c/+", "$x/x", "x"];
const GROUPS: [Option<&str>; 7] = [None, Some("g"), Some("g1"), Some("a-g"), Some("x"), Some("a*"), Some("g-a*z")];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rules_mean_what_their_definition_says(
        rules in rules(),
        name in prop::sample::select(&NAMES[..]),
        client_id in prop::sample::select(&CLIENT_IDS[..]),
        topic in prop::sample::select(&TOPICS[..]),
        filter in prop::sample::select(&FILTERS[..]),
        group in prop::sample::select(&GROUPS[..]),
    ) {
        let definition = Definition { rules: &rules, name, client_id };
        let compiled = Rules::new(&rules).expect("each of them is in order");
        let identity = name.map_or(Identity::ANONYMOUS, |name| Identity::named(name, Voucher::Certificate));
        let rights = compiled.rights(&identity, Some(client_id)).expect("there are rules");
        prop_assert_eq!(rights.may_publish(topic), definition.may_publish(topic), "{:?} publishes {}", name, topic);
        let asked = group.map_or(filter.to_owned(), |group| format!("$share/{group}/{filter}"));
        let expected = definition.may_subscribe(group, filter);
        prop_assert_eq!(rights.may_subscribe(&asked), expected, "{:?} as {} subscribes to {}", name, client_id, asked);
        let may = compiled.may_connect(&identity, client_id, false);
        prop_assert_eq!(may, definition.may_connect(), "{:?} connects as {}", name, client_id);
    }
}
