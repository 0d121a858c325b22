//! Connections that are not read on: for want of room somewhere, or because they had their share.

use super::Shard;
use super::connection::Hold;
use super::serve::Flow;
use crate::log::LogFeed;
use crate::memory::Pressure;

/// Filters that one connection may bring in one turn before the others have theirs; the packet that exceeds it is taken.
const FILTERS_PER_SHARE: u64 = 256;

impl Shard {
    /// A filter costs about as much as a hundred packets of acknowledgement: a read full of them waits for the next turn.
    pub(super) fn check_share(&mut self, index: usize) -> Flow {
        let flow = self.check_room(index);
        let is_spent = self.filters_taken >= FILTERS_PER_SHARE;
        if is_spent && flow == Flow::Continue { Flow::Later } else { flow }
    }

    /// Announcements go by mail and answers into the output buffer: both must have room.
    pub(super) fn check_room(&mut self, index: usize) -> Flow {
        if self.post.has_credit() { self.check_output(index) } else { self.hold(index, Hold::Mail) }
    }

    /// Acknowledgements are always written, so a client that does not read must not go on asking for them.
    pub(super) fn check_output(&mut self, index: usize) -> Flow {
        let output_bytes_max = self.output_hold_bytes();
        match self.clients.connection(index) {
            Some(connection) if connection.output_bytes() > output_bytes_max => self.hold(index, Hold::Output),
            _ => Flow::Continue,
        }
    }

    /// Midway between the mark from which nothing but acknowledgements is written and the end.
    fn output_hold_bytes(&self) -> usize {
        let limits = &self.shared.config.limits;
        (limits.output_high_bytes as usize).midpoint(limits.output_bytes_max as usize)
    }

    pub(super) fn hold(&mut self, index: usize, reason: Hold) -> Flow {
        if let Some(connection) = self.clients.connection(index) {
            connection.hold = Some(reason);
            self.held.push(index);
            self.counters.reads_held.add(1);
        }
        Flow::Held
    }

    /// Lets those go on for which there is room again.
    pub(super) fn release_held(&mut self) {
        for index in std::mem::take(&mut self.held) {
            if !self.has_room_for(index) {
                self.held.push(index);
            } else if let Some(connection) = self.clients.connection(index) {
                connection.hold = None;
                self.clients.queue_read(index);
            }
        }
    }

    /// True when some connection could go on now.
    pub(super) fn can_release(&mut self) -> bool {
        (0..self.held.len()).any(|n| self.has_room_for(self.held[n]))
    }

    /// Whether what the connection was held for is over (so it is when the connection itself is).
    fn has_room_for(&mut self, index: usize) -> bool {
        let output_bytes_max = self.output_hold_bytes();
        let Some(connection) = self.clients.connection(index) else { return true };
        match connection.hold {
            Some(Hold::Mail) => self.post.has_credit(),
            Some(Hold::Log) => self.log.as_ref().is_none_or(LogFeed::has_credit),
            Some(Hold::Output) => connection.output_bytes() <= output_bytes_max,
            Some(Hold::Memory) => self.pressure < Pressure::Full,
            // A bucket has its own timer, a verdict its own message, and a draining connection nothing to wait for.
            Some(Hold::Rate | Hold::Gate | Hold::Drain) => false,
            None => true,
        }
    }
}
