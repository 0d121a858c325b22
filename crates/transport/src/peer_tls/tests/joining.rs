//! Who has a token and no certificate.

use super::*;
use lapwing_authority::fingerprint;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// Somebody who joins by the authority with this fingerprint, at a node that may or may not be joined.
fn come(authority: [u8; 32], server: &PeerTls, are_joining: bool) -> (PeerStream, PeerStream) {
    let mut listener = listen();
    let near = PeerStream::join(listener.address(), authority).unwrap();
    (near, accept(&mut listener, server, are_joining))
}

/// Does the newcomer know whom it speaks to, and the node that it speaks to somebody new; and do bytes cross?
#[test]
fn a_newcomer_is_heard() {
    let authority = founded();
    let (mut near, mut far) = come(authority.fingerprint(), &node(&authority, 2), true);
    shake_hands(&mut near, &mut far);
    assert_eq!((near.peer(), far.peer(), far.peer_expires_at()), (Some(name(2)), None, None));
    assert_eq!([near.protocol(), far.protocol()], [Some(PeerProtocol::Join); 2]);
    assert_eq!(send(&mut near, &mut far, b"a secret, and a request"), b"a secret, and a request");
    assert_eq!(send(&mut far, &mut near, b"a certificate"), b"a certificate");
}

/// Is a node taken as one while somebody may join?
#[test]
fn nodes_go_on_meanwhile() {
    let authority = founded();
    let (one, two, mut listener) = (node(&authority, 1), node(&authority, 2), listen());
    let mut near = PeerStream::connect(listener.address(), &one, Some(2)).unwrap();
    let mut far = accept(&mut listener, &two, true);
    shake_hands(&mut near, &mut far);
    assert_eq!((far.peer(), far.protocol()), (Some(name(1)), Some(PeerProtocol::Node)));
}

/// Is nobody heard while nobody may join?
#[test]
fn nobody_joins_unasked() {
    let authority = founded();
    let (mut near, mut far) = come(authority.fingerprint(), &node(&authority, 2), false);
    assert_eq!(refusals(&mut near, &mut far), [Some(PeerRefusal::ByPeer), Some(PeerRefusal::NoProtocol)]);
}

/// Does a newcomer go away from whoever is not of the authority that its token names: where that is another one, where its
/// certificate is shown without its signature, where the fingerprint is that of the node itself?
#[test]
fn another_authority_is_not_joined() {
    let (ours, other) = (founded(), founded());
    let (mut near, mut far) = come(other.fingerprint(), &node(&ours, 2), true);
    assert_eq!(refusals(&mut near, &mut far), [Some(PeerRefusal::OtherAuthority), Some(PeerRefusal::ByPeer)]);

    let both = [other.certificate_pem(), ours.certificate_pem()];
    let liar = node_of(issued(&ours, 2, SystemTime::now()), &both);
    let (mut near, mut far) = come(other.fingerprint(), &liar, true);
    assert_eq!(refusals(&mut near, &mut far), [Some(PeerRefusal::OtherAuthority), Some(PeerRefusal::ByPeer)]);

    let (certificate, key) = issued(&ours, 2, SystemTime::now());
    let own = fingerprint(&CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap());
    let server = node_of((certificate, key), &[ours.certificate_pem()]);
    let (mut near, mut far) = come(own, &server, true);
    assert_eq!(refusals(&mut near, &mut far), [Some(PeerRefusal::OtherAuthority), Some(PeerRefusal::ByPeer)]);
}

/// Is a node whose certificate is over not joined either?
#[test]
fn who_is_not_valid_yet_is_not_joined() {
    let ours = founded();
    let early = node_of(issued(&ours, 2, SystemTime::now() + DAY), &[ours.certificate_pem()]);
    let (mut near, mut far) = come(ours.fingerprint(), &early, true);
    assert_eq!(refusals(&mut near, &mut far), [Some(PeerRefusal::NotYetValid), Some(PeerRefusal::ByPeer)]);
}
