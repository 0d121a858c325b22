//! UDP sockets of a listener, one for each address that its host stands for.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

use mio::net::UdpSocket;
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, Socket, Type};

use crate::address::ListenAddress;
use crate::bind::{bind_each, url_of};
use crate::error::BindError;
use crate::kernel::overflowed_datagrams;

/// What the kernel is asked to hold for us between two looks, in bytes; it gives what it allows.
const RECEIVE_BYTES: usize = 4 << 20;

/// A bound, non-blocking UDP socket.
#[derive(Debug)]
pub struct Datagrams {
    socket: UdpSocket,
    /// Where it is bound, with its real port.
    local: SocketAddr,
}

impl Datagrams {
    /// Binds every address that the host stands for and this machine has, all at one port; and the URL that they have, with
    /// its real port.
    ///
    /// # Errors
    /// See [`BindError`].
    pub fn bind(address: &ListenAddress) -> Result<(Vec<Datagrams>, String), BindError> {
        let (sockets, local) = bind_each(address, bind_udp)?;
        let url = url_of(address, local, sockets.len() > 1, "");
        Ok((sockets, url))
    }

    /// The next datagram and where it came from; what is longer than `buffer` is cut off.
    ///
    /// # Errors
    /// `WouldBlock`: there is none. Anything else: of an earlier datagram that went out; go on.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket.recv_from(buffer)
    }

    /// Sends one datagram.
    ///
    /// # Errors
    /// As of the kernel; the datagram is lost, as others are.
    pub fn send(&self, datagram: &[u8], to: SocketAddr) -> io::Result<()> {
        self.socket.send_to(datagram, to).map(drop)
    }

    /// Whether `source` is where this socket sends from: nobody else of this machine can, so it is made up, or we speak to
    /// ourselves. Of a socket that is bound to all addresses the kernel is asked whether that one is this machine's.
    pub fn sends_from(&self, source: SocketAddr) -> bool {
        let (own, ip) = (self.local.ip().to_canonical(), source.ip().to_canonical());
        self.local.port() == source.port() && (own == ip || (own.is_unspecified() && is_of_this_machine(ip)))
    }

    /// Datagrams that came faster than they were received, so that the kernel had no room for them, since the socket was bound.
    /// The count begins anew after 2^32.
    pub fn overflowed(&self) -> u32 {
        overflowed_datagrams(self.socket.as_fd())
    }

    /// Asks `registry` for an event whenever datagrams arrive.
    ///
    /// # Errors
    /// As of `mio`.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.socket, token, Interest::READABLE)
    }
}

fn bind_udp(address: SocketAddr) -> io::Result<(Datagrams, SocketAddr)> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    // A kernel that gives less says so by what it drops, and clients send again.
    let _ = socket.set_recv_buffer_size(RECEIVE_BYTES);
    // One may be to everybody on a network, where its sender was told to.
    socket.set_broadcast(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    let socket: std::net::UdpSocket = socket.into();
    let local = socket.local_addr()?;
    Ok((Datagrams { socket: UdpSocket::from_std(socket), local }, local))
}

/// Only an address of its own can be bound; where the kernel has no port left, it is taken for another's.
fn is_of_this_machine(ip: IpAddr) -> bool {
    std::net::UdpSocket::bind((ip, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a name all its addresses at one port, and does what is sent to one arrive, and an answer too?
    #[test]
    fn datagrams_go_both_ways() {
        let (sockets, url) = Datagrams::bind(&"sn://127.0.0.1:0".parse().unwrap()).unwrap();
        let address: SocketAddr = url.strip_prefix("sn://").unwrap().parse().unwrap();
        let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        peer.send_to(b"there", address).unwrap();
        let mut buffer = [0; 16];
        let (len, from) = loop {
            match sockets[0].receive(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
                received => break received.unwrap(),
            }
        };
        assert_eq!((&buffer[..len], from), (&b"there"[..], peer.local_addr().unwrap()));
        sockets[0].send(b"back", from).unwrap();
        let len = peer.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..len], b"back");
    }

    /// Is a socket known by the address that it sends from, and nobody else by his: also where it is bound to all addresses?
    #[test]
    fn where_it_sends_from_is_known() {
        for url in ["sn://127.0.0.1:0", "sn://0.0.0.0:0"] {
            let (sockets, url) = Datagrams::bind(&url.parse().unwrap()).unwrap();
            let bound: SocketAddr = url.strip_prefix("sn://").unwrap().parse().unwrap();
            let sends_from = |ip: &str| sockets[0].sends_from(SocketAddr::new(ip.parse().unwrap(), bound.port()));
            assert!(sends_from("127.0.0.1") && sends_from("::ffff:127.0.0.1"), "{url}");
            assert!(!sends_from("192.0.2.1") && !sends_from("2001:db8::1"), "{url}: of nobody here");
            assert!(!sockets[0].sends_from(SocketAddr::from(([127, 0, 0, 1], bound.port() ^ 1))), "{url}");
        }
    }

    /// Is what nobody takes counted, once the kernel has no room for more?
    #[test]
    fn what_finds_no_room_is_counted() {
        let (sockets, url) = Datagrams::bind(&"sn://127.0.0.1:0".parse().unwrap()).unwrap();
        let address: SocketAddr = url.strip_prefix("sn://").unwrap().parse().unwrap();
        let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(sockets[0].overflowed(), 0);
        let (datagram, mut sent) = ([0; 8192], 0);
        // More than any kernel was asked to hold.
        while sockets[0].overflowed() == 0 && sent < 4 * RECEIVE_BYTES {
            peer.send_to(&datagram, address).unwrap();
            sent += datagram.len();
        }
        assert!(sockets[0].overflowed() > 0, "{sent} bytes");
    }

    /// Is a port that somebody has refused, with its address?
    #[test]
    fn a_taken_port_is_named() {
        let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let url = format!("sn://{}", taken.local_addr().unwrap());
        let error = Datagrams::bind(&url.parse().unwrap()).unwrap_err();
        assert!(error.to_string().contains(&url) && error.remedy().contains("port"), "{error}");
    }
}
