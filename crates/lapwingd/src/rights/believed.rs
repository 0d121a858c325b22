//! Which files a configuration makes the broker believe.

use std::path::PathBuf;

use lapwing_node::{Believed, ListenerConfig};

use crate::configuration::Configuration;

fn named(path: PathBuf, key: impl Into<String>, is_secret: bool) -> Believed {
    Believed { path, key: key.into(), is_secret }
}

const KEYS: [(&str, bool); 6] = [
    ("auth.users", true),
    ("auth.jwt.secret_file", true),
    ("auth.jwt.jwks_file", false),
    ("auth.jwt.jwks_ca", false),
    ("auth.http.ca", false),
    ("auth.http.authorization_file", true),
];

/// Every file that decides who may what here.
pub(super) fn believed(configuration: &Configuration) -> Vec<Believed> {
    let rest = &configuration.own.rest;
    let mut found: Vec<Believed> =
        configuration.file.iter().map(|file| named(file.clone(), "--config", false)).collect();
    found.extend(KEYS.into_iter().filter_map(|(key, is_secret)| Some(named(rest.file(key)?, key, is_secret))));
    let keys: Vec<PathBuf> = rest.get("auth.jwt.key_files");
    found.extend(keys.into_iter().map(|file| named(file, "auth.jwt.key_files", false)));
    for (number, listener) in configuration.node.listeners.iter().enumerate() {
        found.extend(of_listener(listener, number));
    }
    found
}

fn of_listener(listener: &ListenerConfig, number: usize) -> Vec<Believed> {
    let key = |name: &str| format!("listeners.{number}.{name}");
    let of = |name: &str, file: &Option<PathBuf>, is_secret| {
        file.iter().map(|file| named(file.clone(), key(name), is_secret)).collect::<Vec<_>>()
    };
    // Where no key is named it lies in the same file.
    let mut found = of("certificate", &listener.certificate, listener.key.is_none());
    found.extend(of("key", &listener.key, true));
    found.extend(of("psk", &listener.psk, true));
    found.extend(of("client_ca", &listener.client_ca, false));
    found.extend(listener.crl.iter().map(|file| named(file.clone(), key("crl"), false)));
    found
}
