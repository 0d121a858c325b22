//! An authority of the test's own, a node that speaks TLS with its certificate, and clients that do or do not.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lapwing_codec::{Limits, Packet, ReasonCode, Version, decode};
use lapwing_node::{Config, Handle, ListenerConfig};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;

use crate::packets::connect;

/// Signs what a listener shows.
pub struct Authority {
    folder: TempDir,
    pem: String,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new([]).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        let issuer = Issuer::new(params, key);
        let authority = Authority { folder: TempDir::new().expect("a folder"), pem };
        let own = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
        authority.write("server.pem", &params.signed_by(&own, &issuer).expect("a certificate").pem());
        authority.write("server.key", &own.serialize_pem());
        authority
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("the folder is there");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A listener on a free port of `scheme`.
    pub fn listener(&self, scheme: &str) -> ListenerConfig {
        ListenerConfig {
            certificate: Some(self.path("server.pem")),
            key: Some(self.path("server.key")),
            ..ListenerConfig::at(&format!("{scheme}://127.0.0.1:0"))
        }
    }

    /// A node with one listener, for a configuration in JSON.
    pub fn node(&self, json: &str, change: impl FnOnce(&mut ListenerConfig)) -> Handle {
        let mut config = Config::from_json(json).expect("the test's configuration is right");
        let mut listener = self.listener("tls");
        change(&mut listener);
        (config.listen, config.listeners, config.pin) = (vec![], vec![listener], false);
        Handle::start(config).expect("the node starts")
    }

    /// What a client trusts.
    pub fn client(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).expect("PEM")).expect("a root");
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().expect("versions");
        Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
    }
}

fn address(node: &Handle) -> SocketAddr {
    let url = &node.listeners()[0];
    url.split_once("://").and_then(|(_, address)| address.parse().ok()).expect("an address")
}

/// A connection without TLS.
pub fn open(node: &Handle) -> TcpStream {
    let stream = TcpStream::connect(address(node)).expect("the node listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    stream
}

/// A ClientHello as bytes.
pub fn hello(config: &Arc<ClientConfig>) -> Vec<u8> {
    let mut connection = session(config);
    let mut bytes = Vec::new();
    connection.write_tls(&mut bytes).expect("memory takes it");
    bytes
}

fn session(config: &Arc<ClientConfig>) -> ClientConnection {
    ClientConnection::new(config.clone(), "localhost".try_into().expect("a name")).expect("a client")
}

/// Whether the node closes `stream` without waiting for anything more.
pub fn is_closed(stream: &mut TcpStream) -> bool {
    let mut bytes = [0; 4096];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(_) => return true,
        }
    }
}

/// A client that does it right, from an address of loopback that is its own.
pub struct TlsClient {
    stream: StreamOwned<ClientConnection, TcpStream>,
}

impl TlsClient {
    /// `last`: of 127.0.0.`last`. Its CONNECT leaves with the last bytes of the handshake.
    pub fn connect(node: &Handle, config: &Arc<ClientConfig>, last: u8, id: &str) -> Self {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
        let from = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)), 0);
        socket.bind(&from.into()).expect("all of 127/8 is ours");
        socket.connect(&address(node).into()).expect("the node listens");
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        let mut client = TlsClient { stream: StreamOwned::new(session(config), stream) };
        client.send(&Packet::Connect(connect(id)));
        client
    }

    pub fn send(&mut self, packet: &Packet<'_>) {
        let mut bytes = Vec::new();
        packet.encode(Version::V5, &mut bytes).expect("the test's packet can be encoded");
        self.stream.write_all(&bytes).expect("the node reads");
    }

    /// The reason of the CONNACK.
    pub fn connack(&mut self) -> ReasonCode {
        let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
        loop {
            if let Some((packet, _)) = decode(&bytes, Version::V5, &Limits::PROTOCOL).expect("the node speaks MQTT") {
                let Packet::ConnAck(ack) = packet else { panic!("expected CONNACK, got {packet:?}") };
                return ack.reason;
            }
            match self.stream.read(&mut chunk).expect("something comes") {
                0 => panic!("the node closed the connection, expected CONNACK"),
                n => bytes.extend_from_slice(&chunk[..n]),
            }
        }
    }
}
