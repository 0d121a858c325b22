//! What comes from the broker: each packet checked against what it answers.

use super::{Protocol, ServerLimits, State, again};
use crate::error::ClientError;
use crate::events::{Answer, Connected, Events, Rejected};
use crate::inflight::Again;
use crate::received::Received;
use crate::unanswered::Stage;
use lapwing_codec as codec;
use lapwing_codec::{Ack, Packet, PacketId, Publish, QoS, ReasonCode, ReasonProperties};

impl Protocol {
    /// Takes bytes from the broker: handles every whole packet, appends answers to `out`, returns how many
    /// bytes were used up. The caller brings the rest again, with more behind it.
    /// Ends early when `events` is full.
    ///
    /// # Errors
    /// The connection is over: `Refused`, `Disconnected`, or `Protocol` when the broker broke the rules.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        events: &mut (impl Events + ?Sized),
    ) -> Result<usize, ClientError> {
        let mut used = 0;
        while let Some((packet, len)) = codec::decode(&bytes[used..], self.version, &self.limits)? {
            used += len;
            if let Err(error) = self.handle(&packet, out, events) {
                self.state = State::Disconnected;
                return Err(error);
            }
            if events.is_full() {
                break;
            }
        }
        Ok(used)
    }

    fn handle(
        &mut self,
        packet: &Packet<'_>,
        out: &mut Vec<u8>,
        events: &mut (impl Events + ?Sized),
    ) -> Result<(), ClientError> {
        match (self.state, packet) {
            (State::Connecting, Packet::ConnAck(connack)) => self.on_connack(connack, out, events),
            (State::Connected, Packet::Publish(publish)) => self.on_publish(publish, out, events),
            (State::Connected, Packet::PubAck(ack)) => self.on_last_answer(Stage::PubAck, ack, out, events),
            (State::Connected, Packet::PubRec(ack)) => self.on_pubrec(ack, out, events),
            (State::Connected, Packet::PubRel(ack)) => self.on_pubrel(ack, out, events),
            (State::Connected, Packet::PubComp(ack)) => match self.inflight.cleared(ack.packet_id, self.keeps) {
                Some(publish) => {
                    out.extend_from_slice(&publish);
                    Ok(())
                }
                None => self.on_last_answer(Stage::PubComp, ack, out, events),
            },
            (State::Connected, Packet::SubAck(ack)) => {
                self.check_codes(ack.packet_id, ack.reasons.len())?;
                let token = self.finish(Stage::SubAck, ack.packet_id, "SUBACK for a SUBSCRIBE never sent")?;
                events.subscribed(token, ack.reasons);
                Ok(())
            }
            (State::Connected, Packet::UnsubAck(ack)) => {
                let token = self.finish(Stage::UnsubAck, ack.packet_id, "UNSUBACK for an UNSUBSCRIBE never sent")?;
                events.unsubscribed(token);
                Ok(())
            }
            (State::Connected, Packet::PingResp) => {
                self.keep_alive.answered();
                Ok(())
            }
            (_, Packet::Disconnect(disconnect)) if self.version.has_properties() => Err(ClientError::Disconnected {
                reason: disconnect.reason,
                detail: detail(disconnect.properties.reason_string),
            }),
            (State::Connecting, _) => Err(broken("something else came where CONNACK was due")),
            _ => Err(broken("a packet that a broker may not send here")),
        }
    }

    fn on_connack(
        &mut self,
        connack: &codec::ConnAck<'_>,
        out: &mut Vec<u8>,
        events: &mut (impl Events + ?Sized),
    ) -> Result<(), ClientError> {
        let properties = &connack.properties;
        if connack.reason.is_error() {
            return Err(ClientError::Refused { reason: connack.reason, detail: detail(properties.reason_string) });
        }
        self.state = State::Connected;
        self.inflight.set_receive_maximum(properties.receive_max);
        self.server = ServerLimits {
            packet_bytes_max: properties.packet_bytes_max.map_or(usize::MAX, |bytes| bytes as usize),
            qos_max: properties.qos_max,
            retain: properties.retain_available,
        };
        self.keep_alive.connected(properties.server_keep_alive_s);
        self.resume(connack.session_present, events);
        let assigned_client_id = properties.assigned_client_id;
        let tells_publishers = properties.user.iter().any(|pair| pair == ("lapwing-envelope", "granted"));
        events.connected(&Connected { session_present: connack.session_present, assigned_client_id, tells_publishers });
        self.send_again(out, events)
    }

    fn resume(&mut self, session_present: bool, events: &mut (impl Events + ?Sized)) {
        let was_known = std::mem::replace(&mut self.knows_session, true);
        if session_present && !was_known {
            self.inflight.inherit();
        }
        if !session_present {
            self.received = Received::default();
            // The broker had taken these over (PUBREC): its promise, not ours, went with the session.
            self.inflight
                .forget_released()
                .into_iter()
                .for_each(|token| events.acknowledged(token, ReasonCode::Success));
            self.forget_expired(events);
        }
        self.inflight.resume(session_present).into_iter().for_each(|token| events.unanswered(token));
    }

    /// Sends old packets again as far as the window allows.
    fn send_again(&mut self, out: &mut Vec<u8>, events: &mut (impl Events + ?Sized)) -> Result<(), ClientError> {
        while let Some(again) = self.inflight.next_again() {
            match again {
                Again::Publish { packet, token, sent_at_ms } => {
                    again::append(packet, self.version, sent_at_ms, self.now_ms, out)?;
                    events.sent_again(token);
                }
                Again::PubRel(id) => Packet::PubRel(Ack::success(id)).encode(self.version, out)?,
            }
        }
        Ok(())
    }

    fn on_publish(
        &mut self,
        publish: &Publish<'_>,
        out: &mut Vec<u8>,
        events: &mut (impl Events + ?Sized),
    ) -> Result<(), ClientError> {
        if publish.topic.is_empty() {
            // We announced a Topic Alias Maximum of 0.
            return Err(broken("a topic alias that was never allowed"));
        }
        let Some(id) = publish.packet_id else {
            events.message(publish);
            return Ok(());
        };
        let is_new = publish.qos != QoS::ExactlyOnce || self.received.insert(id);
        let (owed, most) = &mut self.owed;
        if is_new && *owed == *most {
            let what = "more messages at once than our Receive Maximum";
            return Err(codec::ProtocolError::new(ReasonCode::ReceiveMaximumExceeded, what, 0).into());
        }
        *owed += u32::from(is_new);
        let answer = if is_new { events.message(publish) } else { events.repeated(id) };
        if answer == Answer::Now {
            // One that came again was owed already, and may be still.
            self.owed.0 += u32::from(!is_new);
            self.acknowledge(id, publish.qos, out)?;
        }
        Ok(())
    }

    fn on_pubrel(
        &mut self,
        ack: &Ack<'_>,
        out: &mut Vec<u8>,
        events: &mut (impl Events + ?Sized),
    ) -> Result<(), ClientError> {
        let known = self.received.remove(ack.packet_id) || !self.version.has_properties();
        let reason = if known { ReasonCode::Success } else { ReasonCode::PacketIdentifierNotFound };
        let user = events.completing();
        let properties = ReasonProperties { reason_string: None, user: user.as_ref() };
        self.explain(Packet::PubComp, Ack { packet_id: ack.packet_id, reason, properties }, out)?;
        Ok(())
    }

    fn on_pubrec(
        &mut self,
        ack: &Ack<'_>,
        out: &mut Vec<u8>,
        events: &mut (impl Events + ?Sized),
    ) -> Result<(), ClientError> {
        let stage = self.inflight.get_mut(ack.packet_id).map(|entry| entry.stage);
        match stage {
            Some(Stage::PubRec) if ack.reason.is_error() => self.on_last_answer(Stage::PubRec, ack, out, events),
            // After a reconnection a PUBREC may come for what was released before.
            Some(Stage::PubRec | Stage::PubComp) => {
                self.inflight.released(ack.packet_id);
                Packet::PubRel(Ack::success(ack.packet_id)).encode(self.version, out)?;
                Ok(())
            }
            _ => Err(broken("PUBREC for a PUBLISH never sent")),
        }
    }

    fn on_last_answer(
        &mut self,
        stage: Stage,
        ack: &Ack<'_>,
        out: &mut Vec<u8>,
        events: &mut (impl Events + ?Sized),
    ) -> Result<(), ClientError> {
        // Who was killed between PUBREL and PUBCOMP does not know the packet id any more, and has the message: no error
        // (5.0, 3.7.2.1).
        let is_done = stage == Stage::PubComp && ack.reason == ReasonCode::PacketIdentifierNotFound;
        let is_refused = ack.reason.is_error() && !is_done;
        let packet = if is_refused { self.inflight.take_packet(ack.packet_id) } else { None };
        let token = self.finish(stage, ack.packet_id, "an acknowledgement of a PUBLISH never sent")?;
        if is_refused {
            let topic = packet.as_deref().and_then(|packet| self.topic_of(packet));
            events.rejected(token, &Rejected { topic, reason: ack.reason, words: ack.properties.reason_string });
        } else {
            events.acknowledged(token, if is_done { ReasonCode::Success } else { ack.reason });
        }
        self.send_again(out, events)
    }

    /// A publish that was refused where no packet says so: MQTT 3.1.1 has none, and MQTT-SN below it has. What was answered
    /// meanwhile is not touched.
    ///
    /// # Errors
    /// As of `receive`.
    pub(crate) fn refused(
        &mut self,
        refusal: &Ack<'_>,
        out: &mut Vec<u8>,
        events: &mut (impl Events + ?Sized),
    ) -> Result<(), ClientError> {
        match self.inflight.get_mut(refusal.packet_id).map(|entry| entry.stage) {
            Some(stage) if stage.is_publish() => self.on_last_answer(stage, refusal, out, events),
            _ => Ok(()),
        }
    }

    /// Where a PUBLISH of ours was to go.
    pub(super) fn topic_of<'a>(&self, packet: &'a [u8]) -> Option<&'a str> {
        match codec::decode(packet, self.version, &codec::Limits::PROTOCOL) {
            Ok(Some((Packet::Publish(publish), _))) => Some(publish.topic),
            _ => None,
        }
    }

    /// A code for a filter that was not asked for, or none for one that was, answers nothing [MQTT-3.8.4-6].
    fn check_codes(&mut self, id: PacketId, codes: usize) -> Result<(), ClientError> {
        match self.inflight.get_mut(id) {
            Some(entry) if entry.stage == Stage::SubAck && entry.codes != codes => {
                Err(broken("SUBACK with another number of codes than filters"))
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self, stage: Stage, id: PacketId, what: &'static str) -> Result<u64, ClientError> {
        match self.inflight.get_mut(id) {
            Some(entry) if entry.stage == stage => self.inflight.finish(id).ok_or_else(|| broken(what)),
            _ => Err(broken(what)),
        }
    }
}

fn broken(what: &'static str) -> ClientError {
    ClientError::Protocol(codec::ProtocolError::new(ReasonCode::ProtocolError, what, 0))
}

fn detail(words: Option<&str>) -> String {
    words.map_or_else(String::new, |words| format!(": {words}"))
}
