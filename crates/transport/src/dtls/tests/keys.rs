//! Devices with pre-shared keys.

use dimpl::PskResolver;

use super::*;

const SECRET: [u8; 16] = *b"sixteen letters!";
/// The same, as it stands in a file.
const KEY: &str = "7369787465656e206c65747465727321";

/// What a device knows.
struct Known([u8; 16]);

impl PskResolver for Known {
    fn resolve(&self, _: &[u8]) -> Option<Vec<u8>> {
        Some(self.0.to_vec())
    }
}

/// A server with keys; `asked`: whether it has a certificate, and asks for those of clients.
fn server(authority: &Authority, asked: Option<ClientCertificate>) -> Arc<Certificates> {
    let keys = Some(authority.write("keys", &format!("meter-7:{KEY}\nmeter-8:{}\n", KEY.repeat(4))));
    let settings = asked.map(|asked| authority.settings(asked));
    Arc::new(Certificates::load_for_datagrams(settings, DtlsSettings { keys, ..limits() }).unwrap())
}

fn device(server: &Arc<Certificates>, identity: &str, key: [u8; 16]) -> Scene {
    let config = Config::builder().with_crypto_provider(crypto::provider());
    let config = config.with_psk_client(identity.into(), Arc::new(Known(key))).build().unwrap();
    let now = Instant::now();
    Scene::of(server, dimpl::Dtls::new_12_psk(Arc::new(config), now), now)
}

const LISTENERS: [Option<ClientCertificate>; 3] =
    [None, Some(ClientCertificate::None), Some(ClientCertificate::Required)];

/// Is who has a key known by its identity, on listeners without a certificate and with, and is a certificate as good there?
#[test]
fn who_has_a_key_is_known() {
    let authority = Authority::new();
    for asked in LISTENERS {
        let server = server(&authority, asked);
        let mut scene = device(&server, "meter-7", SECRET);
        scene.run();
        assert_eq!((scene.server.stage(), scene.is_connected), (DtlsStage::Open, true), "{asked:?}");
        let shown = scene.server.shown().expect("a key");
        assert_eq!((shown.key_name(), shown.certificate_name(CertificateName::Common)), (Some("meter-7"), None));
        assert_eq!((shown.lapse(SystemTime::now()), shown.expires_at()), (None, None));
        scene.client.send_application_data(b"up").unwrap();
        assert_eq!(scene.run(), [b"up"]);
        assert!(scene.server.send(&[7; 1000], scene.now, &mut scene.output));
        let sent: usize = scene.output.packets.iter().map(<[u8]>::len).sum();
        assert!(sent <= 1000 + usize::from(DTLS_RECORD_BYTES));
        scene.deliver();
        scene.run();
        assert_eq!(scene.heard, [[7; 1000]]);

        for version in 0..VERSIONS.len() {
            let mut scene = Scene::new(&server, version, authority.device("with a certificate"));
            scene.run();
            assert_eq!(scene.is_connected, asked.is_some(), "{asked:?}, {version}");
            let name = scene.server.shown().and_then(|shown| shown.certificate_name(CertificateName::Common));
            assert_eq!(name.is_some(), asked == Some(ClientCertificate::Required));
        }
    }
}

/// Does who has the wrong key see and cause the same as who is unknown: the end, without a word?
#[test]
fn a_wrong_key_and_a_wrong_name_are_alike() {
    let authority = Authority::new();
    let server = server(&authority, None);
    let tried = [("meter-7", [7; 16]), ("meter-9", SECRET), ("meter-8", SECRET), ("\0", SECRET)].map(|(name, key)| {
        let mut scene = device(&server, name, key);
        let mut went = Vec::new();
        for _ in 0..4 {
            for packet in scene.said_by_client() {
                scene.server.receive(&packet, scene.now, &mut scene.output);
                went.extend(scene.output.packets.iter().map(<[u8]>::len));
                scene.deliver();
            }
        }
        assert!(!scene.is_connected && scene.server.shown().is_none());
        (went, scene.server.stage())
    });
    assert!(tried.iter().all(|one| *one == tried[0] && one.1 == DtlsStage::Over(DtlsEnd::Failed)), "{tried:?}");
}

/// Are keys read again, all or none, and does who had one that was changed hear of it?
#[test]
fn keys_are_read_again() {
    let authority = Authority::new();
    let server = server(&authority, None);
    let mut scene = device(&server, "meter-7", SECRET);
    scene.run();
    let shown = scene.server.shown().expect("a key").clone();
    authority.write("keys", &format!("meter-8:{KEY}\nmeter-7:{}", &KEY[1..]));
    let error = server.read_again().unwrap_err().to_string();
    assert!(error.contains("keys") && error.contains("line 2") && !error.contains(&KEY[1..]), "{error}");
    assert_eq!(shown.lapse(SystemTime::now()), None);
    authority.write("keys", &format!("meter-8:{KEY}\n"));
    server.take(server.read_again().unwrap());
    assert_eq!(shown.lapse(SystemTime::now()), Some(Lapse::Key));
    let mut scene = device(&server, "meter-8", SECRET);
    scene.run();
    assert!(scene.is_connected && !scene.server.shown().expect("a key").has_names_of(&shown));
}
