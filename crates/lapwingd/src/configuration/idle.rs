//! Tables that are off without one of some keys: who sets something else in one has forgotten that key, or its name.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::model::Model;
use super::places::place_of_node;
use super::tree::Table;
use crate::fault::{Fault, Faults};

/// A table, the keys of which one turns it on, and what there is to say where none does.
const TABLES: [(&str, &[&str], &str); 2] = [
    (
        "auth.jwt",
        &["secret_file", "key_files", "jwks_file", "jwks_url"],
        "name where the keys are: secret_file, key_files, jwks_file, jwks_url",
    ),
    ("auth.http", &["url"], "name whom to ask: url"),
];

/// # Errors
/// Each such table, with its line.
pub(super) fn check(own: &BTreeMap<String, Json>, tree: &Table, model: &Model) -> Result<(), Faults> {
    let mut faults = Faults::default();
    for (table, needed, remedy) in TABLES {
        let set = settings(table, own, model);
        if !set.is_empty() && !set.iter().any(|name| needed.contains(name)) {
            let what = format!("{table} is off, and has {}", set.join(", "));
            faults.push(Fault::wrong(what, place_of_node(tree, table).unwrap_or_default(), remedy));
        }
    }
    faults.or(())
}

/// The keys of a table that have something else than their defaults.
fn settings<'m>(table: &str, own: &BTreeMap<String, Json>, model: &'m Model) -> Vec<&'m str> {
    let keys = model.keys_of(table).into_iter().flatten();
    let set = keys.filter(|(name, key)| own.get(&format!("{table}.{name}")) != Some(&key.default));
    set.map(|(name, _)| name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is each of them a table of the model, with these keys?
    #[test]
    fn tables_and_their_keys_are_the_models() {
        let model = Model::built_in();
        for (table, needed, _) in TABLES {
            let keys = model.keys_of(table).expect("a table of the model");
            assert!(needed.iter().all(|name| keys.contains_key(*name)), "{table}");
        }
    }
}
