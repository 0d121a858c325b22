//! How one client connects: everything that goes into its CONNECT, and how much it takes in.

use crate::error::ClientError;
use crate::texts;
use crate::tls_options::TlsOptions;
use lapwing_codec::{Limits, QoS, Version};

/// A message the broker publishes when this client goes without saying goodbye.
#[derive(Clone, Debug, Default)]
pub struct LastWill {
    /// Where to.
    pub topic: String,
    /// What.
    pub payload: Vec<u8>,
    /// With which quality.
    pub qos: QoS,
    /// Whether it is retained.
    pub retain: bool,
    /// How long the broker waits first, in seconds (5.0 only).
    pub delay_s: u32,
}

/// The options of one client.
#[derive(Clone, Debug)]
pub struct Options {
    /// Empty: the broker chooses one (5.0), or the session is clean (3.1.1).
    pub client_id: String,
    /// Protocol version.
    pub version: Version,
    /// Start with an empty session (3.1.1: and end with one).
    pub clean_start: bool,
    /// How long the session outlives the connection, in seconds (5.0 only; `u32::MAX`: for ever).
    pub session_expiry_s: u32,
    /// Ping after this many seconds of silence; 0: never.
    pub keep_alive_s: u16,
    /// Incoming QoS 1 and 2 messages not yet acknowledged, at most; 1 or more (5.0 only).
    pub receive_maximum: u16,
    /// The largest packet this client takes, in bytes. By default what the protocol itself allows: a broker throws away
    /// what is larger for this client without a word [MQTT-3.1.2-24], however large it lets others publish.
    pub packet_bytes_max: u32,
    /// User name, if any.
    pub username: Option<String>,
    /// Password, if any.
    pub password: Option<Vec<u8>>,
    /// Last will, if any.
    pub will: Option<LastWill>,
    /// User properties of CONNECT (5.0 only).
    pub user_properties: Vec<(String, String)>,
    /// Whom to trust, and how to show itself, where the address asks for TLS.
    pub tls: TlsOptions,
}

impl Options {
    /// # Errors
    /// `Invalid`: a text with U+0000, which is named.
    pub(crate) fn check(&self) -> Result<(), ClientError> {
        texts::check("client id", &self.client_id)?;
        // Perhaps it was to be a secret: it is not shown.
        if self.username.as_deref().is_some_and(|name| name.contains('\0')) {
            return Err(ClientError::Invalid("the user name has U+0000, which no text of MQTT may have".to_owned()));
        }
        if let Some(will) = &self.will {
            texts::check("topic of the will", &will.topic)?;
        }
        texts::check_pairs(self.user_properties.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            client_id: String::new(),
            version: Version::V5,
            clean_start: true,
            session_expiry_s: 0,
            keep_alive_s: 60,
            receive_maximum: 1024,
            packet_bytes_max: Limits::PACKET_BYTES_MAX,
            username: None,
            password: None,
            will: None,
            user_properties: Vec::new(),
            tls: TlsOptions::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is each text of CONNECT with U+0000 in it refused by its name, the user name without what it is?
    #[test]
    fn texts_without_null() {
        let null = || "x\0y".to_owned();
        let will = LastWill { topic: null(), payload: vec![0], ..LastWill::default() };
        for (options, named) in [
            (Options { client_id: null(), ..Options::default() }, "client id \"x"),
            (Options { username: Some(null()), ..Options::default() }, "user name has"),
            (Options { will: Some(will.clone()), ..Options::default() }, "topic of the will \"x"),
            (Options { user_properties: vec![(null(), String::new())], ..Options::default() }, "user property \"x"),
        ] {
            let error = options.check().expect_err(named).to_string();
            assert!(error.contains(named), "{error}");
        }
        let binary = Options {
            password: Some(vec![0]),
            will: Some(LastWill { topic: "w".into(), ..will }),
            ..Options::default()
        };
        assert!(binary.check().is_ok());
    }
}
