//! A client's books: what it asked for and may expect, what it was sent and has not acknowledged.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use lapwing_codec::{Connect, Packet, PacketId, QoS, ReasonCode, Version};
use lapwing_session::{Accepted, Admission, Close, Settings, Side, Step};

use super::broker::Ticked;

/// A message to the client that is not done.
pub(super) struct Flight {
    pub(super) qos: QoS,
    pub(super) topic: String,
    pub(super) payload: Vec<u8>,
    /// The client has said PUBREC.
    pub(super) released: bool,
    /// Sent on the current connection.
    pub(super) sent_here: bool,
    /// The order of first sending.
    pub(super) turn: u64,
}

/// A SUBACK or UNSUBACK that is to come.
pub(super) struct Asked {
    pub(super) packet_id: PacketId,
    pub(super) is_subscribe: bool,
    pub(super) filters: usize,
}

/// What belongs to the current connection.
pub(super) struct Line {
    pub(super) version: Version,
    pub(super) packet_bytes_max: usize,
    pub(super) window_max: usize,
    pub(super) session_present: bool,
    pub(super) assigned: bool,
    pub(super) silence_ms_max: u64,
    pub(super) last_packet_ms: u64,
    /// CONNACK has come.
    pub(super) greeted: bool,
    /// The broker's DISCONNECT.
    pub(super) farewell: Option<ReasonCode>,
    /// Acknowledgements that are to come, in this order if `in_order`.
    pub(super) unacked: VecDeque<(QoS, PacketId)>,
    pub(super) in_order: bool,
    /// PUBCOMPs that are to come, and whether the broker knew the id.
    pub(super) releases: VecDeque<(PacketId, bool)>,
    /// PUBRELs that are to come, and whether the broker knew the id.
    pub(super) receipts: VecDeque<(PacketId, bool)>,
    pub(super) asked: VecDeque<Asked>,
    /// How many of `asked` the broker has set out to answer.
    pub(super) answering: VecDeque<usize>,
    pub(super) pings: usize,
    pub(super) last_turn: u64,
    /// Topics by alias, as the broker has told them on this connection; as many as the client allows.
    pub(super) aliases: BTreeMap<u16, String>,
    pub(super) alias_max: u16,
}

struct Will {
    delay_s: u32,
    due_at_ms: Option<u64>,
}

/// What the broker knows of time when it comes up again, in milliseconds.
pub(super) struct Clocks {
    /// Until the session ends; `None` = never.
    pub(super) remaining_ms: Option<u64>,
    /// Until the will is due.
    pub(super) will_ms: Option<u64>,
}

pub(super) struct Books {
    pub(super) settings: Arc<Settings>,
    pub(super) line: Option<Line>,
    pub(super) flights: BTreeMap<PacketId, Flight>,
    pub(super) turns: u64,
    /// How much of the output buffer has been read.
    pub(super) heard: usize,
    /// QoS 2 messages that were published and not released.
    held: BTreeSet<PacketId>,
    has_session: bool,
    expiry_s: u32,
    ends_at_ms: Option<u64>,
    will: Option<Will>,
    discarded_will: bool,
    offered: u64,
    pub(super) first_sent: u64,
    /// The broker has crashed: what waits may have been sent before.
    pub(super) has_crashed: bool,
    owed_max: usize,
}

impl Books {
    pub(super) fn new(settings: &Arc<Settings>) -> Self {
        Books {
            settings: Arc::clone(settings),
            line: None,
            flights: BTreeMap::new(),
            turns: 0,
            heard: 0,
            held: BTreeSet::new(),
            has_session: false,
            expiry_s: 0,
            ends_at_ms: None,
            will: None,
            discarded_will: false,
            offered: 0,
            first_sent: 0,
            has_crashed: false,
            owed_max: 0,
        }
    }

