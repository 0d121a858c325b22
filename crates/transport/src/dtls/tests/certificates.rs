//! Whom certificates make known, and which of them DTLS has no use for.

use rcgen::{KeyPair, PKCS_ED25519};

use super::*;

/// Is who shows a certificate of the listener's authority known by its name, and nobody taken who shows another, or none?
#[test]
fn certificates_of_clients_are_held_against_the_authority() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let server = authority.server(ClientCertificate::Required);
    for version in 0..VERSIONS.len() {
        let mut scene = Scene::new(&server, version, authority.device("device-7"));
        scene.run();
        assert_eq!((scene.server.stage(), scene.is_connected), (DtlsStage::Open, true));
        let shown = scene.server.shown().expect("a certificate");
        assert_eq!(shown.certificate_name(CertificateName::Common).as_deref(), Some("device-7"));
        assert_eq!(shown.lapse(SystemTime::now()), None);
        let named = |name| Proof::of_certificate(authority.device(name).certificate.into(), server.clone());
        assert!(shown.has_names_of(&named("device-7")) && !shown.has_names_of(&named("device-8")));
        assert!(shown.expires_at().is_some_and(|end| end > SystemTime::now()));

        let mut scene = Scene::new(&server, version, stranger.device("device-7"));
        scene.run();
        assert_eq!(scene.server.stage(), DtlsStage::Over(DtlsEnd::Untrusted), "{version}");
        assert!(scene.server.shown().is_none());
    }
}

/// Is what DTLS has no use for refused when the files are read, with the file to blame?
#[test]
fn files_that_dtls_cannot_use_are_named() {
    let authority = Authority::new();
    let load = |settings| Certificates::load_for_datagrams(Some(settings), limits()).map(drop).unwrap_err().to_string();
    let key = KeyPair::generate().unwrap();

    let error = load(authority.settings_of(&key, ClientCertificate::Optional));
    assert!(error.contains("server.pem") && error.contains("optional"), "{error}");
    let error = load(authority.settings_of(&KeyPair::generate_for(&PKCS_ED25519).unwrap(), ClientCertificate::None));
    assert!(error.contains("server.key") && error.contains("P-256"), "{error}");
    let settings = authority.settings_of(&key, ClientCertificate::None);
    let chain = std::fs::read_to_string(&settings.certificate).unwrap() + &authority.pem;
    authority.write("server.pem", &chain);
    let error = load(settings);
    assert!(error.contains("server.pem") && error.contains("2 certificates"), "{error}");
}

/// Does a handshake take the certificates of its moment?
#[test]
fn certificates_are_read_again() {
    let authority = Authority::new();
    let server = authority.server(ClientCertificate::None);
    let before = server.accept_datagrams(Instant::now()).unwrap();
    authority.settings(ClientCertificate::None);
    server.take(server.read_again().unwrap());
    assert_eq!(before.stage(), DtlsStage::Unproven);
    let mut scene = Scene::new(&server, 1, authority.device("device"));
    scene.run();
    assert!(scene.is_connected);
}
