//! What each action does, and what the broker must answer.

use lapwing_codec::{
    Ack, Connect, ConnectProperties, Disconnect, DisconnectProperties, Packet, PacketId, Publish, PublishProperties,
    QoS, ReasonCode, Subscribe, SubscribeFiltersBuf, SubscribeProperties, SubscriptionId, SubscriptionOptions,
    Unsubscribe, UnsubscribeFiltersBuf, UserProperties, UserPropertiesBuf, WillProperties,
};

use crate::action::{Action, ConnectSpec, FILTERS, PublishSpec, TOPICS};
use crate::illegal;
use crate::model::{Model, Published, Will};
use crate::peer::{Heard, Peer};
use crate::run::{Client, Run};

/// Longer than any run.
const LONG_S: u32 = 1000;

impl Run {
    pub fn act(&mut self, action: &Action) -> Result<(), String> {
        match action {
            Action::Connect(spec) => self.connect(spec),
            Action::Disconnect { client, with_will, lasting } if self.is_online(*client) => {
                self.disconnect(*client, *with_will, *lasting)
            }
            Action::Drop { client } if self.is_online(*client) => {
                if let Some(peer) = &self.clients[*client].peer {
                    peer.shut();
                }
                self.leave(*client, None, true)
            }
            Action::Subscribe { client, asks, id } if self.is_online(*client) => self.subscribe(*client, asks, *id),
            Action::Unsubscribe { client, filters } if self.is_online(*client) => self.unsubscribe(*client, filters),
            Action::Publish(spec) => self.publish(&[spec]),
            Action::Burst(specs) => self.publish(&specs.iter().collect::<Vec<_>>()),
            Action::Withhold { client } => {
                self.clients[*client].withholding = self.is_online(*client);
                Ok(())
            }
            Action::Acknowledge { client, count, half } if self.is_online(*client) => {
                self.acknowledge_some(*client, *count, *half)
            }
            Action::Illegal { client, which } if self.is_online(*client) => self.illegal(*client, *which),
            _ => Ok(()),
        }
    }

    fn connect(&mut self, spec: &ConnectSpec) -> Result<(), String> {
        let client = spec.client;
        let mut peer = Peer::open(&self.url, spec.version)?;
        let (is_v5, name) = (spec.version.has_properties(), Run::name(client));
        let payload = spec.will.is_some().then(|| self.payload(0));
        let mut will = spec.will.clone().zip(payload).map(|(spec, payload)| Will { spec, payload });
        if let Some(will) = &mut will {
            // 3.1.1 knows no delay.
            will.spec.delayed &= is_v5;
        }
        let properties = ConnectProperties {
            session_expiry_s: if is_v5 && spec.lasting { LONG_S } else { 0 },
            receive_max: if is_v5 { spec.receive_max } else { u16::MAX },
            topic_alias_max: if is_v5 && spec.aliases { 3 } else { 0 },
            ..ConnectProperties::default()
        };
        peer.send(&Packet::Connect(Connect {
            version: spec.version,
            is_bridge: false,
            clean_start: spec.clean,
            keep_alive_s: 0,
            client_id: &name,
            will: will.as_ref().map(|will| will_of(will, is_v5)),
            username: None,
            password: None,
            properties,
        }))?;
        let former = self.clients[client].peer.take();
        if former.is_some() {
            self.depart(client, true);
        }
        let present = self.model.sessions.contains_key(&client) && !spec.clean;
        if spec.clean
            && let Some(waiting) = self.model.ends(client)
        {
            self.model.publish(&Model::will(client, &waiting));
        }
        self.model.connects(client, usize::from(properties.receive_max.min(1024)), is_v5);
        let lasting = if is_v5 { spec.lasting } else { !spec.clean };
        self.clients[client] = Client { peer: Some(peer), will, lasting, ..Client::default() };
        if let Some(former) = former {
            self.expect_end(client, former, Some(ReasonCode::SessionTakenOver))?;
        }
        let expected = Heard::ConnAck(ReasonCode::Success, present);
        self.answer(client, &format!("{expected:?}"), |heard| (*heard == expected).then_some(()))
    }

    /// The client goes, or is made to; the broker must end the connection.
    fn leave(&mut self, client: usize, reason: Option<ReasonCode>, with_will: bool) -> Result<(), String> {
        let former = self.clients[client].peer.take();
        // Others may hear of it before the client does.
        self.depart(client, with_will);
        former.map_or(Ok(()), |former| self.expect_end(client, former, reason))
    }

    /// The connection is over: the will, if it is not taken back, and the session, if it does not last.
    fn depart(&mut self, client: usize, with_will: bool) {
        let Client { will, lasting, .. } = std::mem::take(&mut self.clients[client]);
        let will = will.filter(|_| with_will);
        if lasting {
            self.model.leaves(client);
        } else {
            self.model.ends(client);
        }
        if let Some(will) = will {
            match self.model.sessions.get_mut(&client) {
                Some(session) if will.spec.delayed => session.waiting_will = Some(will),
                _ => drop(self.model.publish(&Model::will(client, &will))),
            }
        }
    }

