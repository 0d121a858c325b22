//! What only the kernel's own calls can say or do: all the unsafe code of this room.

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

#[cfg(test)]
mod tests {
    use super::*;

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
