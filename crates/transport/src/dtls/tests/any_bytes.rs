//! A handshake whose datagrams come as they like.

use proptest::prelude::*;

use super::*;

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
