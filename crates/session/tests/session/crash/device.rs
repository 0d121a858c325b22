//! A client that keeps to the protocol, forgets nothing, and takes the lowest packet id that is free, so that ids are used
//! again at once.

use std::collections::{BTreeSet, VecDeque};

use lapwing_codec::{Ack, Packet, PacketId, Publish, QoS, Version};

use crate::rig::{id, publish};

/// Messages under way from the client.
const WINDOW: usize = 2;

#[derive(Debug)]
struct Sending {
    packet_id: PacketId,
    n: u32,
    qos: QoS,
    is_released: bool,
}

#[derive(Debug)]
pub struct Device {
    version: Version,
    waiting: VecDeque<(u32, QoS)>,
    sending: Vec<Sending>,
    /// QoS 2 messages to it that were not released.
    held: BTreeSet<PacketId>,
    /// What it was given.
    pub received: Vec<(QoS, u32)>,
    /// Whole packets to the broker.
    pub out: VecDeque<Vec<u8>>,
}

impl Device {
    pub fn new(version: Version) -> Self {
        let (waiting, sending, held, received) = (VecDeque::new(), Vec::new(), BTreeSet::new(), Vec::new());
        Device { version, waiting, sending, held, received, out: VecDeque::new() }
    }

    /// The application has a message.
    pub fn send(&mut self, n: u32, qos: QoS) {
        self.waiting.push_back((n, qos));
        self.pump();
    }

    /// A new connection: what was not acknowledged goes again, in order.
    pub fn connected(&mut self) {
        self.out.clear();
        for at in 0..self.sending.len() {
            self.write(at, true);
        }
    }

    fn pump(&mut self) {
        while self.sending.len() < WINDOW {
            let Some((n, qos)) = self.waiting.pop_front() else { return };
            let is_free = |packet_id: &PacketId| self.sending.iter().all(|other| other.packet_id != *packet_id);
            let packet_id = (1..).map(id).find(is_free).expect("the window is small");
            self.sending.push(Sending { packet_id, n, qos, is_released: false });
            self.write(self.sending.len() - 1, false);
        }
    }

    fn write(&mut self, at: usize, dup: bool) {
        let Sending { packet_id, n, qos, is_released } = self.sending[at];
        if is_released {
            return self.put(&Packet::PubRel(Ack::success(packet_id)));
        }
        let payload = n.to_be_bytes();
        self.put(&Packet::Publish(Publish { dup, payload: &payload, ..publish("in", qos, packet_id.get()) }));
    }

    fn put(&mut self, packet: &Packet<'_>) {
        let mut bytes = Vec::new();
        packet.encode(self.version, &mut bytes).expect("small");
        self.out.push_back(bytes);
    }

    /// A packet from the broker.
    pub fn handle(&mut self, packet: &Packet<'_>) -> Result<(), String> {
        match packet {
            Packet::Publish(publish) => return self.take(publish),
            Packet::PubRel(ack) => {
                self.held.remove(&ack.packet_id);
                self.put(&Packet::PubComp(Ack::success(ack.packet_id)));
            }
            Packet::PubRec(ack) => {
                if let Some(sending) = self.sending.iter_mut().find(|sending| sending.packet_id == ack.packet_id) {
                    sending.is_released = true;
                }
                self.put(&Packet::PubRel(Ack::success(ack.packet_id)));
            }
            Packet::PubAck(ack) | Packet::PubComp(ack) => {
                self.sending.retain(|sending| sending.packet_id != ack.packet_id);
                self.pump();
            }
            Packet::ConnAck(_) => {}
            other => return Err(format!("the broker says {other:?}")),
        }
        Ok(())
    }

    fn take(&mut self, publish: &Publish<'_>) -> Result<(), String> {
        let n = u32::from_be_bytes(publish.payload.try_into().expect("four bytes"));
        let packet_id = publish.packet_id.expect("QoS 1 or 2");
        if !publish.dup && self.received.contains(&(publish.qos, n)) {
            // [MQTT-3.3.1-1]
            return Err(format!("message {n} comes again without DUP"));
        }
        if publish.qos == QoS::AtLeastOnce {
            self.received.push((publish.qos, n));
            self.put(&Packet::PubAck(Ack::success(packet_id)));
            return Ok(());
        }
        if self.held.insert(packet_id) {
            self.received.push((publish.qos, n));
        }
        self.put(&Packet::PubRec(Ack::success(packet_id)));
        Ok(())
    }

    /// Nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.sending.is_empty() && self.held.is_empty() && self.out.is_empty()
    }
}
