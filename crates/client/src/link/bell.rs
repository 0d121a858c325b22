//! A descriptor that one thread makes readable to wake another that polls.

use crate::error::ClientError;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// An eventfd.
#[derive(Debug)]
pub struct Bell(OwnedFd);

/// What a poll found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ready {
    pub read: bool,
    pub write: bool,
    /// The connection is over, whether it is read or not.
    pub broken: bool,
}

impl Bell {
    /// A silent bell.
    ///
    /// # Errors
    /// `Invalid`: the process may not open more descriptors.
    pub fn new() -> Result<Self, ClientError> {
        let made = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        made.map(Self).map_err(|error| ClientError::Invalid(format!("no descriptor for a connection: {error}")))
    }

    /// Makes it readable. A bell that rings already (the only reason for an error) goes on ringing.
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// Makes it silent; one that was silent stays so.
    pub fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0u8; 8]);
    }

    /// What others poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Waits for the bell or for `socket`, which is asked for reading and writing as `wish` says; silences the bell.
    pub(crate) fn wait(
        &self,
        socket: Option<(BorrowedFd<'_>, Ready)>,
        timeout: Option<Duration>,
    ) -> Result<Ready, ClientError> {
        let timeout = timeout.map(|timeout| rustix::event::Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(timeout.subsec_nanos()),
        });
        let bell = PollFd::new(&self.0, PollFlags::IN);
        let mut both;
        let mut alone;
        let polled: &mut [PollFd<'_>] = match &socket {
            Some((fd, wish)) => {
                let mut flags = PollFlags::empty();
                flags.set(PollFlags::IN, wish.read);
                flags.set(PollFlags::OUT, wish.write);
                both = [bell, PollFd::new(fd, flags)];
                &mut both
            }
            None => {
                alone = [bell];
                &mut alone
            }
        };
        match poll(polled, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(ClientError::Lost(io::Error::from(error))),
        }
        if polled[0].revents().contains(PollFlags::IN) {
            self.clear();
        }
        let found = polled.get(1).map_or(PollFlags::empty(), PollFd::revents);
        let broken = found.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL);
        Ok(Ready { broken, read: broken || found.contains(PollFlags::IN), write: found.contains(PollFlags::OUT) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a ring before the wait end it, once?
    #[test]
    fn a_ring_is_not_lost() -> Result<(), ClientError> {
        let bell = Bell::new()?;
        bell.ring();
        bell.ring();
        bell.wait(None, None)?;
        let begun = std::time::Instant::now();
        bell.wait(None, Some(Duration::from_millis(5)))?;
        assert!(begun.elapsed() >= Duration::from_millis(5), "it was silenced");
        Ok(())
    }
}
