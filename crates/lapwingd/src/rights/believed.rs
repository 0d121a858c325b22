//! Which files a configuration makes the broker believe: those at the keys that the node knows (`lapwing_node::believed_files`).

use std::path::PathBuf;

use lapwing_node::{Believed, ListenerConfig, believed_files};
use serde_json::Value as Json;

use crate::configuration::{Configuration, Rest};

/// Every file that decides who may what here.
pub(super) fn believed(configuration: &Configuration) -> Vec<Believed> {
    let (rest, listeners) = (&configuration.own.rest, &configuration.node.listeners);
    believed_files(configuration.file.as_deref(), listeners.len(), |key| match of_listener(key) {
        Some((number, name)) => listeners.get(number).map_or_else(Vec::new, |listener| files(listener, name)),
        // A table that is refused here names no file.
        None if key.starts_with("cluster.") => Vec::new(),
        None => elsewhere(rest, key),
    })
}

/// The listener's number, and its key.
fn of_listener(key: &str) -> Option<(usize, &str)> {
    let (number, name) = key.strip_prefix("listeners.")?.split_once('.')?;
    Some((number.parse().ok()?, name))
}

fn files(listener: &ListenerConfig, name: &str) -> Vec<PathBuf> {
    let ListenerConfig { certificate, key, client_ca, crl, psk, .. } = listener;
    let one = match name {
        "certificate" => certificate,
        "key" => key,
        "client_ca" => client_ca,
        "psk" => psk,
        "crl" => return crl.clone(),
        unknown => panic!("{unknown} is no key of a listener that names files"),
    };
    one.iter().cloned().collect()
}

/// A file, or a list of them.
fn elsewhere(rest: &Rest, key: &str) -> Vec<PathBuf> {
    match rest.get::<Json>(key) {
        Json::Array(_) => rest.get(key),
        _ => rest.file(key).into_iter().collect(),
    }
}
