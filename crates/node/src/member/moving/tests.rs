//! One snapshot between two threads, over TLS; a test stands for the raft thread of who receives.

use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant, SystemTime};

use lapwing_authority::{Authority, NodeKey};
use lapwing_ledger::{DataGroupState, Entry, Opened};
use lapwing_peer::{Frame, GroupNumber, Link, NodeId, SnapshotRefusal, Stage};
use lapwing_raft::{Membership, Position};
use lapwing_store::disk::OsDisk;
use lapwing_store::journal::{Journal, JournalConfig, JournalReader, JournalWriter};
use lapwing_transport::{PeerFiles, PeerListener, PeerTls};

use super::receive::Receiving;
use super::send::{Sending, Sent, Unsent};
use super::slot::Slot;
use super::wire::Wire;
use super::{Arrived, Word};
use crate::event_loop::EventLoop;
use crate::member::links::Own;
use crate::replica::{GroupState, Preface, write_data_group};

const CLUSTER: [u8; 16] = [7; 16];
/// Only reached on failure.
const PATIENCE: Duration = Duration::from_secs(30);

fn group() -> GroupNumber {
    GroupNumber::new(9).expect("a group")
}

fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a node")
}

/// A leader with a snapshot, and a follower with nothing.
struct Pair {
    dir: tempfile::TempDir,
    leader: (JournalWriter, JournalReader),
    _follower: JournalWriter,
    receiving: Receiving,
    heard: Receiver<Word>,
    _event_loop: EventLoop,
}

impl Pair {
    fn new() -> Pair {
        let dir = tempfile::tempdir().expect("a folder");
        certify(dir.path());
        let (leader, (follower, reader)) = (journal(&dir.path().join("1")), journal(&dir.path().join("2")));
        let preface = Preface { at: Position { index: 20, term: 4 }, membership: Membership::of(&[1, 2, 3]) };
        write_data_group(&leader.1, group(), &preface, state().freeze()).expect("written");
        let event_loop = EventLoop::open().expect("an event loop");
        let (words, heard): (Sender<Word>, _) = channel();
        let (is_low, stopping) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let slot = Arc::<Mutex<Slot>>::default();
        let receiving = Receiving { reader, is_low, slot, words, bell: event_loop.bell(), stopping };
        Pair { dir, leader, _follower: follower, receiving, heard, _event_loop: event_loop }
    }

    fn tls(&self, id: u8) -> Arc<PeerTls> {
        let file = |name: String| self.dir.path().join(name);
        let files = PeerFiles {
            certificate: file(format!("{id}.pem")),
            key: file(format!("{id}.key")),
            ca: file("ca.pem".into()),
        };
        Arc::new(PeerTls::load(&files).expect("certificates"))
    }

    /// Listens for one connection, which it then receives over; and sends.
    fn send(&self) -> JoinHandle<Result<Sent, Unsent>> {
        let (mut listener, tls) =
            (PeerListener::bind(&["127.0.0.1:0".parse().expect("one")]).expect("a port"), self.tls(2));
        let (address, receiving) = (listener.address(), self.receiving.clone());
        spawn(move || {
            let begun = Instant::now();
            let stream = loop {
                match listener.accept(&tls, false).expect("a connection") {
                    Some(stream) => break stream,
                    None => std::thread::yield_now(),
                }
                assert!(begun.elapsed() < PATIENCE, "nobody comes");
            };
            let mut wire = Wire::new(stream, (vec![], vec![]), Arc::default()).expect("a wire");
            wire.receive(Stage::Hello, PATIENCE, |frame| assert!(matches!(frame, Frame::Hello(_)))).expect("a hello");
            let mut hello = vec![];
            own(2).say(1, Link::Snapshot, &mut hello);
            wire.send_bytes(&hello).expect("said");
            receiving.run(wire);
        });
        let sending = Sending {
            own: own(1),
            level: 1,
            tls: self.tls(1),
            reader: self.leader.1.clone(),
            group: group(),
            leader_term: 5,
            to: node(2),
            addresses: vec![address.to_string()],
            snapshot: 77,
            bytes_per_s: 50 << 20,
            stopping: Arc::default(),
        };
        spawn(move || sending.run())
    }

    fn arrived(&self) -> Box<Arrived> {
        loop {
            match self.heard.recv_timeout(PATIENCE).expect("a word") {
                Word::Arrived(arrived) => return arrived,
                Word::Refused(SnapshotRefusal::Stale) => {}
                _ => panic!("another word"),
            }
        }
    }

