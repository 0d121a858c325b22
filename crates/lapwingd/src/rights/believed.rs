//! Which files a configuration makes the broker believe.

use std::path::PathBuf;

use lapwing_node::ListenerConfig;

use crate::configuration::Configuration;

/// A file, the key that names it, and whether what is in it is to stay secret.
#[derive(Debug)]
pub(super) struct Believed {
    pub path: PathBuf,
    pub key: String,
    pub is_secret: bool,
}

impl Believed {
    fn new(path: PathBuf, key: impl Into<String>, is_secret: bool) -> Self {
        Believed { path, key: key.into(), is_secret }
    }
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
        configuration.file.iter().map(|file| Believed::new(file.clone(), "--config", false)).collect();
    found.extend(KEYS.into_iter().filter_map(|(key, is_secret)| Some(Believed::new(rest.file(key)?, key, is_secret))));
    let keys: Vec<PathBuf> = rest.get("auth.jwt.key_files");
    found.extend(keys.into_iter().map(|file| Believed::new(file, "auth.jwt.key_files", false)));
    for (number, listener) in configuration.node.listeners.iter().enumerate() {
        found.extend(of_listener(listener, number));
    }
    found
}

fn of_listener(listener: &ListenerConfig, number: usize) -> Vec<Believed> {
    let key = |name: &str| format!("listeners.{number}.{name}");
    let named = |name: &str, file: &Option<PathBuf>, is_secret| {
        file.iter().map(|file| Believed::new(file.clone(), key(name), is_secret)).collect::<Vec<_>>()
    };
    // Where no key is named it lies in the same file.
    let mut found = named("certificate", &listener.certificate, listener.key.is_none());
    found.extend(named("key", &listener.key, true));
    found.extend(named("psk", &listener.psk, true));
    found.extend(named("client_ca", &listener.client_ca, false));
    found.extend(listener.crl.iter().map(|file| Believed::new(file.clone(), key("crl"), false)));
    found
}
