//! What the kernel knows of a socket and tells nobody unasked: how far away its other end is, what has not arrived, what it had
//! no room for.

use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};

/// What `tcpi_min_rtt` says while the kernel has measured nothing.
const UNMEASURED_US: u32 = u32::MAX;

/// The least round trip of the last minutes (`net.ipv4.tcp_min_rtt_wlen`, 300 s) in microseconds.
///
/// Not `tcpi_rtt`: the kernel's acknowledgement of a PUBLISH may ride on its PUBACK, so that one holds the handler's
/// time. `None`: the kernel has not measured any, or is too old to tell.
#[cfg(target_os = "linux")]
pub(crate) fn min_rtt_us(fd: BorrowedFd<'_>) -> Option<u32> {
    // SAFETY: a `tcp_info` is integers and nothing else, and all bits zero are one of them.
    let mut info: libc::tcp_info = unsafe { mem::zeroed() };
    let mut bytes = mem::size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the descriptor is open as long as it is borrowed. The kernel writes at most `bytes` bytes to `info`, which
    // is so large, and then to `bytes` how many they were.
    let answer = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast::<libc::c_void>(),
            &raw mut bytes,
        )
    };
    // Before 4.6 the structure ended in front of this field.
    let end = mem::offset_of!(libc::tcp_info, tcpi_min_rtt) + mem::size_of::<u32>();
    let is_there = answer == 0 && bytes as usize >= end && info.tcpi_min_rtt != UNMEASURED_US;
    is_there.then_some(info.tcpi_min_rtt)
}

/// Other kernels keep no minimum.
#[cfg(not(target_os = "linux"))]
pub(crate) fn min_rtt_us(_fd: BorrowedFd<'_>) -> Option<u32> {
    None
}

/// Bytes that were written and are not yet acknowledged by the other end's kernel (`SIOCOUTQ`), sent or not. What
/// was lost with a connection stays counted. Of a Unix socket: what the peer has not read, with the kernel's own overhead.
#[cfg(target_os = "linux")]
pub(crate) fn unsent_bytes(fd: BorrowedFd<'_>) -> u64 {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open as long as it is borrowed, and the kernel writes one `int` to `bytes`. For sockets
    // `SIOCOUTQ` is the same number as `TIOCOUTQ`.
    let answer = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if answer == 0 { u64::try_from(bytes).unwrap_or(0) } else { 0 }
}

/// Nothing is known elsewhere.
#[cfg(not(target_os = "linux"))]
pub(crate) fn unsent_bytes(_fd: BorrowedFd<'_>) -> u64 {
    0
}

/// Datagrams that came while the socket had no room for one more, since it was opened; the count begins anew after 2^32.
#[cfg(target_os = "linux")]
pub(crate) fn overflowed_datagrams(fd: BorrowedFd<'_>) -> u32 {
    const PLACE: usize = libc::SK_MEMINFO_DROPS as usize;
    let mut info = [0_u32; PLACE + 1];
    let mut bytes = mem::size_of_val(&info) as libc::socklen_t;
    // SAFETY: the descriptor is open as long as it is borrowed. The kernel writes at most `bytes` bytes to `info`, which
    // is so large, and then to `bytes` how many they were; what it does not write stays 0.
    let answer = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            (&raw mut info).cast::<libc::c_void>(),
            &raw mut bytes,
        )
    };
    if answer == 0 { info[PLACE] } else { 0 }
}

/// Nothing is known elsewhere.
#[cfg(not(target_os = "linux"))]
pub(crate) fn overflowed_datagrams(_fd: BorrowedFd<'_>) -> u32 {
    0
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::*;

    /// Does the kernel answer for a connection as it is, and say nothing of what is none?
    #[test]
    fn a_connection_is_measured_and_a_file_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_far, _) = listener.accept().unwrap();
        near.set_nonblocking(true).unwrap();
        // Nobody reads: what does not fit at the other end stays unsent here.
        let chunk = [0; 1 << 16];
        let written: usize = std::iter::from_fn(|| near.write(&chunk).ok()).sum();
        let unsent = unsent_bytes(near.as_fd());
        assert!(unsent > 0 && unsent <= written as u64, "{unsent} of {written}");
        assert!(min_rtt_us(near.as_fd()).is_some_and(|us| us < 30_000_000));
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!((min_rtt_us(file.as_fd()), unsent_bytes(file.as_fd())), (None, 0));
        assert_eq!(overflowed_datagrams(file.as_fd()), 0);
    }
}
