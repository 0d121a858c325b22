//! What a configuration leaves open that its writer may not have meant: a line each. Not wrong, so not refused.

use lapwing_node::{Config, IdentitySource, ListenerConfig};

use crate::fault::Faults;
use crate::openness::knows_somebody;
use crate::system::user_id;

const ROOT: &str = "the broker runs as root: start it as another account";
const AUDIENCE: &str = "auth.jwt takes tokens of its issuer that are for other services: set auth.jwt.audience to what yours \
    say in aud";

/// What there is to say, the worst first.
///
/// # Errors
/// An address cannot be read.
pub(crate) fn exposures(config: &Config) -> Result<Vec<String>, Faults> {
    let mut told: Vec<String> = (user_id() == 0).then(|| ROOT.to_owned()).into_iter().collect();
    let mut plain = Vec::new();
    for listener in config.all_listeners() {
        if knows_somebody(config) && shows_passwords(&listener)? {
            plain.push(listener.url);
        }
    }
    if !plain.is_empty() {
        let urls = plain.join(", ");
        told.push(format!(
            "passwords go in the clear over {urls}: use tls or wss, or let something in front of it encrypt"
        ));
    }
    let auth = serde_json::to_value(&config.auth).unwrap_or_default();
    let (jwt, keys) = (&auth["jwt"], &auth["jwt"]["keys"]);
    if jwt.is_object() && keys["secret"].is_null() && jwt["audience"] == serde_json::json!([]) {
        told.push(AUDIENCE.to_owned());
    }
    for (number, listener) in config.listeners.iter().enumerate() {
        if listener.proxy_protocol_from.iter().any(|network| network.ends_with("/0")) {
            told.push(format!(
                "listeners.{number}.proxy_protocol_from takes everybody for a proxy, so whoever connects to {} says which \
                 address he comes from: name the networks of your proxies",
                listener.url
            ));
        }
    }
    if config.auth.users.as_ref().is_some_and(Vec::is_empty)
        && config.auth.jwt.is_none()
        && config.auth.outside.is_none()
    {
        told.push(
            "auth.users has no users: nobody comes in by a password or as a user; add them with lapwing user add NAME, and \
             send SIGHUP"
                .to_owned(),
        );
    }
    Ok(told)
}

fn shows_passwords(listener: &ListenerConfig) -> Result<bool, Faults> {
    let is_plain = ["tcp://", "mqtt://", "ws://"].iter().any(|scheme| listener.url.starts_with(scheme));
    let is_local = ListenerConfig::at(&listener.url).takes_anonymous()?;
    Ok(is_plain && !is_local && listener.identity == IdentitySource::Password)
}
