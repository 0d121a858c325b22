//! Revocation lists, certificates that are not good any more, and handshakes that are cut short.

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, IsCa, KeyIdMethod, RevokedCertParams,
    SerialNumber, date_time_ymd,
};
use rustls::version::{TLS12, TLS13};

use super::*;

impl Authority {
    /// A client's certificate with a number, and its key.
    fn issue_numbered(&self, serial: u64) -> (String, String) {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, format!("device-{serial}"));
        params.serial_number = Some(SerialNumber::from(serial));
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    /// The list of what it has revoked, good until the end of `year`'s first day.
    fn revoke(&self, serials: &[u64], year: i32) -> String {
        let revoked = |serial: &u64| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(year, 1, 1),
            crl_number: SerialNumber::from(1_u64),
            issuing_distribution_point: None,
            revoked_certs: serials.iter().map(revoked).collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(&self.issuer).unwrap().pem().unwrap()
    }
}

/// What comes of a handshake: the socket if it succeeds.
fn shake(listener: &Listener, config: ClientConfig) -> std::io::Result<Socket> {
    let (client, mut socket) = meet(listener, config);
    let greeting = read(&mut socket);
    socket.shutdown();
    // Whether it was let in is what our side says; the client's may see the end in different ways.
    let _ = client.join().unwrap();
    greeting.map(|greeting| {
        assert_eq!(greeting, b"hello");
        socket
    })
}

/// Is a revoked certificate refused, one that is not let in, and does a connection hear of it when the list is read again?
#[test]
fn who_is_revoked_is_out() {
    let authority = Authority::new();
    let mut settings = authority.settings(ClientCertificate::Required);
    settings.crls = vec![authority.write("list.pem", &authority.revoke(&[7], 2090))];
    let certificates = Arc::new(Certificates::load(settings).unwrap());
    let listener = listen(certificates.clone());
    let client = |serial| authority.client(Some(authority.issue_numbered(serial)));
    let refused = shake(&listener, client(7)).unwrap_err();
    assert_eq!(Refusal::of(&refused), Some(Refusal::Tls));
    let sockets = [8, 9].map(|serial| shake(&listener, client(serial)).unwrap());
    let lapses = || sockets.each_ref().map(|socket| socket.certificate_lapse(SystemTime::now()));
    assert_eq!(lapses(), [None, None]);
    authority.write("list.pem", &authority.revoke(&[7, 9], 2090));
    assert_eq!(lapses(), [None, None]);
    certificates.take(certificates.read_again().unwrap());
    assert_eq!(lapses(), [None, Some(Lapse::Revoked)]);
    assert!(shake(&listener, client(9)).is_err());
    let (end, file) = certificates.revocations_end().unwrap();
    assert!(end > SystemTime::now() && file.ends_with("list.pem"));
}

/// Is a certificate out when its time is over, and when its authority is one no more? And one who shows none is never.
#[test]
fn time_and_authorities_count_later_too() {
    let authority = Authority::new();
    let mut other = CertificateParams::new([]).unwrap();
    other.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    other.distinguished_name.push(DnType::CommonName, "another one");
    let other = other.self_signed(&KeyPair::generate().unwrap()).unwrap().pem();
    let settings = authority.settings(ClientCertificate::Optional);
    let certificates = Arc::new(Certificates::load(settings).unwrap());
    let listener = listen(certificates.clone());
    let named = shake(&listener, authority.client(Some(authority.issue_numbered(1)))).unwrap();
    let unnamed = shake(&listener, authority.client(None)).unwrap();
    let end = named.certificate_expires_at().unwrap();
    let second = Duration::from_secs(1);
    assert_eq!(
        (named.certificate_lapse(end - second), named.certificate_lapse(end + second)),
        (None, Some(Lapse::Expired))
    );
    authority.write("ca.pem", &other);
    certificates.take(certificates.read_again().unwrap());
    assert_eq!(named.certificate_lapse(SystemTime::now()), Some(Lapse::Untrusted));
    assert_eq!((unnamed.certificate_lapse(end + second), unnamed.certificate_expires_at()), (None, None));
}

/// Is nobody let in whose authority has no list where there are lists? What is not known is not trusted.
#[test]
fn a_list_of_another_authority_lets_nobody_in() {
    let (authority, other) = (Authority::new(), Authority::new());
    let mut settings = authority.settings(ClientCertificate::Required);
    settings.crls = vec![authority.write("other.pem", &other.revoke(&[], 2090))];
    let listener = listen(Arc::new(Certificates::load(settings).unwrap()));
    assert!(shake(&listener, authority.client(Some(authority.issue_numbered(1)))).is_err());
}

