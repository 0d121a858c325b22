//! All connections of DTLS: by place, by address, and by who has to go when there are too many.
//!
//! - Whoever says hello has a place among the *unproven* until its cookie has come back: a made-up address never gets further, and
//!   the oldest goes for the next. Nothing that is known of its address is touched before.
//! - Then it is a *stranger* until somebody is connected in it. Both have the bounds of TLS handshakes, in all and of one address.
//! - Who is connected bounds the rest: a place of the listener each.

use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lapwing_transport::{Certificates, DtlsEnd, DtlsOutput, DtlsStage, PeerAddress, ShownCertificate, is_client_hello};
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
/// Timers of connections that are gone, kept before they are looked for.
const TIMERS_SPARE: usize = 4096;

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
    pub(super) fn certificate(&self, peer: Peer) -> Option<Arc<ShownCertificate>> {
        let index = *self.proven.get(&peer)?;
        self.all[index].dtls.certificate().cloned()
    }

    /// Takes a datagram. `output` has what it meant and what goes back, unless this is false.
    pub(super) fn take(
        &mut self,
        socket: usize,
        from: SocketAddr,
        bytes: &[u8],
        now_ms: u64,
        counters: &SnCounters,
        output: &mut DtlsOutput,
    ) -> bool {
        let peer = (socket, from);
        let Some(index) = self.target(peer, is_client_hello(bytes), now_ms, counters) else { return false };
        let now = self.instant(now_ms);
        let tunnel = &mut self.all[index];
        let (before, withheld) = (tunnel.dtls.stage(), tunnel.dtls.withheld());
        tunnel.dtls.receive(bytes, now, output);
        (withheld..tunnel.dtls.withheld()).for_each(|_| counters.dropped(Dropped::Unproven));
        match before {
            DtlsStage::Unproven => {}
            DtlsStage::Shaking => self.steps_left = self.steps_left.saturating_sub(1),
            DtlsStage::Open | DtlsStage::Over(_) => tunnel.heard_ms = now_ms,
        }
        if before == DtlsStage::Unproven && tunnel.is_proven() {
            self.steps_left = self.steps_left.saturating_sub(1);
            self.prove(index, now_ms, counters);
        }
        self.settle(index, before, now_ms, counters);
        true
    }

    /// Whose datagram it is: somebody who is there, or who begins.
    fn target(&mut self, peer: Peer, is_hello: bool, now_ms: u64, counters: &SnCounters) -> Option<usize> {
        let known = self.proven.get(&peer).copied();
        // Who is there and says hello has lost what we have agreed on, or is somebody else: that shows when he has answered.
        let known = known.filter(|index| !is_hello || self.all[*index].dtls.stage() != DtlsStage::Open);
        if known.is_some() {
            return known;
        }
        if !is_hello {
            counters.dropped(Dropped::Unknown);
            return None;
        }
        if self.hellos_left == 0 {
            counters.dropped(Dropped::HellosFull);
            return None;
        }
        self.hellos_left -= 1;
        self.unproven.get(&peer).copied().or_else(|| self.begin(peer, now_ms, counters))
    }

    /// A newcomer, for whom the oldest of its kind may go.
    fn begin(&mut self, peer: Peer, now_ms: u64, counters: &SnCounters) -> Option<usize> {
        let Seal { certificates, listener } = self.seals.get(peer.0)?.clone()?;
        let (seat, ended) = match self.hellos.arrive(source(peer), listener) {
            Ok(arrived) => arrived,
            Err(bound) => {
                counters.dropped(full(bound));
                return None;
            }
        };
        if let Some(ended) = ended {
            counters.dropped(full(ended.bound));
            self.forget(ended.place.index, Ended::Crowded, counters);
        }
        let Some(dtls) = certificates.accept_datagrams(self.instant(now_ms)) else {
            self.hellos.leave(seat);
            return None;
        };
        self.births += 1;
        let (born, guests) = (self.births, BTreeSet::new());
        let place = Some(Seat::Hello(seat));
        let index = self.all.insert(Tunnel { peer, dtls, born, seat: place, guests, heard_ms: now_ms, timer_ms: None });
        self.hellos.settle(seat, Place { shard: 0, index, born });
        self.unproven.insert(peer, index);
        counters.seals.open.set(self.all.len() as u64);
        Some(index)
    }

    /// Its cookie has come back: what was at its address before is over, and it is a stranger.
    fn prove(&mut self, index: usize, now_ms: u64, counters: &SnCounters) {
        let tunnel = &mut self.all[index];
        let peer = tunnel.peer;
        tunnel.heard_ms = now_ms;
        let seat = tunnel.seat.take();
        self.leave(seat);
        self.unproven.remove(&peer);
        if let Some(former) = self.proven.insert(peer, index) {
            self.forget(former, Ended::Replaced, counters);
        }
        self.seat(index, counters);
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

    /// After a step: it may be open now, or over; its timer is set.
    fn settle(&mut self, index: usize, before: DtlsStage, now_ms: u64, counters: &SnCounters) {
        let Some(tunnel) = self.all.get(index) else { return };
        let stage = tunnel.dtls.stage();
        if stage == DtlsStage::Open && before != DtlsStage::Open {
            counters.seals.handshakes.add(1);
        }
        match stage {
            DtlsStage::Over(end) => self.forget(index, why(end), counters),
            _ => self.set_timer(index, now_ms),
        }
    }

    /// Seals `message` for the peer; false: there is no connection to it any more.
    pub(super) fn seal(
        &mut self,
        peer: Peer,
        message: &[u8],
        now_ms: u64,
        counters: &SnCounters,
        output: &mut DtlsOutput,
    ) -> bool {
        let Some(&index) = self.proven.get(&peer) else { return false };
        let now = self.instant(now_ms);
        let tunnel = &mut self.all[index];
        let before = tunnel.dtls.stage();
        let is_sealed = tunnel.dtls.send(message, now, output);
        self.settle(index, before, now_ms, counters);
        is_sealed
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

    /// When [`Tunnels::tick`] has something to do.
    pub(super) fn next_at(&self) -> Option<u64> {
        self.timers.next_at()
    }

    /// Sees to one connection that is due; `output` has what goes to the peer that is returned.
    pub(super) fn tick(&mut self, now_ms: u64, counters: &SnCounters, output: &mut DtlsOutput) -> Option<Peer> {
        while let Some((at_ms, (index, born))) = self.timers.due(now_ms) {
            let patience_ms = self.patience_ms;
            let now = self.instant(now_ms);
            let is_it = |tunnel: &&mut Tunnel| tunnel.born == born && tunnel.timer_ms == Some(at_ms);
            let Some(tunnel) = self.all.get_mut(index).filter(is_it) else { continue };
            tunnel.timer_ms = None;
            let (peer, before) = (tunnel.peer, tunnel.dtls.stage());
            let is_idle = tunnel.idle_until_ms(patience_ms).is_some_and(|until_ms| now_ms >= until_ms);
            match before {
                DtlsStage::Unproven if is_idle => {
                    self.forget(index, Ended::TimedOut, counters);
                    continue;
                }
                DtlsStage::Open if is_idle => {
                    self.dismiss(index, Ended::Idle, counters);
                    continue;
                }
                _ => tunnel.dtls.tick(now, output),
            }
            self.settle(index, before, now_ms, counters);
            return Some(peer);
        }
        self.sweep();
        None
    }

    /// The node stops: whoever is there is told.
    pub(super) fn close_all(&mut self, counters: &SnCounters) {
        let open: Vec<usize> = self.proven.values().copied().collect();
        open.into_iter().for_each(|index| self.dismiss(index, Ended::Closed, counters));
    }

    fn set_timer(&mut self, index: usize, now_ms: u64) {
        let (patience_ms, epoch) = (self.patience_ms, self.epoch);
        let Some(tunnel) = self.all.get_mut(index) else { return };
        let until_ms = tunnel.idle_until_ms(patience_ms).filter(|_| tunnel.dtls.stage() != DtlsStage::Shaking);
        let wake_ms =
            tunnel.dtls.next_wake().map(|at| epoch.1 + at.saturating_duration_since(epoch.0).as_millis() as u64);
        let Some(at_ms) = until_ms.into_iter().chain(wake_ms).min().map(|at_ms| at_ms.max(now_ms)) else { return };
        if tunnel.timer_ms.is_none_or(|set_ms| at_ms < set_ms) {
            tunnel.timer_ms = Some(at_ms);
            let born = tunnel.born;
            self.timers.add(at_ms, (index, born));
        }
    }

    /// Forgets timers whose connection is gone, when there are many.
    fn sweep(&mut self) {
        if self.timers.len() > 2 * self.all.len() + TIMERS_SPARE {
            let all = &self.all;
            self.timers.retain(|at_ms, (index, born)| {
                all.get(*index).is_some_and(|tunnel| tunnel.born == *born && tunnel.timer_ms == Some(at_ms))
            });
        }
    }

    /// It has to go, and is told.
    fn dismiss(&mut self, index: usize, why: Ended, counters: &SnCounters) {
        if let Some(tunnel) = self.all.get_mut(index) {
            let mut output = DtlsOutput::default();
            tunnel.dtls.close(&mut output);
            let peer = tunnel.peer;
            self.farewells.extend(output.packets.iter().map(|packet| (peer, packet.to_vec())));
            self.forget(index, why, counters);
        }
    }

    fn forget(&mut self, index: usize, why: Ended, counters: &SnCounters) {
        let Some(tunnel) = self.all.try_remove(index) else { return };
        counters.seals.ended(why);
        counters.seals.open.set(self.all.len() as u64);
        for by_peer in [&mut self.unproven, &mut self.proven] {
            if by_peer.get(&tunnel.peer) == Some(&index) {
                by_peer.remove(&tunnel.peer);
            }
        }
        self.leave(tunnel.seat);
        self.bereft.extend(tunnel.guests);
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

fn why(end: DtlsEnd) -> Ended {
    match end {
        DtlsEnd::Closed => Ended::Closed,
        DtlsEnd::Failed => Ended::Failed,
        DtlsEnd::Untrusted => Ended::Untrusted,
        DtlsEnd::TimedOut => Ended::TimedOut,
    }
}

#[cfg(test)]
mod tests;
