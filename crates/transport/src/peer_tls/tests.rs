//! Nodes of clusters that were founded for the test, over real sockets of loopback.

mod files;
mod joining;
mod refused;
mod strangers;

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant, SystemTime};

use lapwing_authority::{Authority, NodeKey, NodeName};
use socket2::SockRef;
use tempfile::TempDir;

use super::*;
use crate::stream::Stream;

const CLUSTER: [u8; 16] = [0xc1; 16];
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn name(node: u8) -> NodeName {
    NodeName::new(CLUSTER, node).unwrap()
}

fn founded() -> Authority {
    Authority::found(CLUSTER, SystemTime::now()).unwrap()
}

/// A certificate of this authority that was issued at `now`, and its key.
fn issued(authority: &Authority, node: u8, now: SystemTime) -> (String, String) {
    let key = NodeKey::generate().unwrap();
    (authority.issue(node, &key.request().unwrap(), now).unwrap(), key.to_pem())
}

/// Files with these texts.
fn files_of((certificate, key): (String, String), ca: &str) -> (TempDir, PeerFiles) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let files = PeerFiles {
        certificate: write("node.pem", &certificate),
        key: write("node.key", &key),
        ca: write("ca.pem", ca),
    };
    (folder, files)
}

/// A node with this certificate that trusts these authorities.
fn node_of(identity: (String, String), authorities: &[&str]) -> PeerTls {
    let (_folder, files) = files_of(identity, &authorities.concat());
    PeerTls::load(&files).unwrap()
}

/// One that is as it should be.
fn node(authority: &Authority, node: u8) -> PeerTls {
    node_of(issued(authority, node, SystemTime::now()), &[authority.certificate_pem()])
}

fn listen() -> PeerListener {
    PeerListener::bind(&["127.0.0.1:0".parse().unwrap()]).unwrap()
}

/// Calls until there is something, for as long as a slow machine may need.
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "nothing has come");
        std::thread::yield_now();
    }
}

fn accept(listener: &mut PeerListener, tls: &PeerTls, are_joining: bool) -> PeerStream {
    until(|| listener.accept(tls, are_joining).unwrap())
}

/// `client` connects to `server`; both ends, before their handshake.
fn meet(client: &PeerTls, server: &PeerTls) -> (PeerStream, PeerStream) {
    let mut listener = listen();
    let near = PeerStream::connect(listener.address(), client, Some(server.name().node())).unwrap();
    (near, accept(&mut listener, server, false))
}

/// What one read gives; `None`: nothing is there yet.
fn read(stream: &mut PeerStream, buffer: &mut [u8]) -> Option<io::Result<usize>> {
    match stream.read(buffer) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => None,
        read => Some(read),
    }
}

/// Both ends go on until their handshakes are done.
fn shake_hands(near: &mut PeerStream, far: &mut PeerStream) {
    until(|| {
        for end in [&mut *near, &mut *far] {
            assert!(read(end, &mut [0; 8]).is_none_or(|read| panic!("{read:?}")));
        }
        (!near.is_shaking() && !far.is_shaking()).then_some(())
    });
}

/// Both ends go on until each has said why it does not.
fn refusals(near: &mut PeerStream, far: &mut PeerStream) -> [Option<PeerRefusal>; 2] {
    let mut found = [None; 2];
    until(|| {
        for (end, found) in [&mut *near, &mut *far].into_iter().zip(&mut found) {
            if found.is_none() {
                *found = read(end, &mut [0; 8]).map(|read| PeerRefusal::of(&read.expect_err("nobody said anything")));
            }
        }
        found.iter().all(Option::is_some).then_some(())
    });
    // However often they are asked.
    for (end, found) in [near, far].into_iter().zip(found) {
        assert_eq!(PeerRefusal::of(&end.read(&mut [0; 8]).unwrap_err()), found.unwrap());
        assert_eq!(PeerRefusal::of(&end.write(b"more").unwrap_err()), found.unwrap());
        assert!(!end.wants_write() && format!("{end:?}").contains("refused"));
    }
    found.map(Option::unwrap)
}

