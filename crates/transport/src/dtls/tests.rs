//! Certificates made for the test, a client of `dimpl`, and nothing between them but this file: no socket, no real time.

mod hostile;
mod keys;

use std::time::{Duration, SystemTime};

use dimpl::{Config, DtlsCertificate};
use proptest::prelude::*;
use rcgen::{KeyPair, PKCS_ED25519};

use super::*;
use crate::authority::Authority;
use crate::settings::ClientCertificate;
use crate::tls::{CertificateName, Lapse};

const TIMEOUT: Duration = Duration::from_secs(20);

impl Authority {
    fn server(&self, client_certificate: ClientCertificate) -> Arc<Certificates> {
        Arc::new(Certificates::load_for_datagrams(Some(self.settings(client_certificate)), limits()).unwrap())
    }

    /// A device's certificate, and its key.
    fn device(&self, name: &str) -> DtlsCertificate {
        let (certificate, key) = self.issue(&[name], &[]);
        DtlsCertificate { certificate: certificate.der().to_vec(), private_key: key.serialize_der() }
    }
}

fn limits() -> DtlsSettings {
    DtlsSettings { datagram_bytes_max: 1232, handshake_timeout: TIMEOUT, keys: None }
}

type NewPeer = fn(Arc<Config>, DtlsCertificate, Instant) -> dimpl::Dtls;

/// Which version a client speaks.
const VERSIONS: [NewPeer; 3] = [dimpl::Dtls::new_12, dimpl::Dtls::new_13, dimpl::Dtls::new_auto];

/// A client and its server, with everything between them in the test's hands.
struct Scene {
    client: dimpl::Dtls,
    server: Dtls,
    now: Instant,
    output: DtlsOutput,
    is_connected: bool,
    heard: Vec<Vec<u8>>,
    is_told_goodbye: bool,
    /// The next so many datagrams of the server are lost.
    lost: usize,
}

impl Scene {
    fn new(server: &Arc<Certificates>, version: usize, certificate: DtlsCertificate) -> Self {
        let now = Instant::now();
        let config = Config::builder().with_crypto_provider(crypto::provider()).build().unwrap();
        Self::of(server, VERSIONS[version](Arc::new(config), certificate, now), now)
    }

    fn of(server: &Arc<Certificates>, mut client: dimpl::Dtls, now: Instant) -> Self {
        client.set_active(true);
        client.handle_timeout(now).unwrap();
        Scene {
            client,
            server: server.accept_datagrams(now).unwrap(),
            now,
            output: DtlsOutput::default(),
            is_connected: false,
            heard: Vec::new(),
            is_told_goodbye: false,
            lost: 0,
        }
    }

    /// What the client has to send; the rest of what it says is noted.
    fn said_by_client(&mut self) -> Vec<Vec<u8>> {
        let (mut buffer, mut packets) = (vec![0; 2048], Vec::new());
        loop {
            match self.client.poll_output(&mut buffer) {
                Output::Packet(packet) => packets.push(packet.to_vec()),
                Output::Connected => self.is_connected = true,
                Output::ApplicationData(data) => self.heard.push(data.to_vec()),
                Output::CloseNotify => self.is_told_goodbye = true,
                Output::Timeout(_) => return packets,
                _ => {}
            }
        }
    }

    /// What the server's last step brings to the client.
    fn deliver(&mut self) {
        for packet in self.output.packets.iter() {
            if self.lost > 0 {
                self.lost -= 1;
            } else {
                // A client that is sent an alert is over; the test looks at the server.
                let _ = self.client.handle_packet(packet);
            }
        }
    }

    /// Goes on until nobody has anything to say. What the server has heard.
    fn run(&mut self) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        loop {
            let packets = self.said_by_client();
            if packets.is_empty() {
                return messages;
            }
            for packet in packets {
                self.server.receive(&packet, self.now, &mut self.output);
                messages.extend(self.output.messages.iter().map(<[u8]>::to_vec));
                self.deliver();
            }
        }
    }

    /// Time until the server has something to do, which it does.
    fn wait(&mut self) {
        self.now = self.server.next_wake().expect("a timer");
        self.server.tick(self.now, &mut self.output);
        self.deliver();
        self.client.handle_timeout(self.now).unwrap();
    }
}

