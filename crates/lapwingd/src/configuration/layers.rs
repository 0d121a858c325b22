//! Environment and flags, which lie over the file: text as it stands, and TOML where it begins like a list or a table.

use super::file::parse_value;
use super::tree::{Entry, Place, Table, Value, put};
use crate::arguments::Arguments;
use crate::fault::{Fault, Faults};

const PREFIX: &str = "LAPWING_";

/// `LAPWING_BROKER__SHARDS=2` sets `broker.shards`: `__` separates levels, case does not count. Variables without two
/// underscores belong to other tools.
///
/// # Errors
/// A value begins like a list or a table and is none.
pub(crate) fn environment(variables: impl Iterator<Item = (String, String)>) -> Result<Table, Faults> {
    let (mut table, mut faults) = (Table::new(), Faults::default());
    let mut named: Vec<(String, String)> = variables.collect();
    named.sort();
    for (name, text) in named {
        let rest =
            name.get(..PREFIX.len()).filter(|head| head.eq_ignore_ascii_case(PREFIX)).map(|_| &name[PREFIX.len()..]);
        let Some(key) = rest.filter(|rest| rest.contains("__")) else { continue };
        let path: Vec<String> = key.to_lowercase().split("__").map(str::to_owned).collect();
        set(&mut table, &path, &text, &Place::said(&format!("environment {name}")), &mut faults);
    }
    faults.or(table)
}

/// Texts of `--set KEY=VALUE`, then flags with a name of their own, which win.
///
/// # Errors
/// A text without `=` or with an empty key; a value that begins like a list or a table and is none.
pub(crate) fn flags(arguments: &Arguments) -> Result<Table, Faults> {
    let (mut table, mut faults) = (Table::new(), Faults::default());
    for setting in &arguments.settings {
        let (key, text) = setting.split_once('=').unwrap_or((setting, ""));
        let path: Vec<String> = key.split('.').map(|part| part.trim().to_owned()).collect();
        if !setting.contains('=') || path.iter().any(String::is_empty) {
            faults.push(Fault::wrong("a --set is not KEY=VALUE", "", "write --set broker.shards=2"));
            continue;
        }
        set(&mut table, &path, text, &Place::said(&format!("flag --set {key}")), &mut faults);
    }
    let mut listen = Vec::new();
    for (flag, key, text) in &arguments.named {
        let place = Place::said(&format!("flag {flag}"));
        let entry = Entry { value: Value::Text(text.clone()), place: place.clone() };
        let path: Vec<String> = key.split('.').map(str::to_owned).collect();
        if *flag == "--listen" {
            listen.push(entry);
            put(&mut table, &path, Entry { value: Value::List(listen.clone()), place });
        } else {
            put(&mut table, &path, entry);
        }
    }
    faults.or(table)
}

fn set(table: &mut Table, path: &[String], text: &str, place: &Place, faults: &mut Faults) {
    let is_toml = text.trim_start().starts_with(['[', '{']);
    let value = if is_toml { parse_value(text, place) } else { Ok(Value::Text(text.to_owned())) };
    match value {
        Ok(value) => put(table, path, Entry { value, place: place.clone() }),
        Err(fault) => faults.push(fault),
    }
}