/// Writes all of `bytes` to one end while the other one reads; what that got.
fn send(from: &mut PeerStream, to: &mut PeerStream, bytes: &[u8]) -> Vec<u8> {
    let (mut written, mut got, mut buffer) = (0, Vec::new(), vec![0; 5000]);
    until(|| {
        match from.write(&bytes[written..]) {
            Ok(taken) => written += taken,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        while let Some(taken) = read(to, &mut buffer) {
            got.extend_from_slice(&buffer[..taken.unwrap()]);
        }
        (got.len() == bytes.len()).then_some(())
    });
    assert!(!from.wants_write());
    got
}

/// Do two nodes know each other, and do bytes cross both ways, more than any buffer on their way has room for?
#[test]
fn two_nodes_speak_to_each_other() {
    let authority = founded();
    let (mut near, mut far) = meet(&node(&authority, 1), &node(&authority, 2));
    assert!(near.is_shaking() && far.is_shaking());
    assert_eq!((near.peer(), far.peer(), near.protocol(), far.protocol()), (None, None, None, None));
    shake_hands(&mut near, &mut far);
    assert_eq!((near.peer(), far.peer()), (Some(name(2)), Some(name(1))));
    assert_eq!([near.protocol(), far.protocol()], [Some(PeerProtocol::Node); 2]);
    let lasts = near.peer_expires_at().unwrap().duration_since(SystemTime::now()).unwrap();
    assert!(lasts > 1800 * DAY && lasts < 1830 * DAY, "{lasts:?}");
    let bytes: Vec<u8> = (0..8 << 20).map(|n: u32| (n % 251) as u8).collect();
    assert!(send(&mut near, &mut far, &bytes) == bytes);
    assert!(send(&mut far, &mut near, &bytes) == bytes);
    near.shutdown();
    assert_eq!(until(|| read(&mut far, &mut [0; 8])).unwrap(), 0);
    drop(far);
    assert_eq!(until(|| read(&mut near, &mut [0; 8])).unwrap(), 0);
}

/// Does whoever asks for any node of the cluster learn which one there is?
#[test]
fn any_node_may_be_asked_for() {
    let authority = founded();
    let (one, mut listener) = (node(&authority, 1), listen());
    let mut near = PeerStream::connect(listener.address(), &one, None).unwrap();
    let mut far = accept(&mut listener, &node(&authority, 63), false);
    shake_hands(&mut near, &mut far);
    assert_eq!(near.peer(), Some(name(63)));
    let none = PeerStream::connect(listener.address(), &one, Some(64)).unwrap_err();
    assert_eq!(none.kind(), ErrorKind::InvalidInput);
}

/// Is what nobody reads held back at its writer, within a bound, and does it come when somebody reads again?
#[test]
fn a_node_that_does_not_read_is_waited_for() {
    let authority = founded();
    let (mut near, mut far) = meet(&node(&authority, 1), &node(&authority, 2));
    shake_hands(&mut near, &mut far);
    let chunk = [7; 1 << 16];
    let written: usize = std::iter::from_fn(|| near.write(&chunk).ok()).sum();
    assert!(near.wants_write() && near.unsent_bytes() > 0 && written < 64 << 20, "{written}");
    let (mut got, mut buffer) = (0, vec![0; 1 << 16]);
    until(|| {
        let _ = near.flush();
        got += read(&mut far, &mut buffer).map_or(0, |taken| taken.unwrap());
        (got == written).then_some(())
    });
    assert!(!near.wants_write());
}

/// Are small frames sent at once, and is a machine that has gone found out?
#[test]
fn sockets_have_their_options() {
    let authority = founded();
    let (near, far) = meet(&node(&authority, 1), &node(&authority, 2));
    for end in [near, far] {
        let Stream::Tcp(stream) = &end.stream else { panic!("a stream of TCP") };
        let socket = SockRef::from(stream);
        assert!(socket.tcp_nodelay().unwrap() && socket.keepalive().unwrap());
        #[cfg(target_os = "linux")]
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(Duration::from_secs(30)));
    }
}

/// Is it an error of the connection, and not of whoever began it, that nobody is there?
#[test]
fn nobody_there_is_told() {
    let address: SocketAddr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut near = PeerStream::connect(address, &node(&founded(), 1), Some(2)).unwrap();
    assert!(near.is_shaking() && near.wants_write());
    let error = until(|| read(&mut near, &mut [0; 8])).unwrap_err();
    assert_eq!((error.kind(), PeerRefusal::of(&error)), (ErrorKind::ConnectionRefused, None));
}

/// Does an address that is taken give an error that names it and says what to do?
#[test]
fn an_address_in_use_is_named() {
    let held = listen();
    let error = PeerListener::bind(&[held.address()]).unwrap_err();
    assert!(error.to_string().contains(&held.address().to_string()), "{error}");
    assert!(error.remedy().contains("port"), "{}", error.remedy());
}
