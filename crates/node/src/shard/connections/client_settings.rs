//! The limits of the configuration, as sessions and the codec have them.

use std::sync::Arc;

use lapwing_session::Settings;

use crate::config::{Config, Limits};

/// What the clients of one listener are held to: limits of their sessions, and of the codec that reads their packets.
pub(in crate::shard) struct ClientSettings {
    pub(in crate::shard) settings: Arc<Settings>,
    pub(in crate::shard) limits: Arc<lapwing_codec::Limits>,
    /// For whoever is no client yet.
    pub(in crate::shard) connect_limits: Arc<lapwing_codec::Limits>,
}

impl ClientSettings {
    pub(in crate::shard) fn new(config: &Config, packet_bytes_max: u32, authentication: bool) -> Self {
        let settings = Settings { packet_bytes_max, authentication, ..settings(config) };
        // What a message has too much of is for its session to refuse: there it does not end the connection.
        let limits = lapwing_codec::Limits { packet_bytes_max, ..lapwing_codec::Limits::PROTOCOL };
        let packet_bytes_max = packet_bytes_max.min(config.limits.connect_bytes_max);
        let connect_limits = lapwing_codec::Limits { packet_bytes_max, ..codec_limits(&config.limits) };
        ClientSettings {
            settings: Arc::new(settings),
            limits: Arc::new(limits),
            connect_limits: Arc::new(connect_limits),
        }
    }
}

/// Which slot of the session's settings each limit goes to.
fn settings(config: &Config) -> Settings {
    let limits = &config.limits;
    Settings {
        client_id_bytes_max: limits.client_id_bytes_max,
        subscriptions_max: limits.subscriptions_per_session_max,
        topic_bytes_max: limits.topic_bytes_max,
        topic_levels_max: limits.topic_levels_max,
        user_properties_max: limits.user_properties_max,
        filters_per_packet_max: limits.filters_per_packet_max,
        keep_alive_s_max: limits.keep_alive_s_max,
        connection_idle_ms_max: limits.connection_idle_ms_max,
        session_expiry_s_max: limits.session_expiry_s_max,
        session_expiry_s_v311: limits.session_expiry_s_v311,
        receive_maximum: limits.receive_maximum,
        inflight_messages_max: limits.inflight_messages_max,
        bridge_inflight_messages_max: limits.bridge_inflight_messages_max,
        topic_alias_max: limits.topic_alias_max,
        topic_alias_sent_max: limits.topic_alias_sent_max,
        packet_bytes_max: limits.packet_bytes_max,
        queue_messages_max: limits.queue_messages_max,
        queue_bytes_max: limits.queue_bytes_max,
        queue_policy: limits.queue_policy.into(),
        queue_age_ms_max: limits.queue_age_ms_max,
        output_high_bytes: limits.output_high_bytes as usize,
        qos_max: lapwing_codec::QoS::ExactlyOnce,
        retain_available: true,
        response_information_prefix: config.response_information_prefix.as_deref().map(Into::into),
        server_reference: config.server_reference.as_deref().map(Into::into),
        mqtt31: limits.mqtt31,
        authentication: false,
    }
}

pub(crate) fn codec_limits(limits: &Limits) -> lapwing_codec::Limits {
    lapwing_codec::Limits {
        packet_bytes_max: limits.packet_bytes_max,
        topic_bytes_max: limits.topic_bytes_max,
        topic_levels_max: limits.topic_levels_max,
        // A packet bounds them; the session grants as many as it may.
        filters_per_packet_max: u32::MAX,
        user_properties_max: limits.user_properties_max,
    }
}
