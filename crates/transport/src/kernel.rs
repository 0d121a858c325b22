//! What the kernel knows of a connection and tells nobody unasked: how far away its other end is, what has not arrived.

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
