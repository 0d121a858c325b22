//! What an idle client costs in the node, counted at the allocator: in all of its threads, so this is a program of its own.
//!
//! The kernel's part is not in it, nor what an allocator adds to each piece.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::{Duration, Instant};

use lapwing_codec::{Connect, ConnectProperties, Packet, Version};
use lapwing_node::{Config, Handle};
use lapwing_sn::{Limits, Message, MsgId, PingReq, QoS, Subscribe, SubscribeTopic};

static LIVE: AtomicIsize = AtomicIsize::new(0);

/// The system's allocator, counted over all threads.
struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator; the counter is an atomic and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        LIVE.fetch_add(new_size as isize - layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Tables grow at such numbers: with so many clients, and with twice as many, each has the same share of room to spare.
const FULL: u16 = 224;

fn node() -> (Handle, SocketAddr, SocketAddr) {
    let json = r#"{"shards": 1, "pin": false, "listeners": [{"url": "sn://127.0.0.1:0"}]}"#;
    let mut config = Config::from_json(json).unwrap();
    config.listen = vec!["tcp://127.0.0.1:0".into()];
    let node = Handle::start(config).unwrap();
    let address = |scheme: &str| {
        let listeners = node.listeners();
        listeners.iter().find_map(|url| url.strip_prefix(scheme)).unwrap().parse().unwrap()
    };
    let (sn, tcp) = (address("sn://"), address("tcp://"));
    (node, sn, tcp)
}

/// Bytes that a client costs; `arrive` connects the one of that number. What it leaves in passing is waited for until they are
/// `max` at most.
fn bytes_each(what: &str, max: isize, mut arrive: impl FnMut(u16)) {
    (0..FULL).for_each(&mut arrive);
    let before = LIVE.load(Ordering::Relaxed);
    (FULL..2 * FULL).for_each(&mut arrive);
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let each = (LIVE.load(Ordering::Relaxed) - before) / isize::try_from(FULL).unwrap();
        if each <= max {
            return println!("{what}: {each} bytes each");
        }
        assert!(Instant::now() < deadline, "{what}: {each} bytes each instead of {max}");
        std::thread::yield_now();
    }
}

/// A device at an address of its own, which nobody else gets when it is silent.
struct Device(UdpSocket);

impl Device {
    fn connect(gateway: SocketAddr, number: u16) -> Device {
        let [high, low] = (number + 256).to_be_bytes();
        let socket = UdpSocket::bind((Ipv4Addr::new(127, 0, high, low), 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        socket.connect(gateway).unwrap();
        let device = Device(socket);
        let client_id = &format!("device-{number:06}");
        let connect = lapwing_sn::Connect { will: false, clean_session: true, duration_s: 600, client_id };
        assert_eq!(device.ask(Message::Connect(connect))[1], 0x05);
        // It is there: nothing is kept for a device that may be at another address.
        assert_eq!(device.ask(Message::PingReq(PingReq { client_id: None }))[1], 0x17);
        device
    }

    fn ask(&self, message: Message<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        message.encode(&Limits::PROTOCOL, &mut bytes).unwrap();
        self.0.send(&bytes).unwrap();
        let mut answer = vec![0; 64];
        let len = self.0.recv(&mut answer).unwrap();
        answer.truncate(len);
        answer
    }

    fn subscribe(&self, filter: &str) {
        let topic = SubscribeTopic::Filter(filter);
        let subscribe = Subscribe { dup: false, qos: QoS::AtLeastOnce, msg_id: MsgId::MIN, topic };
        assert_eq!(self.ask(Message::Subscribe(subscribe)).last(), Some(&0));
    }
}

fn connect_over_tcp(broker: SocketAddr, number: u16) -> TcpStream {
    let connect = Connect {
        version: Version::V5,
        is_bridge: false,
        clean_start: true,
        keep_alive_s: 600,
        client_id: &format!("device-{number:06}"),
        will: None,
        username: None,
        password: None,
        properties: ConnectProperties::default(),
    };
    let mut bytes = Vec::new();
    Packet::Connect(connect).encode(Version::V5, &mut bytes).unwrap();
    let mut stream = TcpStream::connect(broker).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(&bytes).unwrap();
    let mut head = [0; 4];
    stream.read_exact(&mut head).unwrap();
    assert_eq!((head[0], head[3]), (0x20, 0));
    stream
}

/// Is an idle client small, over TCP and over `sn://`, and does a device cost little more than its client does?
#[test]
fn idle_clients_are_small() {
    let (node, sn, _) = node();
    bytes_each("over sn://", 1024, |number| drop(Device::connect(sn, number)));
    drop(node);
    let (node, sn, _) = self::node();
    bytes_each("over sn://, with a subscription", 1152, |number| {
        Device::connect(sn, number).subscribe(&format!("t/{number:06}"));
    });
    drop(node);
    let (node, _, tcp) = self::node();
    let mut streams = Vec::with_capacity(2 * usize::from(FULL));
    bytes_each("over tcp://", 736, |number| streams.push(connect_over_tcp(tcp, number)));
    drop(node);
}
