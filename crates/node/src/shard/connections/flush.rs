//! Writing out: each touched connection once per turn, and what becomes of one that does not take its bytes.

use crate::shard::connections::connection::{Flushed, Pause, Stage};
use crate::shard::connections::in_hand::InHand;
use crate::shard::{Due, Shard};

impl Shard {
    /// Flushes every connection that was written to, or that can be written to again.
    pub(in crate::shard) fn flush_touched(&mut self) {
        let touched = self.clients.take_touched();
        for &index in &touched {
            match self.shared.may_not_answer() {
                true => self.clients.put_back(index),
                false => self.flush(index),
            }
        }
        self.clients.recycle_touched(touched);
    }

    /// Writes out, in the middle of a turn, what has grown to half the mark at a connection that takes its bytes: one
    /// turn may bring a reader more than the mark, and nothing is to be dropped for one that keeps up.
    pub(in crate::shard) fn flush_large(&mut self) {
        while !self.shared.may_not_answer()
            && let Some(index) = self.clients.next_large()
        {
            self.write_out(index);
        }
    }

    fn flush(&mut self, index: usize) {
        if let Some(connection) = self.clients.connection(index) {
            connection.touched = false;
            self.write_out(index);
        }
    }

    fn write_out(&mut self, index: usize) {
        let before = std::mem::replace(&mut self.connections.in_hand, InHand::Output(index));
        self.write_out_in_hand(index);
        self.connections.in_hand = before;
    }

    fn write_out_in_hand(&mut self, index: usize) {
        let now_ms = self.now_ms;
        let committed = self.clients.commit_tokens.committed();
        let Some(connection) = self.clients.connection(index) else { return };
        if connection.write_failed {
            return self.hear_last_words(index);
        }
        let (bytes, flushed) = connection.flush(now_ms, committed);
        connection.bytes_out += bytes;
        if let Stage::Open { session, .. } = connection.stage {
            self.retained.replays.wake(session);
        }
        self.counters.bytes_out.add(bytes);
        if connection.paused == Some(Pause::Output) {
            self.resume_reader(index);
        }
        match flushed {
            Flushed::All => self.flushed(index),
            Flushed::Rest => self.check_reader(index),
            Flushed::Fenced => self.wait_at_fence(index),
            Flushed::Broken => self.hear_last_words(index),
        }
    }

    /// Everything is with the kernel: close what was only waiting for that, else send what waited for room.
    fn flushed(&mut self, index: usize) {
        self.clients.release_buffer(index);
        let Some(connection) = self.clients.connection(index) else { return };
        match connection.stage {
            Stage::Closing if connection.is_delayed() => {}
            Stage::Closing => self.hang_up(index),
            Stage::Open { session, .. } => {
                // What waited may be queued, or be left over from an earlier connection; the session knows.
                let now_ms = self.now_ms;
                let Shard { clients, shared, .. } = self;
                clients.with(session, |session, io| {
                    if session.has_unwritten() {
                        session.written(shared.now_us());
                    }
                    session.pump(now_ms, io);
                });
            }
            Stage::Connecting { .. } => {}
        }
    }

    /// What is left of the output is fenced: it waits for the disk, and the connection with it. One that ends does not wait: what
    /// its client was not told, the client does not count on.
    fn wait_at_fence(&mut self, index: usize) {
        let committed = self.clients.commit_tokens.committed();
        let Some(connection) = self.clients.connection(index) else { return };
        if matches!(connection.stage, Stage::Closing) {
            connection.drop_fenced(committed);
            self.clients.touch(index);
        } else {
            self.clients.wait_for_disk(index);
        }
    }

    /// A connection that the kernel takes no bytes for: watched above the high mark, closed beyond the limit.
    fn check_reader(&mut self, index: usize) {
        let limits = &self.shared.config.limits;
        let (high, max) = (limits.output_high_bytes as usize, limits.output_bytes_max as usize);
        let stall_ms = limits.output_stall_ms;
        let Some(connection) = self.clients.connection(index) else { return };
        if connection.output_bytes() > max && connection.output_bytes_besides_one() > max {
            return self.cut_slow_reader(index);
        }
        let closing = matches!(connection.stage, Stage::Closing);
        if (connection.output.len() >= high || closing) && !connection.watched {
            connection.watched = true;
            let due = Due::Stall { index, born: connection.born };
            // Never in the past: a timer that adds one that is due already would keep the shard for ever.
            let at_ms = (connection.stalled_since_ms + stall_ms).max(self.now_ms + 1);
            self.timers.add(at_ms, due);
        }
    }

    /// The time for a stalled connection is over, unless it took bytes meanwhile.
    pub(in crate::shard) fn stalled(&mut self, index: usize, born: u64) {
        let stall_ms = self.shared.config.limits.output_stall_ms;
        let now_ms = self.now_ms;
        let Some(connection) = self.clients.connection(index).filter(|c| c.born == born) else { return };
        connection.watched = false;
        match connection.stalled_since_ms {
            // It takes bytes; the next flush that leaves some behind watches it again.
            0 => {}
            since_ms if since_ms + stall_ms <= now_ms => self.cut_slow_reader(index),
            _ => self.check_reader(index),
        }
    }

    fn cut_slow_reader(&mut self, index: usize) {
        self.counters.closes_slow_reader.add(1);
        self.part(index);
        self.drop_connection(index);
    }
}
