//! What holds for a client id over all of its connections, and for all messages of a run.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_codec::{Packet, PacketId, Publish, QoS, topic};

use crate::action::{TOPICS, comes_once};

/// A message that was published, or is a will.
pub struct Sent {
    /// Index into [`TOPICS`].
    pub topic: usize,
    /// The QoS of its publisher.
    pub qos: QoS,
    /// Its number and what follows from it; or nothing, which deletes what is retained.
    pub payload: Vec<u8>,
    /// The node has said PUBACK or PUBREC.
    pub is_acknowledged: bool,
    /// Nobody publishes it but the node.
    pub is_will: bool,
}

impl Sent {
    /// The payload of message `n`, with so many bytes behind the number.
    pub fn payload(n: u32, padding: usize) -> Vec<u8> {
        let number = n.to_be_bytes();
        number.into_iter().chain((0..padding).map(|at| (n as usize + at) as u8)).collect()
    }
}

/// Everything that was published, by number.
#[derive(Default)]
pub struct Messages {
    sent: Vec<Sent>,
    /// Topics for which an empty payload was published.
    emptied: BTreeSet<usize>,
    /// How often the node was killed.
    kills: u32,
}

impl Messages {
    /// Notes one more and returns its number.
    pub fn add(&mut self, topic: usize, qos: QoS, padding: Option<usize>) -> u32 {
        let n = self.sent.len() as u32;
        // Only what is retained can be deleted.
        let is_empty = padding.is_none() && !comes_once(TOPICS[topic]);
        let payload = if is_empty { Vec::new() } else { Sent::payload(n, padding.unwrap_or(0)) };
        if is_empty {
            self.emptied.insert(topic);
        }
        self.sent.push(Sent { topic, qos, payload, is_acknowledged: false, is_will: false });
        n
    }

    /// Notes a will and returns its number.
    pub fn add_will(&mut self, topic: usize, qos: QoS) -> u32 {
        let n = self.add(topic, qos, Some(0));
        self.sent[n as usize].is_will = true;
        n
    }

    /// The node is killed.
    pub fn killed(&mut self) {
        self.kills += 1;
    }

    /// How often message `n` may come to one client without DUP. A will that a kill comes upon, before it is written down that it
    /// is spent, goes out once more: with QoS 2 it is known then (`docs/durability.md`).
    pub fn times_max(&self, n: u32, qos: QoS) -> u32 {
        let is_sent_again = qos < QoS::ExactlyOnce && self.get(n).is_some_and(|sent| sent.is_will);
        1 + if is_sent_again { self.kills } else { 0 }
    }

    /// Message `n`.
    pub fn get(&self, n: u32) -> Option<&Sent> {
        self.sent.get(n as usize)
    }

    /// The node has taken message `n`.
    pub fn acknowledged(&mut self, n: u32) {
        if let Some(sent) = self.sent.get_mut(n as usize) {
            sent.is_acknowledged = true;
        }
    }

    /// Numbers of those of QoS 1 and 2 that it has taken, of topics that `wanted` wants.
    pub fn taken(&self, wanted: impl Fn(&str) -> bool) -> BTreeSet<u32> {
        let all = self.sent.iter().zip(0..);
        let taken = all.filter(|(sent, _)| sent.is_acknowledged && wanted(TOPICS[sent.topic]));
        taken.map(|(_, n)| n).collect()
    }

    /// The number of a message that came; `None` for an empty one.
    ///
    /// # Errors
    /// Nobody has published it, or not so.
    pub fn number_of(&self, name: &str, publish: &Publish<'_>) -> Result<Option<u32>, String> {
        if publish.payload.is_empty() {
            let is_known = self.emptied.iter().any(|topic| TOPICS[*topic] == name);
            return if is_known { Ok(None) } else { Err("an empty message that nobody has published".into()) };
        }
        let number = publish.payload.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
        let sent = number.and_then(|n| self.get(n)).filter(|sent| sent.payload == publish.payload);
        let Some(sent) = sent.filter(|sent| TOPICS[sent.topic] == name) else {
            return Err("a message that nobody has published".into());
        };
        if publish.qos > sent.qos {
            return Err(format!("a message of {:?}", sent.qos));
        }
        Ok(number)
    }
}

