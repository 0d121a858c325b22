//! MQTT inside the binary messages of a WebSocket; where a message ends says nothing about packets [MQTT-6.0.0-2].

use super::carrier::Carrier;
use super::limit;
use crate::address::Address;
use crate::error::ClientError;
use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::time::Instant;
use tungstenite::client::client_with_config;
use tungstenite::error::ProtocolError;
use tungstenite::handshake::HandshakeError;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{ClientRequestBuilder, Error, Message, WebSocket};

/// Most bytes of MQTT in one message.
const MESSAGE_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct WebSocketStream {
    socket: WebSocket<Carrier>,
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
        let config =
            WebSocketConfig::default().write_buffer_size(4 * MESSAGE_BYTES).max_message_size(None).max_frame_size(None);
        limit(carrier.tcp(), deadline).map_err(ClientError::Lost)?;
        let mut attempt = client_with_config(request, carrier, Some(config));
        loop {
            match attempt {
                Ok((socket, _)) => return Ok(Self { socket }),
                Err(HandshakeError::Failure(error)) => return Err(refused(error)),
                Err(HandshakeError::Interrupted(middle)) => {
                    if Instant::now() >= deadline {
                        let after_s = deadline.saturating_duration_since(begun).as_secs_f64();
                        return Err(ClientError::TimedOut { what: "the WebSocket handshake", after_s });
                    }
                    limit(middle.get_ref().get_ref().tcp(), deadline).map_err(ClientError::Lost)?;
                    attempt = middle.handshake();
                }
            }
        }
    }

    /// The socket below, for deadlines.
    pub fn tcp(&self) -> &TcpStream {
        self.socket.get_ref().tcp()
    }

    /// Appends the next message to `input`; 0 when the broker has closed. Pings are answered on the way.
    pub fn read(&mut self, input: &mut Vec<u8>) -> io::Result<usize> {
        loop {
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
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::time::Duration;

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
}
