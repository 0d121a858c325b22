//! A tree held against the model: every key known, every value of its kind and within its bounds, and where it goes.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value as Json};

use super::forms::Form;
use super::meant::meant;
use super::model::{Bounds, Key, Kind, Model};
use super::scalars;
use super::tree::{Entry, Table, Value};
use crate::fault::{Fault, Faults};

/// The same keys in the node's layout and units, and those that are not the node's.
#[derive(Debug, Default)]
pub(crate) struct Converted {
    /// The node's configuration, without what is read of files.
    pub node: Map<String, Json>,
    /// Everything else, by its key with dots.
    pub own: BTreeMap<String, Json>,
}

/// # Errors
/// All that is wrong.
pub(crate) fn convert(tree: &Table, model: &Model) -> Result<Converted, Faults> {
    let mut reader = Reader::default();
    let mut node = Map::new();
    reader.keys(Some(tree), "", &model.sections, "", &mut node);
    let Reader { own, faults } = reader;
    faults.or(Converted { node, own })
}

#[derive(Default)]
struct Reader {
    own: BTreeMap<String, Json>,
    faults: Faults,
}

impl Reader {
    /// One table: `place` is where it stands, `path` its key.
    fn keys(
        &mut self,
        table: Option<&Table>,
        place: &str,
        keys: &BTreeMap<String, Key>,
        path: &str,
        out: &mut Map<String, Json>,
    ) {
        for (name, entry) in table.into_iter().flatten().filter(|(name, _)| !keys.contains_key(*name)) {
            let what = format!("unknown key {}", below(path, name));
            let remedy = match meant(name, keys.keys().map(String::as_str)) {
                Some(meant) => format!("did you mean {}?", below(path, meant)),
                None => {
                    let known = keys.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                    format!("remove it; known here: {known}")
                }
            };
            self.faults.push(Fault::wrong(what, &*entry.place.text, remedy));
        }
        for (name, key) in keys {
            let path = below(path, name);
            match (table.and_then(|table| table.get(name)), &key.kind) {
                (entry, Kind::Table { keys }) => self.section(entry, keys, &path, out),
                (None, _) if key.required => {
                    let what = format!("{path} is missing");
                    self.faults.push(Fault::wrong(what, place, format!("add {name} = ... there")));
                }
                (None, _) => self.put(key, &path, key.default.clone(), out),
                (Some(entry), _) => {
                    if let Some(value) = self.value(entry, &key.kind, key.off, &path) {
                        self.put(key, &path, value, out);
                    }
                }
            }
        }
    }

    /// A table of which there is one: its keys say themselves where they go.
    fn section(
        &mut self,
        entry: Option<&Entry>,
        keys: &BTreeMap<String, Key>,
        path: &str,
        out: &mut Map<String, Json>,
    ) {
        match entry.map(|entry| (&entry.value, &entry.place)) {
            None => self.keys(None, "", keys, path, out),
            Some((Value::Table(table), place)) => self.keys(Some(table), &place.text, keys, path, out),
            Some((_, place)) => {
                self.faults.push(Fault::wrong(format!("{path} is no table"), &*place.text, format!("write [{path}]")))
            }
        }
    }

    fn put(&mut self, key: &Key, path: &str, value: Json, out: &mut Map<String, Json>) {
        match &key.to {
            Some(route) => put(out, route, value),
            None => drop(self.own.insert(path.to_owned(), value)),
        }
    }

    fn value(&mut self, entry: &Entry, kind: &Kind, off: bool, path: &str) -> Option<Json> {
        if let (true, Value::Text(text)) = (off, &entry.value)
            && matches!(text.as_str(), "" | "off")
        {
            return Some(Json::Null);
        }
        match (kind, &entry.value) {
            (Kind::List { of, bounds, .. }, Value::List(items)) => self.list(entry, items, of, *bounds, path),
            (Kind::List { of, one: true, .. }, _) => {
                self.value(entry, of, false, path).map(|one| Json::Array(vec![one]))
            }
            (Kind::Named { of, names, name_form, bounds }, Value::Table(table)) => {
                self.names(table, names, *name_form, path);
                self.named(entry, table, of, *bounds, path)
            }
            (Kind::Table { keys }, Value::Table(table)) => {
                let mut out = Map::new();
                self.keys(Some(table), &entry.place.text, keys, path, &mut out);
                Some(Json::Object(out))
            }
            // Whoever refuses it by name does so.
            (Kind::Package, Value::Table(_)) => Some(Json::Null),
            (kind, _) => match plain(entry, kind) {
                Ok(value) => Some(value),
                Err(wanted) => {
                    self.faults.push(Fault::wrong(
                        format!("{path} is wrong"),
                        &*entry.place.text,
                        format!("must be {wanted}"),
                    ));
                    None
                }
            },
        }
    }

