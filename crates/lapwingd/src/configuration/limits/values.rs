//! What a configuration has at a key, in the node's units, wherever the model says that it goes.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::topics::TopicPlace;
use crate::configuration::convert::{Converted, convert};
use crate::configuration::model::{Key, Kind, Model};
use crate::configuration::tree::{Entry, Place, Table, Value, put};
use crate::configuration::{profile, units};
use crate::fault::Faults;

/// A value, and the key of the model that it has.
#[derive(Debug)]
pub(super) struct Found<'v> {
    /// Its names; of an entry of a list its number.
    pub names: Vec<String>,
    pub value: &'v Json,
    kind: &'v Kind,
    /// The model's default.
    default: Option<&'v Json>,
}

impl Found<'_> {
    pub(super) fn number(&self) -> Option<i128> {
        self.value.as_i64().map(i128::from)
    }

    /// In the words of the configuration, with the unit that its key has.
    pub(super) fn shown(&self) -> String {
        match (self.kind, self.value.as_i64()) {
            (Kind::Size(_), Some(bytes)) => units::show_size(bytes),
            (Kind::Ms(_), Some(ms)) => units::show_duration_ms(ms),
            (Kind::S(_), Some(s)) => units::show_duration_ms(s.saturating_mul(1_000)),
            _ => self.value.to_string(),
        }
    }
}

/// All values of a configuration.
pub(super) struct Values<'v> {
    converted: &'v Converted,
    model: &'v Model,
    /// What the profile alone comes to.
    unset: Converted,
}

impl<'v> Values<'v> {
    /// # Errors
    /// The profile that is named has values that are none.
    pub(super) fn of(converted: &'v Converted, model: &'v Model) -> Result<Self, Faults> {
        let mut named = Table::new();
        if let Some(Json::String(name)) = converted.own.get("broker.profile") {
            let entry = Entry { value: Value::Text(name.clone()), place: Place::said("") };
            put(&mut named, &["broker".to_owned(), "profile".to_owned()], entry);
        }
        let unset = convert(&profile::under(named, model), model)?;
        Ok(Values { converted, model, unset })
    }

    /// The value at a key without `*`; None: there is none.
    pub(super) fn one(&self, key: &[String]) -> Option<Found<'_>> {
        self.all(key).pop()
    }

    /// What that key has where nobody has set it.
    pub(super) fn default(&self, key: &[String]) -> Option<Json> {
        let unset = walk(&self.unset, &self.model.sections, &self.unset.node, key, Names::default());
        match unset.first() {
            Some(found) => Some(found.value.clone()),
            None => self.one(key).and_then(|found| found.default.cloned()),
        }
    }

    /// All that there is at a key with `*` for each entry; nulls are nothing.
    pub(super) fn all(&self, key: &[String]) -> Vec<Found<'_>> {
        walk(self.converted, &self.model.sections, &self.converted.node, key, Names::default())
    }

    /// Where topics stand.
    pub(super) fn topic_places(&self) -> &[TopicPlace] {
        &self.model.topic_places
    }

    /// The names of the entries of a table of names, or the numbers of those of a list.
    pub(super) fn names(&self, table: &str) -> Vec<String> {
        match self.one(&pattern(table)).map(|found| found.value) {
            Some(Json::Object(entries)) => entries.keys().cloned().collect(),
            Some(Json::Array(entries)) => (0..entries.len()).map(|number| number.to_string()).collect(),
            _ => Vec::new(),
        }
    }
}

/// How far a walk has come: the names, and the key that a value of nobody's is kept under.
#[derive(Clone, Default)]
struct Names {
    names: Vec<String>,
    path: String,
}

impl Names {
    fn below(&self, name: &str, in_path: &str) -> Self {
        Names { names: [&self.names[..], &[name.to_owned()]].concat(), path: format!("{}{in_path}", self.path) }
    }
}

fn walk<'v>(
    all: &'v Converted,
    keys: &'v BTreeMap<String, Key>,
    out: &'v Map<String, Json>,
    pattern: &[String],
    at: Names,
) -> Vec<Found<'v>> {
    let [name, rest @ ..] = pattern else { return Vec::new() };
    let Some(key) = keys.get(name) else { return Vec::new() };
    let here = at.below(name, &if at.path.is_empty() { name.clone() } else { format!(".{name}") });
    if let Kind::Table { keys } = &key.kind {
        return walk(all, keys, out, rest, here);
    }
    let value = match &key.to {
        Some(route) => routed(out, route),
        None => all.own.get(&here.path),
    };
    value.map_or_else(Vec::new, |value| below(all, &key.kind, Some(&key.default), value, rest, here))
}

fn below<'v>(
    all: &'v Converted,
    kind: &'v Kind,
    default: Option<&'v Json>,
    value: &'v Json,
    pattern: &[String],
    at: Names,
) -> Vec<Found<'v>> {
    if value.is_null() {
        return Vec::new();
    }
    let [name, rest @ ..] = pattern else { return vec![Found { names: at.names, value, kind, default }] };
    let is_meant = |other: &str| name == "*" || name == other;
    match (kind, value) {
        (Kind::Named { of, .. }, Json::Object(entries)) => {
            let meant = entries.iter().filter(|(name, _)| is_meant(name));
            meant
                .flat_map(|(name, value)| below(all, of, None, value, rest, at.below(name, &format!(".{name}"))))
                .collect()
        }
        (Kind::List { of, .. }, Json::Array(entries)) => {
            let numbered = entries.iter().enumerate().map(|(number, value)| (number.to_string(), value));
            let meant = numbered.filter(|(number, _)| is_meant(number));
            meant
                .flat_map(|(number, value)| {
                    below(all, of, None, value, rest, at.below(&number, &format!("[{number}]")))
                })
                .collect()
        }
        (Kind::Table { keys }, Json::Object(entry)) => walk(all, keys, entry, pattern, at),
        _ => Vec::new(),
    }
}

fn routed<'v>(out: &'v Map<String, Json>, route: &[String]) -> Option<&'v Json> {
    let [name, rest @ ..] = route else { return None };
    rest.iter().try_fold(out.get(name)?, |value, name| value.get(name))
}

/// A key with dots by its names.
pub(super) fn pattern(key: &str) -> Vec<String> {
    key.split('.').map(str::to_owned).collect()
}

/// A key of a row as one of the configuration.
pub(super) fn filled(pattern: &[String], entry: &str) -> Vec<String> {
    pattern.iter().map(|name| if name == "@" { entry.to_owned() } else { name.clone() }).collect()
}

/// `broker.listen[1]`, `listeners[0].url`.
pub(super) fn show_key(names: &[String]) -> String {
    let is_number = |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let shown = names.iter().map(|name| if is_number(name) { format!("[{name}]") } else { format!(".{name}") });
    shown.collect::<String>().trim_start_matches('.').to_owned()
}
