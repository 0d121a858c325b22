//! No open door by accident: a listener that other machines can reach must know who connects.

use super::{Entrance, address};
use crate::config::{IdentitySource, ListenerConfig};

/// What to do where there is no listener at all.
pub const NO_LISTENER: &str = "name an address, or add a [[listeners]] table";

const OPEN: &str = "no open listener beyond loopback without authentication: listen on 127.0.0.1, [::1] or localhost; or \
    name the users (auth.users); or take tokens (auth.jwt), or ask somebody (auth.http); or make it a [[listeners]] table, \
    with client certificates that name the users, or with anonymous = true for whoever comes";
const NOBODY: &str = "nobody could connect: anonymous is false, and there are no users; set auth.users, name the users by \
    client certificates (identity = \"certificate-cn\"), or set anonymous = true for whoever comes";
const OPEN_SN: &str = "no open listener beyond loopback without authentication, and MQTT-SN has none: listen on 127.0.0.1, \
    [::1] or localhost; or make it a [[listeners]] table with anonymous = true, and say by rules what a client id may do; or \
    listen at sns:// with client certificates or keys (psk) that name the users";
const NEEDS_TABLE: &str = "write it as a [[listeners]] table: TLS needs certificate and key";

/// A listener that nobody guards, or that nobody could come through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unguarded {
    /// The key that names its address: `["broker", "listen", "0"]`, `["listeners", "2", "url"]`.
    pub key: [String; 3],
    /// That address.
    pub url: String,
    /// What to do.
    pub remedy: &'static str,
}

impl Entrance {
    /// All listeners that must not be as they are. The node itself lets nobody in there who has no name, which is safe, and no
    /// use to anybody.
    pub fn unguarded(&self) -> Vec<Unguarded> {
        let short = self.listen.iter().enumerate().filter_map(|(number, url)| {
            let key = ["broker".into(), "listen".into(), number.to_string()];
            Some(Unguarded { key, url: url.clone(), remedy: self.short(url)? })
        });
        let full = self.listeners.iter().enumerate().filter_map(|(number, listener)| {
            let key = ["listeners".into(), number.to_string(), "url".into()];
            Some(Unguarded { key, url: listener.url.clone(), remedy: self.full(listener)? })
        });
        short.chain(full).collect()
    }

    /// Whether nobody could come at all.
    pub fn has_no_listener(&self) -> bool {
        self.listen.is_empty() && self.listeners.is_empty()
    }

    fn short(&self, url: &str) -> Option<&'static str> {
        let address = address(url)?;
        match address.scheme() {
            scheme if scheme.has_tls() => Some(NEEDS_TABLE),
            _ if address.is_local() => None,
            scheme if scheme.has_datagrams() => Some(OPEN_SN),
            _ => (!self.asks_for_passwords).then_some(OPEN),
        }
    }

    fn full(&self, listener: &ListenerConfig) -> Option<&'static str> {
        let address = address(&listener.url)?;
        let is_named = listener.identity != IdentitySource::Password || listener.psk.is_some();
        if is_named || listener.anonymous.unwrap_or_else(|| address.is_local()) {
            return None;
        }
        match (address.scheme().has_datagrams(), self.asks_for_passwords, listener.anonymous) {
            (true, ..) => Some(OPEN_SN),
            (false, true, _) => None,
            (false, false, Some(false)) => Some(NOBODY),
            (false, false, _) => Some(OPEN),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// How what is said of the one listener begins; nothing: it is in order.
    fn said(listen: &[&str], listeners: &Value, asks_for_passwords: bool) -> Vec<(String, &'static str)> {
        let entrance: Entrance = serde_json::from_value(json!({
            "listen": listen, "listeners": listeners, "asks_for_passwords": asks_for_passwords, "tokens": null,
        }))
        .unwrap();
        let found = entrance.unguarded().into_iter();
        found.map(|one| (one.key.join("."), one.remedy.split([':', ',']).next().unwrap_or_default())).collect()
    }

    const ACCIDENT: &str = "no open listener beyond loopback without authentication";

    /// Is an address alone in order where only this machine reaches it, or where somebody is known?
    #[test]
    fn addresses_alone() {
        for (url, without, with) in [
            ("tcp://127.0.0.1:1", "", ""),
            ("ws://localhost:1", "", ""),
            ("unix:///x", "", ""),
            ("tcp://0.0.0.0:1", ACCIDENT, ""),
            ("0.0.0.0", ACCIDENT, ""),
            ("ws://broker.example:1", ACCIDENT, ""),
            ("sn://[::1]:1", "", ""),
            ("sn://0.0.0.0:1", ACCIDENT, ACCIDENT),
            ("tls://127.0.0.1:1", "write it as a [[listeners]] table", "write it as a [[listeners]] table"),
            ("sns://127.0.0.1:1", "write it as a [[listeners]] table", "write it as a [[listeners]] table"),
        ] {
            for (asks, expected) in [(false, without), (true, with)] {
                let found = said(&["tcp://[::1]:1", url], &json!([]), asks);
                let told: Vec<_> = Some(("broker.listen.1".to_owned(), expected))
                    .filter(|told| !told.1.is_empty())
                    .into_iter()
                    .collect();
                assert_eq!(found, told, "{url} {asks}");
            }
        }
    }

    /// Is a table in order where it says who comes, one way or another?
    #[test]
    fn tables() {
        for (table, without, with) in [
            (json!({"url": "tcp://0.0.0.0:1"}), ACCIDENT, ""),
            (json!({"url": "tcp://0.0.0.0:1", "anonymous": true}), "", ""),
            (json!({"url": "unix:///x", "anonymous": false}), "nobody could connect", ""),
            (json!({"url": "tls://0.0.0.0:1", "identity": "certificate-cn"}), "", ""),
            (json!({"url": "tls://0.0.0.0:1"}), ACCIDENT, ""),
            (json!({"url": "sn://0.0.0.0:1"}), ACCIDENT, ACCIDENT),
            (json!({"url": "sn://127.0.0.1:1", "anonymous": false}), ACCIDENT, ACCIDENT),
            (json!({"url": "sn://0.0.0.0:1", "anonymous": true}), "", ""),
            (json!({"url": "sns://0.0.0.0:1", "psk": "keys"}), "", ""),
            (json!({"url": "sns://0.0.0.0:1", "identity": "certificate-san"}), "", ""),
        ] {
            for (asks, expected) in [(false, without), (true, with)] {
                let found = said(&[], &json!([table]), asks);
                let told: Vec<_> = Some(("listeners.0.url".to_owned(), expected))
                    .filter(|told| !told.1.is_empty())
                    .into_iter()
                    .collect();
                assert_eq!(found, told, "{table} {asks}");
            }
        }
    }

    /// Is a node of its defaults in order, and one without listeners not?
    #[test]
    fn of_a_node() {
        let mut config = crate::Config::default();
        assert_eq!(Entrance::of(&config).unguarded(), []);
        assert!(!Entrance::of(&config).has_no_listener());
        config.listen = vec!["tcp://0.0.0.0:1883".into()];
        assert_eq!(Entrance::of(&config).unguarded().len(), 1);
        config.auth.users = Some(Vec::new());
        assert_eq!(Entrance::of(&config).unguarded(), []);
        config.listen.clear();
        assert!(Entrance::of(&config).has_no_listener());
    }
}
