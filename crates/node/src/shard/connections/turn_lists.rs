//! Which connections have something to do in a turn: bytes to read, bytes to write.

use crate::shard::connections::clients::Clients;
use crate::shard::connections::connection::Connection;

impl Clients {
    /// The kernel takes bytes again.
    pub(crate) fn writable(&mut self, index: usize) {
        if let Some(connection) = self.connections.get_mut(index)
            && (connection.output_bytes() > 0 || connection.socket.has_unsent())
        {
            touch(connection, index, &mut self.touched);
        }
    }

    /// Lets the connection be read in this or the next turn.
    pub(crate) fn queue_read(&mut self, index: usize) {
        if let Some(connection) = self.connections.get_mut(index)
            && !connection.queued
            && connection.paused.is_none()
        {
            connection.queued = true;
            self.ready.push_back(index);
        }
    }

    /// The next connection to read. A turn takes as many as stood in the list when it began: who is read to the end of its share
    /// stands behind them.
    pub(crate) fn next_ready(&mut self) -> Option<usize> {
        let index = self.ready.pop_front()?;
        if let Some(connection) = self.connections.get_mut(index) {
            connection.queued = false;
        }
        Some(index)
    }

    pub(crate) fn ready_count(&self) -> usize {
        self.ready.len()
    }

    /// Lets the connection be flushed at the end of this turn.
    pub(crate) fn touch(&mut self, index: usize) {
        if let Some(connection) = self.connections.get_mut(index) {
            touch(connection, index, &mut self.touched);
        }
    }

    /// Takes the list of connections to flush.
    pub(crate) fn take_touched(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.touched)
    }

    /// A connection of a list that was taken stays to be flushed.
    pub(crate) fn put_back(&mut self, index: usize) {
        self.touched.push(index);
    }

    /// The next connection whose output should not wait for the end of the turn.
    pub(crate) fn next_large(&mut self) -> Option<usize> {
        self.large.pop()
    }

    /// Gives the memory of the list back.
    pub(crate) fn recycle_touched(&mut self, mut list: Vec<usize>) {
        list.clear();
        list.append(&mut self.touched);
        self.touched = list;
    }

    pub(crate) fn has_touched(&self) -> bool {
        !self.touched.is_empty()
    }
}

/// Lets the connection be flushed at the end of this turn.
pub(in crate::shard) fn touch(connection: &mut Connection, index: usize, touched: &mut Vec<usize>) {
    if !connection.touched {
        connection.touched = true;
        touched.push(index);
    }
}
