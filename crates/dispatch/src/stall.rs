//! Members that stop answering, and how they come back.

use hashbrown::HashMap;

/// Clients whose stalls are remembered; beyond, the one whose last stall is longest ago is forgotten.
const REMEMBERED_MAX: usize = 1024;
/// A stall is forgotten after so long without another.
const FORGET_MS: f64 = 600_000.0;
/// Who returns from a stall gets one message at a time until it has acknowledged so many.
const PROBATION_ACKS: u32 = 8;
/// So many prompt acknowledgements in a row show that a stall was none of long work.
const PROMPT_ACKS: u32 = 2;
/// The second stall costs this wait, each further one twice as much.
const WAIT_MS_MIN: f64 = 1000.0;
const WAIT_MS_MAX: f64 = 60_000.0;
/// One stall may be chance. Each further one in a row doubles the time that a client is given, so often at most: to a minute,
/// where one stalls after a second.
const PATIENCE_DOUBLINGS_MAX: u32 = 6;

/// The stalls of clients, known by the hash of their id.
#[derive(Debug, Default)]
pub(crate) struct Stalls {
    of: HashMap<u64, Record>,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    count: u32,
    /// Those since it last acknowledged well.
    in_a_row: u32,
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
        let record = self.of.entry(identity).or_insert(Record { count: 0, in_a_row: 0, last_ms: now_ms });
        if now_ms - record.last_ms > FORGET_MS {
            (record.count, record.in_a_row) = (0, 0);
        }
        let one_more = |stalls: u32| stalls.saturating_add(1);
        *record = Record { count: one_more(record.count), in_a_row: one_more(record.in_a_row), last_ms: now_ms };
    }

    /// A client has acknowledged well: its stalls had another reason than long work.
    pub(crate) fn forgive(&mut self, identity: u64) {
        if let Some(record) = self.of.get_mut(&identity) {
            record.in_a_row = 0;
        }
    }

    /// How often a client has stalled since it last acknowledged well.
    pub(crate) fn in_a_row(&self, identity: u64) -> u32 {
        self.of.get(&identity).map_or(0, |record| record.in_a_row)
    }

    /// How a client is taken in that joins now.
    pub(crate) fn readmit(&self, identity: u64, now_ms: f64) -> Probation {
        match self.of.get(&identity) {
            Some(record) if now_ms - record.last_ms <= FORGET_MS => Probation::after(record, now_ms),
            _ => Probation::NONE,
        }
    }
}

/// The time after a stall in which a client is trusted with little.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probation {
    acks_left: u32,
    opens_at_ms: f64,
    /// Its stalls in a row: its work may be too long for the bound that it was held against.
    stalls: u32,
    /// So many acknowledgements within that bound disprove it.
    prompt_left: u32,
}

impl Probation {
    const NONE: Probation = Probation { acks_left: 0, opens_at_ms: 0.0, stalls: 0, prompt_left: 0 };

    fn after(record: &Record, now_ms: f64) -> Probation {
        let wait_ms = match record.count {
            0 | 1 => 0.0,
            more => (WAIT_MS_MIN * 2_f64.powi(more.min(30) as i32 - 2)).min(WAIT_MS_MAX),
        };
        let (stalls, opens_at_ms) = (record.in_a_row, now_ms + wait_ms);
        Probation { acks_left: PROBATION_ACKS, opens_at_ms, stalls, prompt_left: PROMPT_ACKS }
    }

    /// Messages it may have.
    pub(crate) fn limit(&self, receive_max: u32) -> u32 {
        if self.acks_left > 0 { receive_max.min(1) } else { receive_max }
    }

    /// Before, it gets none.
    pub(crate) fn opens_at_ms(&self) -> f64 {
        self.opens_at_ms
    }

    /// How many times the bound of somebody unknown its oldest message may be overdue; 0: it has not stalled.
    ///
    /// Nothing is learnt from a message that was taken away: without more time each time, a client whose work takes longer
    /// than the bound would never finish any.
    pub(crate) fn patience(&self) -> f64 {
        if self.stalls == 0 { 0.0 } else { 2_f64.powi((self.stalls - 1).min(PATIENCE_DOUBLINGS_MAX) as i32) }
    }

    /// It has acknowledged a message; `is_prompt`: within the bound of somebody unknown. Returns whether its stalls are to be
    /// forgotten: its work is not too long for that bound.
    pub(crate) fn acknowledged(&mut self, is_prompt: bool) -> bool {
        self.acks_left = self.acks_left.saturating_sub(1);
        if self.stalls == 0 {
            return false;
        }
        self.prompt_left = if is_prompt { self.prompt_left - 1 } else { PROMPT_ACKS };
        if self.prompt_left == 0 {
            self.stalls = 0;
        }
        self.stalls == 0
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
            (0..PROBATION_ACKS).for_each(|_| _ = probation.acknowledged(false));
            assert_eq!(probation.limit(50), 50);
        }
        (0..100).for_each(|_| stalls.note(7, 100.0));
        assert_eq!(stalls.readmit(7, 100.0).opens_at_ms(), 100.0 + WAIT_MS_MAX);
        assert_eq!(stalls.readmit(7, 101.0 + FORGET_MS).limit(50), 50);
    }

    #[test]
    fn each_further_stall_in_a_row_doubles_the_patience_until_two_prompt_acknowledgements() {
        let mut stalls = Stalls::default();
        assert_eq!(stalls.readmit(7, 0.0).patience(), 0.0);
        for patience in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 64.0] {
            stalls.note(7, 100.0);
            assert_eq!(stalls.readmit(7, 100.0).patience(), patience);
        }
        let mut probation = stalls.readmit(7, 100.0);
        assert!([true, false, true].into_iter().all(|is_prompt| !probation.acknowledged(is_prompt)));
        assert!(probation.acknowledged(true) && probation.patience() == 0.0);
        stalls.forgive(7);
        stalls.note(7, 100.0);
        assert_eq!((stalls.readmit(7, 100.0).patience(), stalls.in_a_row(7)), (1.0, 1));
    }

    #[test]
    fn the_memory_of_stalls_is_bounded() {
        let mut stalls = Stalls::default();
        (0..3000).for_each(|n| stalls.note(n, n as f64));
        assert_eq!(stalls.of.len(), REMEMBERED_MAX);
        assert!(stalls.of.contains_key(&2999) && !stalls.of.contains_key(&0));
    }
}
