//! The `codec` room: bytes to packets and packets to bytes, for MQTT 3.1.1 and 5.0.
//!
//! Rules of this room:
//! - No I/O, no clock, no thread, no Python. One file per packet.
//! - [`decode`] borrows from the input and allocates nothing. What repeats (user properties, filters, subscription
//!   identifiers) stays in its encoded form behind a view that iterates.
//! - Bytes are checked once, here, completely: lengths, UTF-8, reserved bits, ranges, which property may stand where and
//!   how often. A packet that was decoded is legal in itself; whether it is legal *now* is the session's question, and
//!   whether that side may send it is [`Packet::check_sender`].
//! - Limits are enforced before a packet is whole, so that nobody buffers what will be refused.
//! - Nothing that a peer sends can panic. An error is a [`ProtocolError`]: reason code, words, offset.
//! - Encoding trusts the *content* of strings and checks what only it can know: lengths, and whether the version has a
//!   way to say it. It writes the shortest form. On an error nothing was written.
//! - Absent properties with a default in the specification are plain values with that default; others are `Option`s.

mod ack;
mod auth;
mod connack;
mod connect;
mod disconnect;
mod error;
mod limits;
mod packet;
mod packet_id;
mod property;
mod publish;
mod publish_properties;
mod qos;
mod reason;
mod suback;
mod subscribe;
mod subscription_id;
pub mod topic;
mod unsuback;
mod unsubscribe;
mod user_properties;
mod varint;
mod version;
mod will;

pub use ack::{Ack, ReasonProperties};
pub use auth::{Auth, AuthProperties};
pub use connack::{ConnAck, ConnAckProperties};
pub use connect::{Connect, ConnectProperties};
pub use disconnect::{Disconnect, DisconnectProperties};
pub use error::{EncodeError, ProtocolError};
pub use limits::Limits;
pub use packet::{Packet, decode};
pub use packet_id::PacketId;
pub use publish::Publish;
pub use publish_properties::PublishProperties;
pub use qos::QoS;
pub use reason::ReasonCode;
pub use suback::SubAck;
pub use subscribe::{
    RetainHandling, Subscribe, SubscribeFilter, SubscribeFilters, SubscribeFiltersBuf, SubscribeFiltersIter,
    SubscribeProperties, SubscriptionOptions,
};
pub use subscription_id::{SubscriptionId, SubscriptionIds, SubscriptionIdsIter};
pub use unsuback::UnsubAck;
pub use unsubscribe::{Unsubscribe, UnsubscribeFilters, UnsubscribeFiltersBuf, UnsubscribeFiltersIter};
pub use user_properties::{UserProperties, UserPropertiesBuf, UserPropertiesIter};
pub use version::Version;
pub use will::{Will, WillProperties};
