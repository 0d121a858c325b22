//! The `codec` room: bytes to packets and packets to bytes, for MQTT 3.1, 3.1.1 and 5.0.
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
mod filter_section;
mod first_bytes;
mod header;
mod legality;
mod limits;
mod owner;
mod packet;
mod packet_id;
mod property;
mod publish;
mod publish_head;
mod publish_properties;
mod qos;
mod read;
mod reason;
mod sender;
mod suback;
mod subscribe;
mod subscribe_filters;
mod subscription_id;
mod subscription_options;
mod swar;
pub mod text;
pub mod topic;
mod unsuback;
mod unsubscribe;
mod unsubscribe_filters;
mod user_properties;
mod varint;
mod version;
mod will;
mod write;

pub use ack::{Ack, ReasonProperties};
pub use auth::{Auth, AuthProperties};
pub use connack::{ConnAck, ConnAckProperties};
pub use connect::{Connect, ConnectProperties};
pub use disconnect::{Disconnect, DisconnectProperties};
pub use error::{EncodeError, ProtocolError};
pub use first_bytes::{FirstBytes, first_bytes};
pub use header::announced_len;
pub use limits::Limits;
pub use packet::{Packet, decode};
pub use packet_id::PacketId;
pub use publish::Publish;
pub use publish_head::PublishHead;
pub use publish_properties::PublishProperties;
pub use qos::QoS;
pub use read::{FieldReader, ReadError};
pub use reason::ReasonCode;
pub use sender::Sender;
pub use suback::SubAck;
pub use subscribe::{Subscribe, SubscribeProperties};
pub use subscribe_filters::{SubscribeFilter, SubscribeFilters, SubscribeFiltersBuf, SubscribeFiltersIter};
pub use subscription_id::{SubscriptionId, SubscriptionIds, SubscriptionIdsIter};
pub use subscription_options::{RetainHandling, SubscriptionOptions};
pub use unsuback::UnsubAck;
pub use unsubscribe::Unsubscribe;
pub use unsubscribe_filters::{UnsubscribeFilters, UnsubscribeFiltersBuf, UnsubscribeFiltersIter};
pub use user_properties::{UserProperties, UserPropertiesBuf, UserPropertiesIter};
pub use version::Version;
pub use will::{Will, WillProperties};