/// A QoS 2 message that a client has published and that was never acknowledged.
#[derive(Clone, Copy)]
pub struct Unacknowledged {
    /// Its packet id.
    pub packet_id: PacketId,
    /// Its number.
    pub n: u32,
    /// It went to the session that there was; see [`IdBooks::epoch`].
    epoch: Option<u64>,
}

/// What all connections of one client id have in common.
#[derive(Default)]
pub struct IdBooks {
    /// QoS 2 messages without a PUBREC.
    unacknowledged: Vec<Unacknowledged>,
    /// Grows with all that may end the session, or what it knows of the client's messages. While it does not grow, a
    /// message that is sent again is the same to the node.
    epoch: u64,
    /// Filters that some connection has asked for; whether it got them is not known.
    pub asked: BTreeSet<&'static str>,
    /// Some connection has asked for a session that outlives it.
    pub may_have_session: bool,
    /// A connection was closed before its CONNACK: the node may see its CONNECT at any later time.
    pub has_ghosts: bool,
    /// Messages that came at all.
    pub arrived: BTreeSet<u32>,
    /// Those that came without DUP, and how often.
    fresh: BTreeMap<u32, u32>,
    /// QoS 2 messages that were received to the end: their PUBREL has come.
    released: BTreeSet<u32>,
}

impl IdBooks {
    /// The session may have ended, or know less.
    pub fn unsettle(&mut self) {
        self.epoch += 1;
    }

    /// The client publishes message `n` with QoS 2. `is_certain`: on the one connection that the id has in the node.
    pub fn publishes(&mut self, packet_id: PacketId, n: u32, is_certain: bool) {
        let epoch = (is_certain && !self.has_ghosts).then_some(self.epoch);
        self.unacknowledged.push(Unacknowledged { packet_id, n, epoch });
    }

    /// PUBREC has come.
    pub fn acknowledged(&mut self, packet_id: PacketId) {
        self.unacknowledged.retain(|message| message.packet_id != packet_id);
    }

    /// The node comes again: no CONNECT is on its way any more, but one may have been served.
    pub fn restarted(&mut self) {
        self.epoch += u64::from(std::mem::take(&mut self.has_ghosts));
    }

    /// What the session that there is may be sent again.
    pub fn to_resend(&self) -> Vec<Unacknowledged> {
        let is_same = |message: &Unacknowledged| !self.has_ghosts && message.epoch == Some(self.epoch);
        self.unacknowledged.iter().copied().filter(is_same).collect()
    }

    /// The packet id of the oldest message without PUBREC, which is forgotten.
    pub fn forget(&mut self) -> Option<PacketId> {
        (!self.unacknowledged.is_empty()).then(|| self.unacknowledged.remove(0).packet_id)
    }

    /// Message `n` has come on some connection; `times_max`: how often it may come without DUP.
    ///
    /// # Errors
    /// It cannot have.
    pub fn came(&mut self, name: &str, n: u32, publish: &Publish<'_>, times_max: u32) -> Result<(), String> {
        let matches = |filter: &&str| topic::matches(plain(filter), name);
        if !self.asked.iter().any(matches) {
            return Err("a message that the client did not subscribe to".into());
        }
        self.arrived.insert(n);
        if !comes_once(name) {
            return Ok(());
        }
        if publish.retain {
            return Err("a message as retained that is not".into());
        }
        if self.released.contains(&n) {
            return Err("[MQTT-4.3.3-6] a QoS 2 message again, behind its PUBREL".into());
        }
        let times = self.fresh.entry(n).or_default();
        *times += u32::from(!publish.dup);
        if *times > times_max {
            return Err("a message twice, the second time without DUP".into());
        }
        Ok(())
    }

    /// The PUBREL for message `n` has come.
    pub fn released(&mut self, n: u32) {
        self.released.insert(n);
    }
}

/// A filter without the group before it.
fn plain(filter: &str) -> &str {
    filter.strip_prefix("$share/").and_then(|rest| rest.split_once('/')).map_or(filter, |(_, filter)| filter)
}

/// A packet as a failure tells it: a long payload is not shown.
pub(crate) fn told(packet: &Packet<'_>) -> String {
    let mut text = format!("{packet:?}");
    if text.len() > 400 {
        text.truncate((0..=400).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0));
        text.push_str(" ...");
    }
    text
}
