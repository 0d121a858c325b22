//! One client's connection to an MQTT broker, version 3.1.1 or 5.0.
//!
//! Rules of this room:
//!
//! - [`Protocol`] is the whole protocol and does no I/O: calls and bytes in, bytes and [`Events`] out. It knows no
//!   socket, no clock and no thread; `now_ms` is an argument. The swarm drives tens of thousands of them.
//! - [`BlockingClient`] drives one of them over TCP or TLS, WebSocket over either, or MQTT-SN over UDP: for commands,
//!   scripts and tests. Over TLS the broker's certificate is checked, its name too; nothing turns that off.
//! - [`Link`] keeps one on a thread of its own, for consumers and publishers: bounded buffers, reconnection, reports.
//! - QoS 1 and 2 publishes never exceed the window: the smaller of our wish and the broker's Receive Maximum.
//! - A session outlives its connection: what the broker has not answered goes again after a reconnection, in the first
//!   order, with DUP if the broker still has the session, before anything new.
//! - Whatever the broker sends, the answer is an error that says whose fault it was: could not connect
//!   (`Unreachable`), refused with a reason code (`Refused`, `Disconnected`, `Rejected`, `Unpublished`), the broker
//!   broke the protocol (`Protocol`), timed out (`TimedOut`), or the caller's own mistake (`Invalid`).

#![forbid(unsafe_code)]

mod address;
mod blocking;
mod deadline;
mod error;
mod events;
mod expiry;
mod inbox;
mod inflight;
mod inherited;
mod keep_alive;
mod link;
mod message;
mod options;
mod over_sn;
mod protocol;
mod received;
mod rejections;
mod texts;
mod tls_options;
mod unanswered;
mod wire;
mod words;

pub use address::{Address, PORT, Scheme, without_user};
pub use blocking::BlockingClient;
pub use error::ClientError;
pub use events::{Answer, Connected, Events, Rejected};
pub use link::{
    Acknowledge, Bell, Counters, Filters, Link, LinkOptions, Marks, Phase, Publication, Refusal, Reports, SendLimits,
    Taken,
};
pub use message::Message;
pub use options::{LastWill, Options};
pub use protocol::{Protocol, SendError, State};
pub use rejections::{Rejection, Rejections};
pub use tls_options::TlsOptions;
// The words of this room's interface, so that its users need not know the codec.
pub use lapwing_codec::{
    PacketId, Publish, PublishProperties, QoS, ReasonCode, RetainHandling, SubscriptionId, SubscriptionOptions,
    UserPropertiesBuf, Version,
};
