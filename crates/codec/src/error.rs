//! What can be wrong with bytes that came in, and with packets that should go out.

use thiserror::Error;

use crate::{ReasonCode, Version};

/// The peer broke the protocol; its connection must be closed, with `reason` if the version can say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{reason}: {what}, at byte {at}")]
pub struct ProtocolError {
    /// The code for DISCONNECT (or CONNACK, see `connect`).
    pub reason: ReasonCode,
    /// What was wrong, in words.
    pub what: &'static str,
    /// Offset from the start of the packet, in bytes.
    pub at: usize,
    /// Set when the packet was a CONNECT: the version in which a refusing CONNACK is to be encoded. Before 5.0 there are return
    /// codes for few reasons ([`ReasonCode::return_code_v311`]); for the others the connection is closed without.
    pub connect: Option<Version>,
}

impl ProtocolError {
    /// An error outside of CONNECT. `at`: bytes from the start of the packet.
    #[cold]
    pub const fn new(reason: ReasonCode, what: &'static str, at: usize) -> Self {
        ProtocolError { reason, what, at, connect: None }
    }

    pub(crate) const fn malformed(what: &'static str, at: usize) -> Self {
        Self::new(ReasonCode::MalformedPacket, what, at)
    }

    pub(crate) const fn protocol(what: &'static str, at: usize) -> Self {
        Self::new(ReasonCode::ProtocolError, what, at)
    }
}

/// A packet that cannot be written: the caller's mistake, never the peer's. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// A string or binary field has more than 65,535 bytes.
    #[error("{field} has {len} bytes, at most 65535 fit")]
    FieldTooLong {
        /// Which field.
        field: &'static str,
        /// Its length in bytes.
        len: usize,
    },
    /// More than 268,435,455 bytes would follow the fixed header.
    #[error("the packet would have {len} bytes after its fixed header, at most 268435455 fit")]
    PacketTooLarge {
        /// Bytes after the fixed header.
        len: usize,
    },
    /// A PUBLISH of QoS 1 or 2 without packet id, or one of QoS 0 with it.
    #[error("a PUBLISH has a packet id exactly when its QoS is 1 or 2")]
    PacketIdMismatch,
    /// The packet or value does not exist in the version or in this packet.
    #[error("{what} cannot be written in MQTT {}", version.name())]
    NotRepresentable {
        /// What cannot be written.
        what: &'static str,
        /// The connection's version.
        version: Version,
    },
}
