//! MQTT-SN over UDP: packets of MQTT 3.1.1 on this side, datagrams on the other.

use super::socket::Socket;
use crate::address::Address;
use crate::error::ClientError;
use lapwing_codec::{Ack, ReasonCode, ReasonProperties};
use lapwing_sn::ReturnCode;
use lapwing_sn::client::{Error, Refusal, Translator, settings};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// The largest datagram that UDP has.
const DATAGRAM_BYTES: usize = 65_535;

#[derive(Debug)]
pub(crate) struct Datagrams {
    socket: UdpSocket,
    address: Address,
    translator: Translator,
    started: Instant,
    buffer: Box<[u8]>,
    /// Something came: there is a gateway.
    is_heard: bool,
    /// The socket took no more.
    is_full: bool,
}

impl Datagrams {
    /// A socket for the gateway at `address`. Whether one is there shows when it answers. IPv4 goes first, because a gateway
    /// on "localhost" often listens only there, and no datagram says that nobody took it.
    pub fn open(address: &Address) -> Result<Self, ClientError> {
        let found = address.resolve()?;
        let gateway = *found.iter().find(|one| one.is_ipv4()).unwrap_or(&found[0]);
        let any = if gateway.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind(SocketAddr::new(any, 0));
        let socket = socket.and_then(|socket| socket.connect(gateway).map(|()| socket));
        Ok(Self {
            socket: socket.map_err(|error| address.unreachable(error))?,
            address: address.clone(),
            translator: Translator::new(settings()),
            started: Instant::now(),
            buffer: vec![0; DATAGRAM_BYTES].into(),
            is_heard: false,
            is_full: false,
        })
    }

    pub fn socket(&self) -> Socket<'_> {
        Socket::Udp(&self.socket)
    }

    /// A read or a write waits until then.
    pub fn wait_until(&self, deadline: Instant) -> Result<(), ClientError> {
        let left = Some(super::left(deadline));
        let limited = self.socket.set_read_timeout(left).and_then(|()| self.socket.set_write_timeout(left));
        limited.map_err(ClientError::Lost)
    }

    /// Takes all packets of `output`, sends again what is overdue, and gives the socket what may go now.
    pub fn write(&mut self, output: &mut Vec<u8>) -> Result<(), ClientError> {
        let now_ms = self.now_ms();
        self.translator.tick(now_ms).map_err(ended)?;
        let used = self.translator.write(output, now_ms).map_err(ended)?;
        output.drain(..used);
        self.send()
    }

    fn send(&mut self) -> Result<(), ClientError> {
        self.is_full = false;
        while let Some(datagram) = self.translator.next_datagram() {
            match self.socket.send(&datagram) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => self.translator.give_back(datagram),
                Err(error) if super::is_timeout(&error) => {
                    self.translator.give_back(datagram);
                    self.is_full = true;
                    return Ok(());
                }
                Err(error) => return Err(self.broken(error)),
            }
        }
        Ok(())
    }

    /// Takes one datagram, and answers it if it wants an answer; false when none came.
    pub fn read(&mut self, input: &mut Vec<u8>) -> Result<bool, ClientError> {
        let len = match self.socket.recv(&mut self.buffer) {
            Ok(len) => len,
            Err(error) if super::is_timeout(&error) || error.kind() == ErrorKind::Interrupted => return Ok(false),
            Err(error) => return Err(self.broken(error)),
        };
        self.is_heard = true;
        let now_ms = self.now_ms();
        self.translator.hear(&self.buffer[..len], input, now_ms).map_err(ended)?;
        self.send()?;
        Ok(true)
    }

    /// Nobody listens there, which the kernel hears of; or the network is gone.
    fn broken(&self, error: io::Error) -> ClientError {
        if self.is_heard { ClientError::Lost(error) } else { self.address.unreachable(error) }
    }

    /// Whether something has not gone yet: its turn has not come, or the socket took no more.
    pub fn is_unsent(&self) -> bool {
        !self.translator.is_through()
    }

    /// Whether the socket is to be asked for room.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Bytes of packets that wait here.
    pub fn waiting_bytes(&self) -> usize {
        self.translator.waiting_bytes()
    }

    /// When something is to be sent again.
    pub fn next_wake(&self) -> Option<Instant> {
        self.translator.next_wake_ms().map(|ms| self.started + Duration::from_millis(ms))
    }

    /// Publishes that the gateway refused since the last call.
    pub fn take_refusals(&mut self) -> Vec<Ack<'static>> {
        self.translator.take_refusals().iter().map(refused).collect()
    }

    fn now_ms(&self) -> u64 {
        // A monotonic clock since the connection: 2^64 ms do not pass.
        self.started.elapsed().as_millis() as u64
    }
}

/// What MQTT 5.0 would say of it.
fn refused(refusal: &Refusal) -> Ack<'static> {
    let reason = match refusal.code {
        ReturnCode::CONGESTION => ReasonCode::QuotaExceeded,
        ReturnCode::INVALID_TOPIC_ID => ReasonCode::TopicNameInvalid,
        _ => ReasonCode::ImplementationSpecificError,
    };
    let properties = ReasonProperties { reason_string: Some(refusal.words()), ..ReasonProperties::EMPTY };
    Ack { packet_id: refusal.packet_id, reason, properties }
}

/// The error for a connection over MQTT-SN that is over.
fn ended(error: Error) -> ClientError {
    let words = error.to_string();
    match error {
        Error::Lost { .. } => ClientError::Lost(io::Error::new(ErrorKind::TimedOut, words)),
        Error::Dismissed => ClientError::Lost(io::Error::new(ErrorKind::ConnectionReset, words)),
        Error::Refused(code @ ReturnCode::CONGESTION) => {
            ClientError::Refused { reason: ReasonCode::ServerUnavailable, detail: format!(": CONNACK says {code}") }
        }
        Error::Refused(code) => ClientError::Refused {
            reason: ReasonCode::ImplementationSpecificError,
            detail: format!(": CONNACK says {code}; perhaps it is the client id, the will, or who asks"),
        },
        Error::NotSayable(_) | Error::Unfit(_) | Error::NoPacket(_) => ClientError::Invalid(words),
    }
}
