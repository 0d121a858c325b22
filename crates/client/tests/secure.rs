//! The blocking client over TLS and WebSocket, against a scripted broker with certificates made here.

use lapwing_client::{BlockingClient, ClientError, Options, Publish, PublishProperties, QoS, ReasonCode, TlsOptions};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);
const CONNACK: &[u8] = &[0x20, 3, 0, 0, 0];
const BIG: usize = 3 << 20;

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Outcome = Result<(), Failure>;

/// An authority with a certificate for `localhost` and one for a client, as files.
struct Certificates {
    folder: tempfile::TempDir,
}

impl Certificates {
    fn new() -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        std::fs::write(folder.path().join("ca.pem"), authority.pem())?;
        for name in ["localhost", "client"] {
            let key = KeyPair::generate()?;
            let certificate = CertificateParams::new(vec![name.to_owned()])?.signed_by(&key, &authority)?;
            std::fs::write(folder.path().join(format!("{name}.pem")), certificate.pem())?;
            std::fs::write(folder.path().join(format!("{name}.key")), key.serialize_pem())?;
        }
        Ok(Self { folder })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn server(&self, wants_client: bool) -> Result<Arc<ServerConfig>, Failure> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(self.file("ca.pem"))?)?;
        let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let builder = if wants_client {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build()?;
            builder.with_client_cert_verifier(verifier)
        } else {
            builder.with_no_client_auth()
        };
        let chain = vec![CertificateDer::from_pem_file(self.file("localhost.pem"))?];
        Ok(Arc::new(builder.with_single_cert(chain, PrivateKeyDer::from_pem_file(self.file("localhost.key"))?)?))
    }
}

trait Both: Read + Write {}
impl<T: Read + Write> Both for T {}

/// A broker that takes one connection, wraps it, and does `script` with it.
fn broker<T: Both>(
    wrap: impl FnOnce(TcpStream) -> Result<T, Failure> + Send + 'static,
    script: impl FnOnce(&mut T) -> Outcome + Send + 'static,
) -> Result<(u16, JoinHandle<Outcome>), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let thread = thread::spawn(move || {
        let (stream, _) = listener.accept()?;
        stream.set_read_timeout(Some(PATIENCE))?;
        script(&mut wrap(stream)?)
    });
    Ok((port, thread))
}

fn secure(
    certificates: &Certificates,
    wants_client: bool,
) -> Result<impl FnOnce(TcpStream) -> Result<StreamOwned<ServerConnection, TcpStream>, Failure> + Send + use<>, Failure>
{
    let config = certificates.server(wants_client)?;
    Ok(move |stream| Ok(StreamOwned::new(ServerConnection::new(config)?, stream)))
}

/// Reads one packet of less than 16,384 bytes of length in one or two bytes.
fn packet(stream: &mut impl Read) -> Result<Vec<u8>, Failure> {
    let mut first = [0; 1];
    stream.read_exact(&mut first)?;
    let (mut length, mut shift, mut byte) = (0, 0, [0x80; 1]);
    while byte[0] & 0x80 != 0 {
        stream.read_exact(&mut byte)?;
        length |= usize::from(byte[0] & 0x7f) << shift;
        shift += 7;
    }
    let mut packet = vec![0; length];
    stream.read_exact(&mut packet)?;
    packet.insert(0, first[0]);
    Ok(packet)
}

/// Accepts, takes a large PUBLISH, sends one back, and waits for the goodbye.
fn exchange(stream: &mut impl Both) -> Outcome {
    packet(stream)?;
    stream.write_all(CONNACK)?;
    stream.flush()?;
    assert_eq!(packet(stream)?.len(), 1 + 3 + 1 + BIG);
    stream.write_all(&[0x30, 6, 0, 1, b't', 0, b'h', b'i'])?;
    stream.flush()?;
    assert_eq!(packet(stream)?[0], 0xe0);
    Ok(())
}

fn client(url: &str, tls: TlsOptions) -> Result<BlockingClient, ClientError> {
    BlockingClient::connect(url, &Options { tls, ..Options::default() }, PATIENCE)
}

fn trusting(ca: &Path) -> TlsOptions {
    TlsOptions { ca: Some(ca.to_owned()), ..TlsOptions::default() }
}

