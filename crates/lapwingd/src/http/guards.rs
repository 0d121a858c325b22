//! What keeps somebody without a name from MQTT beside users and rules: HTTP cannot ask it, and must not be the open door.

use lapwing_node::{ClientCertificateMode, Config, ListenerConfig, NodeError};

/// At a socket permission bits decide, and those of this machine who can reach HTTP are more. MQTT-SN is for devices: it says
/// nothing of who may come to MQTT.
const NO_MQTT_FOR_ALL: [&str; 3] = ["unix", "sn", "sns"];

/// In words; empty: nothing does.
///
/// # Errors
/// A listener's URL is none.
pub(crate) fn guards_of_mqtt(config: &Config) -> Result<&'static str, NodeError> {
    let listeners = config.all_listeners();
    // One that takes whoever comes is enough: who cannot come through another comes through that.
    for listener in &listeners {
        if takes_everybody(listener)? {
            return Ok("");
        }
    }
    let is_certified = listeners.iter().any(|listener| listener.client_certificate != ClientCertificateMode::None);
    let others = "its listeners (anonymous, MQTT-SN, or a Unix socket's mode)";
    Ok(if is_certified { "client certificates" } else { others })
}

fn takes_everybody(listener: &ListenerConfig) -> Result<bool, NodeError> {
    let scheme = listener.url.split("://").next().unwrap_or_default();
    let is_guarded =
        listener.client_certificate == ClientCertificateMode::Required || NO_MQTT_FOR_ALL.contains(&scheme);
    Ok(listener.takes_anonymous()? && !is_guarded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guards(config: &str) -> &'static str {
        guards_of_mqtt(&serde_json::from_str(config).expect("it is one")).expect("it has URLs")
    }

    /// Is one listener that takes whoever comes enough, and nothing else?
    #[test]
    fn one_open_listener_is_enough() {
        assert_eq!(guards(r#"{"listen": ["tcp://127.0.0.1:1"]}"#), "");
        assert_eq!(guards(r#"{"listen": ["unix:///s", "tcp://[::1]:1"]}"#), "");
        for config in [
            r#"{"listen": ["unix:///s"]}"#,
            r#"{"listen": ["sn://127.0.0.1:1"]}"#,
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
