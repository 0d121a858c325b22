//! The WebSocket over a stream in memory that gives and takes as little as it is told to.

mod frames;
mod peers;
mod upgrades;

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::sync::Arc;

use super::{WebRules, WebSocket};
use crate::refusal::Refusal;
use crate::settings::WebSettings;

/// One side of a stream.
#[derive(Default)]
struct Pipe {
    /// What the peer has sent.
    incoming: VecDeque<u8>,
    /// Most bytes given by one read; 0: any number.
    piece: usize,
    /// The peer has ended.
    ended: bool,
    /// What we have sent.
    outgoing: Vec<u8>,
    /// Bytes that are still taken from us; `None`: any number.
    room: Option<usize>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.incoming.is_empty() {
            return if self.ended { Ok(0) } else { Err(ErrorKind::WouldBlock.into()) };
        }
        let piece = if self.piece == 0 { usize::MAX } else { self.piece };
        let count = buffer.len().min(piece).min(self.incoming.len());
        for (byte, slot) in self.incoming.drain(..count).zip(buffer) {
            *slot = byte;
        }
        Ok(count)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.room.unwrap_or(usize::MAX));
        if count == 0 && !bytes.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.room = self.room.map(|room| room - count);
        self.outgoing.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let whole: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
        self.write(&whole)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What reading until nothing more came has brought.
#[derive(Debug, Default, PartialEq, Eq)]
struct Got {
    payload: Vec<u8>,
    ended: bool,
    refused: Option<Refusal>,
}

/// Reads until there is nothing, as a shard does it, into a buffer of `buffer_bytes`.
fn read_all(web: &mut WebSocket, pipe: &mut Pipe, buffer_bytes: usize) -> Got {
    let mut got = Got::default();
    let mut buffer = vec![0; buffer_bytes];
    loop {
        match web.read(pipe, &mut buffer) {
            Ok(0) => return Got { ended: true, ..got },
            Ok(n) => got.payload.extend_from_slice(&buffer[..n]),
            Err(error) if error.kind() == ErrorKind::WouldBlock && pipe.incoming.is_empty() => return got,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Got { refused: Refusal::of(&error), ..got },
        }
    }
}

fn rules() -> Arc<WebRules> {
    Arc::new(rules_at("ws://192.0.2.1", &[], false))
}

/// Those of a listener at that address; `is_open`: it lets in whoever comes.
fn rules_at(url: &str, origins: &[&str], is_open: bool) -> WebRules {
    let origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
    let settings = WebSettings { path: "/mqtt".into(), origins, hosts: Vec::new(), is_open };
    WebRules::new(settings, &url.parse().unwrap())
}

/// A valid request, as in the RFC's example.
const REQUEST: &str = "GET /mqtt HTTP/1.1\r\nHost: broker.example:8083\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n";

/// A WebSocket whose upgrade is done, and nothing waits.
fn open() -> (WebSocket, Pipe) {
    let (mut web, mut pipe) = (WebSocket::new(rules()), Pipe::default());
    pipe.incoming.extend(REQUEST.bytes());
    assert_eq!(read_all(&mut web, &mut pipe, 4096), Got::default());
    assert!(pipe.outgoing.starts_with(b"HTTP/1.1 101 "));
    pipe.outgoing.clear();
    (web, pipe)
}

/// A client's frame: first byte, payload, masked with `mask`.
fn frame(first: u8, payload: &[u8], mask: [u8; 4]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        0..=125 => frame.push(0x80 | payload.len() as u8),
        126..=0xffff => {
            frame.push(0x80 | 126);
            frame.extend((payload.len() as u16).to_be_bytes());
        }
        _ => {
            frame.push(0x80 | 127);
            frame.extend((payload.len() as u64).to_be_bytes());
        }
    }
    frame.extend(mask);
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}
