//! Listeners and sockets: the only room of the broker that opens them.
//!
//! Rules of this room:
//! - Everything is non-blocking and edge-triggered (`mio`); whoever owns a [`Socket`] reads and writes until
//!   `WouldBlock`, or remembers that there is more to do.
//! - A [`Socket`] hides what lies under it: TCP or a Unix socket at the bottom, then what the listener asks for, in this
//!   order: a PROXY header, TLS, WebSocket. Handshakes happen inside `read`, which gives application bytes only. Plain
//!   TCP pays one branch for all of this, and no memory.
//! - What a peer does wrong below MQTT is a [`Refusal`] inside the `io::Error` of a read: a name to count it by.
//! - Nothing here grows with what a peer sends: a PROXY header, an HTTP head and a control frame have fixed bounds, the
//!   payload of a WebSocket frame is never gathered, and TLS holds one record each way beside its 64 KiB output.
//! - A [`Listener`] can be shared: each shard holds a clone of the same kernel queue and accepts from it. We do not use
//!   `SO_REUSEPORT`: it would let a second broker bind a port that is in use without an error, and connections
//!   waiting in the queue of a closing shard would be lost.
//! - Certificates are read when a listener is bound and again when it is told to; a handshake takes those of its moment.
//! - A [`Fetcher`] asks others over HTTPS, and blocks: on threads that may wait, never on one that carries messages.
//! - [`Datagrams`] are what comes over UDP, as it comes; who speaks in them is the reader's business. A client whose packets
//!   come in another form has a [`Socket`] all the same: one end of a pair of the kernel's, [`Socket::pair`].
//! - [`Dtls`] is what datagrams are sealed with, without a socket and without a clock: its owner has both.
//! - [`PeerStream`] is what nodes of a cluster say to each other, in TLS that both sides show certificates in. Nothing uses it yet:
//!   it comes with the cluster.
//! - An error names the address or the file and says what to do about it.

mod address;
#[cfg(any(test, feature = "oracle"))]
mod authority;
mod bind;
mod datagrams;
mod dtls;
mod error;
mod fetch;
mod inner_end;
mod kernel;
mod layers;
mod limiter;
mod listener;
mod network;
#[cfg(any(test, feature = "oracle"))]
pub mod oracle;
mod peer;
mod peer_tls;
mod proxy;
mod refusal;
mod settings;
mod socket;
mod stream;
mod tls;
mod unix;
mod web;

pub use address::{ListenAddress, Scheme};
pub use bind::bind_every;
pub use datagrams::Datagrams;
pub use dtls::{DTLS_RECORD_BYTES, Dtls, DtlsEnd, DtlsOutput, DtlsSettings, DtlsStage, Pieces, is_client_hello};
pub use error::{AcceptError, BindError};
pub use fetch::{FetchError, FetchSettings, Fetcher};
pub use inner_end::InnerEnd;
pub use limiter::AddressLimiter;
pub use listener::{Accepted, Listener};
pub use network::{Network, are_everybody};
pub use peer::PeerAddress;
pub use peer_tls::{PeerFault, PeerFiles, PeerListener, PeerProtocol, PeerRefusal, PeerStream, PeerTls};
pub use refusal::Refusal;
pub use settings::{ClientCertificate, KeepAlive, ListenerSettings, TlsSettings, WebSettings};
pub use socket::Socket;
pub use tls::{
    CertificateName, CertificateTimes, Certificates, FreshCertificates, Lapse, Proof, WeakRsaKey, certificate_times,
    weak_rsa_key,
};
