//! What holds at one listener, put together from its configuration.

use lapwing_codec::topic::matches;
use lapwing_sn::Limits;
use lapwing_sn::peer::{Predefined, Settings};
use lapwing_transport::DTLS_RECORD_BYTES;

use super::address::Address;
use super::nobody;
use crate::config::{Config, ListenerConfig, SnConfig};
use crate::error::NodeError;
use crate::listeners::ListenerId;
use crate::shard::codec_limits;

/// Bytes that a forwarder puts in front of a message, beside the id of its node.
const ENCLOSURE_BYTES: u16 = 3;

/// One listener for MQTT-SN.
pub(super) struct Terms {
    pub(super) id: ListenerId,
    pub(super) config: SnConfig,
    settings: Settings,
    /// The same where a forwarder's bytes come on top.
    behind_forwarder: Settings,
    pub(super) predefined: Predefined,
    /// What may be published with QoS -1.
    publishes: Vec<String>,
    /// The client id under which that goes on.
    pub(super) nobody: String,
    /// Expiry of a session that outlives its connection.
    pub(super) session_expiry_s: u32,
    /// Largest CONNECT that a shard takes.
    pub(super) connect_bytes_max: usize,
}

impl Terms {
    pub(super) fn new(node: &Config, own: &ListenerConfig, id: ListenerId, url: &str) -> Result<Self, NodeError> {
        let config = own.sn.clone().unwrap_or_default();
        let topics = codec_limits(&node.limits);
        // What DTLS puts around a message is part of its datagram.
        let record = if own.is_sealed() { DTLS_RECORD_BYTES } else { 0 };
        let datagram_bytes_max = config.datagram_bytes_max.saturating_sub(record);
        let limits = Limits { datagram_bytes_max, topics, ..Limits::default() };
        let (retry_ms, retries_max) = (config.retry_ms, config.retries_max);
        let default = Settings::default();
        let settings = Settings {
            retry_ms,
            retries_max,
            // A client that means a new message of the same id waits at least as long as we do.
            linger_ms: default.linger_ms.min(retry_ms / 2),
            registrations_max: config.registrations_max,
            limits,
            ..default
        };
        let mut behind_forwarder = settings.clone();
        let enclosure = ENCLOSURE_BYTES + u16::from(settings.limits.node_id_bytes_max);
        behind_forwarder.limits.datagram_bytes_max = datagram_bytes_max.saturating_sub(enclosure);
        let everything = || if own.takes_everything() { vec!["#".to_owned()] } else { Vec::new() };
        Ok(Terms {
            predefined: config.predefined(url)?,
            publishes: config.publish_without_connect.clone().unwrap_or_else(everything),
            nobody: nobody::id_of(id),
            session_expiry_s: node.limits.session_expiry_s_v311.min(node.limits.session_expiry_s_max),
            connect_bytes_max: node.limits.connect_bytes_max.min(node.limits.packet_bytes_max) as usize,
            settings,
            behind_forwarder,
            config,
            id,
        })
    }

    /// What a datagram that comes is held against.
    pub(super) fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    pub(super) fn settings(&self, address: &Address<'_>) -> &Settings {
        if address.forwarding().is_some() { &self.behind_forwarder } else { &self.settings }
    }

    /// Whether a topic may be published to without a connection.
    pub(super) fn takes_from_nobody(&self, topic: &str) -> bool {
        self.publishes.iter().any(|filter| matches(filter, topic))
    }
}
