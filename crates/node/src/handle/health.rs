//! What keeps a node that runs from serving, and whether its threads go on.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Handle;
use crate::life::Phase;

/// An idle shard turns once a second; on a busy machine it waits for its core.
const IDLE_TURNS: Duration = Duration::from_secs(3);

/// What keeps a node that runs from serving all its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// What has to be on disk is not acknowledged for want of space.
    DiskFull,
    /// A write or sync of the log has not returned for so long; nothing that has to be on disk is acknowledged meanwhile.
    DiskStalled(Duration),
    /// A shard has been at one turn of its loop for so long: its clients hear nothing.
    ShardStalled(usize, Duration),
    /// Memory is above `memory_high_bytes`: nobody new comes in.
    MemoryHigh,
}

impl Hindrance {
    /// In a word.
    pub fn code(&self) -> &'static str {
        match self {
            Hindrance::DiskFull => "disk_full",
            Hindrance::DiskStalled(_) => "disk_stalled",
            Hindrance::ShardStalled(..) => "shard_stalled",
            Hindrance::MemoryHigh => "memory_high",
        }
    }

    /// What to do.
    pub fn remedy(&self) -> &'static str {
        match self {
            Hindrance::DiskFull => "Free some space, or shorten a stream's retention.",
            Hindrance::DiskStalled(_) => {
                "See the kernel's log for the disk of the data folder; what waits is acknowledged when it answers."
            }
            Hindrance::ShardStalled(..) => "If it stays so, start the broker again, and report it.",
            Hindrance::MemoryHigh => {
                "It passes as clients take what waits for them; if it stays so, raise limits.memory_high_bytes."
            }
        }
    }
}

impl std::fmt::Display for Hindrance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Hindrance::DiskFull => f.write_str("the disk is full: what has to be on disk is not acknowledged"),
            Hindrance::DiskStalled(age) => {
                let s = age.as_secs();
                write!(
                    f,
                    "the disk does not answer: a write or sync of the log has taken {s} s so far, and nothing that has to be on disk is acknowledged"
                )
            }
            Hindrance::ShardStalled(shard, age) => {
                write!(
                    f,
                    "shard {shard} has been at one turn of its loop for {} s: its clients get no answer",
                    age.as_secs()
                )
            }
            Hindrance::MemoryHigh => {
                f.write_str("memory is above limits.memory_high_bytes: new connections are refused")
            }
        }
    }
}

/// When each shard's loop was seen to turn: it does so once a second at least, whatever there is to do.
#[derive(Default)]
pub(super) struct Turns(Mutex<Vec<(u64, Instant)>>);

impl Turns {
    /// Takes note of how many turns each shard has made; returns which one has made none for longest, and for how long. One
    /// that has made none at all is still bringing back what is on disk.
    fn look(&self, turns: impl Iterator<Item = u64>, now: Instant) -> Option<(usize, Duration)> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (shard, turns) in turns.enumerate() {
            match seen.get_mut(shard) {
                None => seen.push((turns, now)),
                Some(known) if known.0 != turns || turns == 0 => *known = (turns, now),
                Some(_) => {}
            }
        }
        let ages = seen.iter().map(|(_, at)| now.saturating_duration_since(*at)).enumerate();
        ages.max_by_key(|(_, age)| *age)
    }
}

impl Handle {
    /// What keeps it from serving, if anything: the worst of it.
    pub fn hindrance(&self) -> Option<Hindrance> {
        let shard = self.shard_stall().map(|(shard, age)| Hindrance::ShardStalled(shard, age));
        let disk = || self.disk_is_full().then_some(Hindrance::DiskFull).or_else(|| self.disk_stall());
        shard.or_else(disk).or_else(|| self.shared.memory.refuses_connections().then_some(Hindrance::MemoryHigh))
    }

    /// Whether its threads go on: each shard's loop has turned `within` so long, and the log's write that is under way has not
    /// taken `limits.stuck_after`. A disk that does not answer may answer yet, and whoever starts again waits for the same
    /// one, so the log has longer.
    pub fn is_going_on(&self, within: Duration) -> bool {
        let stuck = self.shared.config.limits.stuck_after();
        self.oldest_turn().is_none_or(|(_, age)| age < within)
            && self.log.as_ref().is_none_or(|(log, _)| log.pulse.age() < stuck)
    }

    /// Whether what has to be on disk cannot be acknowledged for want of space.
    pub fn disk_is_full(&self) -> bool {
        self.log.as_ref().is_some_and(|(log, _)| log.is_full() || log.is_low())
    }

    pub(super) fn disk_stall(&self) -> Option<Hindrance> {
        self.log.as_ref().and_then(|(log, _)| log.pulse.stalled()).map(Hindrance::DiskStalled)
    }

    /// A shard that has not gone on for too long, and for how long.
    pub(super) fn shard_stall(&self) -> Option<(usize, Duration)> {
        let stall = self.shared.config.limits.stall_after().max(IDLE_TURNS);
        self.oldest_turn().filter(|(_, age)| *age >= stall)
    }

    /// The shard whose loop has not turned for longest, and for how long; None where the node ends.
    fn oldest_turn(&self) -> Option<(usize, Duration)> {
        if self.shared.phase() == Phase::Stopping {
            return None;
        }
        let shards = &self.counters[..self.shared.bells.len()];
        self.turns.look(shards.iter().map(|counters| counters.turns.get()), Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a loop that does not turn found, however many others do, and not one that has not begun?
    #[test]
    fn a_loop_that_does_not_turn_is_found() {
        let (turns, start) = (Turns::default(), Instant::now());
        let at = |s| start + Duration::from_secs(s);
        let look = |counts: [u64; 3], s| turns.look(counts.into_iter(), at(s)).expect("shards");
        assert_eq!(look([0, 5, 5], 0).1, Duration::ZERO);
        assert_eq!(look([0, 5, 6], 9), (1, Duration::from_secs(9)));
        assert_eq!(look([0, 5, 7], 40), (1, Duration::from_secs(40)));
        assert_eq!(look([1, 6, 7], 50), (2, Duration::from_secs(10)));
        assert_eq!(look([1, 6, 8], 70), (1, Duration::from_secs(20)));
    }
}
