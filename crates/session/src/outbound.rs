//! Messages to the client: what is written, what the window admits, and the client's acknowledgements.

use std::sync::Arc;

use lapwing_codec::{Ack, Packet, PacketId, Publish, PublishProperties, QoS, ReasonCode, Version};

use crate::bound::Times;
use crate::flight::{Body, DeliveryOptions, Flight};
use crate::link::Link;
use crate::queue::Queued;
use crate::sent_aliases::{Alias, SentAliases};
use crate::told::Tie;
use crate::{Close, DropReason, Fate, Io, Message, Outcome, Session, stamp};

/// One copy for one client, before it is encoded.
pub(crate) struct Outgoing<'a> {
    pub(crate) publish: &'a Publish<'a>,
    pub(crate) options: &'a DeliveryOptions,
    pub(crate) packet_id: Option<PacketId>,
    pub(crate) dup: bool,
    pub(crate) expires_at_ms: Option<u64>,
}

impl Outgoing<'_> {
    /// Encodes into `out`, or says why the client cannot have it; then nothing was written.
    #[inline]
    pub(crate) fn write(&self, link: &mut Link, now_ms: u64, out: &mut Vec<u8>) -> Result<(), DropReason> {
        self.encode(link, now_ms, out)?;
        link.used_ms = now_ms;
        Ok(())
    }

    #[inline]
    fn encode(&self, link: &mut Link, now_ms: u64, out: &mut Vec<u8>) -> Result<(), DropReason> {
        let mut copy = self.copy(link.version, now_ms);
        if copy.properties.user.is_empty() && link.told.is_none() {
            return write_copy(copy, link, out);
        }
        let (stamp, user) = stamp::take(copy.properties.user);
        copy.properties.user = user;
        let Some(mut told) = link.told.take() else { return write_copy(copy, link, out) };
        let written = match stamp::tell(stamp, user, &mut told) {
            Ok(()) => {
                let properties = PublishProperties { user: (*told).as_ref(), ..copy.properties };
                write_copy(Publish { properties, ..copy }, link, out)
            }
            Err(_) => Err(DropReason::NotEncodable),
        };
        link.told = Some(told);
        written
    }

    /// The packet for this client, with its whole topic.
    #[inline]
    fn copy(&self, version: Version, now_ms: u64) -> Publish<'_> {
        let (options, source) = (self.options, self.publish);
        let properties = if version.has_properties() {
            PublishProperties {
                message_expiry_s: self.expires_at_ms.map(|at_ms| remaining_s(at_ms, now_ms)),
                topic_alias: None,
                subscription_ids: options.ids.as_ref(),
                ..source.properties
            }
        } else {
            PublishProperties::default()
        };
        Publish {
            dup: self.dup,
            qos: options.qos,
            retain: options.retain,
            topic: source.topic,
            packet_id: self.packet_id,
            properties,
            payload: source.payload,
        }
    }
}

/// Encodes `copy` with an alias or without.
#[inline]
fn write_copy(copy: Publish<'_>, link: &mut Link, out: &mut Vec<u8>) -> Result<(), DropReason> {
    match &mut link.sent_aliases {
        // One that is sent again has its whole topic: it tells no story about what came before on this connection.
        Some(aliases) if !copy.dup => write_aliased(copy, aliases, link.version, link.packet_bytes_max, out),
        _ => write_within(&copy, link.version, link.packet_bytes_max, out),
    }
}

/// Encodes `copy` if it keeps to the client's Maximum Packet Size [MQTT-3.1.2-24].
#[inline]
fn write_within(
    copy: &Publish<'_>,
    version: Version,
    packet_bytes_max: u32,
    out: &mut Vec<u8>,
) -> Result<(), DropReason> {
    if packet_bytes_max != u32::MAX && copy.encoded_len(version) > packet_bytes_max as usize {
        return Err(DropReason::PacketTooLarge);
    }
    copy.encode(version, out).map_err(|_| DropReason::NotEncodable)
}