    /// A CONNECT is about to be granted; returns whether a session must be present.
    pub(super) fn connects(
        &mut self,
        connect: &Connect<'_>,
        admission: &Admission,
        awaits_commit: bool,
        now_ms: u64,
    ) -> bool {
        let is_over = self.ends_at_ms.is_some_and(|at_ms| at_ms <= now_ms);
        let session_present = self.has_session && !connect.clean_start && !is_over;
        if !session_present {
            self.flights.clear();
            self.held.clear();
        }
        self.flights.values_mut().for_each(|flight| flight.sent_here = false);
        let settings = &self.settings;
        self.expiry_s = match connect.version.has_properties() {
            true => connect.properties.session_expiry_s.min(settings.session_expiry_s_max),
            false if connect.clean_start => 0,
            false => settings.session_expiry_s_v311,
        };
        self.line = Some(Line {
            version: connect.version,
            packet_bytes_max: connect.properties.packet_bytes_max.unwrap_or(u32::MAX) as usize,
            window_max: usize::from(connect.properties.receive_max.min(settings.inflight_messages_max)),
            // The CONNACK of 3.1 does not say.
            session_present: session_present && connect.version != Version::V31,
            assigned: admission.assigned,
            silence_ms_max: u64::from(connect.keep_alive_s) * 1500,
            last_packet_ms: now_ms,
            greeted: false,
            farewell: None,
            unacked: VecDeque::new(),
            in_order: !(session_present && awaits_commit),
            releases: VecDeque::new(),
            receipts: VecDeque::new(),
            asked: VecDeque::new(),
            answering: VecDeque::new(),
            pings: 0,
            last_turn: 0,
            aliases: BTreeMap::new(),
            alias_max: connect.properties.topic_alias_max,
        });
        self.discarded_will = !session_present && self.will.take().is_some_and(|will| will.due_at_ms.is_some());
        self.will = connect.will.map(|will| Will { delay_s: will.properties.delay_s, due_at_ms: None });
        self.has_session = true;
        self.ends_at_ms = None;
        session_present
    }

    /// An old session was thrown away; `will`: its will was still waiting and is published now [MQTT-3.1.2-8].
    pub(super) fn discards(&mut self, will: bool) {
        assert_eq!(will, self.discarded_will, "the will of a session that was thrown away");
    }

    /// The client sent `packet` and the broker took it so.
    pub(super) fn said(&mut self, packet: &Packet<'_>, step: &Result<Step<'_>, Close>, now_ms: u64) {
        let Some(line) = &mut self.line else { return };
        line.last_packet_ms = now_ms;
        let Ok(step) = step else { return self.ended_by(packet) };
        match packet {
            Packet::Publish(publish) => {
                let Some(packet_id) = publish.packet_id else { return };
                let is_fresh = matches!(step, Step::Publish(_));
                let is_held = publish.qos == QoS::ExactlyOnce && self.held.contains(&packet_id);
                assert_eq!(is_fresh, !is_held, "[MQTT-4.3.3-10] a QoS 2 message is published once");
                let owed = (publish.qos, packet_id);
                // A message that was refused or repeated may be acknowledged once more, or just once.
                if is_fresh || !line.unacked.contains(&owed) {
                    line.unacked.push_back(owed);
                }
                self.owed_max = self.owed_max.max(line.unacked.len() + self.held.len());
            }
            Packet::PubAck(ack) => drop(self.flights.remove(&ack.packet_id)),
            // The client has refused it: nothing follows [MQTT-4.3.3-4].
            Packet::PubRec(ack) if ack.reason.is_error() => drop(self.flights.remove(&ack.packet_id)),
            Packet::PubRec(ack) => match self.flights.get_mut(&ack.packet_id) {
                Some(flight) => {
                    flight.released = true;
                    line.receipts.push_back((ack.packet_id, true));
                }
                None => line.receipts.push_back((ack.packet_id, false)),
            },
            Packet::PubComp(ack) => drop(self.flights.remove(&ack.packet_id)),
            Packet::PubRel(ack) => line.releases.push_back((ack.packet_id, self.held.remove(&ack.packet_id))),
            Packet::Subscribe(asked) => {
                let (packet_id, filters) = (asked.packet_id, asked.filters.len());
                line.asked.push_back(Asked { packet_id, is_subscribe: true, filters });
            }
            Packet::Unsubscribe(asked) => {
                let (packet_id, filters) = (asked.packet_id, asked.filters.len());
                line.asked.push_back(Asked { packet_id, is_subscribe: false, filters });
            }
            Packet::PingReq => line.pings += 1,
            other => panic!("{} from a client was accepted", other.name()),
        }
    }

    /// The packet ended the connection; a DISCONNECT may have changed the session and the will.
    fn ended_by(&mut self, packet: &Packet<'_>) {
        let Packet::Disconnect(disconnect) = packet else { return };
        match disconnect.properties.session_expiry_s {
            // [MQTT-3.14.2-2] and the table of 3.14.2.2.2: a protocol error; nothing has changed.
            Some(expiry_s) if expiry_s != 0 && self.expiry_s == 0 => return,
            Some(expiry_s) => self.expiry_s = expiry_s.min(self.settings.session_expiry_s_max),
            None => {}
        }
        if disconnect.reason == ReasonCode::Success {
            self.will = None;
        }
    }

    /// What the broker made of a QoS 1 or 2 message.
    pub(super) fn accepted(&mut self, qos: QoS, packet_id: Option<PacketId>, accepted: Accepted) {
        let is_refused = matches!(accepted, Accepted::Refused(_));
        if let (QoS::ExactlyOnce, Some(packet_id), false) = (qos, packet_id, is_refused) {
            self.held.insert(packet_id);
        }
    }

