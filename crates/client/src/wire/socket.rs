//! What is below a wire, for polls.

use std::io;
use std::net::{TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Socket<'a> {
    Tcp(&'a TcpStream),
    Udp(&'a UdpSocket),
}

impl<'a> Socket<'a> {
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
