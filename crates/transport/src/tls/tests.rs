//! Certificates made for the test, a client of `rustls`, and a listener with real sockets between them.

mod trust;

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::{KeyPair, SanType};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::*;
use crate::authority::Authority;
use crate::error::BindError;
use crate::listener::Listener;
use crate::settings::{ClientCertificate, ListenerSettings, TlsSettings};
use crate::socket::Socket;

impl Authority {
    /// Certificate and key, both in PEM.
    fn identity(&self, common: &[&str], alternative: &[SanType]) -> (String, String) {
        let (certificate, key) = self.issue(common, alternative);
        (certificate.pem(), key.serialize_pem())
    }

    /// A client that trusts this authority, with a certificate or without.
    fn client(&self, identity: Option<(String, String)>) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
        match identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        }
    }
}

fn listen(certificates: Arc<Certificates>) -> Listener {
    let mut settings = ListenerSettings::plain("tls://127.0.0.1:0".parse().unwrap());
    settings.certificates = Some(certificates);
    Listener::bind(settings).unwrap()
}

/// Connects in a thread; gives the client's side and the server's.
fn meet(listener: &Listener, config: ClientConfig) -> (std::thread::JoinHandle<std::io::Result<Vec<u8>>>, Socket) {
    let address = listener.url().trim_start_matches("tls://").to_owned();
    let client = std::thread::spawn(move || {
        let connection = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
        let mut stream = StreamOwned::new(connection, TcpStream::connect(address)?);
        stream.write_all(b"hello")?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer)
    });
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        assert!(Instant::now() < deadline, "nobody came");
        if let Some(accepted) = listener.accept().unwrap() {
            return (client, accepted.socket);
        }
    }
}

/// Reads once there is something: bytes, the end, or a refusal.
fn read(socket: &mut Socket) -> std::io::Result<Vec<u8>> {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut buffer = [0; 100];
    loop {
        assert!(Instant::now() < deadline, "nothing came");
        match socket.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::yield_now(),
            Ok(n) => return Ok(buffer[..n].to_vec()),
            Err(error) => return Err(error),
        }
    }
}

/// Writes all of `bytes`, and what waits inside.
fn write(socket: &mut Socket, mut bytes: &[u8]) {
    while !bytes.is_empty() || socket.has_unsent() {
        match if bytes.is_empty() { socket.flush().map(|()| 0) } else { socket.write(bytes) } {
            Ok(n) => bytes = &bytes[n..],
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }
}

/// Do bytes cross both ways, a megabyte of them, and does the client see an orderly end?
#[test]
fn bytes_cross() {
    let authority = Authority::new();
    let certificates = Certificates::load(authority.settings(ClientCertificate::None)).unwrap();
    let (client, mut socket) = meet(&listen(Arc::new(certificates)), authority.client(None));
    assert_eq!(read(&mut socket).unwrap(), b"hello");
    assert_eq!(socket.certificate_name(CertificateName::Common), None);
    let megabyte: Vec<u8> = (0..1 << 20).map(|n: u32| (n % 251) as u8).collect();
    write(&mut socket, &megabyte);
    socket.shutdown();
    assert_eq!(client.join().unwrap().unwrap(), megabyte);
}

/// Does a certificate's name reach us, of the kind asked for, and only if it is the only one?
#[test]
fn a_client_certificate_names_its_holder() {
    let authority = Authority::new();
    let certificates = Arc::new(Certificates::load(authority.settings(ClientCertificate::Optional)).unwrap());
    let listener = listen(certificates);
    let dns = |name: &str| SanType::DnsName(name.try_into().unwrap());
    let mail = |name: &str| SanType::Rfc822Name(name.try_into().unwrap());
    let uri = |name: &str| SanType::URI(name.try_into().unwrap());
    for (common, alternative, names) in [
        (&["device-7"][..], &[][..], (Some("device-7"), None)),
        (&["Zoë"], &[dns("seven.example")], (Some("Zoë"), Some("seven.example"))),
        (&["a"], &[mail("a@example.org")], (Some("a"), Some("a@example.org"))),
        (&["a"], &[uri("urn:device:7")], (Some("a"), Some("urn:device:7"))),
        (&["a", "b"], &[dns("a.example"), dns("b.example")], (None, None)),
        (&[], &[dns("only.example")], (None, Some("only.example"))),
        (&["with\nline"], &[], (None, None)),
    ] {
        let (client, mut socket) = meet(&listener, authority.client(Some(authority.identity(common, alternative))));
        assert_eq!(read(&mut socket).unwrap(), b"hello");
        let name = |which| socket.certificate_name(which);
        let found = (name(CertificateName::Common), name(CertificateName::Alternative));
        assert_eq!((found.0.as_deref(), found.1.as_deref()), names);
        drop(socket);
        let _ = client.join().unwrap();
    }
}

/// Is a client without a certificate, or with one of another authority, refused where one is required?
#[test]
fn a_required_certificate_is_required() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let certificates = Certificates::load(authority.settings(ClientCertificate::Required)).unwrap();
    let listener = listen(Arc::new(certificates));
    for identity in [None, Some(stranger.identity(&["device-7"], &[]))] {
        let (client, mut socket) = meet(&listener, authority.client(identity));
        assert_eq!(Refusal::of(&read(&mut socket).unwrap_err()), Some(Refusal::Tls));
        // And again, however often it is asked.
        assert_eq!(Refusal::of(&read(&mut socket).unwrap_err()), Some(Refusal::Tls));
        socket.shutdown();
        assert!(client.join().unwrap().is_err());
    }
}

