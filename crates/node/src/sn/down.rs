//! From a session to its client: packets become messages of MQTT-SN.

use std::num::NonZeroU16;

use lapwing_codec::{Ack, ConnAck, Limits, Packet, Publish, PublishProperties, ReasonCode, SubAck, Version, decode};
use lapwing_sn::peer::Phase;
use lapwing_sn::{QoS, ReturnCode};

use super::counters::Dropped;
use super::guest::{Guest, Then};
use super::io::Io;
use super::link::{Link, Stage};
use super::packets::{granted, return_code};
use super::traffic::Waiting;

impl Guest {
    /// Takes every whole packet in `bytes`; returns how many bytes that were, and what is to be done.
    pub(super) fn take_packets(&mut self, bytes: &[u8], io: &mut Io<'_>) -> (usize, Then) {
        let mut at = 0;
        while at < bytes.len() {
            let (packet, len) = match decode(&bytes[at..], Version::V5, &Limits::PROTOCOL) {
                Ok(Some(decoded)) => decoded,
                Ok(None) => break,
                // The broker speaks MQTT: this is a defect of ours, and costs one client its connection.
                Err(_) => return (at, self.dismissed(io)),
            };
            let then = match packet {
                Packet::Publish(publish) => {
                    self.wait(&publish, io);
                    Then::Stay
                }
                other => self.take_packet(&other, io),
            };
            at += len;
            if then != Then::Stay {
                return (at, then);
            }
        }
        self.pump(io);
        (at, Then::Stay)
    }

    /// A message for the client, behind those that wait.
    fn wait(&mut self, publish: &Publish<'_>, io: &mut Io<'_>) {
        let max = io.terms.config.waiting_messages_max as usize;
        // The one that is acknowledged has its place: the session waits with all others for its answer.
        if publish.qos == QoS::AtMostOnce && self.waiting_messages() >= max {
            return io.counters.dropped(Dropped::WaitingFull);
        }
        self.link.iter_mut().for_each(|link| link.is_quiet = false);
        // Without what no datagram says, so that what waits is no larger than datagrams and topics are.
        let said = Publish { properties: PublishProperties::EMPTY, ..*publish };
        let mut packet = Vec::new();
        let fits = publish.payload.len() <= usize::from(io.terms.config.datagram_bytes_max);
        if !fits || said.encode(Version::V5, &mut packet).is_err() {
            let reason = ReasonCode::ImplementationSpecificError;
            return self.refuse(publish.qos, publish.packet_id, reason, Dropped::TooLargeOut, io);
        }
        // It is the connection's: what comes for a client comes over that.
        let Some(link) = &mut self.link else { return };
        let waiting = &mut link.busy().waiting;
        if waiting.capacity() == 0 {
            // One place, not four: what goes at once needs no more.
            waiting.reserve_exact(1);
        }
        waiting.push_back(Waiting { packet: packet.into(), is_told_again: false });
        if waiting.len() == 1 {
            self.pump(io);
        }
    }

    fn take_packet(&mut self, packet: &Packet<'_>, io: &mut Io<'_>) -> Then {
        match packet {
            Packet::ConnAck(ack) if self.link.as_ref().is_some_and(Link::is_open) => {
                self.will_changed(ack.reason, io);
            }
            Packet::ConnAck(ack) => return self.connected(ack, io),
            Packet::Auth(_) => self.judged(io),
            Packet::PubAck(ack) => self.session_answered(QoS::AtLeastOnce, ack, io),
            Packet::PubRec(ack) => self.session_answered(QoS::ExactlyOnce, ack, io),
            Packet::PubRel(ack) => {
                if let Some(link) = &mut self.link {
                    let traffic = link.busy();
                    (traffic.under_way, traffic.release) = (None, Some(ack.packet_id));
                }
            }
            Packet::PubComp(ack) if self.link.as_mut().is_some_and(|link| !link.completes(ack.packet_id)) => {}
            Packet::PubComp(ack) => {
                let completed = self.client.completed(ack.packet_id, &mut io.of(&self.address.get()));
                io.check(completed);
            }
            Packet::SubAck(ack) => self.subscribed(ack, io),
            Packet::UnsubAck(ack) => {
                let unsubscribed = self.client.unsubscribed(ack.packet_id, &mut io.of(&self.address.get()));
                io.check(unsubscribed);
            }
            Packet::PingResp => self.broker_ponged(io),
            Packet::Disconnect(_) => return self.dismissed(io),
            // A server sends no other.
            _ => {}
        }
        Then::Stay
    }

