//! The listeners of one event loop: who waits at them is taken in turns of a bounded size.

use lapwing_transport::{AcceptError, Accepted, Listener};
use mio::{Registry, Token};

use crate::error::NodeError;
use crate::listeners::ListenerId;
use crate::metrics::ShardCounters;
use crate::strangers::{Ending, Strangers};

/// Pause of a listener after the process ran out of descriptors.
const EXHAUSTED_PAUSE_MS: u64 = 100;
/// Connections taken from one listener in one turn, so that a flood of them does not hold up those that are open: each may
/// have a large part of a CONNECT to be read and kept, a tenth of a millisecond.
const ACCEPTS_PER_TURN: usize = 16;

/// Listeners that this event loop accepts from; their tokens are 0, 1, and so on.
pub(crate) struct Doors {
    doors: Vec<Door>,
    /// The one whose turn it is, and how many it may still let in.
    turn: usize,
    left: usize,
}

struct Door {
    id: ListenerId,
    listener: Listener,
    /// The kernel may have connections for us, and they may come: not before the loop listens. The socket takes them up
    /// from the moment it is bound, so some wait already when it does.
    ready: bool,
    /// Not looked at before then: there was no descriptor left.
    paused_until_ms: u64,
}

impl Doors {
    /// Closed until the loop listens.
    pub(crate) fn new(listeners: impl IntoIterator<Item = (ListenerId, Listener)>) -> Self {
        let door = |(id, listener)| Door { id, listener, ready: false, paused_until_ms: 0 };
        Doors { doors: listeners.into_iter().map(door).collect(), turn: 0, left: ACCEPTS_PER_TURN }
    }

    /// Starts to listen; called on the loop's own thread.
    ///
    /// # Errors
    /// The kernel refuses to watch a listener.
    pub(crate) fn open(&mut self, registry: &Registry) -> Result<(), NodeError> {
        for (index, door) in self.doors.iter_mut().enumerate() {
            let registered = door.listener.register(registry, Token(index));
            registered.map_err(|source| NodeError::System { doing: "watch a listener", source })?;
            door.ready = true;
        }
        Ok(())
    }

    /// Stops to listen.
    pub(crate) fn close(&mut self, registry: &Registry) {
        for mut door in self.doors.drain(..) {
            // The listener is dropped right after; a failure here has no consequence.
            let _ = door.listener.deregister(registry);
        }
    }

    /// The kernel has reported something of the listener with this token.
    pub(crate) fn note(&mut self, token: Token) {
        if let Some(door) = self.doors.get_mut(token.0) {
            door.ready = true;
        }
    }

    /// Whether somebody may wait who can be taken now.
    pub(crate) fn are_open(&self, now_ms: u64) -> bool {
        self.doors.iter().any(|door| door.is_open(now_ms))
    }

    /// When the first of those that pause is to be looked at again.
    pub(crate) fn next_at(&self) -> Option<u64> {
        self.doors.iter().filter(|door| door.ready).map(|door| door.paused_until_ms).min()
    }

    /// The next connection of this turn; none ends the turn, the call after that begins another one.
    pub(crate) fn next(
        &mut self,
        now_ms: u64,
        counters: &ShardCounters,
        strangers: &Strangers,
    ) -> Option<(ListenerId, Accepted)> {
        while let Some(door) = self.doors.get_mut(self.turn) {
            if self.left == 0 || !door.is_open(now_ms) {
                (self.turn, self.left) = (self.turn + 1, ACCEPTS_PER_TURN);
                continue;
            }
            self.left -= 1;
            if let Some(accepted) = door.accept(now_ms, counters, strangers) {
                return Some((door.id, accepted));
            }
        }
        (self.turn, self.left) = (0, ACCEPTS_PER_TURN);
        None
    }
}

impl Door {
    fn is_open(&self, now_ms: u64) -> bool {
        self.ready && self.paused_until_ms <= now_ms
    }

    /// One connection that waits, if there is one and it can be taken; what cannot is counted, and told of.
    fn accept(&mut self, now_ms: u64, counters: &ShardCounters, strangers: &Strangers) -> Option<Accepted> {
        match self.listener.accept() {
            Ok(Some(accepted)) => return Some(accepted),
            Ok(None) => self.ready = false,
            Err(AcceptError::Connection(_)) => counters.accept_failures.add(1),
            Err(AcceptError::Refused(refusal, peer)) => {
                counters.refused(refusal);
                strangers.ends(Ending::Refused(refusal), peer, self.listener.url(), now_ms);
            }
            Err(AcceptError::Exhausted(_)) => {
                counters.accept_failures.add(1);
                self.paused_until_ms = now_ms + EXHAUSTED_PAUSE_MS;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use lapwing_transport::ListenerSettings;

    use super::*;
    use crate::config::Limits;

    fn listener() -> Listener {
        let address = "tcp://127.0.0.1:0".parse().expect("an address");
        Listener::bind(ListenerSettings::plain(address)).expect("a free port")
    }

    fn dial(listener: &Listener) -> TcpStream {
        TcpStream::connect(listener.url().trim_start_matches("tcp://")).expect("somebody listens")
    }

    /// Does a flood at one listener leave its turn to the other, and wait for its next one?
    #[test]
    fn a_turn_takes_so_many_of_each() {
        let (first, second) = (listener(), listener());
        let mut peers: Vec<TcpStream> = (0..ACCEPTS_PER_TURN + 6).map(|_| dial(&first)).collect();
        peers.push(dial(&second));
        let poll = mio::Poll::new().expect("a descriptor");
        let counters = ShardCounters::default();
        let strangers = Strangers::new(&Limits::default(), 100, 1 << 30, &[]);
        let mut doors = Doors::new([(ListenerId(0), first), (ListenerId(1), second)]);
        assert!(!doors.are_open(0) && doors.next(0, &counters, &strangers).is_none(), "closed until the loop listens");
        doors.open(poll.registry()).expect("they can be watched");
        let mut turn =
            || std::iter::from_fn(|| doors.next(0, &counters, &strangers)).map(|(id, _)| id.0).collect::<Vec<_>>();
        let mut both = vec![0; ACCEPTS_PER_TURN];
        both.push(1);
        assert_eq!(turn(), both);
        assert_eq!(turn(), [0; 6]);
        assert!(!doors.are_open(0));
    }
}
