//! An authority, what it signs, and what it refuses.

use std::time::{Duration, SystemTime};

use lapwing_authority::{
    AUTHORITY_DAYS, Authority, BACKDATED_S, Fault, NODE_DAYS, NODES_MAX, NodeKey, NodeName, REQUEST_BYTES_MAX,
    fingerprint,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateSigningRequestDer};
use x509_cert::Certificate;
use x509_cert::der::Decode;

const CLUSTER: [u8; 16] = [0xc1; 16];
const DAY_S: u64 = 24 * 60 * 60;
/// 2026-01-01.
const NOW_S: u64 = 1_767_225_600;

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn founded() -> Authority {
    Authority::found(CLUSTER, at(NOW_S)).unwrap()
}

fn request() -> String {
    NodeKey::generate().unwrap().request().unwrap()
}

fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

fn read(pem: &str) -> Certificate {
    Certificate::from_der(&der(pem)).unwrap()
}

/// From when until when, as seconds since 1970.
fn times(pem: &str) -> (u64, u64) {
    let validity = read(pem).tbs_certificate.validity;
    (validity.not_before.to_unix_duration().as_secs(), validity.not_after.to_unix_duration().as_secs())
}

/// Does a certificate say which node it is of, for whom, and by whom?
#[test]
fn a_certificate_names_its_node() {
    let authority = founded();
    for node in [0, 7, NODES_MAX - 1] {
        let pem = authority.issue(node, &request(), at(NOW_S)).unwrap();
        let name = NodeName::of(&der(&pem)).unwrap();
        assert_eq!(name, NodeName::new(CLUSTER, node).unwrap());
        assert_eq!(read(&pem).tbs_certificate.issuer, read(authority.certificate_pem()).tbs_certificate.subject);
        assert_eq!(read(&pem).tbs_certificate.subject.to_string(), format!("CN={}", name.server_name()));
    }
    assert_eq!(authority.issue(NODES_MAX, &request(), at(NOW_S)), Err(Fault::NoSuchNode { node: NODES_MAX }));
    assert_eq!(NodeName::of(&der(authority.certificate_pem())), Err(Fault::Nameless));
    assert_eq!(authority.fingerprint(), fingerprint(&der(authority.certificate_pem())));
}

/// Are times what the constants say, an hour before for clocks that go behind, and never beyond the authority's own?
#[test]
fn times_are_bounded() {
    let authority = founded();
    let end_s = NOW_S + AUTHORITY_DAYS * DAY_S;
    assert_eq!(times(authority.certificate_pem()), (NOW_S - BACKDATED_S, end_s));
    let node = |now_s| authority.issue(1, &request(), at(now_s)).map(|pem| times(&pem));
    assert_eq!(node(NOW_S), Ok((NOW_S - BACKDATED_S, NOW_S + NODE_DAYS * DAY_S)));
    let late_s = end_s - DAY_S;
    assert_eq!(node(late_s), Ok((late_s - BACKDATED_S, end_s)));
    assert_eq!(node(end_s), Err(Fault::AuthorityOver));
    assert_eq!(node(0), Err(Fault::Clock));
    assert_eq!(Authority::found(CLUSTER, at(0)).err(), Some(Fault::Clock));
}

/// Does an authority sign the same after its texts were read back, and do two certificates of one key have two numbers?
#[test]
fn an_authority_is_read_back() {
    let authority = founded();
    let again = Authority::load(authority.certificate_pem(), &authority.key_pem()).unwrap();
    assert_eq!((again.cluster(), again.fingerprint()), (CLUSTER, authority.fingerprint()));
    assert_eq!((again.certificate_pem(), again.key_pem()), (authority.certificate_pem(), authority.key_pem()));
    let key = NodeKey::from_pem(&NodeKey::generate().unwrap().to_pem()).unwrap();
    let pems = [&authority, &again].map(|by| by.issue(3, &key.request().unwrap(), at(NOW_S)).unwrap());
    let [first, second] = pems.each_ref().map(|pem| read(pem).tbs_certificate);
    assert_ne!(first.serial_number, second.serial_number);
    assert_eq!(first.subject_public_key_info, second.subject_public_key_info);
    assert_eq!((first.issuer, first.extensions), (second.issuer, second.extensions));
}

