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

/// Texts of `--set KEY=VALUE`, then flags with a name of their own, which win. A part of a key may stand in quotes, as in a file:
/// `hold."alarms/#".expiry=1h`.
///
/// # Errors
/// A text without `=` or with a key that is none; a value that begins like a list or a table and is none.
pub(crate) fn flags(arguments: &Arguments) -> Result<Table, Faults> {
    let (mut table, mut faults) = (Table::new(), Faults::default());
    for setting in &arguments.settings {
        let Some((path, text)) = key_and_text(setting) else {
            faults.push(Fault::wrong("a --set is not KEY=VALUE", "", "write --set broker.shards=2"));
            continue;
        };
        set(&mut table, &path, text, &Place::said(&format!("flag --set {}", path.join("."))), &mut faults);
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

/// The parts of `KEY=VALUE`; `None` where the key is none.
fn key_and_text(setting: &str) -> Option<(Vec<String>, &str)> {
    let (mut path, mut rest) = (Vec::new(), setting);
    loop {
        let start = rest.trim_start();
        let (part, behind) = match start.chars().next()? {
            quote @ ('"' | '\'') => start[1..].split_once(quote)?,
            _ => {
                let (bare, behind) = start.split_at(start.find(['.', '=', '"', '\''])?);
                (bare.trim_end(), behind)
            }
        };
        let behind = behind.trim_start();
        if part.is_empty() {
            return None;
        }
        path.push(part.to_owned());
        match behind.chars().next()? {
            '=' => return Some((path, &behind[1..])),
            '.' => rest = &behind[1..],
            _ => return None,
        }
    }
}

fn set(table: &mut Table, path: &[String], text: &str, place: &Place, faults: &mut Faults) {
    let is_toml = text.trim_start().starts_with(['[', '{']);
    let value = if is_toml { parse_value(text, place) } else { Ok(Value::Text(text.to_owned())) };
    match value {
        Ok(value) => put(table, path, Entry { value, place: place.clone() }),
        Err(fault) => faults.push(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::key_and_text;

    /// Is a part in quotes one part, whatever is in it; and is what is no key refused?
    #[test]
    fn a_key_has_parts_and_some_have_quotes() {
        for (setting, path, text) in [
            ("broker.shards=2", &["broker", "shards"][..], "2"),
            (" hold . \"alarms/#\" . for = 1h", &["hold", "alarms/#", "for"], " 1h"),
            ("topics.'a.b=c'.durability=\"disk\"", &["topics", "a.b=c", "durability"], "\"disk\""),
            ("groups.alarm-*.rules=[{topics=[]}]", &["groups", "alarm-*", "rules"], "[{topics=[]}]"),
        ] {
            let (found, value) = key_and_text(setting).unwrap();
            assert_eq!(
                (found.iter().map(String::as_str).collect::<Vec<_>>(), value),
                (path.to_vec(), text),
                "{setting}"
            );
        }
        for setting in
            ["", "a", "=2", ".a=2", "a.=2", "a. =2", "a..b=2", "a.\"b=2", "a.\"\"=2", "a.b\"c\"=2", "a.\"b\"c=2"]
        {
            assert!(key_and_text(setting).is_none(), "{setting}");
        }
    }
}
