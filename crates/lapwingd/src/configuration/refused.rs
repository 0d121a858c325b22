//! What a configuration asks for and only the package has: refused by name, each with what to do.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::model::{Key, Kind, Model};
use super::profile;
use super::tree::{Entry, Table, Value, find};
use crate::fault::{Fault, Faults};

/// Of a key that is set to something: where it is, and what to do without it.
const KEYS: [(&[&str], &str); 4] = [
    (&["hooks", "use"], "hooks are Python: remove it, or start lapwing broker"),
    (&["broker", "user"], "start it as that account (User= of systemd, setpriv), and remove it"),
    (&["cluster"], "lapwingd is no member of a cluster yet: remove it, or start lapwing broker"),
    (&["bridge"], "the bridge is Python: give lapwing bridge a file of its own"),
];
/// What is known here of `[http]`.
const HTTP: [&str; 9] = [
    "hosts",
    "open",
    "failures_max",
    "connections_max",
    "reads_max",
    "reads_per_identity_max",
    "read_timeout",
    "write_timeout",
    "keep_alive",
];
const NO_HTTP: &str = "lapwingd serves plain HTTP on loopback: remove it, or start lapwing broker";
const JOURNAL: &str = "journald keeps the lines of standard error too: set \"auto\", \"text\" or \"json\"";

/// # Errors
/// All that is asked for and is not here.
pub(crate) fn refuse(tree: &Table) -> Result<(), Faults> {
    let mut faults = Faults::default();
    for (path, remedy) in KEYS {
        if let Some(entry) = find(tree, path).filter(|entry| is_set(entry)) {
            faults.push(refused(&path.join("."), entry, remedy));
        }
    }
    if let Some(entry) = find(tree, &["log", "format"]).filter(|entry| entry.value == Value::Text("journald".into())) {
        faults.push(refused("log.format = \"journald\"", entry, JOURNAL));
    }
    if let Some(Value::Table(groups)) = find(tree, &["groups"]).map(|entry| &entry.value) {
        for (name, group) in groups {
            let Value::Table(group) = &group.value else { continue };
            if let Some(entry) = group.get("use") {
                let key = format!("groups.\"{name}\".use");
                faults.push(refused(
                    &key,
                    entry,
                    "strategies of your own are Python: name one of strategy, or start lapwing broker",
                ));
            }
        }
    }
    faults.or(())
}

/// # Errors
/// What else `[http]` says than its defaults.
pub(crate) fn refuse_http(tree: &Table, own: &BTreeMap<String, Json>, model: &Model) -> Result<(), Faults> {
    let mut faults = Faults::default();
    let Some(Key { kind: Kind::Table { keys }, .. }) = model.sections.get("http") else { return Ok(()) };
    for (name, key) in keys.iter().filter(|(name, _)| !HTTP.contains(&name.as_str())) {
        let path = format!("http.{name}");
        if let Some(entry) =
            find(tree, &["http", name]).filter(|entry| is_said(entry) && own.get(&path) != Some(&key.default))
        {
            faults.push(refused(&path, entry, NO_HTTP));
        }
    }
    faults.or(())
}

/// Whether somebody has set it, and no profile.
fn is_said(entry: &Entry) -> bool {
    !entry.place.text.starts_with(profile::PLACE)
}

fn refused(key: &str, entry: &Entry, remedy: &str) -> Fault {
    Fault::wrong(format!("{key} is not in lapwingd"), &*entry.place.text, remedy)
}

/// Whether it asks for something: "off" and an empty table do not.
fn is_set(entry: &Entry) -> bool {
    match &entry.value {
        Value::Text(text) => !matches!(text.as_str(), "" | "off"),
        Value::Table(table) => !table.is_empty(),
        _ => true,
    }
}
