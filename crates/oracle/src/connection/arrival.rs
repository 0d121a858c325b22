//! Bytes from the client: decoded, handled, and each decision of the session carried out.

use lapwing_codec::{Connect, Packet, ProtocolError, ReasonCode, Version, decode};
use lapwing_session::{Accepted, Admission, CommitToken, Inbound, Side, Step};

use super::{Run, rules};
use crate::packet;

impl Run<'_, '_> {
    /// Bytes from the client: every whole packet is handled, until one ends the connection.
    pub(super) fn arrive(&mut self, bytes: &[u8]) {
        let Some(link) = &mut self.link else { return };
        link.input.extend_from_slice(bytes);
        let input = std::mem::take(&mut link.input);
        let mut at = 0;
        while let Some(link) = &self.link {
            let version = link.version.unwrap_or(Version::V5);
            let limits = self.broker.limits(link.version.is_some());
            match packet::check_one(&input[at..], version, limits) {
                Ok(None) => break,
                Err(error) => return self.malformed(&error),
                Ok(Some(len)) => {
                    let limits = limits.clone();
                    let (packet, _) = decode(&input[at..], version, &limits).ok().flatten().expect("as before");
                    self.packet(&packet, len);
                    at += len;
                }
            }
        }
        if let Some(link) = &mut self.link {
            link.input = input[at..].to_vec();
            assert!(
                link.input.len() < self.broker.settings.packet_bytes_max as usize,
                "more is kept than a packet may have"
            );
        }
    }

    fn packet(&mut self, packet: &Packet<'_>, len: usize) {
        let Some(link) = &self.link else { return };
        if link.version.is_none() {
            return self.first_packet(packet, len);
        }
        self.story.handled += 1;
        let step = self.broker.with(len, |session, now_ms, io| session.handle(packet, now_ms, io));
        let step = step.expect("a granted connection has a session");
        self.books.said(packet, &step, self.broker.now_ms);
        match step {
            Ok(Step::Done) => {}
            Ok(Step::Publish(inbound)) => self.route(&inbound, len),
            Ok(Step::Subscribe(request)) => {
                let refused = if self.draw.one_in(16) { Err(ReasonCode::NotAuthorized) } else { Ok(()) };
                let reply = self.broker.with(len, |session, _, _| session.subscribe(&request, |_| refused));
                self.replies.extend(reply.map(|reply| (self.links, reply)));
            }
            Ok(Step::Unsubscribe(request)) => {
                let reply = self.broker.with(len, |session, _, _| session.unsubscribe(&request, |_| ()));
                self.replies.extend(reply.map(|reply| (self.links, reply)));
            }
            Ok(Step::Authenticate(_)) => panic!("no CONNECT with a method was granted"),
            Err(close) => self.close(close),
        }
        self.hear();
    }

    fn first_packet(&mut self, packet: &Packet<'_>, len: usize) {
        let Packet::Connect(connect) = packet else {
            // [MQTT-3.1.0-1]; there is no version to answer in.
            self.link = None;
            return;
        };
        match self.broker.admit(connect) {
            Err(close) => {
                self.broker.refuse(connect, close.reason);
                self.refused(connect.version, close.reason);
            }
            Ok(admission) => self.grant(connect, &admission, len),
        }
    }

    fn grant(&mut self, connect: &Connect<'_>, admission: &Admission, len: usize) {
        let awaits_commit = self.broker.session.as_ref().is_some_and(|session| session.awaits_commit());
        let present = self.books.connects(connect, admission, awaits_commit, self.broker.now_ms);
        let opened = self.broker.open(connect, admission, len);
        assert_eq!(opened.session_present, present, "Session Present");
        if let Some(will) = opened.ended_will {
            self.books.discards(will);
        }
        if let Some(link) = &mut self.link {
            link.version = Some(connect.version);
        }
        self.story.granted += 1;
        self.hear();
    }

    /// The message goes nowhere but to its own sender, where that has subscribed; then it is accepted in some way.
    fn route(&mut self, inbound: &Inbound<'_>, len: usize) {
        let publish = inbound.publish();
        let grants = self.broker.grants_for(publish.topic);
        if !grants.is_empty() && inbound.beyond.is_none() {
            let key = self.broker.key();
            self.deliver(publish, key, &grants, len);
        }
        let accepted = match (inbound.beyond, self.draw.below(8)) {
            (Some(beyond), _) => Accepted::Refused(beyond.reason()),
            (None, 0) => Accepted::NobodySubscribed,
            (None, 1) => Accepted::Refused(ReasonCode::QuotaExceeded),
            (None, 2..=4) => {
                self.token += 1;
                Accepted::Later(CommitToken(self.token))
            }
            (None, _) => Accepted::Now,
        };
        if publish.qos.is_acknowledged() && self.link.is_some() {
            self.books.accepted(publish.qos, publish.packet_id, accepted);
        }
        self.broker.with(len, |session, _, io| session.accept(inbound.receipt, accepted, io));
    }

    fn malformed(&mut self, error: &ProtocolError) {
        if self.link.as_ref().is_some_and(|link| link.version.is_some()) {
            let close = self.broker.with(0, |session, _, io| session.violated(error, io));
            let close = close.expect("a granted connection has a session");
            // [MQTT-3.1.0-2] A second CONNECT is a protocol error, whatever else it is.
            let is_connect = error.connect.is_some() || error.reason == ReasonCode::UnsupportedProtocolVersion;
            let expected = if is_connect { ReasonCode::ProtocolError } else { error.reason };
            assert_eq!((close.reason, close.side), (expected, Side::Server));
            self.close(close);
        } else {
            lapwing_session::refuse_malformed(error, &mut self.broker.out);
            let version = error.connect.unwrap_or(Version::V5);
            self.refused(version, error.reason);
        }
    }

    /// A CONNECT was refused: at most a CONNACK that says so was written.
    fn refused(&mut self, version: Version, reason: ReasonCode) {
        rules::judge_refusal(&self.broker.out, version, reason);
        self.broker.out.clear();
        self.link = None;
    }
}
