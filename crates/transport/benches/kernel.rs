//! What it costs to ask the kernel about a connection: least round trip, bytes that have not arrived.
//!
//! `cargo bench -p lapwing-transport`. Prints nanoseconds per question, the best of several rounds: the cost itself, not
//! what else the machine did meanwhile.

use std::hint::black_box;
use std::net::TcpStream;
use std::time::Instant;

use lapwing_transport::{Listener, ListenerSettings, Socket};

const ROUNDS: usize = 200;
const QUESTIONS: u32 = 1000;

fn main() {
    let settings = ListenerSettings::plain("tcp://127.0.0.1:0".parse().expect("an address"));
    let listener = Listener::bind(settings).expect("loopback has a free port");
    let client = TcpStream::connect(listener.url().trim_start_matches("tcp://")).expect("it listens");
    let socket = loop {
        if let Some(accepted) = listener.accept().expect("it is ours") {
            break accepted.socket;
        }
    };
    println!("one TCP connection over loopback; ns per question (best of {ROUNDS})");
    println!("{:<20}{:>10.0}", "min_rtt_us", best_ns(&socket, |socket| u64::from(socket.min_rtt_us().unwrap_or(0))));
    println!("{:<20}{:>10.0}", "unsent_bytes", best_ns(&socket, Socket::unsent_bytes));
    drop(client);
}

fn best_ns(socket: &Socket, ask: impl Fn(&Socket) -> u64) -> f64 {
    let round = |_| {
        let started = Instant::now();
        for _ in 0..QUESTIONS {
            black_box(ask(black_box(socket)));
        }
        started.elapsed().as_nanos() as f64 / f64::from(QUESTIONS)
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}
