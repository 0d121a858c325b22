//! A server that takes everything and keeps nothing: the other end when the swarm itself is measured.
//!
//! Not a broker: it routes nothing and trusts its clients. A QoS 0 PUBLISH is only counted by its length, so the
//! sink keeps up with a swarm on another core. With `echo` it sends each QoS 0 PUBLISH back where it came from,
//! as it came; what a swarm then measures is its own overhead and two trips through the loopback.

use crate::error::SwarmError;
use crate::files;
use crate::link::{Drained, Link};
use lapwing_client::{Address, ClientError};
use lapwing_codec::{
    Ack, ConnAck, ConnAckProperties, Limits, Packet, ProtocolError, Publish, QoS, ReasonCode, ReasonProperties, SubAck,
    UnsubAck, Version, decode,
};
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const LISTENER: Token = Token(usize::MAX);
/// What is granted, by the QoS asked for.
const GRANTS: [ReasonCode; 3] = [ReasonCode::Success, ReasonCode::GrantedQoS1, ReasonCode::GrantedQoS2];

/// The settings of a sink.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SinkConfig {
    /// Name or IP address to listen on.
    pub host: String,
    /// TCP port; 0: the system chooses.
    pub port: u16,
    /// Send each QoS 0 PUBLISH back on its own connection.
    #[serde(default)]
    pub echo: bool,
    /// Break the connection that brings every n-th acknowledged PUBLISH, before the answer: for tests of reconnection.
    #[serde(default)]
    pub cut_every: Option<u64>,
    /// Never sleep.
    #[serde(default)]
    pub spin: bool,
    /// CPU of its thread.
    #[serde(default)]
    pub pin: Option<usize>,
}

impl SinkConfig {
    /// A plain sink that listens on `host` and `port`.
    pub fn on(host: &str, port: u16) -> Self {
        Self { host: host.to_owned(), port, echo: false, cut_every: None, spin: false, pin: None }
    }
}

/// What a sink has taken in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SinkFigures {
    /// Connections accepted so far.
    pub connections: u64,
    /// How often one could not be accepted (too many open files); it waits, and is tried again.
    pub accept_failures: u64,
    /// PUBLISH packets.
    pub publishes: u64,
    /// Bytes of these.
    pub publish_bytes: u64,
}

#[derive(Debug, Default)]
struct Shared {
    connections: AtomicU64,
    accept_failures: AtomicU64,
    publishes: AtomicU64,
    publish_bytes: AtomicU64,
    stopped: AtomicBool,
}

/// A running sink. Dropping it ends it.
#[derive(Debug)]
pub struct Sink {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Sink {
    /// Listens and starts the thread; this process may then have as many open files as its hard limit says.
    ///
    /// # Errors
    /// `System`: the address cannot be listened on.
    pub fn start(config: &SinkConfig) -> Result<Self, SwarmError> {
        files::raise_limit()?;
        let host = Address::tcp(&config.host, 1);
        let mut address = *host
            .resolve()
            .map_err(|error| SwarmError::Profile {
                key: "host",
                value: config.host.clone(),
                remedy: error.to_string(),
            })?
            .first()
            .ok_or(SwarmError::Usage("the name has no address"))?;
        address.set_port(config.port);
        let cannot = SwarmError::system("cannot listen for the sink");
        let mut listener = TcpListener::bind(address).map_err(&cannot)?;
        let address = listener.local_addr().map_err(&cannot)?;
        let poll = Poll::new().map_err(&cannot)?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE).map_err(&cannot)?;
        let shared = Arc::new(Shared::default());
        let server = Server {
            listener,
            poll,
            shared: shared.clone(),
            config: config.clone(),
            connections: HashMap::new(),
            next: 0,
            scratch: Vec::new(),
            has_waiting: false,
        };
        let thread = thread::Builder::new().name("sink".to_owned()).spawn(move || server.run());
        Ok(Self { address, shared, thread: Some(thread.map_err(&cannot)?) })
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("tcp://{}", self.address)
    }

    /// What it has taken in.
    pub fn figures(&self) -> SinkFigures {
        SinkFigures {
            connections: self.shared.connections.load(Relaxed),
            accept_failures: self.shared.accept_failures.load(Relaxed),
            publishes: self.shared.publishes.load(Relaxed),
            publish_bytes: self.shared.publish_bytes.load(Relaxed),
        }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // A sink that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}

struct Connection {
    link: Link,
    version: Version,
}

struct Server {
    listener: TcpListener,
    poll: Poll,
    shared: Arc<Shared>,
    config: SinkConfig,
    connections: HashMap<usize, Connection>,
    next: usize,
    scratch: Vec<u8>,
    /// A connection may wait that could not be accepted: of it no event comes again.
    has_waiting: bool,
}

impl Server {
    fn run(mut self) {
        if let Some(id) = self.config.pin {
            core_affinity::set_for_current(core_affinity::CoreId { id });
        }
        let wait = Duration::from_millis(if self.config.spin { 0 } else { 20 });
        let mut events = Events::with_capacity(1024);
        let mut again: Vec<usize> = Vec::new();
        while !self.shared.stopped.load(Relaxed) {
            let timeout = if again.is_empty() { wait } else { Duration::ZERO };
            if self.poll.poll(&mut events, Some(timeout)).is_err_and(|error| error.kind() != ErrorKind::Interrupted) {
                return;
            }
            if self.has_waiting {
                self.accept();
            }
            let mut ready = std::mem::take(&mut again);
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(),
                    Token(id) => ready.push(id),
                }
            }
            for id in ready {
                match self.serve(id) {
                    Ok(Drained::Yes) => {}
                    Ok(Drained::No) => again.push(id),
                    // Whatever it was, a client of the sink is gone; it notices by itself.
                    Err(_) => drop(self.connections.remove(&id)),
                }
            }
        }
    }