/// Is what is no TLS refused, at every first byte, and are MQTT and HTTP told from the rest?
#[test]
fn rubbish_is_refused() {
    let authority = Authority::new();
    let certificates = Certificates::load(authority.settings(ClientCertificate::None)).unwrap();
    let listener = listen(Arc::new(certificates));
    for first in [0x00, 0x10, b'G', 0x15, 0x17, 0xff] {
        let mut client = TcpStream::connect(listener.url().trim_start_matches("tls://")).unwrap();
        client.write_all(&[first; 64]).unwrap();
        let mut socket = loop {
            if let Some(accepted) = listener.accept().unwrap() {
                break accepted.socket;
            }
        };
        let expected = if matches!(first, 0x10 | b'G') { Refusal::NoTls } else { Refusal::Tls };
        assert_eq!(Refusal::of(&read(&mut socket).unwrap_err()), Some(expected), "{first}");
    }
}

/// Do handshakes after a reload use the new files, and does a bad file leave the old ones in force?
#[test]
fn a_reload_changes_what_new_handshakes_use() {
    let (old, new) = (Authority::new(), Authority::new());
    let settings = old.settings(ClientCertificate::None);
    let certificates = Arc::new(Certificates::load(settings.clone()).unwrap());
    let listener = listen(certificates.clone());
    let is_trusted = |authority: &Authority| {
        let (client, mut socket) = meet(&listener, authority.client(None));
        let greeting = read(&mut socket);
        socket.shutdown();
        drop(socket);
        let _ = client.join().unwrap();
        greeting.is_ok_and(|greeting| greeting == b"hello")
    };
    assert!(is_trusted(&old) && !is_trusted(&new));

    fs::write(&settings.key, "not a key").unwrap();
    assert!(certificates.read_again().unwrap_err().to_string().contains("server.key"));
    assert!(is_trusted(&old));

    let renewed = new.settings(ClientCertificate::None);
    fs::copy(renewed.certificate, &settings.certificate).unwrap();
    fs::copy(renewed.key, &settings.key).unwrap();
    certificates.take(certificates.read_again().unwrap());
    assert!(is_trusted(&new) && !is_trusted(&old));
}

/// Does each file that cannot be used name itself, what is wrong and what to do, and nothing of its content?
#[test]
fn wrong_files_are_named() {
    let authority = Authority::new();
    let good = authority.settings(ClientCertificate::Required);
    let other_key = authority.write("other.key", &KeyPair::generate().unwrap().serialize_pem());
    let secret = authority.write("secret.txt", "sesame");
    let garbled = authority.write("garbled.pem", "-----BEGIN CERTIFICATE-----\n!sesame!\n-----END CERTIFICATE-----\n");
    let garbled_key =
        authority.write("garbled.key", "-----BEGIN PRIVATE KEY-----\nc2VzYW1l\n-----END PRIVATE KEY-----\n");
    let nowhere = authority.folder.path().join("nowhere.pem");
    let pipe = authority.folder.path().join("pipe.pem");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let with = |change: &dyn Fn(&mut TlsSettings)| {
        let mut settings = good.clone();
        change(&mut settings);
        Certificates::load(settings).unwrap_err()
    };
    for (error, file, what) in [
        (with(&|s| s.certificate.clone_from(&nowhere)), "nowhere.pem", "cannot be read"),
        (with(&|s| s.certificate.clone_from(&pipe)), "pipe.pem", "it is a pipe"),
        (with(&|s| s.key = "/dev/zero".into()), "/dev/zero", "it is no file"),
        (with(&|s| s.certificate.clone_from(&secret)), "secret.txt", "no certificate"),
        (with(&|s| s.certificate.clone_from(&garbled)), "garbled.pem", "PEM"),
        (with(&|s| s.key.clone_from(&secret)), "secret.txt", "no private key"),
        (with(&|s| s.key.clone_from(&garbled_key)), "garbled.key", "no private key"),
        (with(&|s| s.key.clone_from(&other_key)), "other.key", "does not belong"),
        (with(&|s| s.client_ca = Some(secret.clone())), "secret.txt", "no certificate"),
    ] {
        assert!(matches!(error, BindError::Certificate { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(file) && text.contains(what), "{text}");
        assert!(!error.remedy().is_empty() && !text.contains("sesame"), "{text}");
    }
}

/// Is half a ClientHello counted as it comes, within a bound, and a whole handshake as little?
#[test]
fn what_is_no_plaintext_yet_is_counted() {
    let authority = Authority::new();
    let certificates = Arc::new(Certificates::load(authority.settings(ClientCertificate::None)).unwrap());
    let listener = listen(certificates);
    let mut hostile = TcpStream::connect(listener.url().trim_start_matches("tls://")).unwrap();
    let mut socket = loop {
        if let Some(accepted) = listener.accept().unwrap() {
            break accepted.socket;
        }
    };
    let idle = socket.held_bytes();
    assert!(idle >= CONNECTION_BYTES);
    let record = |begin: &[u8]| [&[0x16, 3, 1, 0x40, 0], begin, &vec![0; 0x4000 - begin.len()][..]].concat();
    hostile.write_all(&record(&[1, 0, 0xff, 0xf0, 3, 3])).unwrap();
    // A little less than what a handshake may bring.
    hostile.write_all(&record(&[])[..12_000]).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while socket.held_bytes() < idle + (16 << 10) {
        assert!(Instant::now() < deadline, "{} bytes are counted", socket.held_bytes());
        let error = socket.read(&mut [0; 100]).expect_err("no plaintext");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }
    assert!(socket.held_bytes() <= CONNECTION_BYTES + GATHERED_BYTES_MAX as usize);
    let (client, mut socket) = meet(&listener, authority.client(None));
    assert_eq!(read(&mut socket).unwrap(), b"hello");
    assert!(socket.held_bytes() <= CONNECTION_BYTES + (8 << 10), "{}", socket.held_bytes());
    drop(socket);
    let _ = client.join().unwrap();
}
