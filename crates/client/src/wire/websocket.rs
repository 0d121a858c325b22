//! MQTT inside the binary messages of a WebSocket; where a message ends says nothing about packets [MQTT-6.0.0-2].

use super::bounded::Bounded;
use super::carrier::Carrier;
use super::is_timeout;
use crate::address::Address;
use crate::error::ClientError;
use lapwing_codec::Limits;
use std::io::{self, ErrorKind};
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
/// Messages without a byte of MQTT (pings, empty ones) that one read goes through; whoever reads looks at the time then.
const EMPTY_MESSAGES_MAX: usize = 256;

#[derive(Debug)]
pub(crate) struct WebSocketStream {
    socket: WebSocket<Carrier>,
}

impl WebSocketStream {
    /// Asks for the upgrade, with the subprotocol `mqtt` [MQTT-6.0.0-3], in the turn of `carrier`, which ends at `deadline`.
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
        let mut attempt = client_with_config(request, carrier, Some(config));
        loop {
            match attempt {
                Ok((socket, _)) => return Ok(Self { socket }),
                Err(HandshakeError::Interrupted(middle)) if Instant::now() < deadline => attempt = middle.handshake(),
                Err(HandshakeError::Failure(Error::Io(error))) if !is_timeout(&error) => {
                    return Err(super::tls::lost(error));
                }
                Err(HandshakeError::Failure(Error::Io(_)) | HandshakeError::Interrupted(_)) => {
                    let after_s = deadline.saturating_duration_since(begun).as_secs_f64();
                    return Err(ClientError::TimedOut { what: "the WebSocket handshake", after_s });
                }
                Err(HandshakeError::Failure(error)) => return Err(refused(error)),
            }
        }
    }

    /// The socket below, for polls.
    pub fn socket(&self) -> &Bounded {
        self.socket.get_ref().socket()
    }

    /// The socket below, for its turns.
    pub fn socket_mut(&mut self) -> &mut Bounded {
        self.socket.get_mut().socket_mut()
    }

    /// Appends the next message to `input`; 0 when the broker has closed. Pings are answered on the way. None: only messages
    /// without content came, and there may be more here, which no poll would show.
    ///
    /// # Errors
    /// The socket's.
    pub fn read(&mut self, input: &mut Vec<u8>) -> io::Result<Option<usize>> {
        for _ in 0..EMPTY_MESSAGES_MAX {
            match self.socket.read() {
                Ok(Message::Binary(bytes)) if bytes.is_empty() => {}
                Ok(Message::Binary(bytes)) => {
                    input.extend_from_slice(&bytes);
                    return Ok(Some(bytes.len()));
                }
                Ok(Message::Text(_)) => {
                    return Err(io::Error::new(ErrorKind::InvalidData, "a text message on the WebSocket"));
                }
                Ok(Message::Close(_)) | Err(Error::ConnectionClosed | Error::AlreadyClosed) => return Ok(Some(0)),
                Ok(_) => {}
                Err(error) => return Err(io_error(error)),
            }
        }
        Ok(None)
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

fn refused(error: Error) -> ClientError {
    match error {
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
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::time::Duration;
    use tungstenite::handshake::server::{Request, Response};
    use tungstenite::http::HeaderValue;

    fn open(address: &Address, there: SocketAddr) -> Result<WebSocketStream, ClientError> {
        let deadline = Instant::now() + Duration::from_secs(30);
        WebSocketStream::open(
            Carrier::Tcp(Bounded::new(TcpStream::connect(there).unwrap(), deadline)),
            address,
            deadline,
        )
    }

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
        let error = open(&address, there).unwrap_err();
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
        open(&address, there).unwrap()
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
            assert_eq!(socket.read(&mut input).unwrap(), None);
        }
        assert_eq!(socket.read(&mut input).unwrap(), Some(1));
        assert_eq!(input, [7]);
    }
}
