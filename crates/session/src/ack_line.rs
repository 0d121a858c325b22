//! Acknowledgements to the client, in the order of its messages.

use std::collections::VecDeque;

use lapwing_codec::{Ack, Packet, PacketId, QoS, ReasonCode, ReasonProperties, Version};

use crate::CommitToken;

/// Refusals whose words wait with them; those behind have a code and no words, which MQTT leaves to the server.
const WORDS_MAX: usize = 16;

/// What became of a message from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It has been handed over; acknowledge.
    Now,
    /// The same, and nobody has subscribed to it: 0x10 instead of 0x00.
    NobodySubscribed,
    /// Acknowledge when [`crate::Session::committed`] reaches this token; tokens of one session never decrease.
    Later(CommitToken),
    /// It was not taken: not authorized, quota, ... An error code; 3.1.1 cannot say it and acknowledges.
    Refused(ReasonCode),
}

impl Accepted {
    /// The same of a message that was promised already: it is taken where it would be refused.
    pub(crate) fn or_taken(self) -> Self {
        if matches!(self, Accepted::Refused(reason) if reason.is_error()) { Accepted::Now } else { self }
    }
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// `NOTHING`: only waits for those before it.
    token: CommitToken,
    packet_id: PacketId,
    qos: QoS,
    reason: ReasonCode,
    /// False: the connection it came on is gone. Kept for QoS 2 only: the message may come again, and must not be
    /// acknowledged before it is committed.
    is_wanted: bool,
}

/// PUBACKs and PUBRECs that wait. They leave in the order of the PUBLISHes [MQTT-4.6.0-2, MQTT-4.6.0-3].
///
/// Behind a pointer, from the first that waits until the connection is gone: most clients publish nothing that is kept.
#[derive(Debug, Default)]
pub(crate) struct AckLine(Option<Box<Line>>);

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<Waiting>,
    /// Wanted QoS 1 acknowledgements in the line.
    qos1: usize,
    /// Words for people, by the message whose refusal they go with; hardly ever there.
    words: Vec<(PacketId, Box<str>)>,
}

impl AckLine {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|line| line.waiting.is_empty())
    }

    /// QoS 1 messages of this connection that are not acknowledged yet.
    pub(crate) fn qos1(&self) -> usize {
        self.0.as_ref().map_or(0, |line| line.qos1)
    }

    /// QoS 2 messages whose PUBREC waits, of this connection or an earlier one.
    pub(crate) fn qos2(&self) -> usize {
        self.0.as_ref().map_or(0, |line| line.waiting.len() - line.qos1)
    }

    /// The acknowledgement that is pushed next, of this message, goes with `words`.
    pub(crate) fn explain(&mut self, packet_id: PacketId, words: &str) {
        let line = self.0.get_or_insert_default();
        if line.words.len() < WORDS_MAX {
            line.words.push((packet_id, words.into()));
        }
    }

    /// Words that were said for this message.
    fn take_words(&mut self, packet_id: PacketId) -> Option<Box<str>> {
        self.0.as_mut()?.take_words(packet_id)
    }

    /// Writes an acknowledgement, or puts it behind those that wait.
    pub(crate) fn push(
        &mut self,
        packet_id: PacketId,
        qos: QoS,
        accepted: Accepted,
        version: Version,
        out: &mut Vec<u8>,
    ) {
        let (token, reason) = match accepted {
            Accepted::Now => (CommitToken::NOTHING, ReasonCode::Success),
            Accepted::NobodySubscribed => (CommitToken::NOTHING, ReasonCode::NoMatchingSubscribers),
            Accepted::Later(token) => (token, ReasonCode::Success),
            Accepted::Refused(reason) => (CommitToken::NOTHING, reason),
        };
        if self.is_empty() && !matches!(accepted, Accepted::Later(_)) {
            let words = self.take_words(packet_id);
            return write(packet_id, qos, reason, words.as_deref(), version, out);
        }
        let line = self.0.get_or_insert_default();
        line.qos1 += usize::from(qos == QoS::AtLeastOnce);
        line.waiting.push_back(Waiting { token, packet_id, qos, reason, is_wanted: true });
    }

    /// A QoS 2 message came again: acknowledges it again, or remembers to when it is committed.
    pub(crate) fn repeat(&mut self, packet_id: PacketId, version: Version, out: &mut Vec<u8>) {
        let same = |waiting: &&mut Waiting| waiting.packet_id == packet_id && waiting.qos == QoS::ExactlyOnce;
        match self.0.as_mut().and_then(|line| line.waiting.iter_mut().find(same)) {
            // Its place is its own: the client sends again in the original order.
            Some(waiting) => waiting.is_wanted = true,
            None => self.push(packet_id, QoS::ExactlyOnce, Accepted::Now, version, out),
        }
    }

    /// Everything up to the token `through` is committed; `received` is called for each QoS 2 message that waited for
    /// it, whether its acknowledgement is still wanted or not.
    pub(crate) fn committed(
        &mut self,
        through: CommitToken,
        version: Option<Version>,
        out: &mut Vec<u8>,
        mut received: impl FnMut(PacketId),
    ) {
        let Some(line) = &mut self.0 else { return };
        while let Some(&waiting) = line.waiting.front().filter(|waiting| waiting.token <= through) {
            line.waiting.pop_front();
            if waiting.qos == QoS::ExactlyOnce && waiting.token > CommitToken::NOTHING {
                received(waiting.packet_id);
            }
            if let (true, Some(version)) = (waiting.is_wanted, version) {
                line.qos1 -= usize::from(waiting.qos == QoS::AtLeastOnce);
                let words = line.take_words(waiting.packet_id);
                write(waiting.packet_id, waiting.qos, waiting.reason, words.as_deref(), version, out);
            }
        }
    }

    /// The connection is gone: a QoS 1 message will come again as a new one, a QoS 2 message as the same.
    pub(crate) fn disconnected(&mut self) {
        let Some(line) = &mut self.0 else { return };
        line.waiting.retain(|waiting| waiting.qos == QoS::ExactlyOnce);
        line.waiting.iter_mut().for_each(|waiting| waiting.is_wanted = false);
        line.waiting.shrink_to_fit();
        (line.qos1, line.words) = (0, Vec::new());
        if line.waiting.is_empty() {
            self.0 = None;
        }
    }
}

impl Line {
    fn take_words(&mut self, packet_id: PacketId) -> Option<Box<str>> {
        let at = self.words.iter().position(|(id, _)| *id == packet_id)?;
        let (_, words) = self.words.remove(at);
        if self.words.is_empty() {
            self.words = Vec::new();
        }
        Some(words)
    }
}

fn write(packet_id: PacketId, qos: QoS, reason: ReasonCode, words: Option<&str>, version: Version, out: &mut Vec<u8>) {
    let reason = if version.has_properties() { reason } else { ReasonCode::Success };
    let properties = ReasonProperties { reason_string: words, ..ReasonProperties::EMPTY };
    let ack = Ack { packet_id, reason, properties };
    let packet = if qos == QoS::ExactlyOnce { Packet::PubRec(ack) } else { Packet::PubAck(ack) };
    packet.encode(version, out).expect("an acknowledgement with words of one field always fits");
}
