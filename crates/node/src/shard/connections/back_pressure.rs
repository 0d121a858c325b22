//! Back-pressure: connections that are not read on, for want of room somewhere, or because they had their share.

use crate::log::LogFeed;
use crate::memory::Pressure;
use crate::shard::connections::connection::Pause;
use crate::shard::connections::serve::Flow;
use crate::shard::{Due, Shard};

/// Filters that one connection may bring at a time, before it waits for [`SHARE_PAUSE_MS`]; a packet of more is done by
/// parts. So many at least of ended sessions go at a time too.
pub(in crate::shard) const FILTERS_PER_SHARE: u64 = 64;
/// How long a connection waits that has had its share of filters: as long as they took, and more, is left to the others.
pub(in crate::shard) const SHARE_PAUSE_MS: u64 = 1;

impl Shard {
    /// A filter costs about as much as a hundred packets of acknowledgement, here and on every other shard: a client that
    /// brings them by the thousand must not keep a core to itself.
    pub(in crate::shard) fn check_share(&mut self, index: usize) -> Flow {
        let flow = self.check_room(index);
        if flow != Flow::Continue || self.connections.filters_taken < FILTERS_PER_SHARE {
            return flow;
        }
        if let Some(born) = self.clients.connection(index).map(|connection| connection.born) {
            self.timers.add(self.now_ms + SHARE_PAUSE_MS, Due::Rate { index, born });
        }
        self.pause(index, Pause::Share)
    }

    /// Announcements go by mail and answers into the output buffer: both must have room.
    pub(in crate::shard) fn check_room(&mut self, index: usize) -> Flow {
        if self.mail.post.has_credit() { self.check_output(index) } else { self.pause(index, Pause::Mail) }
    }

    /// Acknowledgements are always written, so a client that does not read must not go on asking for them.
    pub(in crate::shard) fn check_output(&mut self, index: usize) -> Flow {
        let output_bytes_max = self.output_pause_bytes();
        match self.clients.connection(index) {
            Some(connection) if connection.output_bytes() > output_bytes_max => self.pause(index, Pause::Output),
            _ => Flow::Continue,
        }
    }

    /// Midway between the mark from which nothing but acknowledgements is written and the end.
    fn output_pause_bytes(&self) -> usize {
        let limits = &self.shared.config.limits;
        (limits.output_high_bytes as usize).midpoint(limits.output_bytes_max as usize)
    }

    pub(in crate::shard) fn pause(&mut self, index: usize, reason: Pause) -> Flow {
        if let Some(connection) = self.clients.connection(index) {
            connection.paused = Some(reason);
            self.connections.paused.add(index, reason);
            self.counters.reads_held.add(1);
        }
        Flow::Paused
    }

    /// Lets those go on for which there is room again.
    pub(in crate::shard) fn resume_paused(&mut self) {
        for reason in Paused::SHARD_WIDE {
            if !self.connections.paused.is_empty(reason) && self.has_room_again(reason) {
                self.connections.paused.take(reason).into_iter().for_each(|index| self.resume(index, reason));
            }
        }
    }

    /// True when some connection could go on now. Asked several times in a turn, so it must not look at each of them.
    pub(in crate::shard) fn can_resume(&self) -> bool {
        Paused::SHARD_WIDE
            .into_iter()
            .any(|reason| !self.connections.paused.is_empty(reason) && self.has_room_again(reason))
    }

    /// The kernel has taken bytes of a connection: one that was paused because they were too many goes on.
    pub(in crate::shard) fn resume_reader(&mut self, index: usize) {
        let output_bytes_max = self.output_pause_bytes();
        if self.clients.connection(index).is_some_and(|connection| connection.output_bytes() <= output_bytes_max) {
            self.resume(index, Pause::Output);
        }
    }

    /// Lets a connection go on if it is (still) paused for this reason.
    fn resume(&mut self, index: usize, reason: Pause) {
        if let Some(connection) = self.clients.connection(index)
            && connection.paused == Some(reason)
        {
            connection.paused = None;
            self.clients.queue_read(index);
        }
    }

    /// Whether there is room in what all connections of the shard share.
    fn has_room_again(&self, reason: Pause) -> bool {
        match reason {
            Pause::Mail => self.mail.post.has_credit(),
            Pause::Log => self.durable.log.as_ref().is_none_or(LogFeed::has_credit),
            Pause::Memory => self.pressure < Pressure::Full,
            // Its own flush, timer or verdict lets such a connection go on; a draining one has nothing to wait for.
            Pause::Output | Pause::Rate | Pause::Share | Pause::Gate | Pause::Drain => false,
        }
    }
}

/// Connections that are paused for want of something that all of the shard share, by what it is. Some may be paused for
/// another reason by now, or be gone.
#[derive(Debug, Default)]
pub(in crate::shard) struct Paused {
    lists: [Vec<usize>; Paused::SHARD_WIDE.len()],
}

impl Paused {
    /// What one look answers for all of them.
    const SHARD_WIDE: [Pause; 3] = [Pause::Mail, Pause::Log, Pause::Memory];

    /// Notes a connection, unless its reason is its own.
    fn add(&mut self, index: usize, reason: Pause) {
        if let Some(list) = Self::list_of(reason).map(|at| &mut self.lists[at]) {
            list.push(index);
        }
    }

    fn is_empty(&self, reason: Pause) -> bool {
        Self::list_of(reason).is_none_or(|at| self.lists[at].is_empty())
    }

    fn take(&mut self, reason: Pause) -> Vec<usize> {
        Self::list_of(reason).map_or_else(Vec::new, |at| std::mem::take(&mut self.lists[at]))
    }

    fn list_of(reason: Pause) -> Option<usize> {
        Self::SHARD_WIDE.iter().position(|shared| *shared == reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each list has its own connections; those with a reason of their own are in none.
    #[test]
    fn connections_are_listed_by_what_they_wait_for() {
        let mut paused = Paused::default();
        for (index, reason) in
            [(1, Pause::Mail), (2, Pause::Log), (3, Pause::Mail), (4, Pause::Output), (5, Pause::Memory)]
        {
            paused.add(index, reason);
        }
        assert_eq!((paused.take(Pause::Mail), paused.take(Pause::Mail)), (vec![1, 3], vec![]));
        assert!(paused.is_empty(Pause::Mail) && paused.is_empty(Pause::Output) && !paused.is_empty(Pause::Log));
        assert_eq!(
            (paused.take(Pause::Log), paused.take(Pause::Output), paused.take(Pause::Memory)),
            (vec![2], vec![], vec![5])
        );
    }
}