    /// Takes every connection that waits. An error (too many open files) leaves the rest waiting, for the next turn.
    fn accept(&mut self) {
        self.has_waiting = false;
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.shared.accept_failures.fetch_add(1, Relaxed);
                    self.has_waiting = true;
                    return;
                }
            };
            let id = self.next;
            let link =
                Link::new(stream).and_then(|mut link| link.register(self.poll.registry(), Token(id)).map(|()| link));
            let Ok(link) = link else { continue };
            self.next += 1;
            self.shared.connections.fetch_add(1, Relaxed);
            self.connections.insert(id, Connection { link, version: Version::V5 });
        }
    }

    fn serve(&mut self, id: usize) -> Result<Drained, ClientError> {
        let Some(Connection { link, version }) = self.connections.get_mut(&id) else { return Ok(Drained::Yes) };
        link.writable()?;
        let (shared, config) = (&*self.shared, &self.config);
        let drained = link.receive(&mut self.scratch, |bytes, output| take(bytes, version, config, output, shared))?;
        link.flush()?;
        Ok(drained)
    }
}

/// Handles every whole packet of `bytes`; gives how many bytes these were.
fn take(
    bytes: &[u8],
    version: &mut Version,
    config: &SinkConfig,
    output: &mut Vec<u8>,
    shared: &Shared,
) -> Result<usize, ClientError> {
    let (mut used, mut publishes, mut publish_bytes) = (0, 0, 0);
    let before = shared.publishes.load(Relaxed);
    while let Some(len) = frame_len(&bytes[used..]) {
        let frame = &bytes[used..used + len];
        used += len;
        if frame[0] >> 4 == 3 {
            publishes += 1;
            publish_bytes += len as u64;
            if frame[0] & 0b110 == 0 {
                output.extend_from_slice(if config.echo { frame } else { &[] });
                continue;
            }
        }
        if frame[0] >> 4 == 3 && config.cut_every.is_some_and(|n| (before + publishes).is_multiple_of(n)) {
            shared.publishes.fetch_add(publishes, Relaxed);
            return Err(ClientError::NotConnected);
        }
        if let Some((packet, _)) = decode(frame, *version, &Limits::PROTOCOL)? {
            answer(&packet, version, output)?;
        }
    }
    shared.publishes.fetch_add(publishes, Relaxed);
    shared.publish_bytes.fetch_add(publish_bytes, Relaxed);
    Ok(used)
}

/// Length of the packet at the start of `bytes`; `None` when it is not whole (or never will be: a length of five bytes).
fn frame_len(bytes: &[u8]) -> Option<usize> {
    let mut len = 0;
    for (index, byte) in bytes.get(1..)?.iter().take(4).enumerate() {
        len |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            let whole = 2 + index + len;
            return (bytes.len() >= whole).then_some(whole);
        }
    }
    None
}

fn answer(packet: &Packet<'_>, version: &mut Version, output: &mut Vec<u8>) -> Result<(), ClientError> {
    let properties = ReasonProperties::EMPTY;
    let answer = match packet {
        Packet::Connect(connect) => {
            *version = connect.version;
            let properties = ConnAckProperties::default();
            Packet::ConnAck(ConnAck { session_present: false, reason: ReasonCode::Success, properties })
        }
        Packet::Publish(Publish { qos: QoS::AtLeastOnce, packet_id: Some(id), .. }) => {
            Packet::PubAck(Ack::success(*id))
        }
        Packet::Publish(Publish { packet_id: Some(id), .. }) => Packet::PubRec(Ack::success(*id)),
        Packet::PubRel(ack) => Packet::PubComp(Ack::success(ack.packet_id)),
        Packet::PingReq => Packet::PingResp,
        Packet::Subscribe(subscribe) => {
            let reasons: Vec<_> = subscribe.filters.iter().map(|f| GRANTS[f.options.qos as usize]).collect();
            let suback = SubAck { packet_id: subscribe.packet_id, properties, reasons: &reasons };
            return Ok(Packet::SubAck(suback).encode(*version, output)?);
        }
        Packet::Unsubscribe(unsubscribe) => {
            let reasons = vec![ReasonCode::Success; unsubscribe.filters.len()];
            let unsuback = UnsubAck { packet_id: unsubscribe.packet_id, properties, reasons: &reasons };
            return Ok(Packet::UnsubAck(unsuback).encode(*version, output)?);
        }
        Packet::Disconnect(_) => return Err(ClientError::NotConnected),
        _ => return Err(ProtocolError::new(ReasonCode::ProtocolError, "no packet for a sink", 0).into()),
    };
    Ok(answer.encode(*version, output)?)
}