/// Is an authority of the first release still one: its name, and what it signs as?
#[test]
fn an_old_authority_is_read() {
    let certificate = include_str!("fixtures/authority.pem");
    let authority = Authority::load(certificate, include_str!("fixtures/authority.key")).unwrap();
    assert_eq!(authority.cluster(), CLUSTER);
    let subject = read(certificate).tbs_certificate.subject;
    assert_eq!(subject.to_string(), format!("CN=Lapwing cluster {}", "c1".repeat(16)));
    let node = include_str!("fixtures/node.pem");
    assert_eq!(NodeName::of(&der(node)).unwrap(), NodeName::new(CLUSTER, 2).unwrap());
    assert_eq!(read(node).tbs_certificate.issuer, subject);
}

/// Are texts that are not an authority's told apart, and nothing of them said?
#[test]
fn what_is_no_authority_is_refused() {
    let (one, other) = (founded(), founded());
    let node_key = NodeKey::generate().unwrap();
    let node = one.issue(1, &node_key.request().unwrap(), at(NOW_S)).unwrap();
    let load = |certificate: &str, key: &str| Authority::load(certificate, key).err();
    assert_eq!(load(one.certificate_pem(), &other.key_pem()), Some(Fault::OtherKey));
    assert_eq!(load(&node, &node_key.to_pem()), Some(Fault::NoAuthority));
    assert_eq!(load("", &one.key_pem()), Some(Fault::NoAuthority));
    assert_eq!(load(one.certificate_pem(), one.certificate_pem()), Some(Fault::NoKey));
    assert_eq!(NodeKey::from_pem("").err(), Some(Fault::NoKey));
    let shown = format!("{one:?} {node_key:?}");
    assert_eq!(shown, format!("Authority {{ cluster: \"{}\", .. }} NodeKey {{ .. }}", "c1".repeat(16)));
}

/// Is a request signed by the key that is in it, or none, wherever a bit of it is another one?
#[test]
fn a_request_shows_its_key() {
    let authority = founded();
    let pem = request();
    assert!(pem.len() < REQUEST_BYTES_MAX / 8, "{}", pem.len());
    let good = CertificateSigningRequestDer::from_pem_slice(pem.as_bytes()).unwrap().to_vec();
    for place in 0..good.len() {
        let mut bad = good.clone();
        bad[place] ^= 1;
        assert_eq!(authority.issue(1, &in_pem(&bad), at(NOW_S)), Err(Fault::NoRequest), "byte {place}");
        assert_eq!(authority.issue(1, &in_pem(&good[..place]), at(NOW_S)), Err(Fault::NoRequest), "cut at {place}");
    }
    assert!(authority.issue(1, &in_pem(&good), at(NOW_S)).is_ok());
    let long = format!("{pem}{}", "\n".repeat(REQUEST_BYTES_MAX));
    assert_eq!(authority.issue(1, &long, at(NOW_S)), Err(Fault::NoRequest));
}

fn in_pem(der: &[u8]) -> String {
    let label = "CERTIFICATE REQUEST";
    let text = data_encoding::BASE64.encode(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

/// Writes the files of `an_old_authority_is_read` and of the oracle.
#[test]
#[ignore = "writes the fixture; once per format version"]
fn write_fixtures() {
    let authority = founded();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let write = |name: &str, text: &str| std::fs::write(format!("{folder}/{name}"), text).unwrap();
    write("authority.pem", authority.certificate_pem());
    write("authority.key", &authority.key_pem());
    write("node.pem", &authority.issue(2, &request(), at(NOW_S)).unwrap());
    write("request.pem", &request());
}
