//! One connection as a raw client: packets out, what comes in as owned values; it never blocks and never panics.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use lapwing_codec::{Limits, Packet, PacketId, QoS, ReasonCode, Sender, Version, decode};

/// A message as it came, its alias resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub topic: String,
    pub payload: Vec<u8>,
    pub qos: QoS,
    pub retain: bool,
    pub dup: bool,
    pub id: Option<PacketId>,
    /// Subscription identifiers, sorted.
    pub ids: Vec<u32>,
    /// Whether it carried the user property that 5.0 publishers add.
    pub tagged: bool,
}

/// What a peer heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    ConnAck(ReasonCode, bool),
    Message(Message),
    PubAck(PacketId, ReasonCode),
    PubRec(PacketId, ReasonCode),
    PubRel(PacketId),
    PubComp(PacketId),
    SubAck(PacketId, Vec<ReasonCode>),
    UnsubAck(PacketId, Vec<ReasonCode>),
    Pong,
    Disconnect(ReasonCode),
    /// The broker closed the connection.
    End,
}

pub struct Peer {
    stream: TcpStream,
    bytes: Vec<u8>,
    aliases: BTreeMap<u16, String>,
    is_over: bool,
    pub version: Version,
    pub heard: VecDeque<Heard>,
}

impl Peer {
    pub fn open(url: &str, version: Version) -> Result<Peer, String> {
        let address: SocketAddr =
            url.trim_start_matches("tcp://").parse().map_err(|error| format!("{url}: {error}"))?;
        let stream = TcpStream::connect(address).map_err(|error| format!("connect: {error}"))?;
        stream.set_nodelay(true).map_err(|error| format!("socket: {error}"))?;
        stream.set_nonblocking(true).map_err(|error| format!("socket: {error}"))?;
        let (bytes, aliases, heard) = (Vec::new(), BTreeMap::new(), VecDeque::new());
        Ok(Peer { stream, bytes, aliases, is_over: false, version, heard })
    }

    pub fn send(&mut self, packet: &Packet<'_>) -> Result<(), String> {
        let mut bytes = Vec::new();
        packet.encode(self.version, &mut bytes).map_err(|error| format!("{packet:?}: {error}"))?;
        self.send_bytes(&bytes)
    }

    /// Sends everything; the node always reads on, except where it closes: then the rest is lost, as it would be.
    pub fn send_bytes(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.poll()?,
                Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                    return Ok(());
                }
                Err(error) => return Err(format!("write: {error}")),
            }
        }
        Ok(())
    }

    /// Nothing more will be sent; the node sees the end of the stream.
    pub fn shut(&self) {
        // It may be closed from the other side already.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Reads what is there.
    pub fn poll(&mut self) -> Result<(), String> {
        let mut chunk = [0; 16384];
        while !self.is_over {
            match self.stream.read(&mut chunk) {
                Ok(0) => self.is_over = true,
                Ok(read) => self.bytes.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => self.is_over = true,
                Err(error) => return Err(format!("read: {error}")),
            }
        }
        self.take_packets()?;
        if self.is_over && self.heard.back() != Some(&Heard::End) {
            if !self.bytes.is_empty() {
                return Err(format!("the connection ended within a packet: {:02x?}", self.bytes));
            }
            self.heard.push_back(Heard::End);
        }
        Ok(())
    }

    fn take_packets(&mut self) -> Result<(), String> {
        let bytes = std::mem::take(&mut self.bytes);
        let mut at = 0;
        while at < bytes.len() {
            let decoded = decode(&bytes[at..], self.version, &Limits::PROTOCOL);
            let Some((packet, len)) = decoded.map_err(|error| format!("the node sent {bytes:02x?}: {error}"))? else {
                break;
            };
            packet.check_sender(Sender::Server).map_err(|error| format!("the node sent {packet:?}: {error}"))?;
            let heard = self.own(&packet)?;
            self.heard.push_back(heard);
            at += len;
        }
        self.bytes = bytes[at..].to_vec();
        Ok(())
    }

    fn own(&mut self, packet: &Packet<'_>) -> Result<Heard, String> {
        Ok(match packet {
            Packet::ConnAck(ack) => Heard::ConnAck(ack.reason, ack.session_present),
            Packet::Publish(publish) => {
                let mut topic = publish.topic.to_owned();
                if let Some(alias) = publish.properties.topic_alias {
                    if topic.is_empty() {
                        topic = self.aliases.get(&alias).ok_or("an alias that was never set")?.clone();
                    }
                    self.aliases.insert(alias, topic.clone());
                }
                let mut ids: Vec<u32> = publish.properties.subscription_ids.iter().map(|id| id.get()).collect();
                ids.sort_unstable();
                Heard::Message(Message {
                    topic,
                    payload: publish.payload.to_vec(),
                    qos: publish.qos,
                    retain: publish.retain,
                    dup: publish.dup,
                    id: publish.packet_id,
                    ids,
                    tagged: publish.properties.user.iter().any(|pair| pair == ("tag", "5")),
                })
            }
            Packet::PubAck(ack) => Heard::PubAck(ack.packet_id, ack.reason),
            Packet::PubRec(ack) => Heard::PubRec(ack.packet_id, ack.reason),
            Packet::PubRel(ack) => Heard::PubRel(ack.packet_id),
            Packet::PubComp(ack) => Heard::PubComp(ack.packet_id),
            Packet::SubAck(ack) => Heard::SubAck(ack.packet_id, ack.reasons.to_vec()),
            Packet::UnsubAck(ack) => Heard::UnsubAck(ack.packet_id, ack.reasons.to_vec()),
            Packet::PingResp => Heard::Pong,
            Packet::Disconnect(disconnect) => Heard::Disconnect(disconnect.reason),
            other => return Err(format!("the node sent {other:?}")),
        })
    }
}
