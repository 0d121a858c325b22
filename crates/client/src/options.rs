//! How one client connects: everything that goes into its CONNECT, and how much it takes in.

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
