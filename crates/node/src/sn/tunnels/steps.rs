//! From datagram to datagram: who begins, who has shown where he is, what is opened and what is sealed.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use lapwing_transport::{DtlsEnd, DtlsOutput, DtlsStage, is_client_hello};

use super::{Seal, Tunnels, full, source};
use crate::sn::counters::{Dropped, SnCounters};
use crate::sn::seals::Ended;
use crate::sn::tunnel::{Peer, Seat, Tunnel};
use crate::strangers::Place;

impl Tunnels {
    /// Takes a datagram. `output` has what it meant and what goes back, unless this is false.
    pub(in crate::sn) fn take(
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
            // Only what was sealed is the peer's.
            DtlsStage::Open if output.messages.iter().next().is_some() => tunnel.heard_ms = now_ms,
            DtlsStage::Open | DtlsStage::Over(_) => {}
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

    /// After a step: it may be open now, or over; its timer is set.
    pub(super) fn settle(&mut self, index: usize, before: DtlsStage, now_ms: u64, counters: &SnCounters) {
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
    pub(in crate::sn) fn seal(
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
}

fn why(end: DtlsEnd) -> Ended {
    match end {
        DtlsEnd::Closed => Ended::Closed,
        DtlsEnd::Failed => Ended::Failed,
        DtlsEnd::Untrusted => Ended::Untrusted,
        DtlsEnd::TimedOut => Ended::TimedOut,
    }
}
