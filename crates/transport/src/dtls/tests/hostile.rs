//! What no client sends: pieces without end, lengths that are not true, what was there before, other epochs, alerts of anybody.

use lapwing_oracle::allocations;

use super::*;

/// A record in the clear.
fn record(content: u8, epoch: u8, number: u8, body: &[u8]) -> Vec<u8> {
    let len = (body.len() as u16).to_be_bytes();
    [&[content, 254, 253, 0, epoch, 0, 0, 0, 0, 0, number], &len[..], body].concat()
}

/// A piece of a message that is said to be as long as a message can be.
fn piece(kind: u8, message: u8, n: u8) -> Vec<u8> {
    let body = [&[kind, 255, 255, 255, 0, message, 0, n, 0, 0, 0, 100][..], &[7; 100]].concat();
    record(HANDSHAKE, 0, n, &body)
}

/// A server that waits for its client's second flight, which has shown where it is.
fn shaking(authority: &Authority, server: &Arc<Certificates>, version: usize) -> Scene {
    let mut scene = Scene::new(server, version, authority.device("device"));
    for is_lost in [false, true] {
        for packet in scene.said_by_client() {
            scene.server.receive(&packet, scene.now, &mut scene.output);
        }
        scene.lost = if is_lost { usize::MAX } else { 0 };
        scene.deliver();
    }
    assert_eq!(scene.server.stage(), DtlsStage::Shaking);
    scene
}

/// How many of these datagrams it takes until the server has enough of them, and what it keeps of them.
fn give(scene: &mut Scene, datagrams: impl Iterator<Item = Vec<u8>>) -> (usize, isize) {
    let Scene { server, output, now, .. } = scene;
    let (count, used) = allocations::count(|| {
        let is_on = |server: &Dtls| !matches!(server.stage(), DtlsStage::Over(_));
        datagrams
            .take_while(|datagram| {
                server.receive(datagram, *now, output);
                is_on(server)
            })
            .count()
    });
    assert_eq!(server.stage(), DtlsStage::Over(DtlsEnd::Failed));
    (count, used.kept_bytes)
}

/// Does what never becomes a message cost little, and end soon, before the cookie and behind it?
#[test]
fn pieces_that_never_end_are_few() {
    let authority = Authority::new();
    let server = authority.server(ClientCertificate::None);
    for version in 0..VERSIONS.len() {
        let mut scene = Scene::new(&server, version, authority.device("device"));
        let (count, kept_bytes) = give(&mut scene, (0..200).map(|n| piece(1, 0, n)));
        assert!(count <= 4 && kept_bytes < 64 << 10, "{count} pieces, {kept_bytes} bytes");

        let mut scene = shaking(&authority, &server, version);
        let eight = |n: u8| -> Vec<u8> { (0..8).flat_map(|m| piece(16, 3, 8 * n + m)).collect() };
        let (count, kept_bytes) = give(&mut scene, (0..30).map(eight));
        assert!(count <= 4 && kept_bytes < 256 << 10, "{count} datagrams of pieces, {kept_bytes} bytes");
    }
}

/// Is who is connected left alone by what was there before, by what others can make, and by what is cut?
#[test]
fn nobody_else_touches_an_open_connection() {
    let authority = Authority::new();
    let server = authority.server(ClientCertificate::None);
    for version in 0..VERSIONS.len() {
        let mut scene = Scene::new(&server, version, authority.device("device"));
        let mut seen = Vec::new();
        while scene.server.stage() != DtlsStage::Open || !scene.is_connected {
            for packet in scene.said_by_client() {
                scene.server.receive(&packet, scene.now, &mut scene.output);
                scene.deliver();
                seen.push(packet);
            }
        }
        scene.client.send_application_data(b"once").unwrap();
        let sealed = scene.said_by_client().remove(0);
        scene.server.receive(&sealed, scene.now, &mut scene.output);
        assert_eq!(scene.output.messages.iter().collect::<Vec<_>>(), [b"once"]);

        scene.client.send_application_data(b"later").unwrap();
        let later = scene.said_by_client().remove(0);
        let mut flipped = later.clone();
        *flipped.last_mut().unwrap() ^= 1;
        seen.extend([sealed, flipped, later[..later.len() - 1].to_vec(), later[..14].to_vec(), Vec::new()]);
        seen.extend((0..4).map(|epoch| record(23, epoch, 9, b"in the clear")));
        seen.extend([record(21, 0, 9, &[2, 40]), record(21, 0, 9, &[1, 0]), record(20, 0, 9, &[1])]);
        seen.extend([record(21, 1, 200, &[2, 40]), piece(1, 0, 3), piece(1, 200, 0)]);
        let mut went = 0;
        for datagram in &seen {
            scene.server.receive(datagram, scene.now, &mut scene.output);
            assert_eq!(scene.server.stage(), DtlsStage::Open, "{version}: {datagram:?}");
            assert_eq!(scene.output.messages.iter().count(), 0, "{version}: {datagram:?}");
            went += scene.output.packets.iter().map(<[u8]>::len).sum::<usize>();
        }
        let came: usize = seen.iter().map(Vec::len).sum();
        assert!(went <= came, "{version}: {went} bytes for {came}");
        scene.server.receive(&later, scene.now, &mut scene.output);
        assert_eq!(scene.output.messages.iter().collect::<Vec<_>>(), [b"later"]);
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
