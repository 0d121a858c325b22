//! All connections of DTLS: by place, by address, and by who has to go when there are too many.
//!
//! - Whoever says hello has a place among the *unproven* until its cookie has come back: a made-up address never gets further, and
//!   the oldest goes for the next. Nothing that is known of its address is touched before.
//! - Then it is a *stranger* until somebody is connected in it. Both have the bounds of TLS handshakes, in all and of one address.
//! - Who is connected bounds the rest: a place of the listener each.

mod ends;
mod steps;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lapwing_transport::{Certificates, PeerAddress, Proof};
use slab::Slab;

use super::counters::{Dropped, SnCounters};
use super::seals::Ended;
use super::tunnel::{Inmate, Peer, Seat, Tunnel};
use crate::config::Limits;
use crate::listeners::ListenerId;
use crate::strangers::{Bound, Budget, Place, Source, Table};
use crate::timers::Timers;

/// First hellos that are looked at in one turn: each costs as much as some hundred messages, and comes again.
const HELLOS_PER_TURN: u32 = 64;
/// Steps of proven handshakes in one turn, signatures and agreements of some tenths of a millisecond; then others have their turn.
const STEPS_PER_TURN: u32 = 16;

/// What a socket's datagrams are sealed by.
#[derive(Clone)]
pub(super) struct Seal {
    pub(super) certificates: Arc<Certificates>,
    pub(super) listener: ListenerId,
}

/// See above.
pub(super) struct Tunnels {
    /// By socket; none: its datagrams are plain.
    seals: Vec<Option<Seal>>,
    all: Slab<Tunnel>,
    unproven: HashMap<Peer, usize>,
    proven: HashMap<Peer, usize>,
    /// Seats of the unproven, and of the strangers.
    hellos: Table,
    strangers: Table,
    timers: Timers<(usize, u64)>,
    births: u64,
    /// An instant, and what the node's clock said then.
    epoch: (Instant, u64),
    patience_ms: u64,
    hellos_left: u32,
    steps_left: u32,
    /// Clients whose connection is gone: whoever owns them asks for these after each call.
    pub(super) bereft: Vec<Inmate>,
    /// Last words to peers that have to go.
    pub(super) farewells: Vec<(Peer, Vec<u8>)>,
}

impl Tunnels {
    /// `now_ms`: the node's clock.
    pub(super) fn new(seals: Vec<Option<Seal>>, limits: &Limits, now_ms: u64) -> Self {
        let count_max = limits.handshakes_max.min(limits.connections_max.div_ceil(4)) as usize;
        let per_address_max = limits.handshakes_per_address_max as usize;
        let table = || Table::new(Budget { count_max, per_address_max, bytes_max: u64::MAX });
        Tunnels {
            seals,
            all: Slab::new(),
            unproven: HashMap::new(),
            proven: HashMap::new(),
            hellos: table(),
            strangers: table(),
            timers: Timers::new(),
            births: 0,
            epoch: (Instant::now(), now_ms),
            patience_ms: limits.connect_timeout_ms,
            hellos_left: HELLOS_PER_TURN,
            steps_left: STEPS_PER_TURN,
            bereft: Vec::new(),
            farewells: Vec::new(),
        }
    }

    pub(super) fn is_sealed(&self, socket: usize) -> bool {
        self.seals.get(socket).is_some_and(Option::is_some)
    }

    pub(super) fn begin_turn(&mut self) {
        (self.hellos_left, self.steps_left) = (HELLOS_PER_TURN, STEPS_PER_TURN);
    }

    /// Whether so much was done for handshakes in this turn that others have to come first.
    pub(super) fn is_spent(&self) -> bool {
        self.steps_left == 0
    }

    /// What the peer at `from` has shown.
    pub(super) fn shown(&self, peer: Peer) -> Option<Arc<Proof>> {
        let index = *self.proven.get(&peer)?;
        self.all[index].dtls.shown().cloned()
    }

    /// A place among strangers, for which the oldest may go; if there is none, it goes itself.
    fn seat(&mut self, index: usize, counters: &SnCounters) {
        let tunnel = &self.all[index];
        let (peer, born) = (tunnel.peer, tunnel.born);
        let listener = self.seals[peer.0].as_ref().map_or_else(ListenerId::default, |seal| seal.listener);
        match self.strangers.arrive(source(peer), listener) {
            Ok((seat, ended)) => {
                self.strangers.settle(seat, Place { shard: 0, index, born });
                self.all[index].seat = Some(Seat::Stranger(seat));
                if let Some(ended) = ended {
                    counters.dropped(full(ended.bound));
                    self.dismiss(ended.place.index, Ended::Crowded, counters);
                }
            }
            Err(bound) => {
                counters.dropped(full(bound));
                self.dismiss(index, Ended::Crowded, counters);
            }
        }
    }

    /// Somebody is connected in it; false: it is not there any more.
    pub(super) fn joined(&mut self, peer: Peer, guest: Inmate) -> bool {
        let Some(tunnel) = self.proven.get(&peer).and_then(|index| self.all.get_mut(*index)) else { return false };
        tunnel.guests.insert(guest);
        let seat = tunnel.seat.take();
        self.leave(seat);
        true
    }

    fn leave(&mut self, seat: Option<Seat>) {
        match seat {
            Some(Seat::Hello(seat)) => self.hellos.leave(seat),
            Some(Seat::Stranger(seat)) => self.strangers.leave(seat),
            None => {}
        }
    }

    /// A client has gone; with the last one it is a stranger's again.
    pub(super) fn left(&mut self, peer: Peer, guest: Inmate, now_ms: u64, counters: &SnCounters) {
        let Some(&index) = self.proven.get(&peer) else { return };
        let Some(tunnel) = self.all.get_mut(index) else { return };
        if !tunnel.guests.remove(&guest) || !tunnel.guests.is_empty() {
            return;
        }
        tunnel.heard_ms = now_ms;
        self.seat(index, counters);
        self.set_timer(index, now_ms);
    }

    fn instant(&self, now_ms: u64) -> Instant {
        self.epoch.0 + Duration::from_millis(now_ms.saturating_sub(self.epoch.1))
    }
}

fn source(peer: Peer) -> Source {
    Source::of(PeerAddress::Net(peer.1))
}

/// What a bound is counted as.
fn full(bound: Bound) -> Dropped {
    match bound {
        Bound::PerAddress => Dropped::HandshakesOfAddress,
        Bound::Count | Bound::Bytes | Bound::Connections => Dropped::HandshakesFull,
    }
}

#[cfg(test)]
mod tests;
