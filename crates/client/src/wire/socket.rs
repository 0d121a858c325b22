//! What is below a wire, for deadlines and polls.

use std::io;
use std::net::{TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Socket<'a> {
    Tcp(&'a TcpStream),
    Udp(&'a UdpSocket),
}

impl<'a> Socket<'a> {
    /// Reads and writes end at `deadline`: TLS does both in either.
    pub fn limit(self, deadline: Instant) -> io::Result<()> {
        let left = Some(super::left(deadline));
        match self {
            Self::Tcp(tcp) => tcp.set_read_timeout(left).and_then(|()| tcp.set_write_timeout(left)),
            Self::Udp(udp) => udp.set_read_timeout(left).and_then(|()| udp.set_write_timeout(left)),
        }
    }

    pub fn set_nonblocking(self, nonblocking: bool) -> io::Result<()> {
        match self {
            Self::Tcp(tcp) => tcp.set_nonblocking(nonblocking),
            Self::Udp(udp) => udp.set_nonblocking(nonblocking),
        }
    }

    pub fn fd(self) -> BorrowedFd<'a> {
        match self {
            Self::Tcp(tcp) => tcp.as_fd(),
            Self::Udp(udp) => udp.as_fd(),
        }
    }
}
