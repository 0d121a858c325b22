//! What one listener does below MQTT, as configured.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::address::ListenAddress;
use crate::network::Network;
use crate::tls::Certificates;

/// Everything that a [`crate::Listener`] is bound with.
#[derive(Clone, Debug)]
pub struct ListenerSettings {
    /// Where it listens and what it speaks.
    pub address: ListenAddress,
    /// Loaded certificates; set exactly where the address has TLS.
    pub certificates: Option<Arc<Certificates>>,
    /// Set exactly where the address has WebSocket.
    pub web: Option<WebSettings>,
    /// Sources that must begin with a PROXY header; from others it is not understood.
    pub proxy_from: Vec<Network>,
    /// All clients come through a proxy, whether it says so or not.
    pub is_behind_proxy: bool,
    /// Connections that one source address may open each second; 0: any number.
    pub connects_per_address_per_s: u32,
    /// Permission bits of a Unix socket.
    pub mode: u32,
    /// How the kernel finds out that a silent peer of TCP is gone; `None`: it does not.
    pub keep_alive: Option<KeepAlive>,
}

/// Questions of TCP to a peer that is silent: whoever has gone without a word, and has no keep alive of MQTT, is found out
/// by nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Silence before the first one.
    pub idle: Duration,
    /// Time between two of them.
    pub interval: Duration,
    /// How many stay without an answer before the connection is over.
    pub probes: u32,
}

impl ListenerSettings {
    /// Permission bits of a Unix socket where none are set: its owner and its group may connect.
    pub const MODE: u32 = 0o660;

    /// Plain settings for an address that needs nothing else (TCP or Unix).
    pub fn plain(address: ListenAddress) -> Self {
        ListenerSettings {
            address,
            certificates: None,
            web: None,
            proxy_from: Vec::new(),
            is_behind_proxy: false,
            connects_per_address_per_s: 0,
            mode: Self::MODE,
            keep_alive: None,
        }
    }
}

/// Where certificates lie, and what clients must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSettings {
    /// The server's certificate and those between it and the root, in PEM.
    pub certificate: PathBuf,
    /// Its private key, in PEM, not encrypted.
    pub key: PathBuf,
    /// Roots that client certificates must lead to, in PEM; needed unless clients show none.
    pub client_ca: Option<PathBuf>,
    /// Revocation lists of those authorities, in PEM; none: nothing is revoked. With any, every certificate of a chain needs
    /// the list of its authority.
    pub crls: Vec<PathBuf>,
    /// Whether clients show certificates.
    pub client_certificate: ClientCertificate,
}

/// Whether a TLS listener asks clients for a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientCertificate {
    /// It does not ask.
    #[default]
    None,
    /// It asks, and takes clients without one; a wrong one is refused.
    Optional,
    /// Without one the handshake fails.
    Required,
}

/// What a WebSocket listener takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebSettings {
    /// The path of the upgrade, as in `/mqtt`.
    pub path: String,
    /// Values of `Origin` that are taken beside the same host's; `*` takes all.
    pub origins: Vec<String>,
    /// Names of the listener, beside that in its address, under which pages of the same host may connect; `*` takes all.
    pub hosts: Vec<String>,
    /// Whoever connects is let in: so a page of any name that means this machine would be, too, if names were not compared.
    pub is_open: bool,
}
