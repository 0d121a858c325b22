//! What all shards know of each listener: whom it takes, and how many came.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use lapwing_transport::{Certificates, Datagrams, FreshCertificates, KeepAlive, Listener, ListenerSettings};

use crate::config::{Config, Durability, IdentitySource, ListenerConfig};
use crate::error::NodeError;
use crate::metrics::Metric;

/// The place of a listener among all of the node; a connection remembers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ListenerId(pub(crate) u16);

/// One listener, seen from its connections.
#[derive(Debug)]
pub(crate) struct ListenerState {
    /// The address clients connect to.
    pub(crate) url: String,
    /// Whether clients may come without naming themselves.
    pub(crate) anonymous: bool,
    /// What tells who a client is.
    pub(crate) identity: IdentitySource,
    /// Largest packet that a client may send here.
    pub(crate) packet_bytes_max: u32,
    /// Its clients do not speak MQTT: somebody inside the process does so for them.
    pub(crate) is_inside: bool,
    /// Sessions that begin here are kept on disk, if they outlive their connections.
    pub(crate) keeps_sessions: bool,
    connections_max: u32,
    /// Open connections; written by every shard when one comes or goes.
    connections: AtomicU32,
    certificates: Option<Arc<Certificates>>,
}

/// All listeners of a node, in the order of the configuration.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    all: Vec<ListenerState>,
    /// Goes up whenever certificates were read again; written by the handle.
    version: AtomicU64,
}

/// What a listener's address is bound to, with the listener's place.
#[derive(Debug, Default)]
pub(crate) struct Bound {
    pub(crate) listeners: Vec<(ListenerId, Listener)>,
    /// Of MQTT-SN.
    pub(crate) datagrams: Vec<(ListenerId, Vec<Datagrams>)>,
}

/// Bits of an RSA key from which its signatures are told to be dear.
const DEAR_RSA_BITS: u32 = 4096;

impl Listeners {
    /// Binds every listener of `config`.
    ///
    /// # Errors
    /// `Config`, `Bind`; those bound before are closed again.
    pub(crate) fn bind(config: &Config) -> Result<(Bound, Listeners), NodeError> {
        let (mut bound, mut states, patience) = (Bound::default(), Vec::new(), patience(config));
        for ((index, listener), number) in config.all_listeners().iter().enumerate().zip(config.listener_numbers()) {
            let settings = ListenerSettings { keep_alive: keep_alive(config), ..listener.settings(number, patience)? };
            let (id, certificates) = (ListenerId(index as u16), settings.certificates.clone());
            if settings.address.scheme().has_datagrams() {
                let (sockets, url) = Datagrams::bind(&settings.address)?;
                let state = ListenerState::new(config, listener, &url, certificates)?;
                states.push(ListenerState { is_inside: true, ..state });
                bound.datagrams.push((id, sockets));
                continue;
            }
            let taken = Listener::bind(settings)?;
            states.push(ListenerState::new(config, listener, taken.url(), certificates)?);
            bound.listeners.push((id, taken));
        }
        Ok((bound, Listeners { all: states, version: AtomicU64::new(0) }))
    }

    /// What a start would refuse of the listeners' settings and files, all of it; no port is touched.
    pub(crate) fn faults(config: &Config) -> Vec<NodeError> {
        let (listeners, patience) = (config.all_listeners(), patience(config));
        let listeners = config.listener_numbers().zip(&listeners);
        listeners.filter_map(|(number, listener)| listener.settings(number, patience).err()).collect()
    }