    fn connected(&mut self, ack: &ConnAck<'_>, io: &mut Io<'_>) -> Then {
        if ack.reason.is_error() {
            return self.refused(return_code(ack.reason), io);
        }
        if let Some(link) = &mut self.link {
            link.stage = Stage::Open;
            link.receive_max = ack.properties.receive_max;
            let every_s = ack.properties.server_keep_alive_s;
            link.ping_every_s = every_s.map(|every_s| NonZeroU16::new(every_s).unwrap_or(NonZeroU16::MIN));
            link.ping_at_ms = io.now_ms + link.ping_every_ms().unwrap_or(0);
        }
        self.accept(io);
        if !ack.session_present {
            self.drop_kept_will(io);
        }
        self.has_entered(io)
    }

    /// It has a session, or may have it: CONNACK, unless it has had that.
    pub(super) fn accept(&mut self, io: &mut Io<'_>) {
        let opened = self.client.opened(ReturnCode::ACCEPTED, &mut io.of(&self.address.get()));
        io.check(opened.map(drop));
        self.await_word(io);
    }

    /// There is no session for it: CONNACK with the code, or DISCONNECT if it has had a CONNACK, and it is gone.
    pub(super) fn refused(&mut self, code: ReturnCode, io: &mut Io<'_>) -> Then {
        io.counters.dropped(Dropped::Refused);
        match self.client.opened(code, &mut io.of(&self.address.get())) {
            Ok(true) => {}
            Ok(false) if self.client.phase() == Phase::Disconnected => {}
            Ok(false) => {
                let dismissed = self.client.dismiss(&mut io.of(&self.address.get()));
                io.check(dismissed);
            }
            Err(error) => io.check(Err(error)),
        }
        Then::Leave
    }

    /// PUBACK or PUBREC of the broker.
    fn session_answered(&mut self, qos: QoS, ack: &Ack<'_>, io: &mut Io<'_>) {
        let Some(receipt) = self.link.as_mut().and_then(|link| link.answered(qos, ack.packet_id)) else { return };
        let published = self.client.published(receipt, return_code(ack.reason), &mut io.of(&self.address.get()));
        io.check(published);
    }

    fn subscribed(&mut self, ack: &SubAck<'_>, io: &mut Io<'_>) {
        let Some(request) = self.link.as_mut().and_then(|link| link.subscribed(ack.packet_id)) else { return };
        let reason = ack.reasons.first().copied().unwrap_or(ReasonCode::UnspecifiedError);
        let subscribed = self.client.subscribed(request, granted(reason), &mut io.of(&self.address.get()));
        io.check(subscribed);
    }

    /// All that came before is handled: one that is awake and has got everything sleeps again. Asked twice, because a session
    /// sends what waited for an acknowledgement when its answers have left, so behind the first PINGRESP.
    fn broker_ponged(&mut self, io: &mut Io<'_>) {
        let has_nothing = self.has_nothing();
        let Some(link) = &mut self.link else { return };
        link.pings = link.pings.saturating_sub(1);
        link.rest();
        if link.pings > 0 || self.client.phase() != Phase::Awake || !has_nothing {
            return;
        }
        if std::mem::replace(&mut link.is_quiet, true) {
            let drained = self.client.drained(&mut io.of(&self.address.get()));
            io.check(drained);
        } else {
            link.ping();
        }
    }

    /// The connection is over.
    pub(super) fn unlinked(&mut self, io: &mut Io<'_>) -> Then {
        if self.is_awaited() {
            // It has waited as long as a connection may for its CONNECT. Who speaks up later gets another one.
            self.link = None;
            return Then::Stay;
        }
        self.dismissed(io)
    }

    /// The broker has ended the connection: the client is told so, and connects again if it wants.
    pub(super) fn dismissed(&mut self, io: &mut Io<'_>) -> Then {
        if self.link.as_ref().is_some_and(|link| !link.is_open()) {
            return self.refused(ReturnCode::CONGESTION, io);
        }
        if self.client.phase() != Phase::Disconnected {
            let dismissed = self.client.dismiss(&mut io.of(&self.address.get()));
            io.check(dismissed);
        }
        Then::Leave
    }
}
