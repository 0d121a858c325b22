//! Who is no node of the cluster.

use rcgen::SanType;

use super::*;
use crate::authority::Authority as OwnAuthority;

/// Has `near` the one refusal and `far` the other, and the same when each is the other one's client?
#[track_caller]
fn assert_refused(misfit: &PeerTls, good: &PeerTls, refusal: PeerRefusal) {
    let (mut near, mut far) = meet(misfit, good);
    assert_eq!(refusals(&mut near, &mut far), [Some(PeerRefusal::ByPeer), Some(refusal)], "as a client");
    let (mut near, mut far) = meet(good, misfit);
    assert_eq!(refusals(&mut near, &mut far), [Some(refusal), Some(PeerRefusal::ByPeer)], "as a server");
}

/// A certificate of another authority, even one that says to be of the same cluster: refused by clients and servers?
#[test]
fn another_authority_is_none() {
    let (ours, other) = (founded(), founded());
    // It trusts both, or it would not get so far.
    let both = [ours.certificate_pem(), other.certificate_pem()];
    let misfit = node_of(issued(&other, 1, SystemTime::now()), &both);
    assert_refused(&misfit, &node(&ours, 2), PeerRefusal::OtherAuthority);
}

/// A certificate whose time is over, or has not begun.
#[test]
fn certificates_have_their_time() {
    let ours = founded();
    let early = node_of(issued(&ours, 1, SystemTime::now() + DAY), &[ours.certificate_pem()]);
    assert_refused(&early, &node(&ours, 2), PeerRefusal::NotYetValid);
    let theirs = OwnAuthority::new();
    let over = node_of(over(&theirs), &[&theirs.pem]);
    let good = node_of(own(&theirs, CLUSTER, 2), &[&theirs.pem]);
    assert_refused(&over, &good, PeerRefusal::Expired);
}

/// A certificate that is over since 2020: `lapwing_authority` makes none for a time before there was one.
fn over(authority: &OwnAuthority) -> (String, String) {
    let mut params = rcgen::CertificateParams::new([]).unwrap();
    params.subject_alt_names = vec![SanType::URI(name(1).uri().try_into().unwrap())];
    params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let key = rcgen::KeyPair::generate().unwrap();
    (params.signed_by(&key, &authority.issuer).unwrap().pem(), key.serialize_pem())
}

/// A certificate of an authority that is not the cluster's own alone.
fn own(authority: &OwnAuthority, cluster: [u8; 16], node: u8) -> (String, String) {
    let uri = NodeName::new(cluster, node).unwrap().uri();
    let (certificate, key) = authority.issue(&[], &[SanType::URI(uri.try_into().unwrap())]);
    (certificate.pem(), key.serialize_pem())
}

/// Where one authority signs for two clusters: does each keep to itself, and are files of one's own taken?
#[test]
fn another_cluster_is_another_cluster() {
    let authority = OwnAuthority::new();
    let of = |cluster, node| node_of(own(&authority, cluster, node), &[&authority.pem]);
    // Each is a misfit to the other; whoever connects sees it first. That a server sees it too is in `strangers.rs`.
    let (mut near, mut far) = meet(&of([0xc2; 16], 1), &of(CLUSTER, 2));
    assert_eq!(refusals(&mut near, &mut far), [Some(PeerRefusal::OtherCluster), Some(PeerRefusal::ByPeer)]);
    let (mut near, mut far) = meet(&of(CLUSTER, 1), &of(CLUSTER, 2));
    shake_hands(&mut near, &mut far);
    assert_eq!((near.peer(), far.peer()), (Some(name(2)), Some(name(1))));
}

/// Another node than the one that is said to be at the address: refused before anything is said to it?
#[test]
fn another_node_is_not_the_one() {
    let ours = founded();
    let (one, mut listener) = (node(&ours, 1), listen());
    let mut near = PeerStream::connect(listener.address(), &one, Some(3)).unwrap();
    let mut far = accept(&mut listener, &node(&ours, 2), false);
    assert_eq!(refusals(&mut near, &mut far), [Some(PeerRefusal::OtherNode), Some(PeerRefusal::ByPeer)]);
    let error = near.read(&mut [0; 8]).unwrap_err().to_string();
    assert!(error.starts_with("its certificate is of another node than the one that was to be there ("), "{error}");
}
