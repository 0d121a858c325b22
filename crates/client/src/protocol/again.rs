//! A PUBLISH that goes again, and what is left of its expiry by then.
//!
//! The specification wants it sent again where the broker has the session [MQTT-4.4.0-1]: what has expired meanwhile has a
//! second left then, for 0 is no expiry to some brokers. Without a session it is as good as new, and is not sent.

use super::Protocol;
use crate::events::{Events, Rejected};
use crate::expiry::{EXPIRED_MEANWHILE, left_s};
use lapwing_codec::{EncodeError, Limits, Packet, Publish, PublishProperties, ReasonCode, Version, decode};
use std::time::Duration;

impl Protocol {
    /// Says what time it is, by the clock of `connect`: the expiry of what goes again runs by it.
    pub fn at(&mut self, now_ms: u64) {
        self.now_ms = now_ms;
    }

    /// The broker has no session: gives up what has expired since it was sent.
    pub(super) fn forget_expired(&mut self, events: &mut (impl Events + ?Sized)) {
        let (version, now_ms) = (self.version, self.now_ms);
        let is_over = |packet: &[u8], sent_at_ms| {
            let left = |(_, expiry_s)| left_s(expiry_s, since(sent_at_ms, now_ms));
            expiring(packet, version).is_some_and(|publish| left(publish).is_none())
        };
        for (token, packet) in self.inflight.forget_publishes(is_over) {
            let (topic, words) = (self.topic_of(&packet), Some(EXPIRED_MEANWHILE));
            events.rejected(token, &Rejected { topic, reason: ReasonCode::ImplementationSpecificError, words });
        }
    }
}

/// Appends `packet`, a PUBLISH that was sent first at `sent_at_ms`, with what is left of its expiry.
pub(super) fn append(
    packet: &[u8],
    version: Version,
    sent_at_ms: u64,
    now_ms: u64,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let waited = since(sent_at_ms, now_ms);
    let left = |expiry_s: u32| left_s(expiry_s, waited).unwrap_or(expiry_s.min(1));
    match expiring(packet, version).map(|(publish, expiry_s)| (publish, expiry_s, left(expiry_s))) {
        Some((publish, expiry_s, left_s)) if left_s != expiry_s => {
            let properties = PublishProperties { message_expiry_s: Some(left_s), ..publish.properties };
            Publish { properties, ..publish }.encode(version, out)
        }
        _ => {
            out.extend_from_slice(packet);
            Ok(())
        }
    }
}

/// A PUBLISH of ours that has an expiry, and that.
fn expiring(packet: &[u8], version: Version) -> Option<(Publish<'_>, u32)> {
    if !version.has_properties() {
        return None;
    }
    match decode(packet, version, &Limits::PROTOCOL) {
        Ok(Some((Packet::Publish(publish), _))) => {
            publish.properties.message_expiry_s.map(|expiry_s| (publish, expiry_s))
        }
        _ => None,
    }
}

fn since(sent_at_ms: u64, now_ms: u64) -> Duration {
    Duration::from_millis(now_ms.saturating_sub(sent_at_ms))
}