/// Do both versions shake hands, talk, and say goodbye; and has a datagram with its record no more bytes than is said?
#[test]
fn both_versions_talk() {
    let authority = Authority::new();
    let server = authority.server(ClientCertificate::None);
    for version in 0..VERSIONS.len() {
        let mut scene = Scene::new(&server, version, authority.device("device"));
        assert!(scene.run().is_empty());
        assert_eq!((scene.server.stage(), scene.is_connected), (DtlsStage::Open, true), "{version}");
        assert!(scene.server.shown().is_none() && scene.server.withheld() == 0);

        assert_eq!(scene.client.send_application_data(b"up").unwrap(), 2);
        assert_eq!(scene.run(), [b"up"]);
        let message = [7; 1000];
        assert!(scene.server.send(&message, scene.now, &mut scene.output));
        let sent: Vec<usize> = scene.output.packets.iter().map(<[u8]>::len).collect();
        assert!(sent.len() == 1 && sent[0] <= message.len() + usize::from(DTLS_RECORD_BYTES), "{sent:?}");
        scene.deliver();
        scene.run();
        assert_eq!(scene.heard, [message]);

        scene.server.close(&mut scene.output);
        scene.deliver();
        scene.run();
        assert!(scene.is_told_goodbye && scene.server.stage() == DtlsStage::Over(DtlsEnd::Closed));
        assert!(!scene.server.send(b"late", scene.now, &mut scene.output));
        assert_eq!(scene.output.packets.iter().count(), 0);
    }
}

/// Is the end that a client tells heard?
#[test]
fn a_client_says_goodbye() {
    let authority = Authority::new();
    for version in 0..VERSIONS.len() {
        let mut scene = Scene::new(&authority.server(ClientCertificate::None), version, authority.device("device"));
        scene.run();
        scene.client.close().unwrap();
        scene.run();
        assert_eq!(scene.server.stage(), DtlsStage::Over(DtlsEnd::Closed));
    }
}

/// Does what is lost go again by the clock that is given, and is a peer that stays away given up?
#[test]
fn time_is_the_owners() {
    let authority = Authority::new();
    for version in 0..2 {
        let mut scene = Scene::new(&authority.server(ClientCertificate::None), version, authority.device("device"));
        let hello = scene.said_by_client();
        scene.server.receive(&hello[0], scene.now, &mut scene.output);
        scene.deliver();
        // Its flight is lost, once.
        scene.lost = 9;
        scene.run();
        assert_eq!((scene.server.stage(), scene.is_connected), (DtlsStage::Shaking, false));
        scene.lost = 0;
        scene.wait();
        scene.run();
        assert_eq!((scene.server.stage(), scene.is_connected), (DtlsStage::Open, true), "{version}");

        let mut scene = Scene::new(&authority.server(ClientCertificate::None), version, authority.device("device"));
        scene.lost = usize::MAX;
        let hello = scene.said_by_client();
        scene.server.receive(&hello[0], scene.now, &mut scene.output);
        scene.lost = 0;
        scene.deliver();
        scene.lost = usize::MAX;
        scene.run();
        let begun = scene.now;
        while let Some(at) = scene.server.next_wake() {
            assert!(at <= begun + TIMEOUT, "nothing is waited for longer");
            scene.now = at;
            scene.server.tick(at, &mut scene.output);
        }
        assert_eq!(scene.server.stage(), DtlsStage::Over(DtlsEnd::TimedOut));
    }
}

/// Does whoever says hello from an address that is not his get anybody there no more bytes than he sends, ever?
#[test]
fn nothing_grows_on_its_way_to_who_has_not_answered() {
    let authority = Authority::new();
    for version in 0..VERSIONS.len() {
        let mut scene = Scene::new(&authority.server(ClientCertificate::None), version, authority.device("device"));
        let hello = scene.said_by_client().remove(0);
        assert!(is_client_hello(&hello));
        let (mut came, mut went) = (0, 0);
        for n in 0..50 {
            scene.server.receive(&hello, scene.now + Duration::from_millis(100 * n), &mut scene.output);
            came += hello.len();
            went += scene.output.packets.iter().map(<[u8]>::len).sum::<usize>();
            assert!(went <= came, "{went} bytes for {came}");
            assert_eq!(scene.server.next_wake(), None, "and nothing by a timer");
            if matches!(scene.server.stage(), DtlsStage::Over(_)) {
                break;
            }
        }
        assert!(went > 0 && scene.server.stage() != DtlsStage::Open);
    }
}

