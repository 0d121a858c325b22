//! Programs that are no nodes: clients of TLS as anybody can write them, and what is no TLS at all.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::JoinHandle;

use rcgen::SanType;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion, version};

use super::*;
use crate::authority::Authority as OwnAuthority;

/// What a stranger shows and says that it speaks.
struct Stranger<'a> {
    ca: &'a str,
    identity: Option<(String, String)>,
    protocols: &'a [&'a str],
    version: &'static SupportedProtocolVersion,
}

impl Stranger<'_> {
    fn connection(self) -> ClientConnection {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.ca.as_bytes()).unwrap()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_protocol_versions(&[self.version]).unwrap().with_root_certificates(roots);
        let mut config = match self.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
                builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap()).unwrap()
            }
        };
        config.alpn_protocols = self.protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        ClientConnection::new(Arc::new(config), name(2).server_name().try_into().unwrap()).unwrap()
    }

    /// Connects in a thread, and waits for what the node says; that node's end.
    fn come(self, server: &PeerTls, are_joining: bool) -> (JoinHandle<io::Result<Vec<u8>>>, PeerStream) {
        let (mut listener, connection) = (listen(), self.connection());
        let stream = TcpStream::connect(listener.address()).unwrap();
        let client = std::thread::spawn(move || {
            let mut answer = Vec::new();
            StreamOwned::new(connection, stream).read_to_end(&mut answer).map(|_| answer)
        });
        (client, accept(&mut listener, server, are_joining))
    }

    /// Why it is refused, and what it is told.
    fn refused(self, server: &PeerTls, are_joining: bool) -> (PeerRefusal, String) {
        let (client, mut far) = self.come(server, are_joining);
        let error = until(|| read(&mut far, &mut [0; 8])).unwrap_err();
        drop(far);
        (PeerRefusal::of(&error).unwrap(), client.join().unwrap().unwrap_err().to_string())
    }
}

/// Is a certificate required of whoever speaks as nodes do, while somebody may join, too; and of nobody who joins?
#[test]
fn no_certificate_is_for_joining_only() {
    let authority = founded();
    let two = node(&authority, 2);
    let stranger =
        |protocols| Stranger { ca: authority.certificate_pem(), identity: None, protocols, version: &version::TLS13 };
    for are_joining in [false, true] {
        let (refusal, told) = stranger(&["lapwing-peer/1"]).refused(&two, are_joining);
        assert_eq!(refusal, PeerRefusal::NoCertificate);
        assert!(told.contains("CertificateRequired"), "{told}");
    }
    let (refusal, told) = stranger(&["lapwing-join/1"]).refused(&two, false);
    assert_eq!(refusal, PeerRefusal::NoProtocol);
    assert!(told.contains("NoApplicationProtocol"), "{told}");
    let (client, mut far) = stranger(&["lapwing-peer/1", "lapwing-join/1"]).come(&two, true);
    until(|| {
        assert!(read(&mut far, &mut [0; 8]).is_none_or(|read| panic!("{read:?}")));
        (!far.is_shaking()).then_some(())
    });
    assert_eq!((far.peer(), far.protocol()), (None, Some(PeerProtocol::Join)));
    assert!(until(|| far.write(b"who are you?").ok()) > 0 && !far.wants_write());
    far.shutdown();
    assert_eq!(client.join().unwrap().unwrap(), b"who are you?");
}

/// Is who has a node's certificate and does not say what it speaks, or speaks something else, or an older TLS, refused?
#[test]
fn one_protocol_and_one_version_are_spoken() {
    let authority = founded();
    let two = node(&authority, 2);
    for (protocols, version, expected) in [
        (&[][..], &version::TLS13, PeerRefusal::NoProtocol),
        (&["h2", "http/1.1"][..], &version::TLS13, PeerRefusal::NoProtocol),
        (&["lapwing-peer/1"][..], &version::TLS12, PeerRefusal::Tls),
    ] {
        for are_joining in [false, true] {
            let identity = Some(issued(&authority, 1, SystemTime::now()));
            let stranger = Stranger { ca: authority.certificate_pem(), identity, protocols, version };
            let (client, mut far) = stranger.come(&two, are_joining);
            let error = until(|| read(&mut far, &mut [0; 8])).unwrap_err();
            assert_eq!(PeerRefusal::of(&error), Some(expected), "{protocols:?}");
            drop(far);
            assert!(client.join().unwrap().is_err());
        }
    }
}

