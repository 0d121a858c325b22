//! What of a connection's output waits for the disk, and what is under way on it, over a real socket.

use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use lapwing_transport::{Listener, ListenerSettings};

use super::*;
use crate::shard::publish::room::RoomAnswer;

fn connected() -> (TcpStream, Connection) {
    let listener = Listener::bind(ListenerSettings::plain("tcp://127.0.0.1:0".parse().unwrap())).unwrap();
    let client = TcpStream::connect(listener.url().trim_start_matches("tcp://")).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let accepted = loop {
        if let Some(accepted) = listener.accept().unwrap() {
            break accepted;
        }
        assert!(Instant::now() < deadline, "the listener does not see its client");
        std::thread::yield_now();
    };
    (client, Connection::new(accepted.socket, ListenerId(0), 0))
}

fn received<const N: usize>(client: &mut TcpStream) -> [u8; N] {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).unwrap();
    bytes
}

/// Nothing was written that has to wait, as for a reply to a connection that is over. Does what comes next, shorter or
/// longer than what was there before, leave at once and whole?
#[test]
fn a_fence_without_bytes_keeps_nothing_back() {
    let (mut client, mut connection) = connected();
    connection.output.extend_from_slice(b"sixteen bytes...");
    connection.fence_output(16, CommitToken(1));
    assert!(!connection.is_fenced());
    assert_eq!(connection.flush(0, CommitToken(0)), (16, Flushed::All));
    connection.output.extend_from_slice(b"xy");
    assert_eq!(connection.flush(0, CommitToken(0)), (2, Flushed::All));
    connection.output.extend_from_slice(b"something that is longer");
    assert_eq!(connection.flush(0, CommitToken(0)), (24, Flushed::All));
    assert_eq!(received(&mut client), *b"sixteen bytes...xysomething that is longer");
}

/// Do bytes behind a fence wait, those before it leave, and do fences end with the output in which they count?
#[test]
fn a_fence_lives_as_long_as_its_bytes() {
    let (mut client, mut connection) = connected();
    connection.output.extend_from_slice(b"free");
    connection.output.extend_from_slice(b"held");
    connection.fence_output(4, CommitToken(7));
    assert_eq!(connection.flush(0, CommitToken(6)), (4, Flushed::Fenced));
    assert_eq!(connection.flush(0, CommitToken(7)), (4, Flushed::All));
    assert!(!connection.is_fenced());

    connection.output.extend_from_slice(b"never sent");
    connection.fence_output(0, CommitToken(8));
    connection.forget_output();
    connection.output.extend_from_slice(b"!");
    assert_eq!(connection.flush(0, CommitToken(7)), (1, Flushed::All));

    connection.output.extend_from_slice(b"kept, forgotten");
    connection.fence_output(5, CommitToken(9));
    connection.drop_fenced(CommitToken(8));
    assert_eq!(connection.flush(0, CommitToken(8)), (5, Flushed::All));
    assert_eq!(received(&mut client), *b"freeheld!kept,");
}

/// Is what is under way taken out by nobody whom it is not for, and is an answer about room for one message only?
#[test]
fn one_thing_is_under_way() {
    let (_client, mut connection) = connected();
    connection.underway = Underway::Lingering { bytes_left: 7 };
    connection.forget_room();
    assert!(connection.take_room().is_none() && connection.take_parts().is_none());
    assert!(connection.take_skipping().is_none() && connection.take_delayed().is_none());
    assert_eq!(connection.linger_bytes(), Some(7));
    connection.underway = Underway::Room(RoomAnswer::Answered { missing: None, reserved: None });
    assert!(connection.knows_room() && connection.linger_bytes().is_none());
    connection.forget_room();
    assert!(!connection.knows_room());
}
