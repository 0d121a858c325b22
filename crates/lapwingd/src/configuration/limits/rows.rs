//! Whether each row of the tables can be read: its keys are the model's, and are numbers or texts where it takes them for such.

use super::measure::Measured;
use super::pair::{BoundRule, Measure, Pair, Test};
use super::topics::TopicPlace;
use super::values::pattern;
use crate::configuration::model::{Key, Kind, Model};
use crate::configuration::profile;
use crate::configuration::tree::{Entry, Place, Table, Value, put};

/// What stands at a key; `*` and `@` are entries of a table of names, or of a list.
fn kind_at<'m>(keys: &'m std::collections::BTreeMap<String, Key>, path: &[String]) -> Option<&'m Kind> {
    let [name, rest @ ..] = path else { return None };
    kind_below(&keys.get(name)?.kind, rest)
}

fn kind_below<'m>(kind: &'m Kind, path: &[String]) -> Option<&'m Kind> {
    match (kind, path) {
        (kind, []) => Some(kind),
        (Kind::Table { keys }, path) => kind_at(keys, path),
        (Kind::Named { of, .. } | Kind::List { of, .. }, [name, rest @ ..]) if name == "*" || name == "@" => {
            kind_below(of, rest)
        }
        _ => None,
    }
}

fn at<'m>(model: &'m Model, key: &str) -> &'m Kind {
    kind_at(&model.sections, &pattern(key)).unwrap_or_else(|| panic!("{key} is no key of the model"))
}

fn is_number(kind: &Kind) -> bool {
    matches!(kind, Kind::Whole(_) | Kind::Size(_) | Kind::Ms(_) | Kind::S(_))
}

fn is_text(kind: &Kind) -> bool {
    matches!(kind, Kind::Text { .. } | Kind::Choice { .. })
}

/// The names in braces of a rule's words.
fn names(words: &str) -> Vec<&str> {
    words.split('{').skip(1).map(|behind| behind.split_once('}').expect("a brace is closed").0).collect()
}

/// What is measured for a rule has a value for each of these.
fn said(rule: &BoundRule) -> Vec<String> {
    let fixed: &[&str] = match rule.of {
        Measure::First => &["key", "shown"],
        Measure::Sum | Measure::Entries => &["value"],
        Measure::LargestPacket => &["shown"],
        Measure::TopicLevels | Measure::TopicBytes => &["value", "where"],
        Measure::LongestExpiry => &["shown", "where"],
    };
    let parts = if rule.of == Measure::Sum { rule.keys.len() } else { 0 };
    fixed.iter().map(ToString::to_string).chain((0..parts).map(|part| part.to_string())).collect()
}

fn look_at_rule(model: &Model, pair: &Pair, rule: &BoundRule) {
    for key in &rule.keys {
        let kind = at(model, key);
        let is_measured = match rule.of {
            Measure::First => is_number(kind),
            Measure::Sum => is_number(kind) || is_text(kind),
            Measure::Entries => true,
            _ => false,
        };
        assert!(is_measured, "{}: {key} cannot be measured", pair.key);
    }
    assert!(rule.of != Measure::First || !rule.keys.is_empty(), "{}: nothing is the first", pair.key);
    for name in names(&rule.words) {
        assert!(said(rule).contains(&name.to_owned()), "{}: nothing says {{{name}}}", pair.key);
    }
    for when in &rule.when {
        let kind = at(model, &when.key);
        assert!(when.test != Test::Is || is_text(kind), "{}: {} is no text", pair.key, when.key);
        assert!(when.test != Test::AboveZero || is_number(kind), "{}: {} is no number", pair.key, when.key);
    }
    assert!(rule.over > 0, "{}: nothing is divided by {}", pair.key, rule.over);
}

#[test]
fn every_pair_of_limits_can_be_read() {
    let model = Model::built_in();
    assert!(model.limit_pairs.len() > 50);
    for pair in &model.limit_pairs {
        assert!(is_number(at(&model, &pair.key)), "{} is no number", pair.key);
        pair.bounds.iter().for_each(|rule| look_at_rule(&model, pair, rule));
    }
    for key in ["limits.packet_bytes_max", "listeners.*.packet_bytes_max"] {
        assert!(matches!(at(&model, key), Kind::Size(_)), "{key}");
    }
    for key in ["limits.message_expiry_max", "topics.*.message_expiry_max"] {
        assert!(matches!(at(&model, key), Kind::S(_)), "{key}");
    }
}

#[test]
fn every_place_of_topics_can_be_read() {
    let model = Model::built_in();
    let entries = |path: &str| pattern(path).iter().filter(|name| *name == "*").count();
    for TopicPlace { path, shown, is_name, needs, .. } in &model.topic_places {
        assert_eq!(*is_name, !is_text(at(&model, path)), "{path}");
        assert!(*shown <= pattern(path).len() && entries(path) > 0, "{path}");
        if let Some((key, _)) = needs {
            assert!(is_text(at(&model, key)) && entries(key) <= entries(path), "{path}: {key}");
        }
    }
}

/// Are the values of every profile right by themselves, so that there is something to hold a configuration against?
#[test]
fn every_profile_can_be_read() {
    let model = Model::built_in();
    for name in model.profiles.keys() {
        let mut named = Table::new();
        let entry = Entry { value: Value::Text(name.clone()), place: Place::said("") };
        put(&mut named, &["broker".to_owned(), "profile".to_owned()], entry);
        let found = crate::configuration::convert::convert(&profile::under(named, &model), &model);
        assert!(found.is_ok(), "{name}: {:?}", found.err());
    }
}

/// Is a name that nothing stands for seen, and no blank?
#[test]
fn a_name_that_says_nothing_is_seen() {
    let measured = Measured { parts: vec!["8".into()], ..Measured::default() };
    assert_eq!(super::words("{0} and {1} of {what}", &measured), "8 and {1} of {what}");
}
