//! A client of MQTT 3.1.1 over MQTT-SN: its packets become datagrams, and the gateway's datagrams become packets.
//!
//! Rules of this module:
//! - No I/O and no clock: time is `now_ms`, milliseconds of one monotonic clock of the process.
//! - [`Translator`] is one connection, from CONNECT to DISCONNECT. What outlives a connection is its owner's.
//! - What the client writes goes in its order, one message in flight (6.13). What answers a message of the gateway does not
//!   wait behind it: otherwise two that wait for each other would wait for ever.
//! - What is in flight goes again every T_retry. After N_retry times the gateway is lost, and so is the connection.
//! - Topic ids belong to the connection, and are bounded. Who has a topic without one gets it by REGISTER first.
//! - Who sleeps says nothing of its own, and hears nothing, until it awakes (6.14).
//! - What MQTT-SN cannot say is an error that names it; nothing is left out of a message.

mod connecting;
mod error;
mod exchange;
mod fit;
mod incoming;
mod outgoing;
mod refusal;
mod settings;
mod sleep;
mod topics;
mod translator;

pub use error::Error;
pub use fit::{Unfit, check_filter, check_publish, check_will};
pub use refusal::Refusal;
pub use settings::settings;
pub use translator::Translator;