    fn disconnect(&mut self, client: usize, with_will: bool, lasting: Option<bool>) -> Result<(), String> {
        let is_v5 = self.version(client).has_properties();
        let (with_will, lasting) = (is_v5 && with_will, lasting.filter(|_| is_v5));
        let reason = if with_will { ReasonCode::DisconnectWithWill } else { ReasonCode::Success };
        let session_expiry_s = lasting.map(|lasting| if lasting { LONG_S } else { 0 });
        let properties = DisconnectProperties { session_expiry_s, ..DisconnectProperties::default() };
        self.send(client, &Packet::Disconnect(Disconnect { reason, properties }))?;
        let was_lasting = self.clients[client].lasting;
        if lasting == Some(true) && !was_lasting {
            // A session that was to end with its connection cannot be made to last at its end (3.14.2.2.2).
            return self.leave(client, Some(ReasonCode::ProtocolError), true);
        }
        self.clients[client].lasting = lasting.unwrap_or(was_lasting);
        if let Some(peer) = &self.clients[client].peer {
            peer.shut();
        }
        self.leave(client, None, with_will)
    }

    fn subscribe(
        &mut self,
        client: usize,
        asks: &[(usize, SubscriptionOptions)],
        id: Option<u32>,
    ) -> Result<(), String> {
        // What is retained comes at once only to a client that takes it.
        self.clients[client].withholding = false;
        self.acknowledge_some(client, usize::MAX, false)?;
        let is_v5 = self.version(client).has_properties();
        let id = id.filter(|_| is_v5);
        let mut asked: Vec<(&'static str, SubscriptionOptions)> = Vec::new();
        for (filter, options) in asks {
            let filter = FILTERS[*filter];
            if asked.iter().any(|(other, _)| *other == filter) {
                continue;
            }
            let options = if is_v5 { *options } else { SubscriptionOptions::new(options.qos) };
            asked.push((filter, options));
        }
        let mut filters = SubscribeFiltersBuf::new();
        for (filter, options) in &asked {
            filters.push(filter, *options).map_err(|error| error.to_string())?;
            self.model.subscribe(client, filter, *options, id);
        }
        let properties =
            SubscribeProperties { subscription_id: id.and_then(SubscriptionId::new), user: UserProperties::EMPTY };
        let packet_id = self.next_packet_id();
        self.send(client, &Packet::Subscribe(Subscribe { packet_id, properties, filters: filters.as_ref() }))?;
        let codes = asked.iter().map(|(_, options)| ReasonCode::granted(options.qos)).collect();
        let expected = Heard::SubAck(packet_id, codes);
        self.answer(client, &format!("{expected:?}"), |heard| (*heard == expected).then_some(()))
    }

    fn unsubscribe(&mut self, client: usize, filters: &[usize]) -> Result<(), String> {
        let mut buf = UnsubscribeFiltersBuf::new();
        let mut codes = Vec::new();
        let Some(session) = self.model.sessions.get_mut(&client) else { return Ok(()) };
        for filter in filters {
            buf.push(FILTERS[*filter]).map_err(|error| error.to_string())?;
            let was = session.subscriptions.remove(FILTERS[*filter]).is_some();
            codes.push(if was { ReasonCode::Success } else { ReasonCode::NoSubscriptionExisted });
        }
        let packet_id = self.next_packet_id();
        let packet = Unsubscribe { packet_id, user: UserProperties::EMPTY, filters: buf.as_ref() };
        self.send(client, &Packet::Unsubscribe(packet))?;
        let codes = if self.version(client).has_properties() { codes } else { Vec::new() };
        let expected = Heard::UnsubAck(packet_id, codes);
        self.answer(client, &format!("{expected:?}"), |heard| (*heard == expected).then_some(()))
    }

    /// Acknowledges messages, the oldest first; what was left half done is finished.
    fn acknowledge_some(&mut self, client: usize, count: usize, half: bool) -> Result<(), String> {
        for id in std::mem::take(&mut self.clients[client].held) {
            self.complete(client, id)?;
        }
        let Some(session) = self.model.sessions.get(&client) else { return Ok(()) };
        let here = session.flights.iter().filter(|flight| flight.here && !flight.released);
        let ids: Vec<PacketId> = here.map(|flight| flight.id).take(count).collect();
        ids.into_iter().try_for_each(|id| self.acknowledge(client, id, half))
    }

    fn illegal(&mut self, client: usize, which: usize) -> Result<(), String> {
        let (bytes, reason) = illegal::bytes(which, self.version(client).has_properties());
        if let Some(peer) = &mut self.clients[client].peer {
            peer.send_bytes(&bytes)?;
        }
        self.leave(client, Some(reason), true).map_err(|error| format!("after {bytes:02x?}: {error}"))
    }

    /// Sends all, then waits for what acknowledges them.
    fn publish(&mut self, specs: &[&PublishSpec]) -> Result<(), String> {
        let mut retains: Vec<(usize, usize)> = Vec::new();
        let mut sent: Vec<(usize, QoS, PacketId, bool, bool)> = Vec::new();
        for spec in specs.iter().filter(|spec| self.clients[spec.client].peer.is_some()).copied().collect::<Vec<_>>() {
            // Of two clients that set one topic's retained message at once, either may be the last.
            let is_contended = retains.iter().any(|(topic, by)| *topic == spec.topic && *by != spec.client);
            let retain = spec.retain && !is_contended;
            if retain {
                retains.push((spec.topic, spec.client));
            }
            let packet_id = self.next_packet_id();
            let any = self.publish_one(spec, retain, packet_id)?;
            sent.push((spec.client, spec.qos, packet_id, any, spec.twice));
        }
        for (client, qos, packet_id, any, _) in &sent {
            self.acknowledged(*client, *qos, *packet_id, *any)?;
        }
        let exactly = sent.iter().filter(|(_, qos, ..)| *qos == QoS::ExactlyOnce).collect::<Vec<_>>();
        for (client, _, packet_id, _, twice) in &exactly {
            if *twice {
                let again = Publish {
                    dup: true,
                    qos: QoS::ExactlyOnce,
                    packet_id: Some(*packet_id),
                    ..Publish::qos0("m/again", b"")
                };
                self.send(*client, &Packet::Publish(again))?;
                self.acknowledged(*client, QoS::ExactlyOnce, *packet_id, true)?;
            }
        }
        for (client, _, packet_id, ..) in &exactly {
            self.send(*client, &Packet::PubRel(Ack::new(*packet_id, ReasonCode::Success)))?;
        }
        for (client, _, packet_id, ..) in exactly {
            let expected = Heard::PubComp(*packet_id);
            self.answer(*client, &format!("{expected:?}"), |heard| (*heard == expected).then_some(()))?;
        }
        Ok(())
    }

    /// Sends one message; returns whether anybody has subscribed to it.
    fn publish_one(&mut self, spec: &PublishSpec, retain: bool, packet_id: PacketId) -> Result<bool, String> {
        let is_v5 = self.version(spec.client).has_properties();
        let payload = spec.padding.map_or(Vec::new(), |padding| self.payload(padding));
        let mut user = UserPropertiesBuf::new();
        user.push("tag", "5").map_err(|error| error.to_string())?;
        let mut topic = TOPICS[spec.topic];
        let topic_alias = spec.alias.filter(|_| is_v5);
        if let Some(alias) = topic_alias
            && self.clients[spec.client].aliases.insert(alias, spec.topic) == Some(spec.topic)
        {
            topic = "";
        }
        let user = if is_v5 { user.as_ref() } else { UserProperties::EMPTY };
        let packet = Publish {
            dup: false,
            qos: spec.qos,
            retain,
            topic,
            packet_id: (spec.qos != QoS::AtMostOnce).then_some(packet_id),
            properties: PublishProperties { topic_alias, user, ..PublishProperties::default() },
            payload: &payload,
        };
        self.send(spec.client, &Packet::Publish(packet))?;
        let (from, topic, qos) = (spec.client, TOPICS[spec.topic], spec.qos);
        Ok(self.model.publish(&Published { from, topic, payload, qos, retain, tagged: is_v5 }))
    }

    /// PUBACK or PUBREC must come, and may say that nobody has subscribed only where nobody has.
    fn acknowledged(&mut self, client: usize, qos: QoS, packet_id: PacketId, any: bool) -> Result<(), String> {
        let may_be = |reason: ReasonCode| match reason {
            ReasonCode::Success => true,
            ReasonCode::NoMatchingSubscribers => !any,
            _ => false,
        };
        match qos {
            QoS::AtMostOnce => Ok(()),
            QoS::AtLeastOnce => self.answer(client, &format!("PUBACK {packet_id}"), |heard| match heard {
                Heard::PubAck(id, reason) => (*id == packet_id && may_be(*reason)).then_some(()),
                _ => None,
            }),
            QoS::ExactlyOnce => self.answer(client, &format!("PUBREC {packet_id}"), |heard| match heard {
                Heard::PubRec(id, reason) => (*id == packet_id && may_be(*reason)).then_some(()),
                _ => None,
            }),
        }
    }

    /// A payload that no other message has.
    fn payload(&mut self, padding: usize) -> Vec<u8> {
        self.n += 1;
        let mut payload = format!("{}.", self.n).into_bytes();
        payload.resize(payload.len() + padding, b'x');
        payload
    }
}

fn will_of(will: &Will, is_v5: bool) -> lapwing_codec::Will<'_> {
    let delay_s = if is_v5 && will.spec.delayed { LONG_S } else { 0 };
    let properties = WillProperties { delay_s, ..WillProperties::default() };
    let (qos, retain) = (will.spec.qos, will.spec.retain);
    lapwing_codec::Will { topic: TOPICS[will.spec.topic], payload: &will.payload, qos, retain, properties }
}
