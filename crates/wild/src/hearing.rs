//! Every packet that comes on a connection, against its books.

use std::collections::BTreeMap;

use lapwing_codec::{Ack, Disconnect, Packet, PacketId, Publish, QoS, ReasonCode, SubAck, UnsubAck};

use crate::books::{Books, Causes, Flight, Heard};
use crate::id_books::{IdBooks, Messages};

impl Books {
    /// A packet has come.
    ///
    /// # Errors
    /// It cannot be right.
    pub fn hear(
        &mut self,
        packet: &Packet<'_>,
        id: &mut IdBooks,
        messages: &mut Messages,
        heard: &mut Heard,
    ) -> Result<(), String> {
        if let Some(reason) = self.farewell {
            return Err(format!("something behind DISCONNECT {reason:?}"));
        }
        if self.greeted.is_some() == matches!(packet, Packet::ConnAck(_)) {
            return Err("CONNACK comes first, and once".into());
        }
        match packet {
            Packet::ConnAck(ack) => {
                if ack.reason == ReasonCode::ServerUnavailable && self.causes.stopped {
                    // A node that is being drained takes nobody in.
                    self.farewell = Some(ack.reason);
                    return Ok(());
                }
                let may_be = id.may_have_session && !self.is_clean;
                if ack.reason != ReasonCode::Success || ack.session_present && !may_be {
                    return Err("a CONNACK for another CONNECT".into());
                }
                heard.greeted += 1;
                heard.present += u64::from(ack.session_present);
                if !ack.session_present {
                    id.unsettle();
                }
                self.greeted = Some(ack.session_present);
                Ok(())
            }
            Packet::Publish(publish) => {
                heard.messages += 1;
                heard.repeated += u64::from(publish.dup);
                self.message(publish, id, messages)
            }
            Packet::PubAck(ack) => self.acknowledged(QoS::AtLeastOnce, ack, messages, heard),
            Packet::PubRec(ack) => {
                id.acknowledged(ack.packet_id);
                self.acknowledged(QoS::ExactlyOnce, ack, messages, heard)
            }
            Packet::PubRel(ack) => self.released(ack, id),
            Packet::PubComp(ack) => take(&mut self.releases, ack.packet_id, "PUBREL"),
            Packet::SubAck(SubAck { packet_id, reasons, .. }) => {
                heard.answered += 1;
                self.answered(true, *packet_id, reasons.len())
            }
            Packet::UnsubAck(UnsubAck { packet_id, reasons, .. }) => {
                heard.answered += 1;
                self.answered(false, *packet_id, reasons.len())
            }
            Packet::PingResp => {
                self.pings = self.pings.checked_sub(1).ok_or("PINGRESP without PINGREQ")?;
                Ok(())
            }
            Packet::Disconnect(disconnect) => {
                heard.taken_over += u64::from(disconnect.reason == ReasonCode::SessionTakenOver);
                self.ends(disconnect)
            }
            _ => Err("no packet of a server for a client that did not ask for it".into()),
        }
    }

    fn message(&mut self, publish: &Publish<'_>, id: &mut IdBooks, messages: &Messages) -> Result<(), String> {
        let name = self.topic_of(publish)?;
        let n = messages.number_of(&name, publish)?;
        if let Some(n) = n {
            id.came(&name, n, publish, messages.times_max(n, publish.qos))?;
        }
        let Some(packet_id) = publish.packet_id else { return Ok(()) };
        if self.strays.contains(&packet_id) {
            return Ok(());
        }
        if self.flights.iter().any(|(id, _)| *id == packet_id) {
            return Err(format!("[MQTT-2.2.1-4] packet id {packet_id} while it is in use on this connection"));
        }
        self.begin(packet_id, Flight { qos: publish.qos, n, is_received: false, is_released: false })
    }

    fn begin(&mut self, packet_id: PacketId, flight: Flight) -> Result<(), String> {
        self.flights.push((packet_id, flight));
        if self.flights.len() > self.receive_max {
            return Err(format!("[MQTT-3.3.4-9] {} messages, at most {}", self.flights.len(), self.receive_max));
        }
        Ok(())
    }

