//! What a configuration says before anybody knows what it means: tables, values, and where each was set.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Where a value was set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    /// For a reader: `lapwing.toml:3`, `environment LAPWING_BROKER__DATA`.
    pub text: Arc<str>,
    /// The folder that relative paths are relative to; none: the working directory.
    pub folder: Option<Arc<Path>>,
}

impl Place {
    /// A place that is no file.
    pub(crate) fn said(text: &str) -> Self {
        Place { text: text.into(), folder: None }
    }
}

/// A value as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
    /// What TOML has and no key takes: a date, a number beyond 64 bits.
    Strange,
    List(Vec<Entry>),
    Table(Table),
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub value: Value,
    pub place: Place,
}

/// Values by key.
pub(crate) type Table = BTreeMap<String, Entry>;

/// Lays a stronger table over this one: tables key by key, everything else as a whole. A table is where the stronger one is.
pub(crate) fn lay_over(table: &mut Table, stronger: Table) {
    for (name, entry) in stronger {
        match (table.get_mut(&name), entry) {
            (
                Some(Entry { value: Value::Table(below), place }),
                Entry { value: Value::Table(above), place: stronger },
            ) => {
                lay_over(below, above);
                *place = stronger;
            }
            (_, entry) => {
                table.insert(name, entry);
            }
        }
    }
}

/// Puts a value at a path, with tables on the way; what is there and is no table gives way.
pub(crate) fn put(table: &mut Table, path: &[String], entry: Entry) {
    let [name, rest @ ..] = path else { return };
    if rest.is_empty() {
        table.insert(name.clone(), entry);
        return;
    }
    let empty = || Entry { value: Value::Table(Table::new()), place: entry.place.clone() };
    let below = table.entry(name.clone()).or_insert_with(empty);
    if !matches!(below.value, Value::Table(_)) {
        *below = empty();
    }
    if let Value::Table(below) = &mut below.value {
        put(below, rest, entry);
    }
}

/// What stands at a path of tables.
pub(crate) fn find<'t>(table: &'t Table, path: &[&str]) -> Option<&'t Entry> {
    let [name, rest @ ..] = path else { return None };
    let entry = table.get(*name)?;
    match (&entry.value, rest) {
        (_, []) => Some(entry),
        (Value::Table(below), rest) => find(below, rest),
        _ => None,
    }
}
