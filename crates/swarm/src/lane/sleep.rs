//! A lane's clients that sleep: each awakes when its time comes, takes what waits, and sleeps again (MQTT-SN, 6.14).

use super::Lane;
use crate::clock::{SECOND_NS, now_ns};
use crate::sim_client::{SimClient, Stage};
use lapwing_sn::peer::Phase;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Who awakes when.
#[derive(Debug, Default)]
pub(super) struct Sleepers {
    /// When, and which client; each once.
    wakes: BinaryHeap<Reverse<(u64, usize)>>,
    /// How many are awake.
    pub awake: u64,
}

impl Lane {
    /// SUBACK is in: to sleep.
    pub(super) fn lie_down(&mut self, index: usize) {
        let duration_s = self.profile.sleep_at_most_s();
        let SimClient { link: Some(link), stage, .. } = &mut self.clients[index] else { return };
        match link.sleep(duration_s) {
            Ok(()) => {
                *stage = Stage::LyingDown;
                self.touch(index);
            }
            Err(error) => self.lose(index, &error),
        }
    }

    /// Takes part once the gateway knows that it sleeps.
    pub(super) fn fall_asleep(&mut self, index: usize) {
        if self.clients[index].link.as_ref().is_some_and(|link| link.state() == Phase::Asleep) {
            self.enter(index);
        }
    }

    /// Spreads first wakes over the second sleep, in the order of the subscribers of the whole run.
    pub(super) fn plan_wakes(&mut self, start_ns: u64) {
        let sleep_ns = self.sleep_ns();
        if sleep_ns == 0 {
            return;
        }
        let subscribers = f64::from(self.profile.subscribers);
        for (index, client) in self.clients.iter().enumerate() {
            let Some(subscriber) = &client.subscriber else { continue };
            let share = f64::from(subscriber.index) / subscribers;
            let first_ns = start_ns + sleep_ns + (share * sleep_ns as f64) as u64;
            self.sleepers.wakes.push(Reverse((first_ns, index)));
        }
    }

    fn sleep_ns(&self) -> u64 {
        (self.profile.sleep_s * SECOND_NS as f64) as u64
    }

    /// Wakes those whose time has come.
    pub(super) fn wake_due(&mut self) {
        while let Some(&Reverse((due_ns, index))) = self.sleepers.wakes.peek() {
            let now = now_ns();
            if due_ns > now || self.board.is_resting() {
                return;
            }
            self.sleepers.wakes.pop();
            self.wake(index, due_ns, now);
        }
    }

    fn wake(&mut self, index: usize, due_ns: u64, now: u64) {
        // One that still takes what waits sleeps through this time.
        let next_ns = (due_ns + self.sleep_ns()).max(now);
        let SimClient { link: Some(link), woke_ns, .. } = &mut self.clients[index] else { return };
        self.sleepers.wakes.push(Reverse((next_ns, index)));
        if link.state() != Phase::Asleep {
            return;
        }
        match link.awake() {
            Ok(()) => {
                *woke_ns = Some(now);
                self.sleepers.awake += 1;
                self.outcome.wakes += 1;
                if self.outcome.first_woke_ns == 0 {
                    self.outcome.first_woke_ns = now;
                }
                self.touch(index);
            }
            Err(error) => self.lose(index, &error),
        }
    }

    /// After something came: has it got all that waited?
    pub(super) fn look_whether_drained(&mut self, index: usize) {
        let SimClient { link: Some(link), woke_ns, .. } = &mut self.clients[index] else { return };
        if woke_ns.is_none() || link.state() != Phase::Asleep {
            return;
        }
        let Some(since_ns) = woke_ns.take() else { return };
        let now = now_ns();
        self.sleepers.awake -= 1;
        self.outcome.drain.record(now - since_ns);
        self.outcome.last_drained_ns = now;
    }
}
