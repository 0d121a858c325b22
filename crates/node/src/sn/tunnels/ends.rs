//! Time, and how connections end.

use lapwing_transport::{DtlsOutput, DtlsStage};

use super::Tunnels;
use crate::sn::counters::SnCounters;
use crate::sn::seals::Ended;
use crate::sn::tunnel::{Peer, Tunnel};

impl Tunnels {
    /// When [`Tunnels::tick`] has something to do.
    pub(in crate::sn) fn next_at(&self) -> Option<u64> {
        self.timers.next_at()
    }

    /// Sees to one connection that is due; `output` has what goes to the peer that is returned.
    pub(in crate::sn) fn tick(&mut self, now_ms: u64, counters: &SnCounters, output: &mut DtlsOutput) -> Option<Peer> {
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
    pub(in crate::sn) fn close_all(&mut self, counters: &SnCounters) {
        let open: Vec<usize> = self.proven.values().copied().collect();
        open.into_iter().for_each(|index| self.dismiss(index, Ended::Closed, counters));
    }

    pub(super) fn set_timer(&mut self, index: usize, now_ms: u64) {
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
        if self.timers.is_full() {
            let all = &self.all;
            self.timers.retain(|at_ms, (index, born)| {
                all.get(*index).is_some_and(|tunnel| tunnel.born == *born && tunnel.timer_ms == Some(at_ms))
            });
        }
    }

    /// It has to go, and is told.
    pub(super) fn dismiss(&mut self, index: usize, why: Ended, counters: &SnCounters) {
        if let Some(tunnel) = self.all.get_mut(index) {
            let mut output = DtlsOutput::default();
            tunnel.dtls.close(&mut output);
            let peer = tunnel.peer;
            self.farewells.extend(output.packets.iter().map(|packet| (peer, packet.to_vec())));
            self.forget(index, why, counters);
        }
    }

    pub(super) fn forget(&mut self, index: usize, why: Ended, counters: &SnCounters) {
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
}