/// Is a certificate of the right authority for something else no node's: a device's, one with two nodes in
/// it, one of another cluster?
#[test]
fn a_certificate_names_one_node() {
    let authority = OwnAuthority::new();
    let uri = |text: String| SanType::URI(text.try_into().unwrap());
    let issue = |names: &[SanType]| {
        let (certificate, key) = authority.issue(&["device-7"], names);
        (certificate.pem(), key.serialize_pem())
    };
    let dns = SanType::DnsName(name(2).server_name().try_into().unwrap());
    let two = node_of(issue(&[uri(name(2).uri()), dns.clone()]), &[&authority.pem]);
    let elsewhere = NodeName::new([0xc2; 16], 1).unwrap().uri();
    for (names, expected) in [
        (&[][..], PeerRefusal::Nameless),
        (&[dns], PeerRefusal::Nameless),
        (&[uri(name(1).uri()), uri(name(3).uri())], PeerRefusal::Nameless),
        (&[uri("urn:device:7".into())], PeerRefusal::Nameless),
        (&[uri(elsewhere)], PeerRefusal::OtherCluster),
    ] {
        let stranger = Stranger {
            ca: &authority.pem,
            identity: Some(issue(names)),
            protocols: &["lapwing-peer/1"],
            version: &version::TLS13,
        };
        assert_eq!(stranger.refused(&two, false).0, expected, "{names:?}");
    }
}

/// Is what is no TLS cut, on both sides, and what never ends as a handshake?
#[test]
fn what_is_no_tls_is_cut() {
    let authority = founded();
    let two = node(&authority, 2);
    for said in ["GET / HTTP/1.1\r\n\r\n", "\u{10}\u{c}\0\u{4}MQTT\u{4}\u{2}\0\0\0\0", "LapwPeer and more"] {
        let mut listener = listen();
        let mut client = TcpStream::connect(listener.address()).unwrap();
        client.write_all(said.as_bytes()).unwrap();
        let mut far = accept(&mut listener, &two, true);
        for _ in 0..2 {
            let error = until(|| read(&mut far, &mut [0; 8])).unwrap_err();
            assert_eq!(PeerRefusal::of(&error), Some(PeerRefusal::NoTls), "{said:?}");
        }
    }
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut near = PeerStream::connect(plain.local_addr().unwrap(), &two, Some(1)).unwrap();
    plain.accept().unwrap().0.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    let error = until(|| read(&mut near, &mut [0; 8])).unwrap_err();
    assert_eq!(PeerRefusal::of(&error), Some(PeerRefusal::NoTls));
}

/// Is a handshake that stands still nothing but that, for its owner to end; does it go on when more comes; and is one that
/// brings too much cut?
#[test]
fn half_a_handshake_waits_for_its_owner() {
    let authority = founded();
    let (two, mut listener) = (node(&authority, 2), listen());
    let stranger = Stranger {
        ca: authority.certificate_pem(),
        identity: None,
        protocols: &["lapwing-peer/1"],
        version: &version::TLS13,
    };
    let mut hello = Vec::new();
    stranger.connection().write_tls(&mut hello).unwrap();
    let (begin, rest) = hello.split_at(100);
    let mut client = TcpStream::connect(listener.address()).unwrap();
    client.write_all(begin).unwrap();
    let mut far = accept(&mut listener, &two, false);
    until(|| {
        assert!(read(&mut far, &mut [0; 8]).is_none());
        (far.handshake_bytes == begin.len()).then_some(())
    });
    assert!(far.is_shaking() && !far.may_hold_more() && far.peer().is_none() && far.protocol().is_none());
    assert_eq!(far.write(b"hello?").unwrap_err().kind(), ErrorKind::WouldBlock);
    client.write_all(rest).unwrap();
    until(|| {
        assert!(read(&mut far, &mut [0; 8]).is_none());
        matches!(far.tls, super::super::tls::Tls::Open(_)).then_some(())
    });
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let end = until(|| read(&mut far, &mut [0; 8]));
    assert_eq!(end.unwrap_err().kind(), ErrorKind::UnexpectedEof);

    let mut client = TcpStream::connect(listener.address()).unwrap();
    let mut far = accept(&mut listener, &two, false);
    let record = |begin: &[u8]| [&[0x16, 3, 1, 0x40, 0], begin, &vec![0; 0x4000 - begin.len()][..]].concat();
    client.write_all(&[record(&[1, 0, 0xff, 0xf0, 3, 3]), record(&[]), record(&[])].concat()).unwrap();
    let error = until(|| read(&mut far, &mut [0; 8])).unwrap_err();
    assert!(matches!(PeerRefusal::of(&error), Some(PeerRefusal::Tls)), "{error}");
}
