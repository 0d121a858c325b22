//! What a socket tells of the way to its client, through everything that may lie between.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::*;
use crate::listener::Listener;
use crate::settings::{ListenerSettings, WebSettings};

/// No way over loopback is longer, however busy the machine.
const LOOPBACK_US_MAX: u32 = 10_000;

fn listen(url: &str, change: impl FnOnce(&mut ListenerSettings)) -> Listener {
    let mut settings = ListenerSettings::plain(url.parse().unwrap());
    change(&mut settings);
    Listener::bind(settings).unwrap()
}

fn plain() -> Listener {
    listen("tcp://127.0.0.1:0", |_| {})
}

fn connect(listener: &Listener) -> (TcpStream, Socket) {
    let authority = listener.url().split("://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let client = TcpStream::connect(authority).unwrap();
    (client, accept(listener))
}

fn accept(listener: &Listener) -> Socket {
    until(|| listener.accept().unwrap()).socket
}

/// Asks until there is an answer.
fn until<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "it did not come");
        std::thread::yield_now();
    }
}

/// Reads what there is for MQTT; waits for the first of it.
fn read(socket: &mut Socket) -> Vec<u8> {
    let mut buffer = [0; 4096];
    until(|| match socket.read(&mut buffer) {
        Ok(n) => Some(buffer[..n].to_vec()),
        Err(error) if error.kind() == ErrorKind::WouldBlock => None,
        Err(error) => panic!("{error}"),
    })
}

/// Writes until the kernel takes no more; returns how much it took.
fn fill(socket: &mut Socket) -> u64 {
    let mut taken = 0;
    loop {
        match socket.write(&[7; 1 << 16]) {
            Ok(n) => taken += n as u64,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return taken,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Is the way over loopback short although every answer takes its time? The kernel's smoothed value would not be.
#[cfg(target_os = "linux")]
#[test]
fn the_way_does_not_count_the_work() {
    let (mut client, mut socket) = connect(&plain());
    for _ in 0..5 {
        socket.write(b"work").unwrap();
        client.read_exact(&mut [0; 4]).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        client.write_all(b"done").unwrap();
        assert_eq!(read(&mut socket), b"done");
    }
    let least_us = socket.min_rtt_us().unwrap();
    assert!(least_us < LOOPBACK_US_MAX, "{least_us}");
}

/// Does what the client does not take show, all of it, and is it gone once it is taken?
#[cfg(target_os = "linux")]
#[test]
fn what_has_not_arrived_is_counted() {
    let (mut client, mut socket) = connect(&plain());
    assert_eq!(socket.unsent_bytes(), 0);
    let written = fill(&mut socket);
    let unsent = until(|| Some(socket.unsent_bytes()).filter(|bytes| *bytes > 0));
    assert!(unsent <= written, "{unsent} of {written}");
    let mut taken = vec![0; written as usize];
    client.read_exact(&mut taken).unwrap();
    until(|| (socket.unsent_bytes() == 0).then_some(()));
}

/// Is what the client has said seen before it is read, and neither silence nor the end taken for something said?
#[test]
fn what_was_not_read_is_seen() {
    let (mut client, mut socket) = connect(&plain());
    assert!(!socket.has_unread());
    client.write_all(b"\xc0\x00").unwrap();
    until(|| socket.has_unread().then_some(()));
    assert_eq!(until(|| socket.read(&mut [0; 8]).ok()), 2);
    assert!(!socket.has_unread());
    drop(client);
    until(|| matches!(socket.read(&mut [0; 8]), Ok(0)).then_some(()));
    assert!(!socket.has_unread());
}

/// Does a Unix socket say that it has no way, and what its peer has not read?
#[cfg(target_os = "linux")]
#[test]
fn a_unix_socket_has_no_way() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("s");
    let listener = listen(&format!("unix://{}", file.display()), |_| {});
    let mut client = UnixStream::connect(&file).unwrap();
    let mut socket = accept(&listener);
    assert_eq!((socket.min_rtt_us(), socket.unsent_bytes(), socket.is_proxied()), (None, 0, false));
    let written = fill(&mut socket);
    assert!(socket.unsent_bytes() >= written);
    client.read_exact(&mut vec![0; written as usize]).unwrap();
    until(|| (socket.unsent_bytes() == 0).then_some(()));
}

/// Is a connection that is over no trouble to ask about?
#[test]
fn a_lost_connection_still_answers() {
    let (client, mut socket) = connect(&plain());
    let written = fill(&mut socket);
    // Unread bytes at its end: the kernel resets.
    drop(client);
    until(|| socket.read(&mut [0; 8]).is_err().then_some(()));
    assert!(socket.unsent_bytes() <= written);
    assert!(socket.min_rtt_us().is_none_or(|least_us| least_us < LOOPBACK_US_MAX));
}

/// Is a client taken to be behind a proxy where the listener says so, or a PROXY header was there, and only there?
#[test]
fn a_proxy_is_noticed_by_its_header_or_by_the_listener() {
    let trusting = |settings: &mut ListenerSettings| settings.proxy_from = vec!["127.0.0.0/8".parse().unwrap()];
    for (header, url) in [
        ("PROXY TCP4 192.0.2.7 198.51.100.1 56324 1883\r\n", "tcp://127.0.0.1:0"),
        ("PROXY UNKNOWN\r\n", "tcp://127.0.0.1:0"),
    ] {
        let (mut client, mut socket) = connect(&listen(url, trusting));
        assert!(!socket.is_proxied());
        write!(client, "{header}MQTT").unwrap();
        assert_eq!(read(&mut socket), b"MQTT");
        assert!(socket.is_proxied(), "{header}");
    }
    let (_client, socket) = connect(&listen("tcp://127.0.0.1:0", |settings| settings.is_behind_proxy = true));
    assert!(socket.is_proxied());
    let (mut client, mut socket) = connect(&plain());
    client.write_all(b"MQTT").unwrap();
    assert_eq!(read(&mut socket), b"MQTT");
    assert!(!socket.is_proxied());
}

/// Does a WebSocket say that its upgrade was forwarded, by any header that proxies add, and measure like plain TCP?
#[test]
fn a_forwarded_upgrade_is_noticed() {
    let web = || Some(WebSettings { path: "/mqtt".into(), origins: Vec::new(), hosts: Vec::new(), is_open: false });
    let listener = listen("ws://127.0.0.1:0", |settings| settings.web = web());
    for (header, is_proxied) in [
        ("", false),
        ("X-Request-Id: 7\r\n", false),
        ("X-Forwarded-For: 192.0.2.7\r\n", true),
        ("forwarded: for=192.0.2.7\r\n", true),
        ("X-Real-IP: 192.0.2.7\r\n", true),
        ("Via: 1.1 proxy\r\n", true),
    ] {
        let (mut client, mut socket) = connect(&listener);
        write!(
            client,
            "GET /mqtt HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{header}\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Protocol: mqtt\r\n\r\n"
        )
        .unwrap();
        client.write_all(b"\x82\x84\0\0\0\0MQTT").unwrap();
        assert_eq!(read(&mut socket), b"MQTT");
        assert_eq!(socket.is_proxied(), is_proxied, "{header}");
        assert!(socket.min_rtt_us().is_none_or(|least_us| least_us < LOOPBACK_US_MAX));
        let before = socket.unsent_bytes();
        assert!(fill(&mut socket) > 0 && socket.unsent_bytes() > before);
    }
}
