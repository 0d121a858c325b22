//! What only MQTT-SN has is a table of its own in the node, and has no meaning for other listeners.

use serde_json::{Map, Value as Json};

use super::model::{Key, Kind, Model};
use super::tree::{Entry, Table, Value, find};
use crate::fault::{Fault, Faults};

/// Takes that table from listeners of other schemes; and the default address away where there are listeners with tables.
///
/// # Errors
/// Such a key was set to something where it has no meaning.
pub(crate) fn settle(node: &mut Map<String, Json>, tree: &Table, model: &Model) -> Result<(), Faults> {
    let mut faults = Faults::default();
    let tables = match find(tree, &["listeners"]).map(|entry| &entry.value) {
        Some(Value::List(tables)) => tables.as_slice(),
        _ => &[],
    };
    if !tables.is_empty() && find(tree, &["broker", "listen"]).is_none() {
        node.insert("listen".into(), Json::Array(Vec::new()));
    }
    let made = node.get_mut("listeners").and_then(Json::as_array_mut).into_iter().flatten();
    for (index, (made, table)) in made.zip(tables).enumerate() {
        let Some(made) = made.as_object_mut() else { continue };
        let scheme =
            made.get("url").and_then(Json::as_str).and_then(|url| url.split_once("://")).map_or("", |url| url.0);
        if matches!(scheme, "sn" | "sns" | "mqtt-sn" | "mqtt-sns") {
            continue;
        }
        for (key, place) in misplaced(table, made.get("sn"), model) {
            let what = format!("listeners[{index}].{key} has no meaning for {scheme}");
            faults.push(Fault::wrong(what, place, "remove it, or change the url's scheme"));
        }
        made.remove("sn");
    }
    faults.or(())
}

/// Keys of MQTT-SN that a table sets to something else than their default, and where; `of_sn`: what the node would have of them.
fn misplaced<'t>(table: &'t Entry, of_sn: Option<&Json>, model: &Model) -> Vec<(&'t String, &'t str)> {
    let (Value::Table(table), Some(keys)) = (&table.value, keys(model)) else { return Vec::new() };
    let is_set = |key: &Key| match key.to.as_deref() {
        Some([section, name]) if section == "sn" => of_sn.and_then(|of_sn| of_sn.get(name)) != Some(&key.default),
        _ => false,
    };
    let set = table.iter().filter(|(name, _)| keys.get(*name).is_some_and(is_set));
    set.map(|(name, entry)| (name, &*entry.place.text)).collect()
}

fn keys(model: &Model) -> Option<&std::collections::BTreeMap<String, Key>> {
    match &model.sections.get("listeners")?.kind {
        Kind::List { of, .. } => match &**of {
            Kind::Table { keys } => Some(keys),
            _ => None,
        },
        _ => None,
    }
}