    pub(crate) fn get(&self, id: ListenerId) -> &ListenerState {
        &self.all[usize::from(id.0)]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ListenerState> {
        self.all.iter()
    }

    /// Reads the files of all listeners again, in their order; nothing is in force yet.
    ///
    /// # Errors
    /// `Bind`, `Reload`: all that cannot be used.
    pub(crate) fn read_again(&self) -> Result<Vec<FreshCertificates>, NodeError> {
        let (mut fresh, mut failures) = (Vec::new(), Vec::new());
        for held in self.with_certificates() {
            match held.read_again() {
                Ok(read) => fresh.push(read),
                Err(error) => failures.push(error),
            }
        }
        match failures.len() {
            0 => Ok(fresh),
            1 => Err(NodeError::Bind(failures.remove(0))),
            _ => Err(NodeError::Reload(failures)),
        }
    }

    /// Takes what [`Listeners::read_again`] has read; returns for how many listeners.
    pub(crate) fn take(&self, fresh: Vec<FreshCertificates>) -> usize {
        let taken = fresh.len();
        self.with_certificates().zip(fresh).for_each(|(held, fresh)| held.take(fresh));
        if taken > 0 {
            self.version.fetch_add(1, Ordering::AcqRel);
        }
        taken
    }

    fn with_certificates(&self) -> impl Iterator<Item = &Arc<Certificates>> {
        self.all.iter().filter_map(|state| state.certificates.as_ref())
    }

    /// How often certificates were read again: connections are held against what they say now.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// What the operator should hear of the listeners' keys.
    pub(crate) fn notices(&self) -> Vec<String> {
        let dear = |state: &ListenerState| {
            let (file, bits) = state.certificates.as_ref()?.rsa_key().filter(|(_, bits)| *bits >= DEAR_RSA_BITS)?;
            Some(format!(
                "{}: the key in {} is RSA of {bits} bits, each handshake with it costs about ten times one with RSA 2048 and a \
                 hundred times one with ECDSA P-256; take an ECDSA key if your clients can",
                state.url,
                file.display()
            ))
        };
        self.all.iter().filter_map(dear).collect()
    }

    pub(crate) fn metrics(&self) -> impl Iterator<Item = Metric> {
        self.all.iter().map(|state| {
            let open = u64::from(state.connections.load(Ordering::Relaxed));
            let help = "Open connections, by the listener that they came through.";
            Metric::gauge("lapwing_listener_connections", help, open).with("listener", state.url.clone())
        })
    }
}

/// How long a handshake of datagrams may take: as long as a connection has for its CONNECT.
fn patience(config: &Config) -> Duration {
    Duration::from_millis(config.limits.connect_timeout_ms)
}

/// How silent peers of TCP are asked after; `None`: not at all.
fn keep_alive(config: &Config) -> Option<KeepAlive> {
    let limits = &config.limits;
    let seconds = |seconds: u16| Duration::from_secs(u64::from(seconds));
    (limits.tcp_keep_alive_s > 0).then(|| KeepAlive {
        idle: seconds(limits.tcp_keep_alive_s),
        interval: seconds(limits.tcp_keep_alive_interval_s),
        probes: u32::from(limits.tcp_keep_alive_probes),
    })
}

impl ListenerState {
    /// Where it has TLS or DTLS.
    pub(crate) fn certificates(&self) -> Option<&Arc<Certificates>> {
        self.certificates.as_ref()
    }

    /// The revocation list that is over first, and when.
    pub(crate) fn revocations_end(&self) -> Option<(SystemTime, PathBuf)> {
        self.certificates.as_ref()?.revocations_end()
    }

    fn new(
        node: &Config,
        own: &ListenerConfig,
        url: &str,
        certificates: Option<Arc<Certificates>>,
    ) -> Result<Self, NodeError> {
        Ok(ListenerState {
            url: url.to_owned(),
            anonymous: own.takes_anonymous()?,
            identity: own.identity,
            packet_bytes_max: own.packet_bytes_max.unwrap_or(node.limits.packet_bytes_max),
            is_inside: false,
            keeps_sessions: node.keeps_sessions() && own.durability != Some(Durability::Memory),
            connections_max: own.places(node.limits.connections_max),
            connections: AtomicU32::new(0),
            certificates,
        })
    }

    /// Counts a new connection; false when there are too many of this listener and none `gives_way`.
    pub(crate) fn opened(&self, gives_way: impl FnOnce() -> bool) -> bool {
        let before = self.connections.fetch_add(1, Ordering::Relaxed);
        if self.connections_max > 0 && before >= self.connections_max && !gives_way() {
            self.closed();
            return false;
        }
        true
    }

    /// Whether it has as many as it may have.
    pub(crate) fn is_full(&self) -> bool {
        self.connections_max > 0 && self.connections.load(Ordering::Relaxed) >= self.connections_max
    }

    pub(crate) fn closed(&self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
