//! What a client may rightly hear on one connection, whatever happened elsewhere.
//!
//! - CONNACK first and once; a session is present only where the client could have one and did not ask for a clean one.
//! - An answer (PUBACK, PUBREC, PUBCOMP, SUBACK, UNSUBACK, PINGRESP) only for what was asked on this connection, once; one
//!   code for each filter.
//! - Messages that somebody published, with their own bytes, to those who subscribed; and not twice without DUP
//!   ([`IdBooks`](crate::id_books::IdBooks)). A packet id is not used again before it is free; no more are under way than the
//!   client allows.
//! - PUBREL for a PUBREC of this connection, or for one of an earlier connection of a session that goes on.
//! - Nothing behind a DISCONNECT, and a DISCONNECT only with a reason that the client or the run has given.

use std::collections::BTreeMap;

use lapwing_codec::{PacketId, QoS, ReasonCode, Version};

use crate::action::AckKind;

/// A message of the node that has a packet id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) qos: QoS,
    /// Its number; `None` for an empty one, and where only the PUBREL came on this connection.
    pub(crate) n: Option<u32>,
    /// PUBREC was sent.
    pub(crate) is_received: bool,
    /// PUBREL has come.
    pub(crate) is_released: bool,
}

/// Why the node may end a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Causes {
    /// Another connection has the client id, or may have it.
    pub rival: bool,
    /// The client said that it goes.
    pub left: bool,
    /// Its bytes must not be.
    pub broke: bool,
    /// It has acknowledged what it perhaps must not.
    pub strayed: bool,
    /// The node was stopped.
    pub stopped: bool,
}

/// The books of one connection.
pub struct Books {
    pub(crate) version: Version,
    pub(crate) is_clean: bool,
    pub(crate) receive_max: usize,
    pub(crate) alias_max: u16,
    /// What the CONNACK said of a session.
    pub greeted: Option<bool>,
    /// PINGREQs without an answer.
    pub pings: usize,
    /// PUBLISHes that may be acknowledged: their number, and how often.
    pub(crate) publishes: BTreeMap<(QoS, PacketId), Owed>,
    /// PUBRECs that came and have no PUBREL yet.
    pub(crate) unreleased: Vec<PacketId>,
    /// PUBRELs that may be answered.
    pub(crate) releases: BTreeMap<PacketId, usize>,
    /// PUBRECs that may be answered.
    pub(crate) receipts: BTreeMap<PacketId, usize>,
    /// SUBSCRIBEs (true) and UNSUBSCRIBEs that may be answered, with their filters.
    pub(crate) requests: BTreeMap<(bool, PacketId), usize>,
    /// In the order in which they came.
    pub(crate) flights: Vec<(PacketId, Flight)>,
    /// Packet ids that the client acknowledged before it knew them: what they stand for is not known.
    pub(crate) strays: Vec<PacketId>,
    pub(crate) aliases: BTreeMap<u16, String>,
    pub(crate) farewell: Option<ReasonCode>,
    /// What was given a reason for the end.
    pub causes: Causes,
}

/// PUBACKs or PUBRECs that may come.
pub(crate) struct Owed {
    /// The message.
    pub(crate) n: u32,
    /// How many.
    pub(crate) times: usize,
    /// They mean that the node has the message: its packet id was not in use for another one.
    pub(crate) is_certain: bool,
}

/// What a run counts, so that a test can see that it was about something.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heard {
    /// CONNACKs.
    pub greeted: u64,
    /// Those with a session.
    pub present: u64,
    /// Messages.
    pub messages: u64,
    /// Those with DUP.
    pub repeated: u64,
    /// PUBACKs and PUBRECs.
    pub acknowledged: u64,
    /// SUBACKs and UNSUBACKs.
    pub answered: u64,
    /// Connections that another one took the id of.
    pub taken_over: u64,
    /// Times that the node came again.
    pub restarts: u64,
}

impl Books {
    /// A connection whose CONNECT says this.
    pub fn new(version: Version, is_clean: bool, receive_max: u16, alias_max: u16) -> Self {
        Books {
            version,
            is_clean,
            receive_max: usize::from(if version.has_properties() { receive_max } else { u16::MAX }),
            alias_max: if version.has_properties() { alias_max } else { 0 },
            greeted: None,
            pings: 0,
            publishes: BTreeMap::new(),
            unreleased: Vec::new(),
            releases: BTreeMap::new(),
            receipts: BTreeMap::new(),
            requests: BTreeMap::new(),
            flights: Vec::new(),
            strays: Vec::new(),
            aliases: BTreeMap::new(),
            farewell: None,
            causes: Causes::default(),
        }
    }

    /// The client publishes message `n`; `times` the same. `is_certain`: no other one has the packet id.
    pub fn publishes(&mut self, qos: QoS, packet_id: PacketId, n: u32, times: usize, is_certain: bool) {
        self.publishes.insert((qos, packet_id), Owed { n, times, is_certain });
    }

    /// Whether some acknowledgement of that packet id may come.
    pub fn is_owed(&self, packet_id: PacketId) -> bool {
        self.publishes.contains_key(&(QoS::ExactlyOnce, packet_id))
    }

    /// The client asks for subscriptions, or takes them back.
    pub fn requests(&mut self, is_subscribe: bool, packet_id: PacketId, filters: usize) {
        self.requests.insert((is_subscribe, packet_id), filters);
    }

    /// PUBRELs that the client owes, taken out; it sends them.
    pub fn release_all(&mut self) -> Vec<PacketId> {
        let all = std::mem::take(&mut self.unreleased);
        for packet_id in &all {
            *self.releases.entry(*packet_id).or_default() += 1;
        }
        all
    }

    /// The acknowledgement that a message needs next, the oldest first; `refuse`: with an error code. The client sends it.
    pub fn acknowledge(&mut self, refuse: bool) -> Option<(AckKind, PacketId, ReasonCode)> {
        let at = self.flights.iter().position(|(_, flight)| !flight.is_received || flight.is_released)?;
        let (packet_id, flight) = self.flights[at];
        let is_over = refuse || flight.qos == QoS::AtLeastOnce || flight.is_released;
        if is_over {
            self.flights.remove(at);
        } else {
            self.flights[at].1.is_received = true;
            *self.receipts.entry(packet_id).or_default() += 1;
        }
        let kind = match (flight.qos, flight.is_released) {
            (QoS::AtLeastOnce, _) => AckKind::PubAck,
            (_, false) => AckKind::PubRec,
            (_, true) => AckKind::PubComp,
        };
        // PUBCOMP cannot refuse.
        let is_refused = refuse && kind != AckKind::PubComp;
        Some((kind, packet_id, if is_refused { ReasonCode::UnspecifiedError } else { ReasonCode::Success }))
    }

    /// The client acknowledges a packet id without knowing what for.
    pub fn strays(&mut self, kind: AckKind, packet_id: PacketId) {
        self.causes.strayed = true;
        self.strays.push(packet_id);
        self.flights.retain(|(id, _)| *id != packet_id);
        match kind {
            AckKind::PubAck | AckKind::PubComp => {}
            AckKind::PubRec => *self.receipts.entry(packet_id).or_default() += 1,
            AckKind::PubRel => *self.releases.entry(packet_id).or_default() += 1,
        }
    }

    /// The stream has ended.
    ///
    /// # Errors
    /// Nobody gave a cause.
    pub fn over(&self) -> Result<(), String> {
        let Causes { rival, left, broke, strayed, stopped } = self.causes;
        if rival || left || broke || strayed || stopped {
            return Ok(());
        }
        Err("the node ended a connection without a cause".into())
    }
}
