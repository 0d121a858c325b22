//! Members that stop answering, and how they come back.

use hashbrown::HashMap;

/// Clients whose stalls are remembered; beyond, the one whose last stall is longest ago is forgotten.
const REMEMBERED_MAX: usize = 1024;
/// A stall is forgotten after so long without another.
const FORGET_MS: f64 = 600_000.0;
/// Who returns from a stall gets one message at a time until it has acknowledged so many.
const PROBATION_ACKS: u32 = 8;
/// The second stall costs this wait, each further one twice as much.
const WAIT_MS_MIN: f64 = 1000.0;
const WAIT_MS_MAX: f64 = 60_000.0;

/// The stalls of clients, known by the hash of their id.
#[derive(Debug, Default)]
pub(crate) struct Stalls {
    of: HashMap<u64, Record>,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    count: u32,
    last_ms: f64,
}

impl Stalls {
    /// A client was sent away because it had stalled.
    pub(crate) fn note(&mut self, identity: u64, now_ms: f64) {
        if self.of.len() >= REMEMBERED_MAX && !self.of.contains_key(&identity) {
            let oldest = self.of.iter().min_by(|one, other| one.1.last_ms.total_cmp(&other.1.last_ms));
            if let Some(oldest) = oldest.map(|(&identity, _)| identity) {
                self.of.remove(&oldest);
            }
        }
        let record = self.of.entry(identity).or_insert(Record { count: 0, last_ms: now_ms });
        let is_old = now_ms - record.last_ms > FORGET_MS;
        *record = Record { count: if is_old { 1 } else { record.count.saturating_add(1) }, last_ms: now_ms };
    }

    /// How a client is taken in that joins now.
    pub(crate) fn readmit(&self, identity: u64, now_ms: f64) -> Probation {
        match self.of.get(&identity) {
            Some(record) if now_ms - record.last_ms <= FORGET_MS => Probation::after(record.count, now_ms),
            _ => Probation::NONE,
        }
    }
}

/// The time after a stall in which a client is trusted with little.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probation {
    acks_left: u32,
    opens_at_ms: f64,
}

impl Probation {
    const NONE: Probation = Probation { acks_left: 0, opens_at_ms: 0.0 };

    fn after(stalls: u32, now_ms: f64) -> Probation {
        let wait_ms = match stalls {
            0 | 1 => 0.0,
            more => (WAIT_MS_MIN * 2_f64.powi(more.min(30) as i32 - 2)).min(WAIT_MS_MAX),
        };
        Probation { acks_left: PROBATION_ACKS, opens_at_ms: now_ms + wait_ms }
    }

    /// Messages it may have.
    pub(crate) fn limit(&self, receive_max: u32) -> u32 {
        if self.acks_left > 0 { receive_max.min(1) } else { receive_max }
    }

    /// Before, it gets none.
    pub(crate) fn opens_at_ms(&self) -> f64 {
        self.opens_at_ms
    }

    pub(crate) fn acknowledged(&mut self) {
        self.acks_left = self.acks_left.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stalls_again_waits_longer_and_gets_one_message_at_first() {
        let mut stalls = Stalls::default();
        assert_eq!(stalls.readmit(7, 0.0).limit(50), 50);
        let waits = [0.0, 1000.0, 2000.0, 4000.0];
        for wait_ms in waits {
            stalls.note(7, 100.0);
            let mut probation = stalls.readmit(7, 100.0);
            assert_eq!((probation.opens_at_ms(), probation.limit(50)), (100.0 + wait_ms, 1));
            (0..PROBATION_ACKS).for_each(|_| probation.acknowledged());
            assert_eq!(probation.limit(50), 50);
        }
        (0..100).for_each(|_| stalls.note(7, 100.0));
        assert_eq!(stalls.readmit(7, 100.0).opens_at_ms(), 100.0 + WAIT_MS_MAX);
        assert_eq!(stalls.readmit(7, 101.0 + FORGET_MS).limit(50), 50);
    }

    #[test]
    fn the_memory_of_stalls_is_bounded() {
        let mut stalls = Stalls::default();
        (0..3000).for_each(|n| stalls.note(n, n as f64));
        assert_eq!(stalls.of.len(), REMEMBERED_MAX);
        assert!(stalls.of.contains_key(&2999) && !stalls.of.contains_key(&0));
    }
}
