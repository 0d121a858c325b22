//! Hellos of made-up addresses, and what becomes of them; a handshake as a whole is tried where there is a client.

use std::net::SocketAddr;

use lapwing_oracle::variants::{Random, variant};
use lapwing_transport::{ClientCertificate, DtlsOutput, DtlsSettings, TlsSettings};
use tempfile::TempDir;

use super::*;

/// A first ClientHello of DTLS 1.2: one suite, no session, no cookie, and the extensions that are needed.
const HELLO: [u8; 104] = {
    let mut hello = [0; 104];
    let head = [
        22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 91, // record: 91 bytes
        1, 0, 0, 79, 0, 0, 0, 0, 0, 0, 0, 79, // ClientHello: 79 bytes, the first message, in one piece
        254, 253,
    ];
    let mut at = 0;
    while at < head.len() {
        hello[at] = head[at];
        at += 1;
    }
    // Behind 32 bytes of random.
    at += 32;
    let rest = [
        0, 0, 0, 2, 0xC0, 0x2B, 1, 0, // no session, no cookie, one suite, no compression
        0, 35, // extensions: groups, signatures, extended master secret, formats of points, renegotiation, MACs
        0, 10, 0, 4, 0, 2, 0, 23, 0, 13, 0, 4, 0, 2, 4, 3, 0, 23, 0, 0, 0, 11, 0, 2, 1, 0, 0xFF, 1, 0, 1, 0, 0, 22, 0,
        0,
    ];
    let mut n = 0;
    while n < rest.len() {
        hello[at + n] = rest[n];
        n += 1;
    }
    hello
};

struct Scene {
    tunnels: Tunnels,
    counters: SnCounters,
    output: DtlsOutput,
    now_ms: u64,
}

impl Scene {
    fn new(limits: &Limits) -> Self {
        let folder = TempDir::new().unwrap();
        let made = rcgen::generate_simple_self_signed(["broker".to_owned()]).unwrap();
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let settings = TlsSettings {
            certificate: write("c", made.cert.pem()),
            key: write("k", made.signing_key.serialize_pem()),
            client_ca: None,
            crls: Vec::new(),
            client_certificate: ClientCertificate::None,
        };
        let own = DtlsSettings { datagram_bytes_max: 1232, handshake_timeout: Duration::from_secs(10), keys: None };
        let certificates = Arc::new(Certificates::load_for_datagrams(Some(settings), own).unwrap());
        let seal = Seal { certificates, listener: ListenerId(0) };
        let (tunnels, counters) = (Tunnels::new(vec![None, Some(seal)], limits, 5), SnCounters::default());
        Scene { tunnels, counters, output: DtlsOutput::default(), now_ms: 5 }
    }

    /// Bytes that come from an address; and how many go back there.
    fn take(&mut self, address: [u8; 4], port: u16, bytes: &[u8]) -> usize {
        let Scene { tunnels, counters, output, now_ms } = self;
        let is_taken = tunnels.take(1, SocketAddr::from((address, port)), bytes, *now_ms, counters, output);
        if is_taken { output.packets.iter().map(<[u8]>::len).sum() } else { 0 }
    }

    fn count(&self, reason: &str) -> u64 {
        let metrics = self.counters.metrics();
        let its = metrics.iter().filter(|metric| metric.labels.iter().any(|label| label.1 == reason));
        its.map(|metric| metric.value as u64).sum()
    }

    fn pass(&mut self, ms: u64) {
        self.now_ms += ms;
        while self.tunnels.tick(self.now_ms, &self.counters, &mut self.output).is_some() {
            assert_eq!(self.output.packets.iter().count(), 0, "nobody here has shown where he is");
        }
    }
}

fn limits() -> Limits {
    Limits { handshakes_max: 8, handshakes_per_address_max: 2, connect_timeout_ms: 1000, ..Limits::default() }
}

/// Is a hello answered with less than it has, from a bounded table in which the oldest goes, and is it forgotten in time?
#[test]
fn made_up_addresses_leave_nothing() {
    let mut scene = Scene::new(&limits());
    for n in 0..20 {
        let answered = scene.take([10, 0, 0, n], 1, &HELLO);
        assert!((1..=HELLO.len()).contains(&answered), "{answered} bytes for a hello");
    }
    assert_eq!((scene.tunnels.all.len(), scene.count("handshakes_max"), scene.count("crowded_out")), (8, 12, 12));
    scene.pass(999);
    assert_eq!(scene.tunnels.all.len(), 8);
    scene.pass(2);
    assert_eq!((scene.tunnels.all.len(), scene.count("timed_out")), (0, 8));
    assert!(scene.tunnels.unproven.is_empty() && scene.tunnels.hellos.count() == 0);
}

/// Does one address have its own bound, and one turn?
#[test]
fn one_address_and_one_turn_have_their_bounds() {
    let mut scene = Scene::new(&Limits { handshakes_max: 1000, ..limits() });
    for port in 1..=5 {
        scene.take([10, 0, 0, 1], port, &HELLO);
    }
    assert_eq!((scene.tunnels.all.len(), scene.count("handshakes_per_address_max")), (2, 3));
    for n in 0..200 {
        scene.take([10, 0, 1, n], 1, &HELLO);
    }
    assert_eq!(scene.count("hellos_per_turn"), 205 - u64::from(HELLOS_PER_TURN));
    scene.tunnels.begin_turn();
    assert!(scene.take([10, 0, 2, 1], 1, &HELLO) > 0);
}

/// Are bytes that are no hello nobody's, and do any bytes behind a hello leave it as it is, or end it?
#[test]
fn any_bytes_are_somebodys_or_nobodys() {
    let mut scene = Scene::new(&limits());
    assert_eq!(scene.take([10, 0, 0, 1], 1, b"\x02\x17"), 0);
    assert_eq!((scene.count("not_connected"), scene.tunnels.all.len()), (1, 0));
    assert!(scene.tunnels.shown((1, SocketAddr::from(([10, 0, 0, 1], 1)))).is_none());
    let mut seed = 7_u32;
    for at in 0..HELLO.len() {
        scene.tunnels.begin_turn();
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut bytes = HELLO;
        bytes[at] ^= (seed >> 24) as u8 | 1;
        assert!(scene.take([10, 0, 0, 2], 1, &bytes) <= bytes.len());
        assert!(scene.take([10, 0, 0, 3], 1, &HELLO[..at]) <= at);
    }
    assert!(scene.tunnels.all.len() <= 2 && scene.tunnels.proven.is_empty());
}

/// Whatever comes from many addresses at once: does each get no more than came from it, and have the tables their bounds?
#[test]
fn anything_of_many_addresses_is_bounded() {
    let (mut scene, mut random) = (Scene::new(&limits()), Random::new(94));
    let mut owed = HashMap::new();
    for _ in 0..1000 {
        if random.below(16) == 0 {
            scene.tunnels.begin_turn();
            scene.pass(random.below(300) as u64);
        }
        let bytes = if random.below(3) == 0 { HELLO.to_vec() } else { variant(&HELLO, &HELLO, &mut random) };
        let (host, port) = (random.below(12) as u8, random.below(3) as u16);
        let owed = owed.entry((host, port)).or_insert(0);
        *owed += bytes.len();
        let went = scene.take([10, 0, 0, host], port, &bytes);
        *owed = owed.checked_sub(went).expect("no more than came");
        assert!(scene.tunnels.all.len() <= 8 && scene.tunnels.hellos.count() == scene.tunnels.all.len());
    }
    assert!(scene.count("failed") > 0 && scene.tunnels.proven.is_empty());
}
