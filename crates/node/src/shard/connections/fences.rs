//! Bytes that may leave a connection only when something is durable: a CONNACK of a session that is kept, a step of QoS 2.
//!
//! They lie in the output buffer with all others, and what comes behind them waits with them: a connection's bytes leave
//! in their order.

use std::collections::VecDeque;

use lapwing_session::CommitToken;

/// The output fences of one connection: what lies behind one leaves when the token that it waits for is committed.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    /// Position in the output buffer and token, both ascending: from there on nothing leaves before the token is committed.
    line: VecDeque<(usize, CommitToken)>,
}

impl Fences {
    /// What lies at `position` or behind it waits for `token`, at least.
    pub(crate) fn add(&mut self, position: usize, token: CommitToken) {
        if self.line.back().is_none_or(|(_, last)| *last < token) {
            self.line.push_back((position, token));
        }
    }

    /// How much of `len` bytes of output may leave, with everything up to `committed` on disk: never more than there is.
    pub(crate) fn free(&mut self, committed: CommitToken, len: usize) -> usize {
        while self.line.front().is_some_and(|(_, token)| *token <= committed) {
            self.line.pop_front();
        }
        debug_assert!(self.line.iter().all(|(position, _)| *position < len), "a fence beyond the output");
        self.line.front().map_or(len, |(position, _)| len.min(*position))
    }

    /// The first `bytes` bytes have been taken out of the buffer.
    pub(crate) fn shift(&mut self, bytes: usize) {
        self.line.iter_mut().for_each(|(position, _)| *position = position.saturating_sub(bytes));
    }

    /// True when nothing is held back.
    pub(crate) fn is_empty(&self) -> bool {
        self.line.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does each fence keep back what lies behind it until its own token is committed, however the buffer moves?
    #[test]
    fn what_lies_behind_a_fence_waits() {
        let mut fences = Fences::default();
        assert_eq!(fences.free(CommitToken(0), 50), 50);
        fences.add(10, CommitToken(1));
        fences.add(15, CommitToken(1));
        fences.add(20, CommitToken(3));
        assert_eq!(fences.free(CommitToken(0), 50), 10);
        fences.shift(10);
        assert_eq!(fences.free(CommitToken(0), 40), 0);
        assert_eq!(fences.free(CommitToken(2), 40), 10);
        assert_eq!((fences.free(CommitToken(3), 40), fences.is_empty()), (40, true));
    }
}
