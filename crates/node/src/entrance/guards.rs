//! What keeps somebody without a name from MQTT beside users and rules: HTTP cannot ask it, and must not be the open door.

use lapwing_transport::Scheme;

use super::{Entrance, address};
use crate::config::{ClientCertificateMode, ListenerConfig};

impl Entrance {
    /// In words; empty: nothing does. Hooks, where there are some, are Python's to say.
    pub fn guards_of_mqtt(&self) -> &'static str {
        let short: Vec<ListenerConfig> = self.listen.iter().map(|url| ListenerConfig::at(url)).collect();
        // One that takes whoever comes is enough: who cannot come through another comes through that.
        if short.iter().chain(&self.listeners).any(takes_everybody) {
            return "";
        }
        match self.listeners.iter().any(|listener| listener.client_certificate != ClientCertificateMode::None) {
            true => "client certificates",
            false => "its listeners (anonymous, MQTT-SN, or a Unix socket's mode)",
        }
    }
}

fn takes_everybody(listener: &ListenerConfig) -> bool {
    let Some(address) = address(&listener.url) else { return false };
    // At a socket permission bits decide, and those of this machine who can reach HTTP are more. MQTT-SN is for devices: it
    // says nothing of who may come to MQTT.
    let is_for_some = address.scheme() == Scheme::Unix || address.scheme().has_datagrams();
    let is_guarded = listener.client_certificate == ClientCertificateMode::Required || is_for_some;
    listener.anonymous.unwrap_or_else(|| address.is_local()) && !is_guarded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guards(config: &str) -> &'static str {
        Entrance::of(&serde_json::from_str(config).unwrap()).guards_of_mqtt()
    }

    /// Is one listener that takes whoever comes enough, and nothing else?
    #[test]
    fn one_open_listener_is_enough() {
        assert_eq!(guards(r#"{"listen": ["tcp://127.0.0.1:1"]}"#), "");
        assert_eq!(guards(r#"{"listen": ["unix:///s", "tcp://[::1]:1"]}"#), "");
        assert_eq!(guards(r#"{"listen": [], "listeners": [{"url": "tcp://0.0.0.0:1", "anonymous": true}]}"#), "");
        for config in [
            r#"{"listen": ["unix:///s"]}"#,
            r#"{"listen": ["sn://127.0.0.1:1"]}"#,
            r#"{"listen": ["tcp://0.0.0.0:1"]}"#,
            r#"{"listen": [], "listeners": [{"url": "tcp://127.0.0.1:1", "anonymous": false}]}"#,
        ] {
            assert!(guards(config).starts_with("its listeners"), "{config}");
        }
        let certified = |mode: &str| {
            let files = r#""certificate": "c", "key": "k", "client_ca": "a", "url": "tls://127.0.0.1:1""#;
            format!(r#"{{"listen": [], "listeners": [{{{files}, "client_certificate": "{mode}"}}]}}"#)
        };
        assert_eq!(guards(&certified("required")), "client certificates");
        assert_eq!(guards(&certified("optional")), "");
    }
}
