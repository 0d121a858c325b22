//! What a configuration opens, as the node judges it: for what Python says of it before a node is there.

use lapwing_node::Entrance;
use pyo3::prelude::*;

use crate::core_error::core_error;

/// Listeners that must not be as they are: the parts of the key, its address, and what to do.
type Unguarded = Vec<(Vec<String>, Option<String>, &'static str)>;

/// Listeners that nobody guards, or that nobody could come through; without an address: there is none at all.
#[pyfunction]
pub(crate) fn unguarded_listeners(py: Python<'_>, entrance_json: &str) -> PyResult<Unguarded> {
    let entrance = parse(py, entrance_json)?;
    if entrance.has_no_listener() {
        return Ok(vec![(vec!["broker".into(), "listen".into()], None, lapwing_node::NO_LISTENER)]);
    }
    let found = entrance.unguarded().into_iter();
    Ok(found.map(|one| (one.key.to_vec(), Some(one.url), one.remedy)).collect())
}

/// What is left open to others that may not be meant, a line each.
#[pyfunction]
pub(crate) fn exposures(py: Python<'_>, entrance_json: &str) -> PyResult<Vec<String>> {
    Ok(parse(py, entrance_json)?.exposures())
}

/// What keeps somebody without a name from MQTT beside users, rules and hooks, in words; empty: nothing does.
#[pyfunction]
pub(crate) fn guards_of_mqtt(py: Python<'_>, entrance_json: &str) -> PyResult<&'static str> {
    Ok(parse(py, entrance_json)?.guards_of_mqtt())
}

/// What to say of a users file, behind its name; None: nothing.
#[pyfunction]
#[pyo3(signature = (names, asks_others))]
pub(crate) fn users_notice(names: Option<Vec<String>>, asks_others: bool) -> Option<String> {
    lapwing_node::users_notice(names.as_ref().map(|names| names.iter().map(String::as_str)), asks_others)
}

/// What of a user's name nobody sees, in words behind it; None: all of it shows.
#[pyfunction]
pub(crate) fn unseen_in_name(name: &str) -> Option<&'static str> {
    lapwing_node::unseen_in_name(name)
}

/// Limits of memory that are above what this process may have, a line each. `limits_json`: the table as a node takes it.
#[pyfunction]
pub(crate) fn memory_notices(py: Python<'_>, limits_json: &str) -> PyResult<Vec<String>> {
    let limits = serde_json::from_str(limits_json).map_err(|error| {
        core_error(py, "config", &format!("limits: {error}"), "Correct the key or the value named.", &[])
    })?;
    Ok(lapwing_node::memory_notices(&limits))
}

fn parse(py: Python<'_>, entrance_json: &str) -> PyResult<Entrance> {
    serde_json::from_str(entrance_json).map_err(|error| {
        core_error(py, "config", &format!("listeners: {error}"), "Correct the key or the value named.", &[])
    })
}