    /// The broker sets out to answer the first request that it has not answered, with so many codes.
    pub(super) fn answers(&mut self, codes: usize) {
        if let Some(line) = &mut self.line {
            line.answering.push_back(codes);
        }
    }

    /// A message was to be delivered, and concerned the client.
    pub(super) fn offered(&mut self, concerned: bool) {
        self.offered += u64::from(concerned);
    }

    /// The connection ends; everything that was written has been heard.
    pub(super) fn closed(&mut self, close: &Close) {
        let Some(line) = &self.line else { return };
        let expected = (close.side == Side::Server && line.version.has_properties()).then_some(close.reason);
        assert_eq!(line.farewell, expected, "[MQTT-4.13.1-1] the DISCONNECT before the end");
    }

    /// The connection is gone; the broker published the will or not, and ended the session or not.
    pub(super) fn departs(&mut self, will: bool, ended: bool, now_ms: u64) {
        let ends = self.expiry_s == 0;
        assert_eq!(ended, ends, "the session ends with its connection");
        let is_due = |will: &Will| ends || will.delay_s == 0;
        assert_eq!(will, self.will.as_ref().is_some_and(is_due), "the will at the end");
        self.will = self.will.take().filter(|will| !is_due(will));
        if let Some(will) = &mut self.will {
            will.due_at_ms = Some(now_ms + u64::from(will.delay_s) * 1000);
        }
        self.ends_at_ms = (self.expiry_s != u32::MAX).then(|| now_ms + u64::from(self.expiry_s) * 1000);
        self.line = None;
    }

    /// Time has passed, and the broker did so.
    pub(super) fn ticked(&mut self, did: &Ticked, now_ms: u64) {
        if let Some(line) = &self.line {
            let is_silent = line.silence_ms_max > 0 && line.last_packet_ms + line.silence_ms_max <= now_ms;
            assert_eq!(did.close.is_some(), is_silent, "[MQTT-3.1.2-22] the end of a silent connection");
            return assert!(!did.will && !did.ended);
        }
        let ended = self.has_session && self.ends_at_ms.is_some_and(|at_ms| at_ms <= now_ms);
        assert_eq!(did.ended, ended, "the session expires");
        let is_due = |will: &Will| ended || will.due_at_ms.is_some_and(|at_ms| at_ms <= now_ms);
        assert_eq!(did.will, self.will.as_ref().is_some_and(is_due), "the will after its delay");
        self.will = self.will.take().filter(|will| !is_due(will));
    }

    /// The broker is about to crash; the connection ends with it, and nobody is there to publish the will.
    pub(super) fn crashes(&mut self, now_ms: u64) -> Clocks {
        if self.line.take().is_some() {
            self.ends_at_ms = (self.expiry_s != u32::MAX).then(|| now_ms + u64::from(self.expiry_s) * 1000);
            if let Some(will) = &mut self.will {
                will.due_at_ms = Some(now_ms + u64::from(will.delay_s) * 1000);
            }
        }
        let left_ms = |at_ms: u64| at_ms.saturating_sub(now_ms);
        let will_ms = self.will.as_ref().and_then(|will| will.due_at_ms).map(left_ms);
        Clocks { remaining_ms: self.ends_at_ms.map(left_ms), will_ms }
    }

    /// It is back: QoS 1 begins anew, and it knows these messages of the client.
    pub(super) fn crashed(&mut self, received: BTreeSet<PacketId>) {
        let before = self.flights.len();
        self.flights.retain(|_, flight| flight.qos == QoS::ExactlyOnce);
        self.first_sent -= (before - self.flights.len()) as u64;
        self.held = received;
        self.heard = 0;
        self.has_crashed = true;
    }

    pub(super) fn session_ended(&mut self) {
        self.has_session = false;
        self.ends_at_ms = None;
        self.will = None;
        self.flights.clear();
        self.held.clear();
    }

    /// The output buffer is empty.
    pub(super) const fn flushed(&mut self) {
        self.heard = 0;
    }

    pub(super) fn inflight(&self) -> usize {
        self.flights.len()
    }

    /// The most acknowledgements that were owed at once.
    pub(super) const fn owed_max(&self) -> usize {
        self.owed_max
    }

    /// No message vanishes: it was sent, waits, or was counted as dropped.
    pub(super) fn judge_account(&self, queued: usize, dropped: u64) {
        let accounted = self.first_sent + queued as u64 + dropped;
        assert!(self.offered <= accounted, "{} messages came, {accounted} are accounted for", self.offered);
        assert!(self.first_sent <= self.offered, "more was sent than came");
    }
}