    /// Files of the follower's snapshots.
    fn files(&self) -> usize {
        std::fs::read_dir(self.dir.path().join("2/log/snapshots")).expect("a folder").count()
    }
}

fn journal(dir: &Path) -> (JournalWriter, JournalReader) {
    let config = JournalConfig { segment_bytes: 64 << 10, ..JournalConfig::default() };
    Journal::open_on(Arc::new(OsDisk), dir, &config).expect("a journal")
}

/// Of two chunks and a part.
fn state() -> DataGroupState {
    let mut state = DataGroupState::new();
    for sequence in 1..=600 {
        let (client_id, mut body) = (format!("client-{sequence:06}-{}", "x".repeat(1000)), vec![]);
        let opened = Opened { client_id: &client_id, identity: b"", expiry_s: 60, opened_at_ms: 1, will: None };
        Entry::Opened(opened).encode(&mut body).expect("within the bounds");
        state.apply(sequence, &body).expect("in order");
    }
    state
}

fn own(id: u8) -> Own {
    Own {
        node: node(id),
        cluster: CLUSTER,
        folder: [id; 16],
        boot: 1,
        start: 1,
        window_bytes: 1 << 20,
        tables: [[0; 32]; 5],
        software: "lapwing".into(),
        addresses: vec!["127.0.0.1:1".into()],
    }
}

fn certify(dir: &Path) {
    let now = SystemTime::now();
    let authority = Authority::found(CLUSTER, now).expect("an authority");
    write(dir.join("ca.pem"), authority.certificate_pem());
    for id in [1, 2] {
        let key = NodeKey::generate().expect("a key");
        let request = key.request().expect("a request");
        write(dir.join(format!("{id}.pem")), &authority.issue(id, &request, now).expect("a certificate"));
        write(dir.join(format!("{id}.key")), &key.to_pem());
    }
}

/// For its owner alone.
fn write(path: PathBuf, text: &str) {
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path).expect("a new file");
    std::io::Write::write_all(&mut file, text.as_bytes()).expect("written");
}

/// Does it come as it was, and does the sender hear that it counts, or that nobody wants it; is nothing left behind then?
#[test]
fn a_snapshot_comes_as_it_was_and_its_fate_is_told() {
    let pair = Pair::new();
    for counts in [false, true] {
        let sender = pair.send();
        let Arrived { state, snapshot, received, reply, .. } = *pair.arrived();
        let GroupState::Data(state) = state else { panic!("a data group's") };
        assert_eq!((state.applied(), state.sessions().count()), (600, 600));
        assert_eq!((snapshot.at, snapshot.membership), (Position { index: 20, term: 4 }, Membership::of(&[1, 2, 3])));
        drop(received);
        reply.send(counts).expect("somebody waits");
        match sender.join().expect("no panic") {
            Ok(sent) => assert!(counts && sent.bytes > 600_000 && sent.resumed == 0, "{sent:?}"),
            Err(Unsent::Refused(refusal)) => assert!(!counts && refusal == SnapshotRefusal::Stale),
            Err(other) => panic!("{other}"),
        }
        assert_eq!(pair.files(), 0);
    }
}

/// A disk that is low: does the sender hear that, by name, and is nothing begun?
#[test]
fn who_has_no_room_says_so() {
    let pair = Pair::new();
    pair.receiving.is_low.store(true, std::sync::atomic::Ordering::Relaxed);
    let unsent = pair.send().join().expect("no panic").expect_err("there is no room");
    assert!(matches!(unsent, Unsent::Refused(SnapshotRefusal::NoRoom)), "{unsent}");
    let said = pair.heard.recv_timeout(PATIENCE).expect("a word");
    assert!(matches!(said, Word::Refused(SnapshotRefusal::NoRoom)));
    assert_eq!(pair.files(), 0);
    assert_eq!(unsent.to_string(), "the follower's disk has no room for it");
    pair.receiving.is_low.store(false, std::sync::atomic::Ordering::Relaxed);
    let sender = pair.send();
    pair.arrived().reply.send(true).expect("somebody waits");
    assert!(sender.join().expect("no panic").is_ok());
}

/// Another transfer has the place: does who comes meanwhile wait, and go on when that is over?
#[test]
fn one_is_taken_at_a_time() {
    let pair = Pair::new();
    *super::slot::lock(&pair.receiving.slot) = Slot::Taken;
    let unsent = pair.send().join().expect("no panic").expect_err("nobody listens twice");
    assert!(matches!(unsent, Unsent::Broken(_)), "{unsent}");
    assert!(matches!(pair.heard.recv_timeout(PATIENCE).expect("a word"), Word::Refused(SnapshotRefusal::Busy)));
}