/// Does a list that cannot be used name its file and what to do, and leave everything as it was?
#[test]
fn wrong_lists_are_named() {
    let authority = Authority::new();
    let mut settings = authority.settings(ClientCertificate::Required);
    settings.crls = vec![authority.write("list.pem", &authority.revoke(&[7], 2090))];
    let certificates = Arc::new(Certificates::load(settings).unwrap());
    let listener = listen(certificates.clone());
    let garbled = "-----BEGIN X509 CRL-----\nc2VzYW1l\n-----END X509 CRL-----\n";
    for (text, what) in [
        ("sesame", "no revocation list"),
        ("-----BEGIN X509 CRL-----\n!sesame!\n-----END X509 CRL-----\n", "PEM"),
        (garbled, "cannot be read"),
        (&authority.pem, "no revocation list"),
        (&authority.revoke(&[7], 2025), "was to be replaced by 2025-01-01"),
    ] {
        authority.write("list.pem", text);
        let error = certificates.read_again().unwrap_err();
        assert!(error.to_string().contains("list.pem") && error.to_string().contains(what), "{error}");
        assert!(!error.remedy().is_empty() && !error.to_string().contains("sesame"), "{error}");
    }
    assert!(shake(&listener, authority.client(Some(authority.issue_numbered(7)))).is_err());
    assert!(shake(&listener, authority.client(Some(authority.issue_numbered(8)))).is_ok());
}

/// Does each list of an authority count, in one file or in two? The library looks at the first, and lets in who stands on another.
#[test]
fn every_list_of_an_authority_counts() {
    let authority = Authority::new();
    let mut settings = authority.settings(ClientCertificate::Optional);
    let both = authority.revoke(&[6], 2090) + &authority.revoke(&[7], 2091);
    settings.crls =
        vec![authority.write("both.pem", &both), authority.write("third.pem", &authority.revoke(&[8], 2092))];
    let listener = listen(Arc::new(Certificates::load(settings).unwrap()));
    let client = |serial| authority.client(Some(authority.issue_numbered(serial)));
    let let_in = [6, 7, 8, 9].map(|serial| shake(&listener, client(serial)).is_ok());
    assert_eq!(let_in, [false, false, false, true]);
    assert!(shake(&listener, authority.client(None)).is_ok(), "who has none is asked for none");
}

/// Are files with marks of encoding in front of their texts read as OpenSSL reads them, and all that was put behind another?
#[test]
fn marks_of_encoding_hide_nothing() {
    let (authority, other) = (Authority::new(), Authority::new());
    let mut settings = authority.settings(ClientCertificate::Required);
    let marked = |text: &str| format!("\u{feff}{text}");
    for file in [&settings.certificate, &settings.key] {
        fs::write(file, marked(&fs::read_to_string(file).unwrap())).unwrap();
    }
    settings.client_ca = Some(authority.write("ca.pem", &(marked(&other.pem) + &marked(&authority.pem))));
    let lists = marked(&authority.revoke(&[], 2090)) + &marked(&authority.revoke(&[7], 2090));
    settings.crls = vec![authority.write("list.pem", &lists)];
    assert_eq!(
        (certificate_times(lists.as_bytes()).len(), certificate_times(marked(&other.pem).as_bytes()).len()),
        (2, 1)
    );
    let listener = listen(Arc::new(Certificates::load(settings).unwrap()));
    let client = |serial| authority.client(Some(authority.issue_numbered(serial)));
    assert_eq!([7, 9].map(|serial| shake(&listener, client(serial)).is_ok()), [false, true]);
}

/// Does a client that comes back spare the signature, under both versions, and never where certificates are asked for?
#[test]
fn a_handshake_is_resumed_unless_certificates_count() {
    let authority = Authority::new();
    for (asks, resumes) in
        [(ClientCertificate::None, true), (ClientCertificate::Optional, false), (ClientCertificate::Required, false)]
    {
        let certificates = Arc::new(Certificates::load(authority.settings(asks)).unwrap());
        let listener = listen(certificates.clone());
        for version in [&TLS12, &TLS13] {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap()).unwrap();
            let (certificate, key) = authority.issue_numbered(1);
            let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
            let builder = builder.with_protocol_versions(&[version]).unwrap().with_root_certificates(roots);
            let config = builder.with_client_auth_cert(chain, key).unwrap();
            let resumed = |_| shake(&listener, config.clone()).unwrap().is_resumed();
            assert_eq!([1, 2].map(resumed), [false, resumes], "{asks:?} {version:?}");
            // What the old files allowed is nothing to those read again.
            certificates.take(certificates.read_again().unwrap());
            assert!(!shake(&listener, config.clone()).unwrap().is_resumed(), "{asks:?} {version:?}");
        }
    }
}

/// Are the times of all that can be read told, whatever else lies in the file?
#[test]
fn times_are_told() {
    let authority = Authority::new();
    let mut params = CertificateParams::new([]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2024, 2, 29), date_time_ymd(2060, 1, 1));
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &authority.issuer).unwrap().pem();
    let garbled = "-----BEGIN CERTIFICATE-----\nc2VzYW1l\n-----END CERTIFICATE-----\n";
    let all = [&authority.revoke(&[1], 2090), garbled, &certificate, &key.serialize_pem()].concat();
    let days = |days: u64| Some(Duration::from_secs(days * 24 * 3600));
    let found = certificate_times(all.as_bytes());
    let found: Vec<_> = found.iter().map(|times| (times.is_list, Some(times.from), times.until)).collect();
    assert_eq!(found, [(false, days(19_782), days(32_872)), (true, days(19_723), days(43_830))]);
    assert_eq!(certificate_times(b"\0-----BEGIN"), []);
}
