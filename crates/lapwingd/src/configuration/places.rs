//! Where a key was set: its own place, or that of the nearest table or list above it.

use super::tree::{Entry, Table, Value, find};

/// Of a key by its names, an entry of a list by its number; None: nobody has set anything of it.
pub(super) fn place(tree: &Table, key: &[String]) -> Option<String> {
    let (mut nearest, mut at) = (None, Some(Here::Table(tree)));
    for name in key {
        let entry = match at {
            Some(Here::Table(table)) => table.get(name),
            Some(Here::List(list)) => name.parse().ok().and_then(|number: usize| list.get(number)),
            None => None,
        };
        let Some(entry) = entry else { break };
        nearest = Some(entry.place.text.to_string());
        at = match &entry.value {
            Value::Table(table) => Some(Here::Table(table)),
            Value::List(list) => Some(Here::List(list)),
            _ => None,
        };
    }
    nearest
}

enum Here<'t> {
    Table(&'t Table),
    List(&'t [Entry]),
}

/// Where a key stands that the node names, as `hold."a/#".bytes` or `rules.0.topics`; what is in `[broker]` it has at the top.
pub(super) fn place_of_node(tree: &Table, key: &str) -> Option<String> {
    let names = names(key);
    let in_broker = || find(tree, &["broker", names.first()?]).map(|entry| entry.place.text.to_string());
    place(tree, &names).or_else(in_broker)
}

fn names(key: &str) -> Vec<String> {
    let (mut found, mut name, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in key.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            '.' | '[' | ']' if !is_quoted => found.push(std::mem::take(&mut name)),
            c => name.push(c),
        }
    }
    found.push(name);
    found.retain(|name| !name.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::configuration::parse;

    /// Is the line named that somebody has to look at, of whatever form the key is?
    #[test]
    fn the_nearest_line() {
        let text = "[broker]\nshards = 17\n[hold.\"a.b/#\"]\nbytes = 1\n[[rules]]\nmay = []\n[limits]\nx = 1\n";
        let tree = parse(text, Path::new("f")).expect("TOML");
        for (key, line) in [
            ("shards", Some("f:2")),
            ("hold.\"a.b/#\".bytes", Some("f:4")),
            ("hold.\"a.b/#\".expiry_ms", Some("f:3")),
            ("rules.0.may.1", Some("f:6")),
            ("rules[0].may", Some("f:6")),
            ("limits.connect_timeout_ms", Some("f:7")),
            ("listeners[0].mode", None),
        ] {
            assert_eq!(place_of_node(&tree, key).as_deref(), line, "{key}");
        }
    }
}
