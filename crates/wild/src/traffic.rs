//! What a step writes.

use lapwing_codec::{
    Connect, ConnectProperties, Disconnect, DisconnectProperties, Packet, PacketId, Publish, PublishProperties, QoS,
    ReasonCode, Subscribe, SubscribeFiltersBuf, SubscribeProperties, SubscriptionOptions, Unsubscribe,
    UnsubscribeFiltersBuf, UserProperties, Version, Will, WillProperties,
};

use crate::action::{AckKind, Action, Answer, CLIENT_IDS, ConnectSpec, FILTERS, ILLEGAL, PublishSpec, Step, TOPICS};
use crate::books::Books;
use crate::client::Line;
use crate::run::{LINES_MAX, Run};
use crate::witness;

impl Run {
    /// Does one step; it waits for nothing, unless that is the step.
    pub(crate) fn act(&mut self, step: &Step) -> Result<(), String> {
        match &step.action {
            Action::Connect(spec) => self.connect(step.id, spec)?,
            Action::Listen => drop(self.listen()?),
            Action::Settle => self.settle()?,
            Action::Slow { sync_ms } => self.place.slow(*sync_ms),
            Action::Restart { shards, drained } => self.restart(*shards, *drained)?,
            Action::WitnessLeaves { politely } => self.witness_leaves(*politely)?,
            action => {
                let Some(at) = self.line_of(step.id, step.age) else { return Ok(()) };
                self.write(at, action)?;
            }
        }
        if step.together { Ok(()) } else { self.flush() }
    }

    /// The place of a connection of `id`: the newest, or one before it. Where it has none, the newest of all does it.
    fn line_of(&self, id: usize, age: usize) -> Option<usize> {
        let open = || self.lines.iter().enumerate().rev().filter(|(_, line)| !line.is_over());
        let own = open().filter(|(_, line)| line.id == id).nth(age);
        own.or_else(|| open().next()).map(|(at, _)| at)
    }

    /// A new connection; what others of its id had still to write is written right before its CONNECT.
    fn connect(&mut self, id: usize, spec: &ConnectSpec) -> Result<(), String> {
        if self.lines.len() >= LINES_MAX {
            self.cut(0);
        }
        let ConnectSpec { version, clean, expiry_s, receive_max, alias_max, .. } = *spec;
        let mut line = Line::open(&self.place.url(), id, version, Books::new(version, clean, receive_max, alias_max))?;
        line.books.causes.rival = self.ids[id].has_ghosts;
        for other in self.lines.iter_mut().filter(|line| line.id == id) {
            other.books.causes.rival = true;
            line.books.causes.rival |= other.books.greeted.is_none();
        }
        if clean || version.has_properties() && expiry_s < 3600 {
            self.ids[id].unsettle();
        }
        self.ids[id].may_have_session |= if version.has_properties() { expiry_s > 0 } else { !clean };
        self.put_connect(&mut line, spec)?;
        self.flush()?;
        self.lines.push(line);
        Ok(())
    }

    fn put_connect(&mut self, line: &mut Line, spec: &ConnectSpec) -> Result<(), String> {
        let has_properties = spec.version.has_properties();
        let will = spec.will.as_ref().map(|will| (will, self.messages.add_will(will.topic, will.qos)));
        let will = will.as_ref().map(|(will, n)| Will {
            topic: TOPICS[will.topic],
            payload: self.messages.get(*n).map(|sent| &sent.payload[..]).unwrap_or_default(),
            qos: will.qos,
            retain: TOPICS[will.topic].starts_with('r'),
            properties: WillProperties { delay_s: if has_properties { will.delay_s } else { 0 }, ..Default::default() },
        });
        let properties = match has_properties {
            true => ConnectProperties {
                session_expiry_s: spec.expiry_s,
                receive_max: spec.receive_max,
                topic_alias_max: spec.alias_max,
                ..Default::default()
            },
            false => ConnectProperties::default(),
        };
        line.put(&Packet::Connect(Connect {
            version: spec.version,
            is_bridge: false,
            clean_start: spec.clean,
            keep_alive_s: 0,
            client_id: CLIENT_IDS[line.id],
            will,
            username: None,
            password: None,
            properties,
        }))
    }

