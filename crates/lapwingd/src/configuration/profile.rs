//! A named set of defaults, which lies below file, environment and flags.

use serde_json::Value as Json;

use super::model::Model;
use super::tree::{Entry, Place, Table, Value, find, lay_over, put};

/// What begins the place of a value that a profile has set.
pub(crate) const PLACE: &str = "profile ";

/// The tree over the profile that it names; one that there is not is told of as any wrong value.
pub(crate) fn under(tree: Table, model: &Model) -> Table {
    let mut below = Table::new();
    if let Some(Value::Text(name)) = find(&tree, &["broker", "profile"]).map(|entry| &entry.value) {
        let place = Place::said(&format!("{PLACE}{name}"));
        for (table, keys) in model.profiles.get(name).into_iter().flatten() {
            for (key, value) in keys {
                put(
                    &mut below,
                    &[table.clone(), key.clone()],
                    Entry { value: as_written(value), place: place.clone() },
                );
            }
        }
    }
    lay_over(&mut below, tree);
    below
}

fn as_written(value: &Json) -> Value {
    match value {
        Json::Bool(flag) => Value::Flag(*flag),
        Json::String(text) => Value::Text(text.clone()),
        Json::Number(number) => number.as_i64().map_or(Value::Strange, Value::Whole),
        _ => Value::Strange,
    }
}