    fn topic_of(&mut self, publish: &Publish<'_>) -> Result<String, String> {
        let Some(alias) = publish.properties.topic_alias else { return Ok(publish.topic.to_owned()) };
        if alias == 0 || alias > self.alias_max {
            return Err(format!("alias {alias}, at most {}", self.alias_max));
        }
        if !publish.topic.is_empty() {
            self.aliases.insert(alias, publish.topic.to_owned());
        }
        self.aliases.get(&alias).cloned().ok_or_else(|| format!("alias {alias}, which was not set here"))
    }

    fn acknowledged(
        &mut self,
        qos: QoS,
        ack: &Ack<'_>,
        messages: &mut Messages,
        heard: &mut Heard,
    ) -> Result<(), String> {
        let Some(owed) = self.publishes.get_mut(&(qos, ack.packet_id)).filter(|owed| owed.times > 0) else {
            return Err("an acknowledgement of nothing that was published here, or one more".into());
        };
        owed.times -= 1;
        if ack.reason.is_error() {
            return Err(format!("message {} is refused", owed.n));
        }
        heard.acknowledged += 1;
        if owed.is_certain {
            messages.acknowledged(owed.n);
        }
        if qos == QoS::ExactlyOnce {
            self.unreleased.push(ack.packet_id);
        }
        Ok(())
    }

    fn released(&mut self, ack: &Ack<'_>, id: &mut IdBooks) -> Result<(), String> {
        let packet_id = ack.packet_id;
        let flight = self.flights.iter_mut().find(|(id, _)| *id == packet_id);
        if take(&mut self.receipts, packet_id, "PUBREC").is_err() {
            // What is left of a message on an earlier connection.
            let goes_on = self.greeted == Some(true) && !ack.reason.is_error();
            if !goes_on || flight.is_some() {
                return Err("PUBREL without PUBREC".into());
            }
            if self.strays.contains(&packet_id) {
                return Ok(());
            }
            let (qos, n) = (QoS::ExactlyOnce, None);
            return self.begin(packet_id, Flight { qos, n, is_received: true, is_released: true });
        }
        let Some((_, flight)) = flight.filter(|_| !self.strays.contains(&packet_id)) else { return Ok(()) };
        if ack.reason.is_error() {
            return Err("PUBREL that does not know the message".into());
        }
        flight.is_released = true;
        if let Some(n) = flight.n {
            id.released(n);
        }
        Ok(())
    }

    fn answered(&mut self, is_subscribe: bool, packet_id: PacketId, codes: usize) -> Result<(), String> {
        let Some(filters) = self.requests.remove(&(is_subscribe, packet_id)) else {
            return Err("an answer to nothing that was asked here, or one more".into());
        };
        let is_without = !is_subscribe && !self.version.has_properties();
        if codes != if is_without { 0 } else { filters } {
            return Err(format!("{codes} codes for {filters} filters"));
        }
        Ok(())
    }

    fn ends(&mut self, disconnect: &Disconnect<'_>) -> Result<(), String> {
        self.farewell = Some(disconnect.reason);
        let Causes { rival, broke, strayed, stopped, .. } = self.causes;
        let is_right = match disconnect.reason {
            ReasonCode::SessionTakenOver => rival,
            ReasonCode::ServerShuttingDown => stopped,
            ReasonCode::ProtocolError => broke || strayed,
            ReasonCode::MalformedPacket => broke,
            _ => false,
        };
        if is_right { Ok(()) } else { Err(format!("DISCONNECT without a cause: {:?}", self.causes)) }
    }
}

/// Takes one from a count.
fn take(counts: &mut BTreeMap<PacketId, usize>, packet_id: PacketId, what: &str) -> Result<(), String> {
    match counts.get_mut(&packet_id).filter(|count| **count > 0) {
        Some(count) => {
            *count -= 1;
            Ok(())
        }
        None => Err(format!("an answer to a {what} that was not sent here")),
    }
}