    /// Closes a socket, whatever is unread.
    fn cut(&mut self, at: usize) {
        let line = self.lines.remove(at);
        self.ids[line.id].has_ghosts |= line.books.greeted.is_none();
    }

    fn write(&mut self, at: usize, action: &Action) -> Result<(), String> {
        match action {
            Action::Subscribe(asks) => self.subscribe(at, asks),
            Action::Unsubscribe(filters) => self.unsubscribe(at, filters),
            Action::Publish(spec) => self.publish(at, spec),
            Action::Acknowledge(count, answer) => self.acknowledge(at, *count, *answer),
            Action::Resend => self.resend(at),
            Action::Release => self.release(at),
            Action::Stray(kind, number) => self.stray(at, *kind, *number),
            Action::Ping => {
                self.lines[at].books.pings += 1;
                self.lines[at].put(&Packet::PingReq)
            }
            Action::Disconnect { with_will, expiry_s } => self.disconnect(at, *with_will, *expiry_s),
            Action::Break(which) => {
                self.lines[at].books.causes.broke = true;
                self.lines[at].put_bytes(ILLEGAL[*which]);
                Ok(())
            }
            Action::Shut => {
                self.lines[at].flush()?;
                self.lines[at].books.causes.left = true;
                self.lines[at].shut();
                Ok(())
            }
            Action::Cut => {
                self.lines[at].flush()?;
                self.cut(at);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn subscribe(&mut self, at: usize, asks: &[(usize, SubscriptionOptions)]) -> Result<(), String> {
        let packet_id = self.next_packet_id();
        let line = &mut self.lines[at];
        let mut filters = SubscribeFiltersBuf::new();
        for (filter, options) in asks {
            // 3.1.1 has a QoS and nothing else.
            let options = if line.version.has_properties() { *options } else { SubscriptionOptions::new(options.qos) };
            filters.push(FILTERS[*filter], options).map_err(|error| error.to_string())?;
            self.ids[line.id].asked.insert(FILTERS[*filter]);
        }
        line.books.requests(true, packet_id, asks.len());
        let properties = SubscribeProperties::default();
        line.put(&Packet::Subscribe(Subscribe { packet_id, properties, filters: filters.as_ref() }))
    }

    fn unsubscribe(&mut self, at: usize, asks: &[usize]) -> Result<(), String> {
        let packet_id = self.next_packet_id();
        let line = &mut self.lines[at];
        let mut filters = UnsubscribeFiltersBuf::new();
        for filter in asks {
            filters.push(FILTERS[*filter]).map_err(|error| error.to_string())?;
        }
        line.books.requests(false, packet_id, asks.len());
        let user = UserProperties::EMPTY;
        line.put(&Packet::Unsubscribe(Unsubscribe { packet_id, user, filters: filters.as_ref() }))
    }

    fn publish(&mut self, at: usize, spec: &PublishSpec) -> Result<(), String> {
        let n = self.messages.add(spec.topic, spec.qos, spec.padding);
        let is_exact = spec.qos == QoS::ExactlyOnce;
        let twice = spec.twice && is_exact;
        let fresh = spec.qos.is_acknowledged().then(|| self.next_packet_id());
        let line = &mut self.lines[at];
        let id = &mut self.ids[line.id];
        let forgotten = if spec.forgetful && is_exact { id.forget() } else { None };
        let forgotten = forgotten.filter(|packet_id| !line.books.is_owed(*packet_id));
        let packet_id = forgotten.or(fresh);
        if let Some(packet_id) = packet_id {
            line.books.publishes(spec.qos, packet_id, n, 1 + usize::from(twice), forgotten.is_none());
            if is_exact {
                let is_certain = forgotten.is_none() && line.books.greeted.is_some() && !line.books.causes.rival;
                id.publishes(packet_id, n, is_certain);
            }
        }
        let publish = Publish {
            dup: false,
            qos: spec.qos,
            retain: TOPICS[spec.topic].starts_with('r'),
            topic: TOPICS[spec.topic],
            packet_id,
            properties: PublishProperties::default(),
            payload: self.messages.get(n).map(|sent| &sent.payload[..]).unwrap_or_default(),
        };
        line.put(&Packet::Publish(publish))?;
        if twice {
            line.put(&Packet::Publish(Publish { dup: true, ..publish }))?;
        }
        Ok(())
    }

    /// Only where the client knows that the node goes on with the session that it published in.
    fn resend(&mut self, at: usize) -> Result<(), String> {
        let line = &mut self.lines[at];
        if line.books.greeted != Some(true) || line.books.causes.rival {
            return Ok(());
        }
        for again in self.ids[line.id].to_resend() {
            let Some(sent) = self.messages.get(again.n).filter(|_| !line.books.is_owed(again.packet_id)) else {
                continue;
            };
            line.books.publishes(QoS::ExactlyOnce, again.packet_id, again.n, 1, true);
            line.put(&Packet::Publish(Publish {
                dup: true,
                qos: QoS::ExactlyOnce,
                retain: TOPICS[sent.topic].starts_with('r'),
                topic: TOPICS[sent.topic],
                packet_id: Some(again.packet_id),
                properties: PublishProperties::default(),
                payload: &sent.payload,
            }))?;
        }
        Ok(())
    }

    fn acknowledge(&mut self, at: usize, count: usize, answer: Answer) -> Result<(), String> {
        let line = &mut self.lines[at];
        let refuse = answer == Answer::Refused && line.version.has_properties();
        for _ in 0..count {
            let Some((kind, packet_id, reason)) = line.books.acknowledge(refuse) else { break };
            line.put(&witness::ack(kind, packet_id, reason))?;
        }
        Ok(())
    }

    fn release(&mut self, at: usize) -> Result<(), String> {
        let line = &mut self.lines[at];
        for packet_id in line.books.release_all() {
            line.put(&witness::ack(AckKind::PubRel, packet_id, ReasonCode::Success))?;
        }
        Ok(())
    }

    /// Small numbers are packet ids of the node's messages; for a PUBREL it is counted back from the last of ours.
    fn stray(&mut self, at: usize, kind: AckKind, number: u16) -> Result<(), String> {
        let number = if kind == AckKind::PubRel { self.packet_id.saturating_sub(number).max(1) } else { number };
        let packet_id = PacketId::new(number).unwrap_or(PacketId::MIN);
        let line = &mut self.lines[at];
        if kind == AckKind::PubRel {
            self.ids[line.id].unsettle();
        }
        line.books.strays(kind, packet_id);
        line.put(&witness::ack(kind, packet_id, ReasonCode::Success))
    }

    fn disconnect(&mut self, at: usize, with_will: bool, expiry_s: Option<u32>) -> Result<(), String> {
        let line = &mut self.lines[at];
        if expiry_s.is_some() {
            self.ids[line.id].unsettle();
        }
        line.books.causes.left = true;
        // A session expiry where CONNECT gave none is a protocol error.
        line.books.causes.broke |= expiry_s.is_some();
        let is_v5 = line.version == Version::V5;
        let reason = if with_will && is_v5 { ReasonCode::DisconnectWithWill } else { ReasonCode::Success };
        let session_expiry_s = expiry_s.filter(|_| is_v5);
        let properties = DisconnectProperties { session_expiry_s, ..Default::default() };
        line.put(&Packet::Disconnect(Disconnect { reason, properties }))
    }
}
