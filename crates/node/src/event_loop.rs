//! What an event loop waits at: the kernel's events, and the bell that other threads ring.

use std::io::ErrorKind;
use std::time::Duration;

use mio::event::Event;
use mio::{Events, Poll, Registry, Token, Waker};

use crate::error::NodeError;
use crate::mailbox::Bell;

/// Events taken from the kernel at a time.
const EVENTS_PER_POLL: usize = 1024;
/// The event of the bell.
const WAKER: Token = Token(usize::MAX);

/// The event queue and the bell of one thread: of a shard, or of one beside them that has sockets too. Made before the node's
/// shared state, which knows all bells.
pub(crate) struct EventLoop {
    poll: Poll,
    events: Events,
    bell: Bell,
}

impl EventLoop {
    /// # Errors
    /// No descriptor left.
    pub(crate) fn open() -> Result<Self, NodeError> {
        let poll = Poll::new().map_err(|source| NodeError::System { doing: "open an event queue", source })?;
        let waker = Waker::new(poll.registry(), WAKER);
        let bell = waker.map(Bell::new);
        let bell = bell.map_err(|source| NodeError::System { doing: "open an event queue's waker", source })?;
        Ok(EventLoop { poll, events: Events::with_capacity(EVENTS_PER_POLL), bell })
    }

    /// What ends its sleep.
    pub(crate) fn bell(&self) -> Bell {
        self.bell.clone()
    }

    /// Where sockets are registered; any token but the largest.
    pub(crate) fn registry(&self) -> &Registry {
        self.poll.registry()
    }

    /// Says that it is about to sleep. Whoever gives the thread something from here on rings; what came before it must look for
    /// itself, between this and [`EventLoop::sleep`].
    pub(crate) fn prepare(&self) {
        self.bell.prepare();
    }

    /// Sleeps, `timeout` at the longest, after [`EventLoop::prepare`].
    ///
    /// # Errors
    /// As [`EventLoop::poll`].
    pub(crate) fn sleep(&mut self, timeout: Duration) -> Result<(), NodeError> {
        let polled = self.poll(timeout);
        self.bell.awake();
        polled
    }

    /// Takes the kernel's events; waits for the first as long as `timeout`, and no bell ends that without
    /// [`EventLoop::prepare`].
    ///
    /// # Errors
    /// The kernel refuses.
    pub(crate) fn poll(&mut self, timeout: Duration) -> Result<(), NodeError> {
        match self.poll.poll(&mut self.events, Some(timeout)) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                self.events.clear();
                Ok(())
            }
            Err(source) => Err(NodeError::System { doing: "wait for events", source }),
        }
    }

    /// Whether something ended the last wait before its time.
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// What the last wait has taken, of sockets.
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| event.token() != WAKER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a ring end the sleep that it was prepared for, and is it no socket's event?
    #[test]
    fn a_ring_ends_the_sleep() {
        let mut event_loop = EventLoop::open().expect("an event queue");
        let bell = event_loop.bell();
        bell.ring();
        event_loop.poll(Duration::ZERO).expect("events");
        assert!(!event_loop.has_events(), "it was awake");
        event_loop.prepare();
        bell.ring();
        event_loop.sleep(Duration::from_secs(30)).expect("events");
        assert!(event_loop.has_events() && event_loop.events().next().is_none());
    }
}