    fn list(&mut self, entry: &Entry, items: &[Entry], of: &Kind, bounds: Bounds, path: &str) -> Option<Json> {
        self.count(entry, items.len(), bounds, path);
        let read = |(index, item): (usize, &Entry)| self.value(item, of, false, &format!("{path}[{index}]"));
        let found: Vec<Option<Json>> = items.iter().enumerate().map(read).collect();
        found.into_iter().collect::<Option<Vec<Json>>>().map(Json::Array)
    }

    fn named(&mut self, entry: &Entry, table: &Table, of: &Kind, bounds: Bounds, path: &str) -> Option<Json> {
        self.count(entry, table.len(), bounds, path);
        let read =
            |(name, item): (&String, &Entry)| Some((name.clone(), self.value(item, of, false, &below(path, name))?));
        let found: Vec<Option<(String, Json)>> = table.iter().map(read).collect();
        found.into_iter().collect::<Option<Map<String, Json>>>().map(Json::Object)
    }

    /// Names of a table that are none of `known`, where there are such, or not of the form that they must have.
    fn names(&mut self, table: &Table, known: &[String], form: Option<Form>, path: &str) {
        for (name, entry) in table {
            let wanted = match form.map(|form| form.read(name)) {
                Some(Err(wanted)) => wanted.to_owned(),
                _ if !known.is_empty() && !known.contains(name) => format!("one of {}", known.join(", ")),
                _ => continue,
            };
            let what = format!("{}: bad name", below(path, name));
            self.faults.push(Fault::wrong(what, &*entry.place.text, format!("must be {wanted}")));
        }
    }

    fn count(&mut self, entry: &Entry, count: usize, bounds: Bounds, path: &str) {
        if let Some(wanted) = bounds.problem(count as i64) {
            let what = format!("{path} has {count} entries");
            self.faults.push(Fault::wrong(what, &*entry.place.text, format!("must be {wanted}")));
        }
    }
}

/// A value that is one; the error is what it must be.
fn plain(entry: &Entry, kind: &Kind) -> Result<Json, String> {
    let Entry { value, place } = entry;
    match kind {
        Kind::Flag => scalars::flag(value).map(Json::Bool).ok_or_else(|| "true or false".to_owned()),
        Kind::Whole(bounds) => within(scalars::whole(value).ok_or_else(|| "a whole number".to_owned())?, *bounds, ""),
        Kind::Number => scalars::number(value).ok_or_else(|| "a number".to_owned()),
        Kind::Size(bounds) => within(scalars::size(value)?, *bounds, " bytes"),
        Kind::Ms(bounds) => within(scalars::duration_ms(value)?, *bounds, " milliseconds"),
        Kind::S(bounds) => {
            let ms = scalars::duration_ms(value)?;
            if ms % 1_000 != 0 {
                return Err("whole seconds, as in \"90s\"".into());
            }
            within(ms / 1_000, *bounds, " seconds")
        }
        Kind::Choice { of } => match value {
            Value::Text(text) if of.contains(text) => Ok(Json::String(text.clone())),
            _ => Err(format!("one of \"{}\"", of.join("\", \""))),
        },
        Kind::Text { bounds, form } => match value {
            Value::Text(text) => written(text, *bounds, *form).map(Json::String),
            _ => Err("a text".into()),
        },
        Kind::Path => match value {
            Value::Text(text) if text.contains('\0') => Err("a path without U+0000".into()),
            Value::Text(text) if !text.is_empty() => Ok(Json::String(beside(place.folder.as_deref(), text))),
            _ => Err("a path; \".\" is this folder".into()),
        },
        Kind::List { .. } => Err("a list, as in [\"a\", \"b\"]".into()),
        Kind::Named { .. } | Kind::Table { .. } | Kind::Package => Err("a table".into()),
    }
}

/// A text of its form, as the node has it.
fn written(text: &str, bounds: Bounds, form: Option<Form>) -> Result<String, String> {
    if let Some(wanted) = bounds.problem(text.chars().count() as i64) {
        return Err(format!("a text of {wanted} characters"));
    }
    form.map_or_else(|| Ok(text.to_owned()), |form| form.read(text).map_err(str::to_owned))
}

fn within(number: i64, bounds: Bounds, unit: &str) -> Result<Json, String> {
    bounds.problem(number).map_or(Ok(Json::from(number)), |wanted| Err(format!("{wanted}{unit}")))
}

/// A relative path in a file is relative to that file. "off" is none, wherever a key takes it for one or not.
fn beside(folder: Option<&Path>, text: &str) -> String {
    match folder {
        Some(folder) if text != "off" => folder.join(text).display().to_string(),
        _ => text.to_owned(),
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn put(out: &mut Map<String, Json>, route: &[String], value: Json) {
    match route {
        [] => {}
        [name] => drop(out.insert(name.clone(), value)),
        [name, rest @ ..] => {
            let below = out.entry(name.clone()).or_insert_with(|| Json::Object(Map::new()));
            if let Json::Object(below) = below {
                put(below, rest, value);
            }
        }
    }
}
