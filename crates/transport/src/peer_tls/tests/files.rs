//! Files of a node that cannot be used.

use super::*;
use crate::authority::Authority as OwnAuthority;
use crate::error::BindError;

/// Does each file that cannot be used name itself, what is wrong and what to do, and nothing of its content?
#[test]
fn wrong_files_are_named() {
    let (ours, other, devices) = (founded(), founded(), OwnAuthority::new());
    let (certificate, key) = issued(&ours, 1, SystemTime::now());
    let (device, device_key) = devices.issue(&["device-7"], &[]);
    let ca = ours.certificate_pem();
    let load = |certificate: &str, key: &str, ca: &str| {
        let (_folder, files) = files_of((certificate.into(), key.into()), ca);
        PeerTls::load(&files).unwrap_err()
    };
    for (error, file, what) in [
        (load("sesame", &key, ca), "node.pem", "there is no certificate"),
        (load(&certificate, "sesame", ca), "node.key", "no private key"),
        (load(&certificate, &key, "sesame"), "ca.pem", "there is no certificate"),
        (load(&certificate, &NodeKey::generate().unwrap().to_pem(), ca), "node.key", "does not belong"),
        (load(&certificate, &key, other.certificate_pem()), "node.pem", "not signed by an authority in "),
        (load(&device.pem(), &device_key.serialize_pem(), &devices.pem), "node.pem", "names no node"),
        (load(ca, &ours.key_pem(), ca), "node.pem", "names no node"),
    ] {
        assert!(matches!(error, BindError::Certificate { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(file) && text.contains(what), "{text}");
        assert!(!error.remedy().is_empty() && !text.contains("sesame"), "{text}");
    }
}

/// Are new connections made with what the files have now, and is nothing of the key shown?
#[test]
fn renewed_files_are_read_again() {
    let ours = founded();
    let now = SystemTime::now();
    let (_folder, files) = files_of(issued(&ours, 1, now + DAY), ours.certificate_pem());
    let before = PeerTls::load(&files).unwrap();
    let (certificate, key) = issued(&ours, 1, now);
    std::fs::write(&files.certificate, certificate).unwrap();
    std::fs::write(&files.key, key).unwrap();
    let after = PeerTls::load(&files).unwrap();
    assert_eq!(before.expires_at().unwrap().duration_since(after.expires_at().unwrap()).unwrap(), DAY);
    let (mut near, mut far) = meet(&after, &node(&ours, 2));
    shake_hands(&mut near, &mut far);
    assert_eq!(format!("{after:?}"), format!("PeerTls {{ name: NodeName({}), .. }}", name(1)));
}
