//! What is in flight to the gateway: sent again every T_retry, up to N_retry times (6.13).

use lapwing_codec::{PacketId, QoS};

use crate::peer::{Overdue, Settings};
use crate::{Kind, MsgId};

/// What waits for its answer.
#[derive(Debug)]
pub(super) struct Exchange {
    pub what: Awaited,
    kind: Kind,
    bytes: Vec<u8>,
    retries: u32,
    due_ms: u64,
}

/// What would answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    /// WILLTOPICREQ, WILLMSGREQ, CONNACK.
    ConnAck,
    /// REGACK.
    RegAck(MsgId),
    /// PUBACK, or PUBREC for QoS 2.
    Published(PacketId, QoS),
    /// PUBCOMP.
    PubComp(PacketId),
    /// SUBACK.
    SubAck(MsgId),
    /// UNSUBACK.
    UnsubAck(MsgId),
    /// PINGRESP.
    PingResp,
    /// PINGRESP, behind all that waited for one that is awake.
    Drained,
    /// DISCONNECT, to one that goes to sleep.
    Asleep,
    /// DISCONNECT.
    Disconnect,
}

impl Exchange {
    /// `bytes` have been sent, and are a message of this kind.
    pub fn new(what: Awaited, kind: Kind, bytes: Vec<u8>, settings: &Settings, now_ms: u64) -> Self {
        Exchange { what, kind, bytes, retries: 0, due_ms: now_ms + settings.retry_ms }
    }

    /// What was sent.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// When it is overdue.
    pub const fn due_ms(&self) -> u64 {
        self.due_ms
    }

    /// The gateway is there, and asked something first.
    pub fn encouraged(&mut self, settings: &Settings, now_ms: u64) {
        (self.retries, self.due_ms) = (0, now_ms + settings.retry_ms);
    }

    /// What goes again now, with DUP where there is one.
    pub fn tick(&mut self, settings: &Settings, now_ms: u64) -> (Overdue, Option<Vec<u8>>) {
        if now_ms < self.due_ms {
            return (Overdue::Nothing, None);
        }
        if self.retries >= settings.retries_max {
            return (Overdue::Lost, None);
        }
        self.retries += 1;
        self.due_ms = now_ms + settings.retry_ms;
        // Both have their flags in the same place.
        if matches!(self.kind, Kind::Publish | Kind::Subscribe) {
            crate::publish::set_dup(&mut self.bytes);
        }
        (Overdue::Resent, Some(self.bytes.clone()))
    }
}
