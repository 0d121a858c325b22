//! Transcripts of one client's protocol: what the broker sends, what the client answers, what its caller hears.

use lapwing_client::{
    Answer, ClientError, Connected, Events, Options, Protocol, Publish, PublishProperties, QoS, ReasonCode, Rejected,
    SendError, State, Version,
};
use lapwing_codec::{
    Ack, ConnAck, ConnAckProperties, Disconnect, Limits, Packet, PacketId, ReasonProperties, SubAck,
    SubscribeFiltersBuf, SubscriptionOptions, decode,
};

mod connection;
mod cuts;
mod delivery;
mod expiring;
mod taken_up;

#[derive(Default, Debug, PartialEq, Eq)]
struct Heard(Vec<String>);

impl Events for Heard {
    fn connected(&mut self, connected: &Connected<'_>) {
        self.0.push(format!("connected {}", connected.session_present));
    }
    fn message(&mut self, publish: &Publish<'_>) -> Answer {
        self.0.push(format!("message {} {}", publish.topic, String::from_utf8_lossy(publish.payload)));
        Answer::Now
    }
    fn acknowledged(&mut self, token: u64, reason: ReasonCode) {
        self.0.push(format!("acknowledged {token} {:?}", reason));
    }
    fn rejected(&mut self, token: u64, rejected: &Rejected<'_>) {
        let Rejected { topic, reason, words } = rejected;
        self.0.push(format!("rejected {token} to {topic:?} {reason:?} {words:?}"));
    }
    fn sent_again(&mut self, token: u64) {
        self.0.push(format!("again {token}"));
    }
    fn subscribed(&mut self, token: u64, reasons: &[ReasonCode]) {
        self.0.push(format!("subscribed {token} {reasons:?}"));
    }
}

struct Client {
    protocol: Protocol,
    out: Vec<u8>,
    heard: Heard,
}

impl Client {
    fn new(version: Version) -> Self {
        let mut client = Self { protocol: Protocol::new(version, 10, true), out: Vec::new(), heard: Heard::default() };
        client.reconnect();
        client
    }

    fn connected(version: Version, connack: ConnAckProperties<'_>) -> Self {
        let mut client = Self::new(version);
        let accepted = ConnAck { session_present: false, reason: ReasonCode::Success, properties: connack };
        client.hears(&[Packet::ConnAck(accepted)]).expect("a good CONNACK");
        client.heard.0.clear();
        client
    }

    fn reconnect(&mut self) {
        self.protocol.lost();
        let options = Options { version: self.protocol.version(), keep_alive_s: 10, ..Options::default() };
        self.protocol.connect(&options, 0, &mut self.out).expect("plain options");
        self.out.clear();
    }

    fn hears(&mut self, packets: &[Packet<'_>]) -> Result<(), ClientError> {
        let bytes = encode(packets, self.protocol.version());
        let used = self.protocol.receive(&bytes, &mut self.out, &mut self.heard)?;
        assert_eq!(used, bytes.len());
        Ok(())
    }

    fn publish(&mut self, qos: QoS, token: u64) -> Result<(), SendError> {
        self.protocol.publish(publish(qos, None), token, &mut self.out)
    }

    /// What the client has written since the last call, in words.
    fn wrote(&mut self) -> Vec<String> {
        let (mut words, mut rest) = (Vec::new(), std::mem::take(&mut self.out));
        while let Some((packet, len)) =
            decode(&rest, self.protocol.version(), &Limits::PROTOCOL).expect("our own bytes")
        {
            words.push(match packet {
                Packet::Publish(p) => format!("PUBLISH {} dup={}", p.packet_id.map_or(0, PacketId::get), p.dup),
                Packet::PubRel(ack) => format!("PUBREL {}", ack.packet_id),
                Packet::PubRec(ack) => format!("PUBREC {}", ack.packet_id),
                Packet::PubAck(ack) => format!("PUBACK {}", ack.packet_id),
                Packet::PubComp(ack) => format!("PUBCOMP {} {:?}", ack.packet_id, ack.reason),
                other => format!("{other:?}"),
            });
            rest.drain(..len);
        }
        words
    }
}

fn encode(packets: &[Packet<'_>], version: Version) -> Vec<u8> {
    let mut bytes = Vec::new();
    packets.iter().for_each(|packet| packet.encode(version, &mut bytes).expect("a packet that can be written"));
    bytes
}

fn publish(qos: QoS, id: Option<u16>) -> Publish<'static> {
    let properties = PublishProperties::default();
    let packet_id = id.and_then(PacketId::new);
    Publish { dup: false, qos, retain: false, topic: "t", packet_id, properties, payload: b"p" }
}

fn ack(id: u16) -> Ack<'static> {
    ack_with(id, ReasonCode::Success)
}

fn ack_with(id: u16, reason: ReasonCode) -> Ack<'static> {
    Ack::new(PacketId::new(id).expect("not 0"), reason)
}

fn connack(session_present: bool, reason: ReasonCode) -> Packet<'static> {
    Packet::ConnAck(ConnAck { session_present, reason, properties: ConnAckProperties::default() })
}
