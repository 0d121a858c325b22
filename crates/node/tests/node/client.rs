//! A client that says exactly what it is told to.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use lapwing_codec::{
    Ack, Connect, Disconnect, Limits, Packet, PacketId, Publish, QoS, ReasonCode, Subscribe, SubscribeFiltersBuf,
    SubscribeProperties, SubscriptionOptions, Unsubscribe, UnsubscribeFiltersBuf, UserProperties, Version, decode,
};
use lapwing_node::Handle;

use crate::packets::{connect, id, publish};

/// One connection.
pub struct Client {
    stream: TcpStream,
    bytes: Vec<u8>,
    pub version: Version,
}

/// A message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub topic: String,
    pub payload: Vec<u8>,
    pub qos: QoS,
    pub retain: bool,
    pub dup: bool,
    pub id: Option<PacketId>,
}

impl Received {
    fn new(publish: &Publish<'_>) -> Self {
        Received {
            topic: publish.topic.to_owned(),
            payload: publish.payload.to_vec(),
            qos: publish.qos,
            retain: publish.retain,
            dup: publish.dup,
            id: publish.packet_id,
        }
    }
}

impl Client {
    pub fn open(node: &Handle) -> Client {
        Client::open_url(&node.listeners()[0])
    }

    pub fn open_url(url: &str) -> Client {
        let address: SocketAddr = url.trim_start_matches("tcp://").parse().expect("an address");
        Client::over(TcpStream::connect(address).expect("the node listens"))
    }

    /// A connection that comes from `source`, as in `127.0.0.2`.
    pub fn open_from(url: &str, source: &str) -> Client {
        let address: SocketAddr = url.trim_start_matches("tcp://").parse().expect("an address");
        let source = SocketAddr::new(source.parse().expect("an address"), 0);
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
        socket.bind(&source.into()).expect("all of 127.0.0.0/8 is this machine");
        socket.connect(&address.into()).expect("the node listens");
        Client::over(socket.into())
    }

    fn over(stream: TcpStream) -> Client {
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        Client { stream, bytes: Vec::new(), version: Version::V5 }
    }

    /// Connects with a clean session; returns whether the node had one.
    pub fn connect(node: &Handle, id: &str) -> (Client, bool) {
        Client::connect_with(node, &connect(id))
    }

    pub fn connect_with(node: &Handle, packet: &Connect<'_>) -> (Client, bool) {
        let mut client = Client::open(node);
        client.version = packet.version;
        client.send(&Packet::Connect(*packet));
        let present = client.expect("CONNACK", |packet| match packet {
            Packet::ConnAck(ack) => Some((ack.reason, ack.session_present)),
            _ => None,
        });
        assert_eq!(present.0, ReasonCode::Success);
        (client, present.1)
    }

    /// Connects with a CONNECT without a client id; returns the one that it was given.
    pub fn connect_given(&mut self, packet: &Connect<'_>) -> String {
        self.send(&Packet::Connect(*packet));
        self.expect("CONNACK with a client id", |packet| match packet {
            Packet::ConnAck(ack) => ack.properties.assigned_client_id.map(str::to_owned),
            _ => None,
        })
    }

    /// What the CONNACK says; the connection is not kept.
    pub fn try_connect(node: &Handle, packet: &Connect<'_>) -> ReasonCode {
        let mut client = Client::open(node);
        client.version = packet.version;
        client.send(&Packet::Connect(*packet));
        client.expect("CONNACK", reason_of_connack)
    }

    pub fn send(&mut self, packet: &Packet<'_>) {
        let mut bytes = Vec::new();
        packet.encode(self.version, &mut bytes).expect("the test's packet can be encoded");
        self.send_bytes(&bytes);
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the node reads");
    }

