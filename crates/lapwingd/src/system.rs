//! What only the kernel's own calls can say or do: all the unsafe code of this room.

use std::ffi::CString;
use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

/// A set of signals that nobody is ended by.
pub(crate) struct Blocked(libc::sigset_t);

/// Blocks these signals on this thread, and so on each that it begins.
pub(crate) fn block(signals: &[i32]) -> Blocked {
    // SAFETY: zeros are a set of signals, and each call is given one that lives.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in signals {
            libc::sigaddset(&mut set, *signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        Blocked(set)
    }
}

impl Blocked {
    /// Waits for the next of them.
    pub(crate) fn wait(&self) -> i32 {
        let mut signal = 0;
        // SAFETY: both live for the call. It fails for a set that is none, and this is one.
        unsafe { libc::sigwait(&self.0, &mut signal) };
        signal
    }
}

/// The account that this process acts as.
pub(crate) fn user_id() -> u32 {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether this process may make files in a folder.
pub(crate) fn may_write(folder: &Path) -> bool {
    let Ok(path) = CString::new(folder.as_os_str().as_bytes()) else { return false };
    // SAFETY: the path ends with a zero, and lives for the call.
    unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) == 0 }
}

/// Memory comes in pages of the usual size, on machines too that give huge ones to whoever does not ask: each small table of
/// each thread would hold two megabytes. A kernel that has none refuses, and nothing is lost.
pub(crate) fn take_small_pages() -> bool {
    // SAFETY: it is given numbers alone.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0 }
}

/// What this process writes is nothing for others.
pub(crate) fn narrow_umask() {
    // SAFETY: it takes a number and cannot fail; between the two calls no thread makes a file.
    unsafe {
        let before = libc::umask(0o077);
        libc::umask(before | 0o007);
    }
}

/// Whether a descriptor takes something to write within `patience`, if it is only that it fails.
///
/// # Errors
/// The kernel cannot tell; `Interrupted`: ask again.
pub(crate) fn takes_something(
    descriptor: std::os::fd::BorrowedFd<'_>,
    patience: std::time::Duration,
) -> std::io::Result<bool> {
    use std::os::fd::AsRawFd as _;
    let mut asked = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    let wait_ms = i32::try_from(patience.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: it is given one `pollfd`, which lives for the call as its descriptor does.
    match unsafe { libc::poll(&mut asked, 1, wait_ms) } {
        -1 => Err(std::io::Error::last_os_error()),
        ready => Ok(ready > 0),
    }
}

/// The monotonic clock, as systemd reads it.
pub(crate) fn monotonic_us() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it is given a time that lives for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000
}

/// The kernel ends a connection whose peer acknowledges nothing of what it was sent for so long, the close of it too.
pub(crate) fn end_if_unacknowledged(connection: &TcpStream, within: Duration) -> io::Result<()> {
    let ms = i32::try_from(within.as_millis()).unwrap_or(i32::MAX);
    option(connection, libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, &ms)
}

/// Ends a connection at once, with all that its peer has not taken.
pub(crate) fn reset(connection: &TcpStream) -> io::Result<()> {
    let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
    option(connection, libc::SOL_SOCKET, libc::SO_LINGER, &at_once)
}

fn option<T>(connection: &TcpStream, level: i32, name: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the socket is open, the value lives for the call, and this is its length.
    let set = unsafe { libc::setsockopt(connection.as_raw_fd(), level, name, (&raw const *value).cast(), length) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Bytes that the kernel was given for a peer that has not acknowledged them; of a connection that is over, none.
pub(crate) fn unacknowledged_bytes(connection: &TcpStream) -> u64 {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the socket is open, and the number lives for the call.
    let asked = unsafe { libc::ioctl(connection.as_raw_fd(), libc::TIOCOUTQ, &mut bytes) };
    if asked == 0 { u64::try_from(bytes).unwrap_or(0) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does the kernel say how much waits for a peer that reads nothing, and is nothing left of it behind a reset?
    #[test]
    fn what_a_peer_has_not_taken_is_known_and_goes() {
        use std::io::{Read as _, Write as _};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut peer = TcpStream::connect(listener.local_addr().expect("it has one")).expect("it listens");
        let (mut connection, _) = listener.accept().expect("a peer");
        end_if_unacknowledged(&connection, Duration::from_secs(30)).expect("set");
        assert_eq!(unacknowledged_bytes(&connection), 0);
        connection.set_nonblocking(true).expect("set");
        while connection.write(&[0; 64 << 10]).is_ok() {}
        assert!(unacknowledged_bytes(&connection) > 0, "its window is full");
        reset(&connection).expect("it is over");
        drop(connection);
        peer.set_read_timeout(Some(Duration::from_secs(30))).expect("set");
        let mut rest = Vec::new();
        let ended = peer.read_to_end(&mut rest).expect_err("not in order");
        assert_eq!(ended.kind(), io::ErrorKind::ConnectionReset);
    }

    /// Does the kernel note that this process wants no huge pages? Kernels before 5.0 do not show it.
    #[test]
    fn huge_pages_are_left_out() {
        assert!(take_small_pages());
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
        let noted = status.lines().find(|line| line.starts_with("THP_enabled:"));
        assert!(noted.is_none_or(|line| line.ends_with('0')), "{noted:?}");
    }

    /// Is what the kernel says of this process what it says elsewhere?
    #[test]
    fn the_kernel_says_what_proc_says() {
        let uids = std::fs::read_to_string("/proc/self/status").expect("Linux");
        let line = uids.lines().find(|line| line.starts_with("Uid:")).expect("it has one");
        assert_eq!(line.split_whitespace().nth(2), Some(user_id().to_string().as_str()));
        let first = monotonic_us();
        assert!(first > 0 && monotonic_us() >= first);
    }
}
