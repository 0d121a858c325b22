//! MQTT inside the binary messages of a WebSocket; where a message ends says nothing about packets [MQTT-6.0.0-2].

use super::carrier::Carrier;
use super::limit;
use crate::address::Address;
use crate::error::ClientError;
use lapwing_codec::Limits;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;
use tungstenite::client::client_with_config;
use tungstenite::error::ProtocolError;
use tungstenite::handshake::HandshakeError;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{ClientRequestBuilder, Error, Message, WebSocket};

/// Most bytes of MQTT in one message of ours.
const MESSAGE_BYTES: usize = 64 << 10;
/// And in one of the broker's: the largest packet that there is. A message is held whole before anything of it is read, so
/// one without an end, or one that says it is larger than memory, ends the connection instead.
const RECEIVED_BYTES_MAX: usize = Limits::PACKET_BYTES_MAX as usize;
/// Messages without a byte of MQTT (pings, empty ones) that one read goes through; whoever waits looks at the time then.
const EMPTY_MESSAGES_MAX: usize = 256;

#[derive(Debug)]
pub(crate) struct WebSocketStream {
    socket: WebSocket<Paced>,
}

impl WebSocketStream {
    /// Asks for the upgrade, with the subprotocol `mqtt` [MQTT-6.0.0-3].
    ///
    /// # Errors
    /// `WebSocket`: the answer is another one; `TimedOut`.
    pub fn open(carrier: Carrier, address: &Address, deadline: Instant) -> Result<Self, ClientError> {
        let begun = Instant::now();
        let uri = address.to_string().parse();
        let uri = uri.map_err(|error| ClientError::Invalid(format!("url {address}: {error}")))?;
        let request = ClientRequestBuilder::new(uri).with_sub_protocol("mqtt");
        // The buffer takes a message whole: a write never waits for the socket, only a flush does.
        // A packet as large as the protocol allows may come in one frame.
        let config = WebSocketConfig::default()
            .write_buffer_size(4 * MESSAGE_BYTES)
            .max_message_size(Some(RECEIVED_BYTES_MAX))
            .max_frame_size(Some(RECEIVED_BYTES_MAX));
        let paced = Paced { carrier, until: Some(deadline) };
        let mut attempt = client_with_config(request, paced, Some(config));
        loop {
            match attempt {
                Ok((mut socket, _)) => {
                    socket.get_mut().until = None;
                    return Ok(Self { socket });
                }
                Err(HandshakeError::Failure(error)) => return Err(refused(error)),
                Err(HandshakeError::Interrupted(middle)) => {
                    if Instant::now() >= deadline {
                        let after_s = deadline.saturating_duration_since(begun).as_secs_f64();
                        return Err(ClientError::TimedOut { what: "the WebSocket handshake", after_s });
                    }
                    attempt = middle.handshake();
                }
            }
        }
    }

    /// The socket below, for deadlines.
    pub fn tcp(&self) -> &TcpStream {
        self.socket.get_ref().carrier.tcp()
    }

    /// Appends the next message to `input`; 0 when the broker has closed. Pings are answered on the way.
    ///
    /// # Errors
    /// The socket's; `WouldBlock` also where only messages without content come.
    pub fn read(&mut self, input: &mut Vec<u8>) -> io::Result<usize> {
        for _ in 0..EMPTY_MESSAGES_MAX {
            match self.socket.read() {
                Ok(Message::Binary(bytes)) if bytes.is_empty() => {}
                Ok(Message::Binary(bytes)) => {
                    input.extend_from_slice(&bytes);
                    return Ok(bytes.len());
                }
                Ok(Message::Text(_)) => {
                    return Err(io::Error::new(ErrorKind::InvalidData, "a text message on the WebSocket"));
                }
                Ok(Message::Close(_)) | Err(Error::ConnectionClosed | Error::AlreadyClosed) => return Ok(0),
                Ok(_) => {}
                Err(error) => return Err(io_error(error)),
            }
        }
        Err(ErrorKind::WouldBlock.into())
    }

    /// Takes as much of `bytes` as one message has room for; `flush` sends it.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(MESSAGE_BYTES);
        self.socket.write(Message::binary(bytes[..taken].to_vec())).map_err(io_error)?;
        Ok(taken)
    }

    /// Hands what was taken to the socket.
    pub fn flush(&mut self) -> io::Result<()> {
        self.socket.flush().map_err(io_error)
    }
}

/// What carries the WebSocket; until the handshake is done all its reads and writes end at one moment.
#[derive(Debug)]
struct Paced {
    carrier: Carrier,
    until: Option<Instant>,
}

impl Paced {
    fn begin(&self) -> io::Result<()> {
        match self.until {
            None => Ok(()),
            Some(until) if Instant::now() >= until => Err(ErrorKind::WouldBlock.into()),
            Some(until) => limit(self.carrier.tcp(), until),
        }
    }
}

