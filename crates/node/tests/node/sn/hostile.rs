//! Thousands of datagrams from hundreds of addresses: does nobody else wait, does nothing grow, and is each counted?

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};

use lapwing_node::Handle;
use lapwing_sn::{Limits, Message, PingReq, QoS, Reason, ReturnCode, SubscribeTopic, decode};

use super::dice::Dice;
use super::flood::{connect as connect_bytes, datagram, forwarded};
use super::{SN, dropped, listen};
use crate::device::{Device, publish, sn_url};
use crate::{connect, eventually, metric, node};

const DATAGRAMS: u64 = 20_000;
/// So many lie in the socket's buffer at most, so that the kernel drops none.
const BATCH: u64 = 200;
/// Addresses that go on speaking.
const REGULARS: usize = 40;
/// Of these, those that are forwarders.
const FORWARDERS: usize = 4;
/// Connections that the listener has, and entries of all, those included that have none yet.
const CONNECTIONS_MAX: u64 = 64;
const CLIENTS_MAX: u64 = 100;
/// What may be of a datagram that is a message.
const INCOMING: [&str; 7] = [
    "out_of_state",
    "refused",
    "not_connected",
    "datagrams_per_turn_max",
    "connections_max",
    "publish_without_connect",
    "congested",
];

struct Flood {
    gateway: SocketAddr,
    dice: Dice,
    regulars: Vec<UdpSocket>,
    /// Each has said one CONNECT, of so many bytes.
    spoofed: Vec<(UdpSocket, usize)>,
    sent: u64,
    /// What is no message, by reason.
    malformed: BTreeMap<&'static str, u64>,
}

impl Flood {
    fn new(node: &Handle) -> Flood {
        let gateway = sn_url(node).trim_start_matches("sn://").parse().expect("an address");
        let regulars = (0..REGULARS).map(|_| bind([127, 0, 0, 1])).collect();
        let (spoofed, malformed) = (Vec::new(), BTreeMap::new());
        Flood { gateway, dice: Dice::new(0x5EED), regulars, spoofed, sent: 0, malformed }
    }

    fn send(&mut self) {
        let bytes = if self.sent.is_multiple_of(100) {
            self.spoof()
        } else {
            let which = self.dice.below(REGULARS);
            let bytes = if which < FORWARDERS { forwarded(&mut self.dice) } else { datagram(&mut self.dice) };
            self.regulars[which].send_to(&bytes, self.gateway).expect("loopback");
            bytes
        };
        self.sent += 1;
        if let Err(error) = decode(&bytes, &Limits::default()) {
            *self.malformed.entry(error.reason.name()).or_default() += 1;
        }
    }

    /// A CONNECT from an address that nobody has seen.
    fn spoof(&mut self) -> Vec<u8> {
        let [a, b, c, ..] = self.dice.roll().to_le_bytes();
        let socket = bind([127, a, b, c.clamp(1, 254)]);
        let bytes = connect_bytes(&format!("made-up-{}", self.sent));
        socket.send_to(&bytes, self.gateway).expect("all of 127.0.0.0/8 is this machine");
        self.spoofed.push((socket, bytes.len()));
        bytes
    }

    /// Nobody who said one CONNECT was sent a datagram that is larger.
    fn check_spoofed(&self) {
        let mut bytes = [0; 2048];
        for (socket, said) in &self.spoofed {
            socket.set_nonblocking(true).expect("a socket");
            while let Ok(len) = socket.recv(&mut bytes) {
                assert!(len <= *said, "{len} bytes to an address that sent {said}: {:?}", &bytes[..len]);
            }
        }
    }
}

fn bind(ip: [u8; 4]) -> UdpSocket {
    UdpSocket::bind(SocketAddr::from((ip, 0))).expect("all of 127.0.0.0/8 is this machine")
}

/// QoS 1 both ways between a device and clients of MQTT.
fn check_good(node: &Handle, device: &Device) {
    let mut listener = listen(node, "good/up", QoS::AtMostOnce);
    let id = device.register("good/up");
    device.say(Message::Publish(publish(id, QoS::AtLeastOnce, 7, b"there")));
    assert_eq!(device.puback(), ReturnCode::ACCEPTED);
    assert_eq!(listener.receive().payload, b"there");
    device.subscribe(SubscribeTopic::Filter("good/down"), QoS::AtLeastOnce);
    connect(node, "publisher").publish_acked("good/down", b"and back");
    assert_eq!(device.receive_acked().1, b"and back");
}

#[test]
fn nothing_that_comes_is_too_much() {
    let own = format!(
        "\"limits\": {{\"connections_max\": {CLIENTS_MAX}}}, \"listeners\": [{{\"connections_max\": {CONNECTIONS_MAX},"
    );
    let own_sn =
        "\"sn\": {\"publish_without_connect\": [\"ab\"], \"registrations_max\": 4, \"waiting_messages_max\": 4, ";
    let node = node(&SN.replace("\"listeners\": [{", &own).replace("\"sn\": {", own_sn));
    let good = Device::connect(&node, "good-1");
    check_good(&node, &good);
    // Behind its last acknowledgement.
    good.expect_silence();
    let before = metric(&node, "lapwing_sn_datagrams_in_total", "");
    let mut flood = Flood::new(&node);
    let mut pings = 0;
    while flood.sent < DATAGRAMS {
        (0..BATCH).for_each(|_| flood.send());
        // Whoever else there is waits for no more than what was before.
        good.say(Message::PingReq(PingReq { client_id: None }));
        good.expect(Message::PingResp);
        pings += 1;
        eventually("all is read", || metric(&node, "lapwing_sn_datagrams_in_total", "") == before + flood.sent + pings);
        assert!(metric(&node, "lapwing_sn_clients", "") <= CLIENTS_MAX);
        // Whoever gave way is counted until its shard has seen it.
        let open = || metric(&node, "lapwing_listener_connections", &sn_url(&node));
        eventually("who gave way is gone", || open() <= CONNECTIONS_MAX);
    }
    flood.check_spoofed();
    for reason in Reason::ALL {
        let expected = flood.malformed.get(reason.name()).copied().unwrap_or(0);
        assert_eq!(dropped(&node, reason.name()), expected, "{reason:?}");
        assert!(expected > 0 || reason == Reason::TooLarge, "{reason:?} was not tried");
    }
    let messages = DATAGRAMS - flood.malformed.values().sum::<u64>();
    let counted: u64 = INCOMING.iter().map(|reason| dropped(&node, reason)).sum();
    assert!(messages > DATAGRAMS / 3 && counted > 0 && counted < messages, "{counted} of {messages}");
    assert!(dropped(&node, "connections_max") > 0, "there was room for all");
    check_good(&node, &good);
    check_good(&node, &Device::connect(&node, "good-2"));
}
