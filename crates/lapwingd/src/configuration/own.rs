//! What the executable itself does with a configuration, beside what it hands to its node.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

/// Values by their keys with dots, each of the type that the model has given it.
#[derive(Debug)]
pub(crate) struct Own {
    /// Whether others may write the files that the broker believes: refused, or told.
    pub is_strict: bool,
    /// How long SIGTERM waits.
    pub drain: Duration,
    /// What is printed.
    pub log: LogSettings,
    /// There are to be no users, or no rules.
    pub no_users: bool,
    pub no_rules: bool,
    /// Everything else.
    pub rest: Rest,
}

/// The `[log]` table.
#[derive(Debug)]
pub(crate) struct LogSettings {
    pub is_json: bool,
    pub level: String,
    pub levels: BTreeMap<String, String>,
}

impl Own {
    pub(crate) fn of(values: BTreeMap<String, Json>) -> Self {
        let rest = Rest(values);
        Own {
            is_strict: rest.get::<String>("broker.files") == "strict",
            drain: Duration::from_millis(rest.get("broker.drain")),
            log: LogSettings {
                is_json: rest.get::<String>("log.format") == "json",
                level: rest.get("log.level"),
                levels: rest.get("log.levels"),
            },
            no_users: rest.get("auth.no_users"),
            no_rules: rest.get("auth.no_rules"),
            rest,
        }
    }
}

/// Values that one place alone asks for.
#[derive(Debug)]
pub(crate) struct Rest(BTreeMap<String, Json>);

impl Rest {
    /// The value of a key of the model.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> T {
        let value = self.0.get(key).unwrap_or_else(|| panic!("{key} is a key of the model"));
        serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{key} is of another type: {error}"))
    }

    /// What stands under keys that begin so.
    pub(crate) fn below<'r>(&'r self, prefix: &str) -> Vec<(&'r String, &'r Json)> {
        self.0.iter().filter(|(key, _)| key.starts_with(prefix)).collect()
    }

    /// A file, if one is named.
    pub(crate) fn file(&self, key: &str) -> Option<PathBuf> {
        self.get(key)
    }
}