impl Read for Paced {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.begin()?;
        self.carrier.read(buffer)
    }
}

impl Write for Paced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin()?;
        self.carrier.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.carrier.flush()
    }
}

fn refused(error: Error) -> ClientError {
    match error {
        Error::Io(error) => super::tls::lost(error),
        Error::Http(response) => {
            ClientError::WebSocket(format!("it answers HTTP {} where the upgrade was due", response.status().as_u16()))
        }
        // An alert of TLS, say: that is how it answers a plain request.
        Error::Protocol(ProtocolError::HttparseError(_)) => ClientError::WebSocket(
            "what answers is no HTTP: use wss:// where TLS is spoken, tcp:// or tls:// where MQTT is".to_owned(),
        ),
        other => ClientError::WebSocket(other.to_string()),
    }
}

fn io_error(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        other => io::Error::new(ErrorKind::InvalidData, other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::bounded::Bounded;
    use std::net::TcpListener;
    use std::time::Duration;
    use tungstenite::handshake::server::{Request, Response};
    use tungstenite::http::HeaderValue;

    /// Whoever asks for pages where TLS is spoken gets an alert, shorter than the version of an answer.
    #[test]
    fn a_plain_request_where_tls_is_spoken_names_the_scheme() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let _ = socket.read(&mut [0; 4096]).unwrap();
            socket.write_all(&[0x15, 3, 3, 0, 2, 2, 70]).unwrap();
        });
        let address = Address::parse(&format!("ws://{there}")).unwrap();
        let carrier = Carrier::Tcp(TcpStream::connect(there).unwrap());
        let error = WebSocketStream::open(carrier, &address, Instant::now() + Duration::from_secs(30)).unwrap_err();
        assert!(error.to_string().contains("use wss://"), "{error}");
        server.join().unwrap();
    }

    /// A socket that is upgraded, and then hears `said`.
    fn upgraded(said: Vec<u8>) -> WebSocketStream {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (socket, _) = listener.accept().unwrap();
            #[expect(clippy::result_large_err, reason = "the type is tungstenite's")]
            let with_protocol = |_: &Request, mut response: Response| {
                response.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("mqtt"));
                Ok(response)
            };
            let mut socket = tungstenite::accept_hdr(socket, with_protocol).unwrap();
            // The reader may have had enough of it. What it answers is heard until it has gone.
            let _ = socket.get_mut().write_all(&said).and_then(|()| io::copy(socket.get_mut(), &mut io::sink()));
        });
        let address = Address::parse(&format!("ws://{there}")).unwrap();
        let carrier = Carrier::Tcp(TcpStream::connect(there).unwrap());
        WebSocketStream::open(carrier, &address, Instant::now() + Duration::from_secs(30)).unwrap()
    }

    /// Is a message that says it is larger than any packet the end, before any of it is waited for?
    #[test]
    fn a_message_larger_than_any_packet_ends_it() {
        let announced = [&[0x82, 127][..], &(1_u64 << 40).to_be_bytes()].concat();
        let error = upgraded(announced).read(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
    }

    /// Does whoever waits look at the time, however many messages without content come?
    #[test]
    fn messages_without_content_hold_nobody_up() {
        let mut pings = [0x82, 0, 0x89, 0].repeat(EMPTY_MESSAGES_MAX);
        pings.extend([0x82, 1, 7]);
        let (mut socket, mut input) = (upgraded(pings), Vec::new());
        for _ in 0..2 {
            assert_eq!(socket.read(&mut input).unwrap_err().kind(), ErrorKind::WouldBlock);
        }
        assert_eq!(socket.read(&mut input).unwrap(), 1);
        assert_eq!(input, [7]);
    }

    /// Is the time of a handshake over for who goes on sending, too?
    #[test]
    fn bytes_that_come_late_are_not_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        listener.accept().unwrap().0.write_all(b"HTTP").unwrap();
        let mut paced = Paced { carrier: Carrier::Tcp(tcp), until: Some(Instant::now() + Duration::from_secs(30)) };
        let mut byte = [0; 1];
        assert_eq!(paced.read(&mut byte).unwrap(), 1);
        paced.until = Some(Instant::now());
        assert_eq!(paced.read(&mut byte).unwrap_err().kind(), ErrorKind::WouldBlock);
        let mut bounded = Bounded { tcp: paced.carrier.tcp(), deadline: Instant::now() };
        assert_eq!(bounded.read(&mut byte).unwrap_err().kind(), ErrorKind::TimedOut);
        bounded.deadline = Instant::now() + Duration::from_secs(30);
        assert_eq!(bounded.read(&mut byte).unwrap(), 1);
    }
}