    /// Like `send_bytes`, for a node that may close meanwhile.
    pub fn try_send_bytes(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Waits for the next packet, which must be the one that `take` wants.
    pub fn expect<T>(&mut self, what: &str, take: impl Fn(&Packet<'_>) -> Option<T>) -> T {
        loop {
            let found = match decode(&self.bytes, self.version, &Limits::PROTOCOL).expect("the node speaks MQTT") {
                Some((packet, len)) => {
                    let seen = format!("{packet:?}");
                    let taken = take(&packet).unwrap_or_else(|| panic!("expected {what}, got {seen}"));
                    Some((taken, len))
                }
                None => None,
            };
            if let Some((taken, len)) = found {
                self.bytes.drain(..len);
                return taken;
            }
            assert!(self.fill(), "the node closed the connection, expected {what}");
        }
    }

    /// Reads more; false at the end.
    fn fill(&mut self) -> bool {
        let mut chunk = [0; 65536];
        match self.stream.read(&mut chunk) {
            Ok(0) => false,
            Ok(n) => {
                self.bytes.extend_from_slice(&chunk[..n]);
                true
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("nothing came within the time limit: {error}"),
        }
    }

    /// The reason in the CONNACK, in whichever version it is; `None` when the connection ends without one.
    pub fn connack(&mut self) -> Option<ReasonCode> {
        while self.bytes.len() < 4 && self.fill() {}
        let is_v5 = self.bytes.get(1).is_some_and(|len| *len > 2);
        self.version = if is_v5 { Version::V5 } else { Version::V311 };
        if self.bytes.is_empty() {
            return None;
        }
        Some(self.expect("CONNACK", reason_of_connack))
    }

    /// The connection must end, with a DISCONNECT that says `reason`, or without one.
    pub fn expect_end(&mut self, reason: Option<ReasonCode>) {
        if let Some(reason) = reason {
            let found = self.expect("DISCONNECT", |packet| match packet {
                Packet::Disconnect(disconnect) => Some(disconnect.reason),
                _ => None,
            });
            assert_eq!(found, reason);
        }
        while self.fill() {}
        assert!(self.bytes.is_empty(), "something came after the last packet: {:?}", self.bytes);
    }

    /// What comes up to and with `end`, where something else than MQTT is spoken.
    pub fn raw_until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self.bytes.windows(end.len()).position(|window| window == end) {
                return self.bytes.drain(..at + end.len()).collect();
            }
            assert!(self.fill(), "the node closed the connection after {:?}", self.bytes);
        }
    }

    /// The connection must end, whatever is said before.
    pub fn expect_end_anyhow(&mut self) {
        while self.fill() {}
    }

    pub fn subscribe(&mut self, filter: &str, options: SubscriptionOptions) {
        self.send_subscribe(filter, options);
        let granted = self.suback();
        assert_eq!(granted, [ReasonCode::granted(options.qos)], "{filter}");
    }

    /// What the SUBACK says of one filter.
    pub fn try_subscribe(&mut self, filter: &str, options: SubscriptionOptions) -> ReasonCode {
        self.send_subscribe(filter, options);
        self.suback()[0]
    }

    /// Waits for a SUBACK and takes it out. What the subscription brings may come before it (MQTT 5.0, section 3.8.4): it
    /// stays, to be received next.
    fn suback(&mut self) -> Vec<ReasonCode> {
        let mut start = 0;
        loop {
            let found = decode(&self.bytes[start..], self.version, &Limits::PROTOCOL).expect("the node speaks MQTT");
            match found {
                Some((Packet::SubAck(ack), len)) => {
                    let reasons = ack.reasons.to_vec();
                    self.bytes.drain(start..start + len);
                    return reasons;
                }
                Some((Packet::Publish(_), len)) => start += len,
                Some((packet, _)) => panic!("expected SUBACK, got {packet:?}"),
                None => assert!(self.fill(), "the node closed the connection, expected SUBACK"),
            }
        }
    }

    pub fn send_subscribe(&mut self, filter: &str, options: SubscriptionOptions) {
        let mut filters = SubscribeFiltersBuf::new();
        filters.push(filter, options).expect("a short filter");
        let filters = filters.as_ref();
        self.send(&Packet::Subscribe(Subscribe {
            packet_id: id(1),
            properties: SubscribeProperties::default(),
            filters,
        }));
    }

    pub fn publish(&mut self, topic: &str, payload: &[u8], qos: QoS, packet_id: Option<u16>) {
        self.send(&Packet::Publish(publish(topic, payload, qos, packet_id)));
    }

    pub fn publish_retained(&mut self, topic: &str, payload: &[u8]) {
        self.send(&Packet::Publish(Publish { retain: true, ..publish(topic, payload, QoS::AtLeastOnce, Some(7)) }));
        self.expect_ack(7);
    }

    /// Publishes with QoS 1 and waits for the acknowledgement.
    pub fn publish_acked(&mut self, topic: &str, payload: &[u8]) {
        self.publish(topic, payload, QoS::AtLeastOnce, Some(9));
        self.expect_ack(9);
    }

    pub fn expect_ack(&mut self, packet_id: u16) {
        let acked = self.expect("PUBACK", |packet| match packet {
            Packet::PubAck(ack) => Some(ack.packet_id),
            _ => None,
        });
        assert_eq!(acked, id(packet_id));
    }

    /// The packet id of the next packet, which must be a PUBACK; `None` when the connection has ended.
    pub fn try_ack(&mut self) -> Option<u16> {
        loop {
            if let Some((packet, len)) = decode(&self.bytes, self.version, &Limits::PROTOCOL).expect("MQTT") {
                let Packet::PubAck(ack) = packet else { panic!("expected PUBACK, got {packet:?}") };
                let packet_id = ack.packet_id.get();
                self.bytes.drain(..len);
                return Some(packet_id);
            }
            if !self.fill() {
                return None;
            }
        }
    }

    pub fn acknowledge(&mut self, received: &Received) {
        if let Some(packet_id) = received.id {
            self.send(&Packet::PubAck(Ack::new(packet_id, ReasonCode::Success)));
        }
    }

    /// The next packet, which must be a message.
    pub fn receive(&mut self) -> Received {
        self.expect("PUBLISH", |packet| match packet {
            Packet::Publish(publish) => Some(Received::new(publish)),
            _ => None,
        })
    }

    /// The next packet: a message, or a SUBACK (`None`).
    pub fn receive_or_suback(&mut self) -> Option<Received> {
        self.receive_or("SUBACK", |packet| matches!(packet, Packet::SubAck(_)))
    }

    /// The next packet: a message, or a PINGRESP (`None`).
    pub fn receive_or_pong(&mut self) -> Option<Received> {
        self.receive_or("PINGRESP", |packet| matches!(packet, Packet::PingResp))
    }

    /// The next packet: a message, or an UNSUBACK (`None`).
    pub fn receive_or_unsuback(&mut self) -> Option<Received> {
        self.receive_or("UNSUBACK", |packet| matches!(packet, Packet::UnsubAck(_)))
    }

    /// The next packet: a message, or what `is_other` knows (`None`).
    fn receive_or(&mut self, other: &str, is_other: impl Fn(&Packet<'_>) -> bool) -> Option<Received> {
        self.expect(&format!("PUBLISH or {other}"), |packet| match packet {
            Packet::Publish(publish) => Some(Some(Received::new(publish))),
            packet => is_other(packet).then_some(None),
        })
    }

    /// Nothing more may come: what is asked now is answered next.
    pub fn expect_silence(&mut self) {
        self.send(&Packet::PingReq);
        self.expect("PINGRESP and nothing before it", |packet| matches!(packet, Packet::PingResp).then_some(()));
    }

    pub fn unsubscribe(&mut self, filter: &str) {
        self.send_unsubscribe(filter);
        self.expect("UNSUBACK", |packet| matches!(packet, Packet::UnsubAck(_)).then_some(()));
    }

    pub fn send_unsubscribe(&mut self, filter: &str) {
        let mut filters = UnsubscribeFiltersBuf::new();
        filters.push(filter).expect("a short filter");
        let (properties, filters) = (UserProperties::EMPTY, filters.as_ref());
        self.send(&Packet::Unsubscribe(Unsubscribe { packet_id: id(2), user: properties, filters }));
    }

    /// As the node sees it.
    pub fn address(&self) -> String {
        self.stream.local_addr().expect("an address").to_string()
    }

    /// Ends the connection without a word, so that the kernel of the other side forgets where it came from.
    pub fn reset(self) {
        socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).expect("a TCP socket");
    }

    pub fn disconnect(mut self) {
        self.send(&Packet::Disconnect(Disconnect::new(ReasonCode::Success)));
        self.expect_end(None);
    }
}

fn reason_of_connack(packet: &Packet<'_>) -> Option<ReasonCode> {
    match packet {
        Packet::ConnAck(ack) => Some(ack.reason),
        _ => None,
    }
}
