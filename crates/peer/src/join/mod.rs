//! What somebody says who wants to be a node, and what it is answered.
//!
//! Only behind TLS with the authority that the token names: the newcomer asks once, and hears once. It shows no certificate,
//! so these frames have stages of their own, with bounds of their own.

mod ask;
mod code;
mod pem;
mod refused;
mod welcome;

pub use ask::JoinAsk;
pub use code::JoinCode;
pub use refused::JoinRefused;
pub use welcome::{JoinMember, JoinWelcome};
