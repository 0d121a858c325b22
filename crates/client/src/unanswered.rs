//! A packet that a client has sent, and which answer it waits for.

use lapwing_codec::QoS;

/// The DUP flag in the first byte of a PUBLISH.
const DUP: u8 = 0b1000;

/// Which answer an entry waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// PUBCOMP of what an earlier process may have left under its id: the PUBLISH has not gone. See [`crate::inherited`].
    Clearing,
    PubAck,
    PubRec,
    PubComp,
    SubAck,
    UnsubAck,
}

impl Stage {
    /// What the first answer to a PUBLISH is.
    pub fn of(qos: QoS) -> Self {
        if qos == QoS::ExactlyOnce { Self::PubRec } else { Self::PubAck }
    }

    pub fn is_publish(self) -> bool {
        matches!(self, Self::Clearing | Self::PubAck | Self::PubRec | Self::PubComp)
    }
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub stage: Stage,
    /// What the caller calls this packet.
    pub token: u64,
    /// Reason codes that its answer has, of a SUBSCRIBE: one for each filter.
    pub codes: usize,
    /// Position in the order of sending.
    pub order: u64,
    /// The encoded PUBLISH, kept until it goes, and for a resend if the client keeps its session.
    pub packet: Option<Box<[u8]>>,
    /// When that went first.
    pub sent_at_ms: u64,
}

impl Entry {
    /// Sets DUP in its PUBLISH, if that is here still, or clears it.
    pub fn mark_repeated(&mut self, repeated: bool) {
        if let Some(first) = self.packet.as_mut().and_then(|packet| packet.first_mut()) {
            *first = if repeated { *first | DUP } else { *first & !DUP };
        }
    }
}
