//! A broker and its client, and what of their messages must be true.

use std::collections::BTreeSet;
use std::collections::VecDeque;

use lapwing_codec::{Limits, Packet, QoS, Version, decode};

use super::book::Book;
use super::broker::{Broker, Rule, targets};
use super::device::Device;
use crate::rig::packets;

/// One step.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A message is published for the client.
    Publish(QoS),
    /// The client publishes one.
    Send(QoS),
    /// A packet arrives at the client.
    Forth,
    /// A packet arrives at the broker.
    Back,
    /// So many more records of this log are durable.
    Commit(usize, usize),
    /// The connection breaks, and the client stays away.
    Leave,
    /// It comes back.
    Come,
    /// The connection breaks, and the client comes back.
    Break,
    /// The broker crashes; so many records that were not synced are left of each log.
    Crash([usize; 3]),
}

pub struct World {
    broker: Broker,
    device: Device,
    version: Version,
    is_away: bool,
    /// Under way to the client.
    forth: VecDeque<Vec<u8>>,
    /// Messages for the client: QoS, and the entry, while nobody was told that it is durable.
    published: Vec<(QoS, Option<u64>)>,
    /// Messages from the client.
    sent: Vec<QoS>,
}

impl World {
    pub fn new(version: Version, broken: Option<Rule>) -> Self {
        let (broker, device) = (Broker::new(version, broken), Device::new(version));
        let (forth, published, sent) = (VecDeque::new(), Vec::new(), Vec::new());
        World { broker, device, version, is_away: false, forth, published, sent }
    }

    /// The same with no more than two messages at hand, whatever waits.
    pub fn paged(mut self) -> Self {
        self.broker.rig.at_hand_bytes_max = Some(300);
        self
    }

    /// # Errors
    /// Somebody has broken the protocol.
    pub fn apply(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Publish(qos) => {
                let entry = self.broker.publish(self.published.len() as u32, qos);
                self.published.push((qos, entry));
            }
            Event::Send(qos) => {
                self.device.send(self.sent.len() as u32, qos);
                self.sent.push(qos);
            }
            Event::Forth => self.arrive_forth()?,
            Event::Back => self.arrive_back()?,
            Event::Commit(log, records) => self.broker.commit(log, records),
            Event::Leave => self.leave(),
            Event::Come => self.come(),
            Event::Break => {
                self.leave();
                self.come();
            }
            Event::Crash(left) => {
                self.forget_lost(left[0]);
                self.broker.crash(left);
                self.forth.clear();
                if !self.is_away {
                    self.connect();
                }
            }
        }
        self.collect();
        Ok(())
    }

    /// Messages whose entries go with the crash were never acknowledged: nothing was promised of them.
    fn forget_lost(&mut self, left: usize) {
        let log = &self.broker.logs[0];
        let stays = log.durable.saturating_add(left).min(log.records.len()) as u64;
        for (_, entry) in &mut self.published {
            *entry = entry.filter(|entry| *entry <= stays);
        }
    }

    fn leave(&mut self) {
        if !std::mem::replace(&mut self.is_away, true) {
            self.broker.disconnected();
            self.forth.clear();
        }
    }

    fn come(&mut self) {
        if std::mem::replace(&mut self.is_away, false) {
            self.connect();
        }
    }

    fn connect(&mut self) {
        self.device.connected();
        self.broker.connected();
    }

    fn collect(&mut self) {
        let bytes = self.broker.flush();
        let encode = |packet: Packet<'_>| {
            let mut bytes = Vec::new();
            packet.encode(self.version, &mut bytes).expect("it was decoded");
            bytes
        };
        self.forth.extend(packets(&bytes, self.version, encode));
    }

    fn arrive_forth(&mut self) -> Result<(), String> {
        let Some(bytes) = self.forth.pop_front() else { return Ok(()) };
        let (packet, _) = decode(&bytes, self.version, &Limits::PROTOCOL).expect("valid").expect("a whole packet");
        self.device.handle(&packet)
    }

    fn arrive_back(&mut self) -> Result<(), String> {
        if self.is_away {
            return Ok(());
        }
        let Some(bytes) = self.device.out.pop_front() else { return Ok(()) };
        let (packet, _) = decode(&bytes, self.version, &Limits::PROTOCOL).expect("valid").expect("a whole packet");
        self.broker.arrive(&packet)
    }

    /// Lets everything arrive and become durable, without further trouble.
    /// # Errors
    /// It does not come to an end, or somebody has broken the protocol.
    pub fn settle(&mut self) -> Result<(), String> {
        self.come();
        for _ in 0..10_000 {
            for log in 0..3 {
                self.apply(Event::Commit(log, usize::MAX))?;
            }
            if self.forth.is_empty() && self.device.out.is_empty() && self.broker.is_quiet() {
                return Ok(());
            }
            self.apply(Event::Forth)?;
            self.apply(Event::Back)?;
        }
        Err("no end".to_owned())
    }

    /// # Errors
    /// What is not as it must be.
    pub fn judge(&self) -> Result<(), String> {
        for (n, (qos, entry)) in (0_u32..).zip(&self.published) {
            let times = self.device.received.iter().filter(|(_, other)| *other == n).count();
            is_right(*qos, entry.is_some(), times).map_err(|wrong| format!("message {n} to the client {wrong}"))?;
        }
        for (n, qos) in (0_u32..).zip(&self.sent) {
            for target in targets(n) {
                let times = self.broker.logs[target].count(n);
                let told = |wrong| format!("message {n} from the client in log {target} {wrong}");
                is_right(*qos, true, times).map_err(told)?;
            }
        }
        for target in [1, 2] {
            let order = self.broker.logs[target].order();
            if !order.is_sorted() {
                return Err(format!("log {target} has messages of the client in the order {order:?}"));
            }
        }
        self.judge_order()?;
        let is_over = self.device.is_idle() && Book::of(&self.broker.logs[0]).is_empty();
        if is_over { Ok(()) } else { Err(format!("something is left: {:?}", self.device)) }
    }

    /// What arrives for the first time comes in the order of publishing, for each QoS.
    fn judge_order(&self) -> Result<(), String> {
        for qos in [QoS::AtLeastOnce, QoS::ExactlyOnce] {
            let mut seen = BTreeSet::new();
            for (_, n) in self.device.received.iter().filter(|(other, _)| *other == qos) {
                let is_late = seen.last().is_some_and(|last| n < last);
                if seen.insert(*n) && is_late {
                    return Err(format!("message {n} came after one that was published later"));
                }
            }
        }
        Ok(())
    }
}

fn is_right(qos: QoS, is_promised: bool, times: usize) -> Result<(), String> {
    match (qos, is_promised, times) {
        (_, true, 0) => Err("is lost".to_owned()),
        (QoS::ExactlyOnce, _, 2..) => Err(format!("was there {times} times")),
        (QoS::ExactlyOnce, false, 1..) => Err("was there and then forgotten: it may come again".to_owned()),
        _ => Ok(()),
    }
}
