//! Waiting for sockets to within microseconds: `mio` counts whole milliseconds, and a message that is due between two of
//! them would be sent late, which would show as latency of the broker.

use crate::clock::SECOND_NS;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

/// Sleeps until `poll` has something to say or `timeout` is over; says nothing of which it was, the poll does.
pub(crate) fn wait(poll: &mio::Poll, timeout: Duration) -> std::io::Result<()> {
    readable(poll.as_raw_fd(), timeout)
}

fn readable(file: RawFd, timeout: Duration) -> std::io::Result<()> {
    let mut file = libc::pollfd { fd: file, events: libc::POLLIN, revents: 0 };
    let nanos = timeout.as_nanos() as u64;
    let time = libc::timespec { tv_sec: (nanos / SECOND_NS) as _, tv_nsec: (nanos % SECOND_NS) as _ };
    // SAFETY: one `pollfd` and one `timespec`, both valid for the call, which keeps no pointer; no signal mask is given.
    let answer = unsafe { libc::ppoll(&mut file, 1, &time, std::ptr::null()) };
    if answer >= 0 {
        return Ok(());
    }
    match std::io::Error::last_os_error() {
        error if error.kind() == std::io::ErrorKind::Interrupted => Ok(()),
        error => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// Does it wait for parts of a millisecond, no shorter than it is told?
    #[test]
    fn waits_as_long_as_it_is_told() {
        let poll = mio::Poll::new().expect("a poll");
        let (began, each) = (Instant::now(), Duration::from_micros(200));
        for _ in 0..20 {
            wait(&poll, each).expect("a wait");
        }
        assert!(began.elapsed() >= 20 * each);
    }

    /// Does it come back at once when there is something to read?
    #[test]
    fn comes_back_when_something_is_there() {
        let poll = mio::Poll::new().expect("a poll");
        let waker = mio::Waker::new(poll.registry(), mio::Token(0)).expect("a waker");
        waker.wake().expect("awake");
        let began = Instant::now();
        wait(&poll, Duration::from_secs(60)).expect("a wait");
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}
