//! A device: a client of `dimpl` with a certificate of the server's authority, or a key that the server knows.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use dimpl::{Config, Dtls, DtlsCertificate, Output, PskResolver};

use super::place::authority;
use crate::dtls::{DtlsOutput, provider};

type NewPeer = fn(Arc<Config>, DtlsCertificate, Instant) -> Dtls;
const VERSIONS: [NewPeer; 4] =
    [Dtls::new_12, Dtls::new_13, Dtls::new_auto, |config, _, now| Dtls::new_12_psk(config, now)];

/// The one key that there is.
struct Known;

impl PskResolver for Known {
    fn resolve(&self, _: &[u8]) -> Option<Vec<u8>> {
        Some(vec![7; 16])
    }
}

pub(super) struct Device {
    client: Dtls,
    /// On their way.
    datagrams: VecDeque<Vec<u8>>,
    buffer: Vec<u8>,
}

impl Device {
    pub(super) fn new(kind: u8, now: Instant) -> Self {
        static CONFIG: OnceLock<([Arc<Config>; 2], DtlsCertificate)> = OnceLock::new();
        let (configs, certificate) = CONFIG.get_or_init(|| {
            let configs = [false, true].map(|has_key| {
                let mut config = Config::builder().with_crypto_provider(provider());
                if has_key {
                    config = config.with_psk_client(b"device".to_vec(), Arc::new(Known));
                }
                Arc::new(config.build().expect("a configuration"))
            });
            let (certificate, key) = authority().issue(&["device"], &[]);
            let certificate =
                DtlsCertificate { certificate: certificate.der().to_vec(), private_key: key.serialize_der() };
            (configs, certificate)
        });
        let version = usize::from(kind & 3);
        let config = configs[usize::from(version == 3)].clone();
        let mut client = VERSIONS[version](config, certificate.clone(), now);
        client.set_active(true);
        let mut device = Device { client, datagrams: VecDeque::new(), buffer: vec![0; 2048] };
        device.pass(now);
        device
    }

    /// What it has to send is on its way.
    fn drain(&mut self) {
        loop {
            match self.client.poll_output(&mut self.buffer) {
                Output::Packet(packet) => self.datagrams.push_back(packet.to_vec()),
                Output::BufferTooSmall { needed } => self.buffer.resize(needed, 0),
                Output::Timeout(_) => return,
                _ => {}
            }
        }
    }

    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        self.datagrams.pop_front()
    }

    pub(super) fn take_all(&mut self) -> Vec<Vec<u8>> {
        self.datagrams.drain(..).collect()
    }

    /// What the server has sent.
    pub(super) fn hear(&mut self, output: &DtlsOutput, now: Instant) {
        for packet in output.packets.iter() {
            // It may be over: the oracle looks at the server.
            let _ = self.client.handle_timeout(now).and_then(|()| self.client.handle_packet(packet));
        }
        self.drain();
    }

    pub(super) fn pass(&mut self, now: Instant) {
        let _ = self.client.handle_timeout(now);
        self.drain();
    }

    pub(super) fn say(&mut self, message: &[u8]) {
        let _ = self.client.send_application_data(message);
        self.drain();
    }

    pub(super) fn close(&mut self) {
        let _ = self.client.close();
        self.drain();
    }
}
