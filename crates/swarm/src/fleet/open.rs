//! What a lane has taken up and the broker has not answered: bounded, for a broker may answer nothing at all.

/// Messages taken up and not over: due, sent or waiting for a connection, a window, an answer.
#[derive(Debug)]
pub(super) struct Open {
    messages: usize,
    bytes: usize,
    messages_max: usize,
    bytes_max: usize,
}

impl Open {
    /// One of `lanes` equal shares of the fleet's bounds; a share is never nothing.
    pub fn share_of(messages_max: usize, bytes_max: usize, lanes: u32) -> Self {
        let share = |whole: usize| whole.div_ceil(lanes.max(1) as usize);
        Self { messages: 0, bytes: 0, messages_max: share(messages_max), bytes_max: share(bytes_max) }
    }

    /// Whether one of `bytes` may be taken up; where nothing is open, one of any size.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.messages == 0 || (self.messages < self.messages_max && self.bytes + bytes <= self.bytes_max)
    }

    pub fn enter(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes;
    }

    pub fn leave(&mut self, bytes: usize) {
        self.messages -= 1;
        self.bytes -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Do both bounds hold, per lane, and does one of any size fit where nothing is open?
    #[test]
    fn bounds() {
        let mut open = Open::share_of(4, 200, 2);
        assert!(open.has_room(1000));
        open.enter(90);
        assert!(open.has_room(10) && !open.has_room(11));
        open.enter(10);
        assert!(!open.has_room(0), "two of four messages are this lane's");
        open.leave(90);
        assert!(open.has_room(90));
    }
}
