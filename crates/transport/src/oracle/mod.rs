//! What must hold for any bytes of a stranger below MQTT, for the fuzz targets and for tests of this room.
//!
//! Each oracle takes an input of the fuzzer and panics where something is not as it must be; its `..._seeds` are inputs that
//! reach deep, made by code. They say the same three things: bytes in pieces mean what they mean at once, nobody makes us hold
//! more than is allowed, and what was understood is what somebody else would understand.

mod choices;
mod dtls;
mod frames;
mod head;
mod proxy;
#[cfg(test)]
mod tests;
mod tls;
mod wire;

pub use dtls::{check_dtls, dtls_seeds};
pub use frames::{check_frames, frames_seeds};
pub use head::{check_head, head_seeds};
pub use proxy::{check_proxy, proxy_seeds};
pub use tls::{check_tls, tls_seeds};
