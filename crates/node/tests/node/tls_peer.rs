//! An authority of the test's own, a node that speaks TLS with its certificate, and clients that do or do not.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use lapwing_codec::{Limits, Packet, ReasonCode, Version, decode};
use lapwing_node::{ClientCertificateMode, Config, Handle, ListenerConfig};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, IsCa, Issuer, KeyIdMethod, KeyPair,
    RevokedCertParams, SerialNumber, date_time_ymd,
};
use rustls::client::WantsClientCert;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, ConfigBuilder, RootCertStore, StreamOwned};
use tempfile::TempDir;

use crate::packets::connect;

/// Signs what a listener shows.
pub struct Authority {
    folder: TempDir,
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new([]).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        let issuer = Issuer::new(params, key);
        let authority = Authority { folder: TempDir::new().expect("a folder"), issuer, pem };
        let own = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
        authority.write("server.pem", &params.signed_by(&own, &authority.issuer).expect("a certificate").pem());
        authority.write("ca.pem", &authority.pem);
        authority.write("server.key", &own.serialize_pem());
        authority
    }

    /// Writes the list of what it has revoked.
    pub fn revoke(&self, serials: &[u64]) {
        let revoked = |serial: &u64| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(2090, 1, 1),
            crl_number: SerialNumber::from(1_u64),
            issuing_distribution_point: None,
            revoked_certs: serials.iter().map(revoked).collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        self.write("list.pem", &params.signed_by(&self.issuer).expect("a list").pem().expect("a list"));
    }

    /// Lets a listener ask for certificates of this authority, with its list.
    pub fn require(&self, listener: &mut ListenerConfig) {
        listener.client_ca = Some(self.path("ca.pem"));
        listener.client_certificate = ClientCertificateMode::Required;
        listener.crl = vec![self.path("list.pem")];
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
        Arc::new(self.trusting().with_no_client_auth())
    }

    /// The same, with a certificate of its own that is good for so long.
    pub fn client_numbered(&self, serial: u64, good_for: Duration) -> Arc<ClientConfig> {
        let mut params = CertificateParams::new([]).expect("parameters");
        params.serial_number = Some(SerialNumber::from(serial));
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is right");
        params.not_after = date_time_ymd(1970, 1, 1) + since_1970 + good_for;
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        Arc::new(self.trusting().with_client_auth_cert(vec![certificate.der().clone()], key).expect("they fit"))
    }

    fn trusting(&self) -> ConfigBuilder<ClientConfig, WantsClientCert> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).expect("PEM")).expect("a root");
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        builder.with_safe_default_protocol_versions().expect("versions").with_root_certificates(roots)
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

    /// Like `connect`, for a node that may refuse the handshake: what it answers to the CONNECT, if anything.
    pub fn try_connect(node: &Handle, config: &Arc<ClientConfig>, id: &str) -> std::io::Result<()> {
        let mut stream = StreamOwned::new(session(config), open(node));
        let mut bytes = Vec::new();
        Packet::Connect(connect(id)).encode(Version::V5, &mut bytes).expect("the test's packet can be encoded");
        stream.write_all(&bytes)?;
        stream.read_exact(&mut [0])
    }

    pub fn send(&mut self, packet: &Packet<'_>) {
        let mut bytes = Vec::new();
        packet.encode(Version::V5, &mut bytes).expect("the test's packet can be encoded");
        self.stream.write_all(&bytes).expect("the node reads");
    }

    /// The next bytes must be a PINGRESP.
    pub fn expect_pong(&mut self) {
        let mut bytes = [0; 2];
        self.stream.read_exact(&mut bytes).expect("something comes");
        assert_eq!(bytes, [0xd0, 0]);
    }

    /// The reason of the DISCONNECT; `None` when the connection ends without one.
    pub fn disconnected(&mut self) -> Option<ReasonCode> {
        let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
        loop {
            if let Some((packet, _)) = decode(&bytes, Version::V5, &Limits::PROTOCOL).expect("the node speaks MQTT") {
                let Packet::Disconnect(disconnect) = packet else { panic!("expected DISCONNECT, got {packet:?}") };
                return Some(disconnect.reason);
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return None,
                Ok(n) => bytes.extend_from_slice(&chunk[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("nothing came within the time limit"),
                Err(_) => return None,
            }
        }
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