fn talk(url: &str, tls: TlsOptions, broker: JoinHandle<Outcome>) -> Outcome {
    let mut client = client(url, tls)?;
    let payload = vec![7; BIG];
    let properties = PublishProperties::default();
    let publish = Publish {
        dup: false,
        qos: QoS::AtMostOnce,
        retain: false,
        topic: "t",
        packet_id: None,
        properties,
        payload: &payload,
    };
    client.publish(&publish, PATIENCE)?;
    client.flush(PATIENCE)?;
    let message = client.receive(PATIENCE)?.ok_or("no message")?;
    assert_eq!(message.payload, b"hi");
    client.disconnect(ReasonCode::Success, None, PATIENCE)?;
    broker.join().map_err(|_| "the broker's script failed")?
}

/// Does a conversation with large messages come through TLS whole?
#[test]
fn over_tls() -> Outcome {
    let certificates = Certificates::new()?;
    let (port, broker) = broker(secure(&certificates, false)?, exchange)?;
    talk(&format!("tls://localhost:{port}"), trusting(&certificates.file("ca.pem")), broker)
}

/// Are files read that begin with a mark of their encoding, as other tools read them?
#[test]
fn files_that_begin_with_a_mark() -> Outcome {
    let certificates = Certificates::new()?;
    let (port, thread) = broker(secure(&certificates, true)?, exchange)?;
    for name in ["ca.pem", "client.pem", "client.key"] {
        let text = std::fs::read_to_string(certificates.file(name))?;
        std::fs::write(certificates.file(name), format!("\u{feff}{text}"))?;
    }
    let tls = TlsOptions {
        certificate: Some(certificates.file("client.pem")),
        key: Some(certificates.file("client.key")),
        ..trusting(&certificates.file("ca.pem"))
    };
    talk(&format!("tls://localhost:{port}"), tls, thread)
}

/// Does the client show its certificate to a broker that asks, and hear of it when it has none?
#[test]
fn client_certificates() -> Outcome {
    let certificates = Certificates::new()?;
    let (port, thread) = broker(secure(&certificates, true)?, exchange)?;
    let tls = TlsOptions {
        certificate: Some(certificates.file("client.pem")),
        key: Some(certificates.file("client.key")),
        ..trusting(&certificates.file("ca.pem"))
    };
    talk(&format!("tls://localhost:{port}"), tls, thread)?;

    let (port, _thread) = broker(secure(&certificates, true)?, exchange)?;
    let refused = client(&format!("tls://localhost:{port}"), trusting(&certificates.file("ca.pem")));
    assert!(matches!(refused, Err(ClientError::Tls(_) | ClientError::Lost(_))), "{refused:?}");
    Ok(())
}

/// Is a broker refused whose certificate is another host's, or signed by a stranger, or that speaks no TLS?
#[test]
fn untrusted() -> Outcome {
    let certificates = Certificates::new()?;
    let (port, _thread) = broker(secure(&certificates, false)?, exchange)?;
    let other_name = client(&format!("tls://127.0.0.1:{port}"), trusting(&certificates.file("ca.pem")));
    assert!(matches!(other_name, Err(ClientError::Tls(_))), "{other_name:?}");

    let (port, _thread) = broker(secure(&certificates, false)?, exchange)?;
    let stranger = Certificates::new()?;
    let other_authority = client(&format!("tls://localhost:{port}"), trusting(&stranger.file("ca.pem")));
    assert!(matches!(other_authority, Err(ClientError::Tls(_))), "{other_authority:?}");

    let (port, _thread) = broker(Ok, |stream| Ok(stream.write_all(CONNACK)?))?;
    let no_tls = client(&format!("tls://localhost:{port}"), trusting(&certificates.file("ca.pem")));
    assert!(matches!(no_tls, Err(ClientError::Tls(_) | ClientError::Lost(_))), "{no_tls:?}");
    Ok(())
}

/// Is a file that cannot be used named, before anything is sent?
#[test]
fn files() -> Outcome {
    let certificates = Certificates::new()?;
    let missing = certificates.file("none.pem");
    let ca = certificates.file("ca.pem");
    for tls in [
        trusting(&missing),
        trusting(&certificates.file("client.key")),
        TlsOptions { certificate: Some(missing.clone()), ..trusting(&ca) },
        TlsOptions { certificate: Some(certificates.file("client.pem")), ..trusting(&ca) },
        TlsOptions { key: Some(missing), ..trusting(&ca) },
    ] {
        match client("tls://localhost:1", tls) {
            Err(ClientError::Invalid(what)) => assert!(what.contains(".pem") || what.contains(".key"), "{what}"),
            other => panic!("{other:?}"),
        }
    }
    Ok(())
}

