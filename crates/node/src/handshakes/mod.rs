//! Handshakes of TLS, on threads of their own: one costs as much as a thousand messages, by the signature in it.
//!
//! Rules of this room:
//! - Listeners with TLS are accepted from here and nowhere else. A connection is handed to a shard when its handshake is
//!   done, with what its client has sent behind it still inside; no data thread ever signs.
//! - These threads have a lower priority than those that carry messages: they take what the cores have to spare.
//! - What is unfinished has bounds, in all and for one source of connections; who comes beyond takes the place of the oldest
//!   that does not wait for us, which is closed and counted.
//! - Work is done source by source, in turn ([`turns::Turns`]): who sends one ClientHello after the other waits behind
//!   itself, and a peer that never answers holds its own places until `connect_timeout_ms` is over.
//! - Places and turns are pure; the thread owns sockets, event queue and clock.

mod complaint;
mod counters;
mod crl_watch;
mod entrance;
mod half;
mod line;
mod places;
mod steps;
mod thread;
mod turns;

use std::sync::Arc;

use lapwing_transport::Listener;

use crate::doors::Doors;
use crate::error::NodeError;
use crate::event_loop::EventLoop;
use crate::listeners::ListenerId;
use crate::mail::MovedConnection;
use crate::mailbox::{Bell, Inlet, lane};
use crate::shared::Shared;
use counters::HandshakeCounters;
pub(crate) use line::Line;
use places::Places;
pub(crate) use thread::HandshakeThread;

/// Batches in the lane from one of these threads to a shard.
const LANE_BATCHES: usize = 64;

/// What a shard gets from one of these threads, in batches.
pub(crate) type Shaken = Inlet<Vec<MovedConnection>>;

/// What the threads share with each other and with whoever asks for numbers.
pub(crate) struct HandshakeRoom {
    places: Places,
    pub(crate) counters: HandshakeCounters,
}

/// The threads, and for each shard what it gets from them.
pub(crate) struct Handshakes {
    pub(crate) room: Arc<HandshakeRoom>,
    pub(crate) threads: Vec<HandshakeThread>,
    pub(crate) inlets: Vec<Vec<Shaken>>,
}

/// Lays the lanes from one thread for each of `event_loops` to all `shards`; each thread accepts from all of `listeners`.
///
/// # Errors
/// No descriptor left.
pub(crate) fn lay_handshakes(
    shared: &Arc<Shared>,
    event_loops: Vec<EventLoop>,
    listeners: &[(ListenerId, Listener)],
    shards: &[Bell],
) -> Result<Handshakes, NodeError> {
    let limits = &shared.config.limits;
    // They are connections too, and must leave room for clients.
    let all_max = limits.handshakes_max.min(limits.connections_max.div_ceil(4));
    let room = Arc::new(HandshakeRoom {
        places: Places::new(all_max, limits.handshakes_per_address_max),
        counters: HandshakeCounters::default(),
    });
    let mut inlets: Vec<Vec<Shaken>> = shards.iter().map(|_| Vec::new()).collect();
    let mut threads = Vec::with_capacity(event_loops.len());
    for (number, event_loop) in event_loops.into_iter().enumerate() {
        let mut lines = Vec::with_capacity(shards.len());
        for (shard, inlets) in shards.iter().zip(&mut inlets) {
            let (line, inlet) = lane(LANE_BATCHES, event_loop.bell(), shard.clone());
            lines.push(Line::new(line));
            inlets.push(inlet);
        }
        let own: Result<Vec<_>, _> = listeners.iter().map(|(id, listener)| Ok((*id, listener.try_clone()?))).collect();
        let own = own.map_err(|source| NodeError::System { doing: "share a listener", source })?;
        threads.push(HandshakeThread::new(number, shared.clone(), room.clone(), event_loop, Doors::new(own), lines));
    }
    Ok(Handshakes { room, threads, inlets })
}
