//! The `sn` room: datagrams to messages and messages to datagrams, for MQTT-SN 1.2, and what a gateway knows of a client
//! ([`peer`]), and what makes a client of MQTT one of MQTT-SN ([`client`]).
//!
//! Rules of this room:
//! - No I/O, no clock, no thread, no Python. One file per message, or per shape that several messages share.
//! - A datagram is one message, or one message inside one encapsulation of a forwarder. What it does not hold exactly,
//!   byte for byte, is refused: nothing is read past a message's length, and nothing is left behind it.
//! - [`decode`] borrows from the datagram and allocates nothing. Bytes are checked once, here, completely: lengths, UTF-8,
//!   topics, reserved ids. Whether a message is legal *now* is for whoever knows the client.
//! - Nothing that a peer sends can panic. An error is a [`DecodeError`]: a [`Reason`] to count, words, the byte, and, where
//!   the specification has a code for it, the answer.
//! - What the specification calls "not used" or "not relevant" in a message is not looked at and is written as zero. What it
//!   calls reserved is refused where it would have to mean something.
//! - Encoding trusts the *content* of strings and checks what only it can know: that a message can be said at all, and
//!   that it fits [`Limits::datagram_bytes_max`]. It writes the shortest form. On an error nothing was written.
//! - Topic names and filters, texts, levels of QoS and message ids are those of the `codec` room: what may be published
//!   to over MQTT may be over MQTT-SN, and nothing else.
//!
//! Sections (as in "5.4.4") are those of the specification, version 1.2 of November 14, 2013.

#![forbid(unsafe_code)]

mod ack;
mod advertise;
pub mod client;
mod connect;
mod datagram;
mod disconnect;
mod error;
mod flags;
mod forwarding;
mod gwinfo;
mod header;
mod kind;
mod limits;
mod message;
mod msg_id_only;
pub mod peer;
mod pingreq;
mod publish;
mod publish_qos;
mod publish_topic;
mod read;
mod register;
mod return_code;
mod return_code_only;
mod searchgw;
mod short_topic;
mod suback;
mod subscribe;
mod subscribe_topic;
mod text;
mod topic_id;
mod unsubscribe;
mod willmsg;
mod willtopic;
mod write;

#[cfg(test)]
mod check;

pub use ack::TopicAck;
pub use advertise::Advertise;
pub use connect::Connect;
pub use datagram::{Datagram, decode, sender};
pub use disconnect::Disconnect;
pub use error::{DecodeError, EncodeError, Reason};
pub use forwarding::{Forwarding, Radius};
pub use gwinfo::GwInfo;
pub use kind::Kind;
pub use limits::Limits;
pub use message::Message;
pub use pingreq::PingReq;
pub use publish::Publish;
pub use publish_qos::PublishQoS;
pub use publish_topic::PublishTopic;
pub use register::Register;
pub use return_code::ReturnCode;
pub use searchgw::SearchGw;
pub use short_topic::ShortTopic;
pub use suback::SubAck;
pub use subscribe::Subscribe;
pub use subscribe_topic::SubscribeTopic;
pub use topic_id::TopicId;
pub use unsubscribe::Unsubscribe;
pub use willmsg::WillMsg;
pub use willtopic::WillTopic;

/// A message id (5.3.7): MQTT's packet identifier, which is never zero.
pub use lapwing_codec::PacketId as MsgId;
pub use lapwing_codec::QoS;