/// The same, with a topic alias where it saves bytes.
fn write_aliased(
    copy: Publish<'_>,
    aliases: &mut SentAliases,
    version: Version,
    packet_bytes_max: u32,
    out: &mut Vec<u8>,
) -> Result<(), DropReason> {
    let with = |topic_alias, topic| {
        let properties = PublishProperties { topic_alias: Some(topic_alias), ..copy.properties };
        Publish { topic, properties, ..copy }
    };
    match aliases.choose(copy.topic) {
        Alias::Known(alias) => return write_within(&with(alias, ""), version, packet_bytes_max, out),
        Alias::New(alias) if write_within(&with(alias, copy.topic), version, packet_bytes_max, out).is_ok() => {
            aliases.set(alias, copy.topic);
            return Ok(());
        }
        // Or the three bytes of the new alias were too many.
        Alias::New(_) | Alias::None => {}
    }
    write_within(&copy, version, packet_bytes_max, out)
}

/// The Message Expiry Interval that is left; a message under way may have none [MQTT-3.3.2-6].
fn remaining_s(expires_at_ms: u64, now_ms: u64) -> u32 {
    u32::try_from(expires_at_ms.saturating_sub(now_ms).div_ceil(1000)).unwrap_or(u32::MAX)
}

impl Session {
    /// Sends what the window and the output buffer admit: first what an earlier connection left unacknowledged, then the
    /// queue. The node calls it when it has flushed an output buffer that was too long; else it happens by itself.
    pub fn pump(&mut self, now_ms: u64, io: &mut Io<'_>) {
        while self.has_room(io) {
            let went_on =
                if self.window.has_unsent() { self.resend_next(now_ms, io) } else { self.send_next(now_ms, io) };
            if !went_on {
                return;
            }
        }
    }

    /// Whether a QoS 1 or 2 message may be sent now.
    pub(crate) fn has_room(&self, io: &Io<'_>) -> bool {
        self.has_room_behind(io.out.len())
    }

    /// The same, with so many bytes of output before it.
    pub(crate) fn has_room_behind(&self, output_bytes: usize) -> bool {
        let Some(link) = &self.link else { return false };
        self.window.sent() < usize::from(link.window_max) && output_bytes < self.settings.output_high_bytes
    }

    /// Whether the window may take in a message that it has not: there is an id, and the bytes kept are below their bound.
    pub(crate) fn may_keep_more(&self) -> bool {
        self.window.bytes() < self.settings.queue_bytes_max && self.window.reserve_id().is_some()
    }

    /// Repeats one message or PUBREL of an earlier connection with its packet id [MQTT-4.4.0-1].
    fn resend_next(&mut self, now_ms: u64, io: &mut Io<'_>) -> bool {
        let (Some(link), Some(flight)) = (&mut self.link, self.window.next_unsent()) else { return false };
        let written = match &flight.body {
            Body::AtHand(message) => {
                let (publish, expires_at_ms) = (&message.publish(), message.expires_at_ms());
                let (options, packet_id) = (&flight.options, Some(flight.packet_id));
                Outgoing { publish, options, packet_id, dup: true, expires_at_ms }.write(link, now_ms, io.out)
            }
            // `next_unsent` gives none whose message is not at hand.
            Body::InLog | Body::Received => {
                let packet = Packet::PubRel(Ack::success(flight.packet_id));
                packet.encode(link.version, io.out).map_err(|_| DropReason::NotEncodable)
            }
        };
        match written {
            Ok(()) => io.counters.retransmitted += 1,
            Err(reason) => {
                // The client that came back takes smaller packets only: as if it had been delivered [MQTT-3.1.2-25].
                let tie = self.window.remove_last_sent().map_or(Tie::default(), |flight| flight.options.tie);
                self.told.lost(tie, reason, Fate::Undeliverable, io.counters);
            }
        }
        true
    }

    fn send_next(&mut self, now_ms: u64, io: &mut Io<'_>) -> bool {
        if self.queue.at_hand() == 0 || !self.may_keep_more() || !self.has_memory(io) {
            return false;
        }
        let next = self.queue.pop_live(&self.settings, now_ms, io.counters, &mut self.told);
        let Some(Queued { message, options, .. }) = next else { return false };
        let tie = options.tie;
        if let Err(reason) = self.send(&message.publish(), options, message.expires_at_ms(), &message, now_ms, io) {
            self.told.lost(tie, reason, Fate::Undeliverable, io.counters);
        }
        true
    }

