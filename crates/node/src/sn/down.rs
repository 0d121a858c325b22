//! From a session to its client: packets become messages of MQTT-SN.

use lapwing_codec::{Ack, ConnAck, Limits, Packet, Publish, PublishProperties, ReasonCode, SubAck, Version, decode};
use lapwing_sn::peer::Phase;
use lapwing_sn::{QoS, ReturnCode};

use super::counters::Dropped;
use super::desk::Desk;
use super::guest::{Guest, Then, Waiting};
use super::packets::{granted, return_code};

impl Guest {
    /// Takes every whole packet in `bytes`; returns how many bytes that were, and what is to be done.
    pub(super) fn take_packets(&mut self, bytes: &[u8], desk: &mut Desk<'_>) -> (usize, Then) {
        let mut at = 0;
        while at < bytes.len() {
            let (packet, len) = match decode(&bytes[at..], Version::V5, &Limits::PROTOCOL) {
                Ok(Some(decoded)) => decoded,
                Ok(None) => break,
                // The broker speaks MQTT: this is a defect of ours, and costs one client its connection.
                Err(_) => return (at, self.dismissed(desk)),
            };
            let then = match packet {
                Packet::Publish(publish) => {
                    self.wait(&publish, desk);
                    Then::Stay
                }
                other => self.take_packet(&other, desk),
            };
            at += len;
            if then != Then::Stay {
                return (at, then);
            }
        }
        self.pump(desk);
        (at, Then::Stay)
    }

    /// A message for the client, behind those that wait.
    fn wait(&mut self, publish: &Publish<'_>, desk: &mut Desk<'_>) {
        let max = desk.terms.config.waiting_messages_max as usize;
        // The one that is acknowledged has its place: the session waits with all others for its answer.
        if publish.qos == QoS::AtMostOnce && self.waiting.len() >= max {
            return desk.counters.dropped(Dropped::WaitingFull);
        }
        self.link.iter_mut().for_each(|link| link.is_quiet = false);
        // Without what no datagram says, so that what waits is no larger than datagrams and topics are.
        let said = Publish { properties: PublishProperties::EMPTY, ..*publish };
        let mut packet = Vec::new();
        let fits = publish.payload.len() <= usize::from(desk.terms.config.datagram_bytes_max);
        if !fits || said.encode(Version::V5, &mut packet).is_err() {
            let reason = ReasonCode::ImplementationSpecificError;
            return self.refuse(publish.qos, publish.packet_id, reason, Dropped::TooLargeOut, desk);
        }
        self.waiting.push_back(Waiting { packet: packet.into(), is_told_again: false });
        if self.waiting.len() == 1 {
            self.pump(desk);
        }
    }

    fn take_packet(&mut self, packet: &Packet<'_>, desk: &mut Desk<'_>) -> Then {
        match packet {
            Packet::ConnAck(ack) if self.link.as_ref().is_some_and(|link| link.is_open) => {
                self.will_changed(ack.reason, desk);
            }
            Packet::ConnAck(ack) => return self.connected(ack, desk),
            Packet::PubAck(ack) => self.session_answered(QoS::AtLeastOnce, ack, desk),
            Packet::PubRec(ack) => self.session_answered(QoS::ExactlyOnce, ack, desk),
            Packet::PubRel(ack) => {
                if let Some(link) = &mut self.link {
                    link.under_way = None;
                    link.release = Some(ack.packet_id);
                }
            }
            Packet::PubComp(ack) => {
                let completed = self.client.completed(ack.packet_id, &mut desk.of(&self.address));
                desk.check(completed);
            }
            Packet::SubAck(ack) => self.subscribed(ack, desk),
            Packet::UnsubAck(ack) => {
                let unsubscribed = self.client.unsubscribed(ack.packet_id, &mut desk.of(&self.address));
                desk.check(unsubscribed);
            }
            Packet::PingResp => self.broker_ponged(desk),
            Packet::Disconnect(_) => return self.dismissed(desk),
            // A server sends no other.
            _ => {}
        }
        Then::Stay
    }

    fn connected(&mut self, ack: &ConnAck<'_>, desk: &mut Desk<'_>) -> Then {
        if ack.reason.is_error() {
            return self.refused(return_code(ack.reason), desk);
        }
        if let Some(link) = &mut self.link {
            link.is_open = true;
            link.receive_max = ack.properties.receive_max;
            link.ping_every_ms = ack.properties.server_keep_alive_s.map(|s| u64::from(s.max(1)) * 1000);
            link.ping_at_ms = desk.now_ms + link.ping_every_ms.unwrap_or(0);
        }
        self.accept(desk);
        Then::Stay
    }

    /// Its session is open: CONNACK.
    pub(super) fn accept(&mut self, desk: &mut Desk<'_>) {
        let opened = self.client.opened(ReturnCode::ACCEPTED, &mut desk.of(&self.address));
        desk.check(opened.map(drop));
    }

    /// There is no session for it: CONNACK with the code, and it is gone.
    pub(super) fn refused(&mut self, code: ReturnCode, desk: &mut Desk<'_>) -> Then {
        desk.counters.dropped(Dropped::Refused);
        let refused = self.client.opened(code, &mut desk.of(&self.address));
        desk.check(refused.map(drop));
        Then::Leave
    }

    /// PUBACK or PUBREC of the broker.
    fn session_answered(&mut self, qos: QoS, ack: &Ack<'_>, desk: &mut Desk<'_>) {
        let Some(receipt) = self.link.as_mut().and_then(|link| link.answered(qos, ack.packet_id)) else { return };
        let published = self.client.published(receipt, return_code(ack.reason), &mut desk.of(&self.address));
        desk.check(published);
    }

    fn subscribed(&mut self, ack: &SubAck<'_>, desk: &mut Desk<'_>) {
        let Some(request) = self.link.as_mut().and_then(|link| link.subscribed(ack.packet_id)) else { return };
        let reason = ack.reasons.first().copied().unwrap_or(ReasonCode::UnspecifiedError);
        let subscribed = self.client.subscribed(request, granted(reason), &mut desk.of(&self.address));
        desk.check(subscribed);
    }

    /// All that came before is handled: one that is awake and has got everything sleeps again. Asked twice, because a session
    /// sends what waited for an acknowledgement when its answers have left, so behind the first PINGRESP.
    fn broker_ponged(&mut self, desk: &mut Desk<'_>) {
        let has_nothing = self.has_nothing();
        let Some(link) = &mut self.link else { return };
        link.pings = link.pings.saturating_sub(1);
        if link.pings > 0 || self.client.phase() != Phase::Awake || !has_nothing {
            return;
        }
        if std::mem::replace(&mut link.is_quiet, true) {
            let drained = self.client.drained(&mut desk.of(&self.address));
            desk.check(drained);
        } else {
            link.ping();
        }
    }

    /// The broker has ended the connection: the client is told so, and connects again if it wants.
    pub(super) fn dismissed(&mut self, desk: &mut Desk<'_>) -> Then {
        if self.link.as_ref().is_some_and(|link| !link.is_open) {
            return self.refused(ReturnCode::CONGESTION, desk);
        }
        if self.client.phase() != Phase::Disconnected {
            let dismissed = self.client.dismiss(&mut desk.of(&self.address));
            desk.check(dismissed);
        }
        Then::Leave
    }
}
