//! MQTT-SN over UDP, in the place of a TCP connection: the packets of a simulated client as datagrams, and back.

use crate::clock::{MILLISECOND_NS, now_ns};
use lapwing_client::ClientError;
use lapwing_sn::client::{Error, Translator, settings};
use lapwing_sn::peer::Phase;
use mio::net::UdpSocket;
use socket2::SockRef;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// What the kernel is asked to hold of what has come, in bytes; it gives what it allows. One subscriber of many may be behind by
/// most of the window of all.
const RECEIVE_BYTES: usize = 4 << 20;
/// The largest datagram that UDP has.
pub(crate) const DATAGRAM_BYTES: usize = 65_535;

#[derive(Debug)]
pub(crate) struct Datagrams {
    pub socket: UdpSocket,
    translator: Translator,
}

impl Datagrams {
    /// A socket for the gateway at `address`, from `source` if that is given.
    pub fn open(address: SocketAddr, source: Option<IpAddr>) -> io::Result<Self> {
        let any = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind(SocketAddr::new(source.unwrap_or(any), 0))?;
        // Where the kernel gives less, what comes faster is lost, and counted.
        let _ = SockRef::from(&socket).set_recv_buffer_size(RECEIVE_BYTES);
        socket.connect(address)?;
        Ok(Self { socket, translator: Translator::new(settings()) })
    }

    /// Bytes of packets that wait for their turn, or for the socket.
    pub fn waiting_bytes(&self) -> usize {
        self.translator.waiting_bytes() + usize::from(self.translator.has_datagrams())
    }

    /// Takes all packets of `output`, and gives the socket what may go; false when it takes no more.
    pub fn write(&mut self, output: &mut Vec<u8>) -> Result<bool, ClientError> {
        let used = self.translator.write(output, now_ms()).map_err(ended)?;
        output.drain(..used);
        self.send()
    }

    /// Sends again what is overdue; false when the socket takes no more.
    pub fn tick(&mut self) -> Result<bool, ClientError> {
        self.translator.tick(now_ms()).map_err(ended)?;
        self.send()
    }

    /// Goes to sleep, when all that was written is through; the next write sends what says so.
    pub fn sleep(&mut self, duration_s: u16) -> Result<(), ClientError> {
        self.translator.sleep(duration_s).map_err(ended)
    }

    /// Awakes; the next write sends what says so.
    pub fn awake(&mut self) -> Result<(), ClientError> {
        self.translator.awake(now_ms()).map_err(ended)
    }

    /// Whether it is active, asleep or awake.
    pub fn state(&self) -> Phase {
        self.translator.state()
    }

    fn send(&mut self) -> Result<bool, ClientError> {
        while let Some(datagram) = self.translator.next_datagram() {
            match self.socket.send(&datagram) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => self.translator.give_back(datagram),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.translator.give_back(datagram);
                    return Ok(false);
                }
                Err(error) => return Err(ClientError::Lost(error)),
            }
        }
        Ok(true)
    }

    /// Takes one datagram; its packets are appended to `input`. False when there is none.
    ///
    /// A message that the gateway refuses ends the client: no packet of MQTT 3.1.1 says so, and a load that is not taken is no
    /// load.
    pub fn read(&mut self, scratch: &mut [u8], input: &mut Vec<u8>) -> Result<bool, ClientError> {
        let len = match self.socket.recv(scratch) {
            Ok(len) => len,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(false),
            Err(error) => return Err(ClientError::Lost(error)),
        };
        self.translator.hear(&scratch[..len], input, now_ms()).map_err(ended)?;
        match self.translator.take_refusals().first() {
            Some(refusal) => Err(ClientError::Invalid(format!("a message was refused: {}", refusal.words()))),
            None => Ok(true),
        }
    }
}

fn now_ms() -> u64 {
    now_ns() / MILLISECOND_NS
}

fn ended(error: Error) -> ClientError {
    let kind = if matches!(error, Error::Lost { .. }) { ErrorKind::TimedOut } else { ErrorKind::ConnectionReset };
    match error {
        Error::NotSayable(_) | Error::Unfit(_) | Error::NoPacket(_) => ClientError::Invalid(error.to_string()),
        other => ClientError::Lost(io::Error::new(kind, other.to_string())),
    }
}
