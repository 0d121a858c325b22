//! TLS: any bytes of somebody who has not shaken hands are a handshake under way, or the end of the connection.

use std::io::{ErrorKind, Read};
use std::sync::{Arc, OnceLock};

use lapwing_oracle::allocations;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion, version};

use super::wire::Wire;
use crate::authority::Authority;
use crate::refusal::Refusal;
use crate::settings::ClientCertificate;
use crate::tls::Certificates;

/// What somebody may make us take in before the handshake is done, and one record more.
const TAKEN_BYTES_MAX: usize = 32 << 10;
const RECORD_BYTES_MAX: usize = (16 << 10) + 256;

/// Reads `input` as a byte of choices (bit 0: client certificates are asked for; the rest: the size of pieces) and the first
/// bytes of a TLS connection.
///
/// Returns whether it was answered with a handshake.
pub fn check_tls(input: &[u8]) -> bool {
    let Some((&choices, bytes)) = input.split_first() else { return false };
    let listener = &listeners()[usize::from(choices & 1)];
    let whole = check_pieces(listener, bytes, usize::MAX);
    // A signature each: once is enough where pieces do not matter.
    let pieces = check_pieces(listener, bytes, 1 + usize::from(choices >> 1));
    assert_eq!(pieces, whole, "in pieces and at once");
    whole.1
}

/// Whether it is over, and whether there was an answer that is more than an alert.
fn check_pieces(listener: &Arc<Certificates>, bytes: &[u8], piece: usize) -> (bool, bool) {
    let mut wire = Wire::new(bytes, piece);
    let ((is_over, held_bytes), used) = allocations::count(|| {
        let mut tls = listener.accept().expect("a connection");
        let mut buffer = [0; 512];
        let is_over = loop {
            match tls.over(&mut wire).read(&mut buffer) {
                Ok(count) => assert_eq!(count, 0, "nobody has shaken hands"),
                Err(error) if error.kind() == ErrorKind::WouldBlock && wire.unread_bytes() == 0 => break false,
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Err(error) => {
                    let is_known = matches!(Refusal::of(&error), Some(Refusal::Tls | Refusal::NoTls));
                    assert!(is_known, "{error}");
                }
            }
            break true;
        };
        (is_over, tls.held_bytes())
    });
    let taken_bytes = bytes.len() - wire.unread_bytes();
    assert!(taken_bytes <= TAKEN_BYTES_MAX + RECORD_BYTES_MAX, "{taken_bytes} bytes were taken");
    // Beside what a connection holds, what a signature takes while it is made.
    assert!(used.peak_bytes <= held_bytes + (64 << 10), "{} bytes, {held_bytes} are accounted", used.peak_bytes);
    (is_over, wire.outgoing.first() == Some(&22))
}

/// Two listeners: without client certificates, and with.
fn listeners() -> &'static [Arc<Certificates>; 2] {
    static LISTENERS: OnceLock<[Arc<Certificates>; 2]> = OnceLock::new();
    LISTENERS.get_or_init(|| {
        let authority = Authority::new();
        [ClientCertificate::None, ClientCertificate::Required]
            .map(|asked| Arc::new(Certificates::load(authority.settings(asked)).expect("certificates")))
    })
}

/// What clients of both versions say first, and what is no TLS.
pub fn tls_seeds() -> Vec<Vec<u8>> {
    let hellos = [&version::TLS12, &version::TLS13].map(|version| hello(version).expect("a client says hello"));
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for hello in hellos {
        seeds.push([&[0], &hello[..]].concat());
        seeds.push([&[63], &hello[..], &hello[..]].concat());
        // A key is changed before there is one, and an alert.
        seeds.push([&[1], &hello[..], b"\x14\x03\x03\0\x01\x01"].concat());
        seeds.push([&[8], &hello[..], b"\x15\x03\x03\0\x02\x02\x28"].concat());
        // The handshake message in two records.
        let (one, other) = hello[5..].split_at(40);
        let record = |part: &[u8]| [&[22, 3, 1], &(part.len() as u16).to_be_bytes()[..], part].concat();
        seeds.push([&[4], &record(one)[..], &record(other)].concat());
    }
    for other in [&b"\x10\x0c\0\x04MQTT"[..], b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x40\x01\x01\0\x3f\xfd"] {
        seeds.push([&[0], other].concat());
    }
    seeds
}

fn hello(version: &'static SupportedProtocolVersion) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[version])?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let mut client = ClientConnection::new(Arc::new(config), ServerName::try_from("broker.example")?)?;
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes)?;
    Ok(bytes)
}