/// Is a key that nobody can use told as one, with its file: behind a pass phrase, of bytes that are none, or not there?
#[test]
fn keys_that_cannot_be_read() -> Outcome {
    let certificates = Certificates::new()?;
    let chain = std::fs::read_to_string(certificates.file("client.pem"))?;
    for (name, text) in [
        ("pkcs8.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n"),
        (
            "pkcs1.key",
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nMAA=\n\
             -----END RSA PRIVATE KEY-----\n",
        ),
        ("bytes.key", "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n"),
        ("chain.pem", &chain),
    ] {
        std::fs::write(certificates.file(name), text)?;
        let key = (name != "chain.pem").then(|| certificates.file(name));
        let certificate = certificates.file(if key.is_some() { "client.pem" } else { name });
        let tls = TlsOptions { certificate: Some(certificate), key, ..trusting(&certificates.file("ca.pem")) };
        match client("tls://localhost:1", tls) {
            Err(ClientError::Invalid(what)) => {
                assert!(what.contains(name) && what.contains("there is no private key that can be read"), "{what}");
                assert!(what.contains("without a pass phrase"), "{what}");
            }
            other => panic!("{other:?}"),
        }
    }
    match client("tls://localhost:1", trusting(Path::new(""))) {
        Err(ClientError::Invalid(what)) => assert!(what.starts_with("a file without a name cannot"), "{what}"),
        other => panic!("{other:?}"),
    }
    Ok(())
}

/// What a WebSocket broker sees as a stream of bytes: messages joined.
struct Joined {
    socket: tungstenite::WebSocket<TcpStream>,
    rest: Vec<u8>,
}

impl Read for Joined {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.rest.is_empty() {
            let message = self.socket.read().map_err(std::io::Error::other)?;
            if message.is_binary() {
                self.rest = message.into_data().to_vec();
            }
        }
        let count = buffer.len().min(self.rest.len());
        buffer[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Ok(count)
    }
}

impl Write for Joined {
    /// A byte a message, and a ping before each: the client must join them, and answer.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for byte in bytes {
            self.socket.write(tungstenite::Message::Ping(vec![*byte].into())).map_err(std::io::Error::other)?;
            self.socket.write(tungstenite::Message::binary(vec![*byte])).map_err(std::io::Error::other)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.socket.flush().map_err(std::io::Error::other)
    }
}

fn upgraded(stream: TcpStream) -> Result<Joined, Failure> {
    #[allow(clippy::result_large_err, reason = "tungstenite's own type")]
    let socket = tungstenite::accept_hdr(
        stream,
        |request: &tungstenite::handshake::server::Request, mut response: tungstenite::handshake::server::Response| {
            assert_eq!(request.uri().path(), "/mqtt");
            assert_eq!(request.headers()["sec-websocket-protocol"], "mqtt");
            let mqtt = tungstenite::http::HeaderValue::from_static("mqtt");
            response.headers_mut().insert("sec-websocket-protocol", mqtt);
            Ok(response)
        },
    )
    .map_err(|error| error.to_string())?;
    Ok(Joined { socket, rest: Vec::new() })
}

/// Does a conversation come through a WebSocket whole, wherever its messages end?
#[test]
fn over_websocket() -> Outcome {
    let (port, broker) = broker(upgraded, exchange)?;
    talk(&format!("ws://127.0.0.1:{port}"), TlsOptions::default(), broker)
}

/// Is an HTTP server that has no WebSocket there told from a broker?
#[test]
fn no_websocket() -> Outcome {
    let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    let (port, _thread) = broker(Ok, |stream| {
        let mut head = [0; 1024];
        let count = stream.read(&mut head)?;
        assert!(count > 0);
        Ok(stream.write_all(answer)?)
    })?;
    match client(&format!("ws://127.0.0.1:{port}/other"), TlsOptions::default()) {
        Err(ClientError::WebSocket(what)) => assert!(what.contains("404"), "{what}"),
        other => panic!("{other:?}"),
    }
    Ok(())
}
