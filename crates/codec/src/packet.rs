//! The packet: one variant per packet type.

use crate::{
    Ack, Auth, ConnAck, Connect, Disconnect, EncodeError, Limits, ProtocolError, Publish, ReasonCode, SubAck,
    Subscribe, UnsubAck, Unsubscribe, Version,
};

/// A packet of MQTT 3.1.1 or 5.0, borrowing from the bytes it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the packets of the specification, documented on their types")]
pub enum Packet<'a> {
    Connect(Connect<'a>),
    ConnAck(ConnAck<'a>),
    Publish(Publish<'a>),
    PubAck(Ack<'a>),
    PubRec(Ack<'a>),
    PubRel(Ack<'a>),
    PubComp(Ack<'a>),
    Subscribe(Subscribe<'a>),
    SubAck(SubAck<'a>),
    Unsubscribe(Unsubscribe<'a>),
    UnsubAck(UnsubAck<'a>),
    PingReq,
    PingResp,
    Disconnect(Disconnect<'a>),
    Auth(Auth<'a>),
}

/// Decodes the packet at the start of `bytes`; `Ok(None)` when it is not whole yet.
///
/// `version` is the connection's; a CONNECT is read in its own version, whatever is given. The `usize` is the length of
/// the packet in bytes. Limits are enforced as soon as the bytes that tell are there, before the packet is whole.
/// # Errors
/// The packet breaks the protocol: nothing after it can be trusted, close the connection.
pub fn decode<'a>(
    _bytes: &'a [u8],
    _version: Version,
    _limits: &Limits,
) -> Result<Option<(Packet<'a>, usize)>, ProtocolError> {
    Err(ProtocolError::new(ReasonCode::ImplementationSpecificError, "the decoder lands in the next commit", 0))
}

impl Packet<'_> {
    /// Appends the packet to `out`; on an error nothing is appended.
    ///
    /// Strings are trusted to be what their fields ask for (topic names and filters valid, no U+0000); only lengths and
    /// what the version can say are checked.
    /// # Errors
    /// See [`EncodeError`]: the caller's mistake.
    pub fn encode(&self, version: Version, _out: &mut Vec<u8>) -> Result<(), EncodeError> {
        Err(EncodeError::NotRepresentable { what: "the encoder lands in the next commit", version })
    }
}

impl Publish<'_> {
    /// Appends the packet to `out`; see [`Packet::encode`].
    /// # Errors
    /// See [`EncodeError`]: the caller's mistake.
    pub fn encode(&self, version: Version, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        Packet::Publish(*self).encode(version, out)
    }

    /// Length of the whole packet in bytes; compare it with the receiver's Maximum Packet Size.
    pub fn encoded_len(&self, _version: Version) -> usize {
        0
    }
}
