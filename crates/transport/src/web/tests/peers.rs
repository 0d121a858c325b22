//! Against another's implementation: `tungstenite` as the client.

use std::cell::RefCell;
use std::rc::Rc;

use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::HandshakeError;
use tungstenite::protocol::Message;
use tungstenite::{Bytes, ClientHandshake, WebSocket as Peer};

use super::*;

/// The peer's end of a [`Pipe`].
#[derive(Clone)]
struct FarEnd(Rc<RefCell<Pipe>>);

impl Read for FarEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let sent = &mut self.0.borrow_mut().outgoing;
        let count = sent.len().min(buffer.len());
        if count == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        buffer[..count].copy_from_slice(&sent[..count]);
        sent.drain(..count);
        Ok(count)
    }
}

impl Write for FarEnd {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().incoming.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Shakes hands; the pipe is shared with the peer.
fn meet() -> (WebSocket, Rc<RefCell<Pipe>>, Peer<FarEnd>) {
    let pipe = Rc::new(RefCell::new(Pipe { piece: 11, ..Pipe::default() }));
    let mut web = WebSocket::new(rules());
    let mut request = "ws://broker.example/mqtt".into_client_request().unwrap();
    request.headers_mut().insert("Sec-WebSocket-Protocol", "mqtt".parse().unwrap());
    let mut handshake = match ClientHandshake::start(FarEnd(pipe.clone()), request, None).unwrap().handshake() {
        Err(HandshakeError::Interrupted(waiting)) => waiting,
        _ => panic!("nobody has answered yet"),
    };
    loop {
        read_all(&mut web, &mut pipe.borrow_mut(), 100);
        match handshake.handshake() {
            Ok((peer, _)) => return (web, pipe, peer),
            Err(HandshakeError::Interrupted(waiting)) => handshake = waiting,
            Err(HandshakeError::Failure(error)) => panic!("{error}"),
        }
    }
}

/// Do both sides understand each other: handshake, messages of every length class, ping, close?
#[test]
fn another_implementation_is_understood() {
    let (mut web, pipe, mut peer) = meet();
    for length in [0, 1, 125, 126, 0xffff, 0x1_0000, 200_000] {
        let payload: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
        peer.send(Message::Binary(Bytes::from(payload.clone()))).unwrap();
        let got = read_all(&mut web, &mut pipe.borrow_mut(), 1000);
        assert_eq!(got.payload, payload);
        let (mut at, mut back) = (0, Vec::new());
        while at < payload.len() {
            at += web.write(&mut *pipe.borrow_mut(), &payload[at..]).unwrap();
        }
        while back.len() < payload.len() {
            back.extend(peer.read().unwrap().into_data());
        }
        assert_eq!(back, payload);
    }
    peer.send(Message::Ping(Bytes::from_static(b"there?"))).unwrap();
    read_all(&mut web, &mut pipe.borrow_mut(), 1000);
    assert_eq!(peer.read().unwrap(), Message::Pong(Bytes::from_static(b"there?")));
    peer.close(None).unwrap();
    assert!(read_all(&mut web, &mut pipe.borrow_mut(), 1000).ended);
    assert!(matches!(peer.read().unwrap(), Message::Close(_)));
}

/// Does a text message make the broker close, with the code for what it cannot take [MQTT-6.0.0-1]?
#[test]
fn a_text_message_is_refused() {
    let (mut web, pipe, mut peer) = meet();
    peer.send(Message::Text("CONNECT".into())).unwrap();
    assert_eq!(read_all(&mut web, &mut pipe.borrow_mut(), 1000).refused, Some(Refusal::WebSocketText));
    let Message::Close(Some(close)) = peer.read().unwrap() else { panic!("no close") };
    assert_eq!(u16::from(close.code), 1003);
}
