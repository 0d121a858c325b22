//! What clients have for their shards goes when the turn has heard all of them. A shard that is woken for each datagram would
//! take them one by one, and write what comes of each by itself: where both threads share a core, that is a change of threads
//! for every few messages.

use super::link::Written;
use super::thread::SnThread;

impl SnThread {
    /// What a client has for its shard goes when the turn has heard all others, or at once where it is much.
    pub(super) fn flush_soon(&mut self, index: usize) {
        let Some(link) = self.table.get(index).and_then(|guest| guest.link.as_mut()) else { return };
        if link.has_much_output() {
            self.flush(index);
        } else if link.has_output() && !std::mem::replace(&mut link.is_unflushed, true) {
            self.unflushed.push(index);
        }
    }

    /// All of a turn goes at once, so that a shard is woken once for it.
    pub(super) fn flush_all(&mut self) {
        let mut places = std::mem::take(&mut self.unflushed);
        for index in places.drain(..) {
            if let Some(link) = self.table.get(index).and_then(|guest| guest.link.as_mut()) {
                link.is_unflushed = false;
            }
            self.flush(index);
        }
        self.unflushed = places;
    }

    fn flush(&mut self, index: usize) {
        let Some(link) = self.table.get(index).and_then(|guest| guest.link.as_mut()) else { return };
        if link.has_output() && link.flush() == Written::Broken {
            // Its end is read with what was said before it.
            link.is_readable = true;
            self.touched.push(index);
        }
    }
}