/// Anybody can send from a client's address: does what he cannot seal end nothing, whatever it is and however often it comes?
#[test]
fn who_cannot_seal_ends_nobody() {
    let authority = Authority::new();
    let record = |kind: u8, epoch: u8, number: u16, body: &[u8]| {
        let [high, low] = number.to_be_bytes();
        let head = [kind, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, high, low, 0, body.len() as u8];
        [&head[..], body].concat()
    };
    for version in 0..VERSIONS.len() {
        let mut scene = Scene::new(&authority.server(ClientCertificate::None), version, authority.device("device"));
        scene.run();
        scene.client.send_application_data(b"up").unwrap();
        let sealed = scene.said_by_client().remove(0);
        let (mut came, mut went) = (0, 0);
        for number in 0..300_u16 {
            let [high, low] = number.to_be_bytes();
            let finished = [&[20, 0, 0, 12, high, low, 0, 0, 0, 0, 0, 12][..], &[7; 12]].concat();
            let mut flipped = sealed.clone();
            *flipped.last_mut().unwrap() ^= 1;
            let forged = [
                vec![],
                vec![22],
                vec![7; 5],
                record(21, 0, number, &[2, 40]),
                record(21, 0, number, &[1, 0]),
                record(21, 1, number, &[2; 40]),
                record(20, 0, number, &[1]),
                record(22, 0, number, &finished),
                record(22, 1, number, &finished),
                record(23, 1, number, &[7; 40]),
                record(23, 2, number, &[7; 40]),
                [&[0x2F, high, low, 0, 40][..], &[7; 40]].concat(),
                [record(23, 1, number, &[7; 40]), record(21, 0, number, &[2, 40])].concat(),
                flipped,
            ];
            for packet in forged {
                scene.server.receive(&packet, scene.now, &mut scene.output);
                came += packet.len();
                went += scene.output.packets.iter().map(<[u8]>::len).sum::<usize>();
                assert_eq!(scene.server.stage(), DtlsStage::Open, "{version} {number}: {packet:?}");
                assert_eq!(scene.output.messages.iter().count(), 0);
            }
        }
        assert!(went <= came, "{version}: {went} bytes for {came}");
        scene.server.receive(&sealed, scene.now, &mut scene.output);
        assert!(scene.output.messages.iter().eq([b"up"]), "{version}");
        assert!(scene.server.send(b"down", scene.now, &mut scene.output));
        scene.deliver();
        scene.run();
        assert_eq!(scene.heard, [b"down"]);
    }
}

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

/// What is done to the datagrams of a handshake.
#[derive(Clone, Debug)]
enum Harm {
    None,
    Flip(usize, u8),
    Cut(usize),
    Twice,
    Random(Vec<u8>),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        6 => Just(Harm::None),
        2 => (any::<usize>(), 1..=u8::MAX).prop_map(|(at, bits)| Harm::Flip(at, bits)),
        1 => any::<usize>().prop_map(Harm::Cut),
        1 => Just(Harm::Twice),
        1 => proptest::collection::vec(any::<u8>(), 0..64).prop_map(Harm::Random),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Any bytes, at any point of a handshake or behind it: is there ever a panic, or an unproven peer that gets more than it sent?
    #[test]
    fn any_bytes_are_an_answer_or_the_end(version in 0..2_usize, harms in proptest::collection::vec(harm(), 1..24)) {
        let (authority, mut came, mut went) = (shared(), 0, 0);
        let mut scene = Scene::new(&authority.1, version, authority.0.clone());
        for harm in harms {
            let packets = scene.said_by_client();
            let packet = packets.first().cloned().unwrap_or_default();
            let packets = match harm {
                Harm::Random(bytes) => vec![bytes],
                _ if packet.is_empty() => vec![packet],
                Harm::None => packets,
                Harm::Flip(at, bits) => {
                    let mut packet = packet;
                    let at = at % packet.len();
                    packet[at] ^= bits;
                    vec![packet]
                }
                Harm::Cut(at) => vec![packet[..at % packet.len()].to_vec()],
                Harm::Twice => vec![packet.clone(), packet],
            };
            for packet in packets {
                let was_unproven = scene.server.stage() == DtlsStage::Unproven;
                scene.server.receive(&packet, scene.now, &mut scene.output);
                came += packet.len();
                went += scene.output.packets.iter().map(<[u8]>::len).sum::<usize>();
                prop_assert!(!was_unproven || scene.server.stage() != DtlsStage::Unproven || went <= came);
                scene.deliver();
            }
            if let Some(at) = scene.server.next_wake() {
                scene.now = scene.now.max(at.min(scene.now + Duration::from_secs(1)));
                scene.server.tick(scene.now, &mut scene.output);
                scene.deliver();
            }
            if scene.client.handle_timeout(scene.now).is_err() {
                break;
            }
        }
    }
}

/// One authority for all cases: its device, and its server.
fn shared() -> &'static (DtlsCertificate, Arc<Certificates>) {
    static SHARED: std::sync::OnceLock<(DtlsCertificate, Arc<Certificates>)> = std::sync::OnceLock::new();
    SHARED.get_or_init(|| {
        let authority = Authority::new();
        (authority.device("device"), authority.server(ClientCertificate::Required))
    })
}
