//! When a node that hears nothing asks for votes. raft-rs draws these times from a generator of the thread whenever its
//! role changes; here they come from the seed, and are set before every tick.

use crate::config::Config;
use crate::random::Random;

/// The time until an election, drawn anew for each term, role and attempt.
#[derive(Debug)]
pub(crate) struct Timeouts {
    random: Random,
    first: usize,
    many: usize,
    drawn: usize,
    drawn_for: Option<(u64, u8)>,
}

impl Timeouts {
    pub(crate) fn new(config: &Config) -> Timeouts {
        let first = config.election_ticks as usize;
        let random = Random::new(config.seed ^ config.id.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Timeouts { random, first, many: config.election_ticks_end() - first, drawn: first, drawn_for: None }
    }

    /// Ticks without a leader after which a node in this term and role asks for votes.
    pub(crate) fn current(&mut self, term: u64, role: u8) -> usize {
        if self.drawn_for != Some((term, role)) {
            self.drawn_for = Some((term, role));
            self.drawn = self.first + self.random.below(self.many);
        }
        self.drawn
    }

    /// It has asked: the next time is another one, or two that met would meet for ever.
    pub(crate) fn asked(&mut self) {
        self.drawn_for = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Do times repeat by seed, stay within their bounds, and differ between attempts and between nodes?
    #[test]
    fn times_come_from_the_seed() {
        let times = |id, seed| {
            let mut timeouts = Timeouts::new(&Config::new(id, seed));
            let draw = |_| {
                timeouts.asked();
                timeouts.current(7, 0)
            };
            (0..100).map(draw).collect::<Vec<_>>()
        };
        assert_eq!(times(1, 42), times(1, 42));
        assert_ne!(times(1, 42), times(2, 42));
        assert_ne!(times(1, 42), times(1, 43));
        let drawn = times(1, 42);
        assert!(drawn.iter().all(|ticks| (50..75).contains(ticks)), "{drawn:?}");
        assert!(drawn.iter().any(|ticks| *ticks != drawn[0]));
    }

    /// Does the time stay while term and role do?
    #[test]
    fn a_time_holds_for_a_term_and_a_role() {
        let mut timeouts = Timeouts::new(&Config::new(1, 1));
        let first = timeouts.current(1, 0);
        assert!((0..50).all(|_| timeouts.current(1, 0) == first));
        assert!((2..50).any(|term| timeouts.current(term, 0) != first));
    }
}
