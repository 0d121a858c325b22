//! What it costs to send a datagram: the floor under each delivery of MQTT-SN, which no broker on this kernel can be below.
//!
//! `cargo bench -p lapwing-transport --bench datagrams`. One socket sends to a hundred on loopback, as a broker does to its
//! clients; another thread takes what comes. Over loopback the sender's time has the receiver's half of the kernel's work in it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lapwing_stopwatch::on_cpu;
use lapwing_transport::Datagrams;
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};

const RECEIVERS: usize = 100;
/// A PUBLISH of 64 bytes of payload.
const DATAGRAM: [u8; 71] = [7; 71];
const ROUNDS: usize = 7;
const DATAGRAMS: usize = 500_000;

fn main() {
    let (sender, _) =
        Datagrams::bind(&"sn://127.0.0.1:0".parse().expect("an address")).expect("loopback has a free port");
    let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    let receivers: Vec<UdpSocket> =
        (0..RECEIVERS).map(|_| UdpSocket::bind(any).expect("loopback has a free port")).collect();
    let to: Vec<SocketAddr> = receivers.iter().map(|socket| socket.local_addr().expect("it is bound")).collect();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| receive(receivers, &is_over));
        let per_cpu_s = (0..ROUNDS).map(|_| send(&sender[0], &to)).fold(0.0, f64::max);
        is_over.store(true, Ordering::Relaxed);
        let received = receiver.join().expect("it does not panic");
        let sent = ROUNDS * DATAGRAMS;
        println!("one socket to {RECEIVERS} over loopback, {} bytes each (best of {ROUNDS})", DATAGRAM.len());
        println!("{:<32}{per_cpu_s:>12.0}", "datagrams per CPU second");
        println!("{:<32}{:>12.2}", "nobody had room for, %", 100.0 * (sent - received) as f64 / sent as f64);
    });
}

fn send(sender: &Datagrams, to: &[SocketAddr]) -> f64 {
    let start = on_cpu();
    for to in to.iter().cycle().take(DATAGRAMS) {
        sender.send(&DATAGRAM, *to).expect("loopback takes it");
    }
    DATAGRAMS as f64 / on_cpu().saturating_sub(start).as_secs_f64()
}

fn receive(mut receivers: Vec<UdpSocket>, is_over: &AtomicBool) -> usize {
    let mut poll = Poll::new().expect("a poller");
    for (number, socket) in receivers.iter_mut().enumerate() {
        poll.registry().register(socket, Token(number), Interest::READABLE).expect("it is watched");
    }
    let (mut events, mut buffer, mut received) = (Events::with_capacity(RECEIVERS), [0; 128], 0);
    loop {
        poll.poll(&mut events, Some(Duration::from_millis(100))).expect("it is asked");
        if events.is_empty() && is_over.load(Ordering::Relaxed) {
            return received;
        }
        for event in &events {
            while receivers[event.token().0].recv(&mut buffer).is_ok() {
                received += 1;
            }
        }
    }
}
