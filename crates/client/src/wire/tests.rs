//! A wire against brokers that keep it busy with what is no byte of MQTT.

use super::*;
use rcgen::{CertificateParams, KeyPair};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use tungstenite::handshake::server::{Request, Response};
use tungstenite::http::HeaderValue;

const PATIENCE: Duration = Duration::from_secs(30);
const SOON: Duration = Duration::from_millis(300);
/// How often a byte comes from who sends single ones: long before `SOON` is over, again and again.
const PACE: Duration = Duration::from_millis(1);
/// Single bytes until it is clear that nobody looks at the clock.
const DRIPS: usize = 15_000;

type Secure = StreamOwned<ServerConnection, TcpStream>;

/// A broker with TLS, and the wire of a client at it.
fn secure(script: impl FnOnce(&mut Secure) -> io::Result<()> + Send + 'static) -> (Wire, JoinHandle<io::Result<()>>) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, certificate.pem()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::parse(&format!("tls://localhost:{}", listener.local_addr().unwrap().port())).unwrap();
    let server = std::thread::spawn(move || {
        let (tcp, _) = listener.accept()?;
        let mut stream = StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), tcp);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        script(&mut stream)
    });
    let options = TlsOptions { ca: Some(ca), ..TlsOptions::default() };
    (Wire::connect(&address, &options, Instant::now() + PATIENCE).unwrap(), server)
}

/// Sends `first`, then single bytes until `over` says that the client has had enough of them.
fn drip(tcp: &mut TcpStream, first: &[u8], over: &mpsc::Receiver<()>) -> io::Result<()> {
    tcp.set_nodelay(true)?;
    tcp.write_all(first)?;
    for _ in 0..DRIPS {
        match over.recv_timeout(PACE) {
            Err(RecvTimeoutError::Timeout) => tcp.write_all(&[0])?,
            _ => return Ok(()),
        }
    }
    Err(io::Error::new(ErrorKind::TimedOut, "the client heard all of it"))
}

/// Whether one wait ends with nothing though single bytes come all the while.
fn is_over_in_time(mut wire: Wire, ended: Sender<()>, server: JoinHandle<io::Result<()>>) {
    assert!(!wire.fill(Instant::now() + SOON).unwrap());
    drop(ended);
    server.join().unwrap().unwrap();
}

/// Is the time of a read over where a record of TLS comes by single bytes?
#[test]
fn a_record_by_single_bytes_is_not_waited_out() {
    let (ended, over) = mpsc::channel();
    // A record of the largest size that there is.
    let (wire, server) = secure(move |tls| drip(&mut tls.sock, &[23, 3, 3, 0x41, 0], &over));
    is_over_in_time(wire, ended, server);
}

/// And a message of a WebSocket, which is held until it is whole?
#[test]
fn a_message_by_single_bytes_is_not_waited_out() {
    let (ended, over) = mpsc::channel();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::parse(&format!("ws://{}", listener.local_addr().unwrap())).unwrap();
    let server = std::thread::spawn(move || {
        let (mut tcp, _) = listener.accept()?;
        upgrade(&mut tcp)?;
        drip(&mut tcp, &[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0], &over)
    });
    let wire = Wire::connect(&address, &TlsOptions::default(), Instant::now() + PATIENCE).unwrap();
    is_over_in_time(wire, ended, server);
}

/// Are all messages heard that came at once, by who looks again only when more comes?
#[test]
fn behind_messages_without_content_there_may_be_more() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::parse(&format!("ws://{}", listener.local_addr().unwrap())).unwrap();
    let server = std::thread::spawn(move || {
        let (mut tcp, _) = listener.accept()?;
        upgrade(&mut tcp)?;
        let mut said = [0x82, 0].repeat(1000);
        said.extend([0x82, 1, 7]);
        tcp.write_all(&said)?;
        // Until the client goes.
        tcp.read(&mut [0; 1]).map(drop)
    });
    let mut wire = Wire::connect(&address, &TlsOptions::default(), Instant::now() + PATIENCE).unwrap();
    wire.unblock().unwrap();
    let patience = Instant::now() + PATIENCE;
    // Some of it may have come with the handshake.
    while wire.read_now().unwrap() {}
    while wire.input.is_empty() {
        let mut polled = [PollFd::from_borrowed_fd(wire.fd(), PollFlags::IN)];
        let left = patience.saturating_duration_since(Instant::now()).as_secs();
        assert_eq!(poll(&mut polled, Some(&Timespec { tv_sec: left as i64, tv_nsec: 0 })).unwrap(), 1, "unheard");
        while wire.read_now().unwrap() {}
    }
    assert_eq!(wire.input, [7]);
    drop(wire);
    server.join().unwrap().unwrap();
}

/// Takes a request for a WebSocket with the subprotocol `mqtt`.
fn upgrade(tcp: &mut TcpStream) -> io::Result<()> {
    #[expect(clippy::result_large_err, reason = "the type is tungstenite's")]
    let with_protocol = |_: &Request, mut response: Response| {
        response.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("mqtt"));
        Ok(response)
    };
    tungstenite::accept_hdr(tcp, with_protocol).map(drop).map_err(|error| io::Error::other(error.to_string()))
}
