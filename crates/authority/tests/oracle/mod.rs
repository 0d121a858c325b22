//! What must hold for any bytes that say to be a certificate or a request; the fuzz target `node_certificates` asks it too.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use lapwing_authority::{Authority, Fault, NodeName};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateSigningRequestDer};
use x509_cert::Certificate;
use x509_cert::der::Decode;

const AUTHORITY: &str = include_str!("../fixtures/authority.pem");
const NODE: &str = include_str!("../fixtures/node.pem");
const REQUEST: &str = include_str!("../fixtures/request.pem");

/// Beside what a request asks for: the longest number, in two places.
const NODE_NUMBER: u8 = 63;

static FOUNDED: LazyLock<Authority> = LazyLock::new(|| {
    Authority::load(AUTHORITY, include_str!("../fixtures/authority.key")).expect("it was one of the first version")
});

/// What came of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A certificate with a name.
    Named,
    /// A certificate was issued.
    Issued,
    /// Neither.
    Refused,
}

/// Reads `input`: the first byte says whether the rest is a certificate or a request, both in DER.
pub fn check_certificates(input: &[u8]) -> Outcome {
    match input.split_first() {
        Some((choice, der)) if choice % 2 == 0 => check_certificate(der),
        Some((_, der)) => check_request(der),
        None => Outcome::Refused,
    }
}

/// A name is one that could be written, and stands in the certificate as it would be written.
fn check_certificate(der: &[u8]) -> Outcome {
    let read = NodeName::of(der);
    assert_eq!(NodeName::of(der), read, "read twice, it is something else");
    match read {
        Ok(name) => {
            assert_eq!(NodeName::new(name.cluster(), name.node()), Ok(name));
            assert!(has(der, name.uri().as_bytes()), "{name} is not in it");
            Outcome::Named
        }
        Err(Fault::NoCertificate | Fault::Nameless | Fault::SeveralNames) => Outcome::Refused,
        Err(other) => panic!("{other}"),
    }
}

/// What is issued is for the node that was said, and for a key that stands in the request.
fn check_request(der: &[u8]) -> Outcome {
    let text = data_encoding::BASE64.encode(der);
    let pem = format!("-----BEGIN CERTIFICATE REQUEST-----\n{text}\n-----END CERTIFICATE REQUEST-----\n");
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600);
    match FOUNDED.issue(NODE_NUMBER, &pem, now) {
        Ok(pem) => {
            let issued = CertificateDer::from_pem_slice(pem.as_bytes()).expect("it was just written");
            let name = NodeName::new(FOUNDED.cluster(), NODE_NUMBER).expect("there is such a node");
            assert_eq!(NodeName::of(&issued), Ok(name));
            let issued = Certificate::from_der(&issued).expect("it was just read");
            let key = issued.tbs_certificate.subject_public_key_info.subject_public_key;
            assert!(has(der, key.raw_bytes()), "a certificate for a key that nobody has shown");
            Outcome::Issued
        }
        Err(fault) => {
            assert_eq!(fault, Fault::NoRequest);
            Outcome::Refused
        }
    }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// A node's certificate, its authority's, and a request.
pub fn certificates_seeds() -> Vec<Vec<u8>> {
    let certificate = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).expect("a fixture").to_vec();
    let request = CertificateSigningRequestDer::from_pem_slice(REQUEST.as_bytes()).expect("a fixture").to_vec();
    [(0, certificate(NODE)), (0, certificate(AUTHORITY)), (1, request)]
        .map(|(choice, der)| [&[choice][..], &der].concat())
        .into()
}