    /// Sends a QoS 1 or 2 message under a new packet id; there is room. `keep` is kept until it is done.
    pub(crate) fn send(
        &mut self,
        publish: &Publish<'_>,
        options: DeliveryOptions,
        expires_at_ms: Option<u64>,
        keep: &Arc<Message>,
        now_ms: u64,
        io: &mut Io<'_>,
    ) -> Result<(), DropReason> {
        let (Some(link), Some(packet_id)) = (&mut self.link, self.window.reserve_id()) else {
            return Err(DropReason::Offline);
        };
        let copy = Outgoing { publish, options: &options, packet_id: Some(packet_id), dup: options.dup, expires_at_ms };
        copy.write(link, now_ms, io.out)?;
        if options.qos == QoS::ExactlyOnce {
            self.told.publish_sent(packet_id, options.tie);
        }
        let times = Times { written_us: io.now_us, ..Times::default() };
        self.window.push(Flight { packet_id, body: Body::AtHand(Arc::clone(keep)), options, times });
        Ok(())
    }

    /// PUBACK: a QoS 1 message is done, whatever the code says [MQTT-4.4.0-2].
    pub(crate) fn on_puback(&mut self, ack: &Ack<'_>, now_ms: u64, io: &mut Io<'_>) -> Result<(), Close> {
        let Some(at) = self.window.find(ack.packet_id) else { return Ok(()) };
        if self.window.get(at).options.qos != QoS::AtLeastOnce {
            return Err(Close::server(ReasonCode::ProtocolError, "PUBACK for a QoS 2 message"));
        }
        self.finish(at, ack.reason.is_error(), io);
        self.pump(now_ms, io);
        Ok(())
    }

    /// A flight is done, by PUBACK, PUBCOMP, or a PUBREC that refuses it.
    fn finish(&mut self, at: usize, is_refused: bool, io: &Io<'_>) {
        let Some(Flight { options, times, .. }) = self.window.remove(at) else { return };
        self.told.finished(options.tie);
        let Some(bound) = options.tie.bound else { return };
        let read_us = if options.qos == QoS::ExactlyOnce { times.received_us } else { io.now_us };
        let fate =
            if is_refused { Fate::Refused } else { Fate::Acknowledged { written_us: times.written_us, read_us } };
        self.told.outcome(Outcome { bound, fate });
    }

    /// PUBREC: the client has a QoS 2 message; answers PUBREL, or is done when the client refused it.
    pub(crate) fn on_pubrec(&mut self, ack: &Ack<'_>, now_ms: u64, io: &mut Io<'_>) -> Result<(), Close> {
        let Some(at) = self.window.find(ack.packet_id) else {
            if ack.reason.is_error() {
                // The client wants no more of it than that [MQTT-4.3.3-4].
                return Ok(());
            }
            return self.send_ack(Packet::PubRel, ack.packet_id, ReasonCode::PacketIdentifierNotFound, io);
        };
        if self.window.get(at).options.qos != QoS::ExactlyOnce {
            return Err(Close::server(ReasonCode::ProtocolError, "PUBREC for a QoS 1 message"));
        }
        if ack.reason.is_error() {
            self.finish(at, true, io);
            self.pump(now_ms, io);
            return Ok(());
        }
        let flight = self.window.get(at);
        if !flight.body.is_received() {
            self.told.pubrec_received(ack.packet_id, flight.options.tie);
        }
        self.window.release(at, io.now_us);
        self.send_ack(Packet::PubRel, ack.packet_id, ReasonCode::Success, io)?;
        // The place stays taken until PUBCOMP, but the bytes are free.
        self.pump(now_ms, io);
        Ok(())
    }

    /// PUBCOMP: a QoS 2 message is done.
    pub(crate) fn on_pubcomp(&mut self, ack: &Ack<'_>, now_ms: u64, io: &mut Io<'_>) -> Result<(), Close> {
        let Some(at) = self.window.find(ack.packet_id) else { return Ok(()) };
        if !self.window.get(at).body.is_received() {
            return Err(Close::server(
                ReasonCode::ProtocolError,
                "PUBCOMP for a message that was not received or is QoS 1",
            ));
        }
        self.finish(at, false, io);
        self.pump(now_ms, io);
        Ok(())
    }
}
