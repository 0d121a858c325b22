//! Listeners and sockets: the only room of the broker that opens them.
//!
//! Rules of this room:
//! - Everything is non-blocking and edge-triggered (`mio`); whoever owns a [`Socket`] reads and writes until
//!   `WouldBlock`, or remembers that there is more to do.
//! - A [`Socket`] hides what lies under it. Today that is TCP; TLS, WebSocket and Unix sockets join as further
//!   variants, so no caller may reach for the descriptor.
//! - A [`Listener`] can be shared: each shard holds a clone of the same kernel queue and accepts from it. We do not use
//!   `SO_REUSEPORT`: it would let a second broker bind a port that is in use without an error, and connections
//!   waiting in the queue of a closing shard would be lost.
//! - An error names the address and says what to do about it.

mod address;
mod error;
mod listener;
mod socket;

pub use address::ListenAddress;
pub use error::{AcceptError, BindError};
pub use listener::{Accepted, Listener};
pub use socket::Socket;
