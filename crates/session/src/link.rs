//! What belongs to one connection of a session.

use std::sync::atomic::{AtomicU64, Ordering};

use lapwing_codec::{Connect, UserPropertiesBuf, Version};

use crate::aliases::Aliases;
use crate::sent_aliases::SentAliases;
use crate::{Admission, Authentication, Settings};

/// Tells connections apart, so that an answer prepared for one is never sent to the next. Unique in the process; only
/// equality has a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkId(u64);

impl LinkId {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        LinkId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The current connection.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) id: LinkId,
    pub(crate) version: Version,
    /// Another broker: what it subscribes to has the options that it cannot say.
    pub(crate) is_bridge: bool,
    /// One and a half times the keep alive in force, in milliseconds; 0 = off [MQTT-3.1.2-22].
    silence_ms_max: u32,
    pub(crate) last_packet_ms: u64,
    /// When a message or a subscription last went either way.
    pub(crate) used_ms: u64,
    /// The CONNECT asked for a session that outlives it, whatever was granted.
    pub(crate) asked_expiry: bool,
    /// Maximum Packet Size of the client, in bytes.
    pub(crate) packet_bytes_max: u32,
    /// Request Problem Information of the client: it may be told why in words [MQTT-3.1.2-29].
    wants_reasons: bool,
    /// QoS 1 and 2 messages that may be under way to the client: its Receive Maximum and our own limit.
    pub(crate) window_max: u16,
    pub(crate) aliases: Aliases,
    /// `None`: the client or we want none. Behind a pointer, because most connections have none.
    pub(crate) sent_aliases: Option<Box<SentAliases>>,
    /// The exchange that its CONNECT began, if it named a method.
    pub(crate) authentication: Option<Box<Authentication>>,
    /// Where the user properties of its messages are put together, if it is told of their publishers.
    pub(crate) told: Option<Box<UserPropertiesBuf>>,
}

impl Link {
    pub(crate) fn new(connect: &Connect<'_>, admission: &Admission, settings: &Settings, now_ms: u64) -> Self {
        let keep_alive_s = bounded_keep_alive_s(connect, settings).unwrap_or(connect.keep_alive_s);
        Link {
            id: LinkId::next(),
            version: connect.version,
            is_bridge: connect.is_bridge,
            silence_ms_max: u32::from(keep_alive_s) * 1500,
            last_packet_ms: now_ms,
            used_ms: now_ms,
            asked_expiry: connect.properties.session_expiry_s != 0,
            packet_bytes_max: connect.properties.packet_bytes_max.unwrap_or(u32::MAX),
            wants_reasons: connect.version.has_properties() && connect.properties.request_problem_information,
            window_max: window_max(connect, settings),
            aliases: Aliases::default(),
            // [MQTT-3.1.2-26, MQTT-3.1.2-27]
            sent_aliases: match connect.properties.topic_alias_max.min(settings.topic_alias_sent_max) {
                0 => None,
                max => Some(Box::new(SentAliases::new(max))),
            },
            authentication: Authentication::established(connect).map(Box::new),
            told: admission.is_told().then(Box::default),
        }
    }

    /// `words` for people, if the client wants such and they are no longer than a field of a packet may be; `packet_bytes` is
    /// what the packet takes besides them, and together they keep to its Maximum Packet Size.
    pub(crate) fn words<'w>(&self, words: Option<&'w str>, packet_bytes: usize) -> Option<&'w str> {
        let fits = |words: &&str| {
            let max = (self.packet_bytes_max as usize).saturating_sub(packet_bytes);
            words.len() <= max.min(usize::from(u16::MAX))
        };
        words.filter(|_| self.wants_reasons).filter(fits)
    }

    /// When the client has been silent for too long.
    pub(crate) const fn silent_until_ms(&self) -> Option<u64> {
        if self.silence_ms_max == 0 { None } else { Some(self.last_packet_ms + self.silence_ms_max as u64) }
    }

    /// When the connection has carried nothing but signs of life for too long.
    pub(crate) const fn idle_until_ms(&self, settings: &Settings) -> Option<u64> {
        match settings.connection_idle_ms_max {
            0 => None,
            idle_ms_max => Some(self.used_ms.saturating_add(idle_ms_max)),
        }
    }
}

/// QoS 1 and 2 messages that may be under way at once: what the client says, what we want, and for another broker what those
/// take by default. Mosquitto ends a bridge that brings more of QoS 2, and would do so again for each time that it is sent them.
fn window_max(connect: &Connect<'_>, settings: &Settings) -> u16 {
    let bridge_max = if connect.is_bridge { settings.bridge_inflight_messages_max } else { u16::MAX };
    connect.properties.receive_max.min(settings.inflight_messages_max).min(bridge_max).max(1)
}

/// The keep alive to tell the client, if its own is not taken; 3.1.1 has no way to say so [MQTT-3.2.2-22].
pub(crate) fn server_keep_alive_s(connect: &Connect<'_>, settings: &Settings) -> Option<u16> {
    bounded_keep_alive_s(connect, settings).filter(|_| connect.version.has_properties())
}

/// The keep alive in force instead of the client's, if that is too long. One that cannot be told is bound all the same: any
/// client that is not responsive may be disconnected, whatever its keep alive (3.1.2.10 of 3.1.1), and one that has something
/// to say in that time notices nothing. Refusing it instead would keep those out too.
fn bounded_keep_alive_s(connect: &Connect<'_>, settings: &Settings) -> Option<u16> {
    let max = settings.keep_alive_s_max;
    let too_long = connect.keep_alive_s == 0 || connect.keep_alive_s > max;
    (max > 0 && too_long).then_some(max)
}
