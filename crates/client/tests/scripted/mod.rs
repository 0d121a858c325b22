//! A broker that says, over a real socket, exactly what a test wants.

use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub const PATIENCE: Duration = Duration::from_secs(20);
pub const CONNACK: &[u8] = &[0x20, 3, 0, 0, 0];

pub type Outcome = Result<(), Box<dyn std::error::Error>>;
/// What a test has the broker do with one connection, after CONNECT was read.
pub type Script = Box<dyn FnOnce(&mut TcpStream) -> io::Result<()> + Send>;

/// A broker that does `script` with its first connection.
pub fn broker(
    script: impl FnOnce(&mut TcpStream) -> io::Result<()> + Send + 'static,
) -> io::Result<(String, JoinHandle<io::Result<()>>)> {
    broker_of(vec![Box::new(script)])
}

/// One script for each connection that comes.
pub fn broker_of(scripts: Vec<Script>) -> io::Result<(String, JoinHandle<io::Result<()>>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("tcp://{}", listener.local_addr()?);
    let thread = thread::spawn(move || {
        scripts.into_iter().try_for_each(|script| {
            let (mut stream, _) = listener.accept()?;
            packet(&mut stream)?;
            script(&mut stream)
        })
    });
    Ok((url, thread))
}

/// Reads one packet (shorter than 128 bytes).
pub fn packet(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = [0; 2];
    stream.read_exact(&mut head)?;
    let mut packet = vec![0; usize::from(head[1])];
    stream.read_exact(&mut packet)?;
    packet.splice(0..0, head);
    Ok(packet)
}
