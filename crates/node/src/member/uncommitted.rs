//! Since when batches wait for their commit.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use lapwing_peer::GroupNumber;

/// Batches that this node has appended as a leader, until they are committed. It is the raft thread's.
#[derive(Debug, Default)]
pub(super) struct Uncommitted {
    groups: BTreeMap<GroupNumber, Led>,
}

/// Those of one group, of one term: those of an earlier one are another leader's to commit.
#[derive(Debug, Default)]
struct Led {
    term: u64,
    /// First sequence, and when it was appended; in order.
    batches: VecDeque<(u64, Instant)>,
}

impl Uncommitted {
    /// A batch was appended in a group that this node leads in that term.
    pub(super) fn appended(&mut self, group: GroupNumber, term: u64, first_sequence: u64, now: Instant) {
        let led = self.groups.entry(group).or_default();
        if led.term != term {
            *led = Led { term, batches: VecDeque::new() };
        }
        led.batches.push_back((first_sequence, now));
    }

    /// A batch is committed, and with it all before it.
    pub(super) fn committed(&mut self, group: GroupNumber, first_sequence: u64) {
        let Some(led) = self.groups.get_mut(&group) else { return };
        while led.batches.front().is_some_and(|(first, _)| *first <= first_sequence) {
            led.batches.pop_front();
        }
    }

    /// For how long the oldest batch has waited, of groups that are led: `leads` says in which term one is. Zero: none waits.
    pub(super) fn age(&self, leads: impl Fn(GroupNumber) -> Option<u64>, now: Instant) -> Duration {
        let is_led = |(group, led): &(&GroupNumber, &Led)| leads(**group) == Some(led.term);
        let led = self.groups.iter().filter(is_led);
        let oldest = led.filter_map(|(_, led)| led.batches.front()).map(|(_, at)| *at).min();
        oldest.map_or(Duration::ZERO, |at| now.saturating_duration_since(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: GroupNumber = GroupNumber::new(0).expect("a group");
    const SECOND: GroupNumber = GroupNumber::new(1).expect("a group");

    /// Is it the age of the oldest that no commit has reached, over all groups that are led in the term of the batch?
    #[test]
    fn the_oldest_counts_until_it_is_committed() {
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        let mut uncommitted = Uncommitted::default();
        let age_ms = |uncommitted: &Uncommitted, term| uncommitted.age(|_| term, at(100)).as_millis();
        assert_eq!(age_ms(&uncommitted, Some(1)), 0);
        uncommitted.appended(FIRST, 1, 10, at(0));
        uncommitted.appended(SECOND, 1, 7, at(20));
        uncommitted.appended(FIRST, 1, 15, at(50));
        assert_eq!(age_ms(&uncommitted, Some(1)), 100);
        assert_eq!((age_ms(&uncommitted, Some(2)), age_ms(&uncommitted, None)), (0, 0), "it is another's to commit");
        uncommitted.committed(FIRST, 9);
        assert_eq!(age_ms(&uncommitted, Some(1)), 100);
        uncommitted.committed(FIRST, 10);
        assert_eq!(age_ms(&uncommitted, Some(1)), 80, "the other group's");
        uncommitted.committed(SECOND, 30);
        assert_eq!(age_ms(&uncommitted, Some(1)), 50);
        uncommitted.appended(FIRST, 3, 15, at(90));
        assert_eq!(age_ms(&uncommitted, Some(3)), 10, "those of the term before are void");
        uncommitted.committed(FIRST, 15);
        assert_eq!(age_ms(&uncommitted, Some(3)), 0);
    }
}
