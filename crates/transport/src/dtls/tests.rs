//! Certificates made for the test, a client of `dimpl`, and nothing between them but this file: no socket, no real time.

mod any_bytes;
mod certificates;
mod hostile;
mod keys;

use std::time::{Duration, SystemTime};

use dimpl::{Config, DtlsCertificate};

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
