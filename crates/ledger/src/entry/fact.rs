//! What became of one message or packet id.

use crate::Fault;
use crate::wire::{Input, put_number};

/// Of one session or group, named beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A kept message is done: acknowledged, refused, dropped or expired. It leaves the queue, and its packet id is free.
    Finished {
        /// The entry that brought the message.
        entry: u64,
    },
    /// PUBLISH of a QoS 2 message was handed to the client.
    PublishSent {
        /// Under this packet id.
        packet_id: u16,
        /// The entry that brought the message.
        entry: u64,
    },
    /// PUBREC has come: the client has the message, which leaves the queue; only the packet id stays, until it is `Finished`.
    PubRecReceived {
        /// The packet id it was sent under.
        packet_id: u16,
    },
    /// A QoS 2 message of the client was taken; not to be taken again under this packet id.
    Received {
        /// Its packet id.
        packet_id: u16,
        /// The session's count of such messages: 1, 2, ...
        use_number: u64,
    },
    /// The packet id is free: PUBREL for what was received, or whatever ended a doubt.
    Released {
        /// The packet id it was received under.
        packet_id: u16,
    },
    /// Found at a start: the log has a QoS 2 message of the client, and nothing says that it was taken. Where it is not yet
    /// it comes when the client sends it again; until then its number is not settled.
    Doubted {
        /// Its packet id.
        packet_id: u16,
        /// As in `Received`.
        use_number: u64,
    },
}

const FINISHED: u8 = 0;
const PUBLISH_SENT: u8 = 1;
const PUBREC_RECEIVED: u8 = 2;
const RECEIVED: u8 = 3;
const RELEASED: u8 = 4;
const DOUBTED: u8 = 5;

impl Fact {
    /// The kind that its bytes do not hold.
    pub(super) const fn kind(&self) -> u8 {
        match self {
            Fact::Finished { .. } => FINISHED,
            Fact::PublishSent { .. } => PUBLISH_SENT,
            Fact::PubRecReceived { .. } => PUBREC_RECEIVED,
            Fact::Received { .. } => RECEIVED,
            Fact::Released { .. } => RELEASED,
            Fact::Doubted { .. } => DOUBTED,
        }
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        match *self {
            Fact::Finished { entry } => put_number(entry, out),
            Fact::PublishSent { packet_id, entry } => {
                put_number(u64::from(packet_id), out);
                put_number(entry, out);
            }
            Fact::Received { packet_id, use_number } | Fact::Doubted { packet_id, use_number } => {
                put_number(u64::from(packet_id), out);
                put_number(use_number, out);
            }
            Fact::PubRecReceived { packet_id } | Fact::Released { packet_id } => put_number(u64::from(packet_id), out),
        }
    }

    /// Reads what follows `kind`.
    #[inline]
    pub(super) fn take(kind: u8, input: &mut Input<'_>) -> Result<Self, Fault> {
        let packet_id = |input: &mut Input<'_>| input.number_u16("a packet id is cut off or too large");
        let number = |input: &mut Input<'_>| input.number("an index or use number is cut off");
        Ok(match kind {
            FINISHED => Fact::Finished { entry: number(input)? },
            PUBLISH_SENT => Fact::PublishSent { packet_id: packet_id(input)?, entry: number(input)? },
            PUBREC_RECEIVED => Fact::PubRecReceived { packet_id: packet_id(input)? },
            RECEIVED => Fact::Received { packet_id: packet_id(input)?, use_number: number(input)? },
            RELEASED => Fact::Released { packet_id: packet_id(input)? },
            DOUBTED => Fact::Doubted { packet_id: packet_id(input)?, use_number: number(input)? },
            _ => return Err(input.fault("unknown kind of fact")),
        })
    }
}
