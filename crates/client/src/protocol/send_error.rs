//! What keeps a packet from being sent.

use crate::expiry::EXPIRED;
use lapwing_codec::EncodeError;

/// Why a packet was not taken.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The window is full, or old messages go first: try again after an `acknowledged`.
    #[error("the window of unanswered messages is full")]
    WindowFull,
    /// The packet id that the caller chose has not been answered yet.
    #[error("packet id {0} is in use: its last message has not been answered yet")]
    PacketIdInUse(u16),
    /// No connection.
    #[error("not connected")]
    NotConnected,
    /// The broker said in CONNACK that it does not take this.
    #[error("the broker does not take {0}")]
    Unsupported(&'static str),
    /// It has waited too long.
    #[error("{EXPIRED}")]
    Expired,
    /// It cannot be written as a packet.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}
