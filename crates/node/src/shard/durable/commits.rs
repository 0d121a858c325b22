//! What waits for the disk: one commit token per turn of the loop.
//!
//! Whatever must not leave before something is durable takes this turn's token: a PUBACK, for example, whose message this shard
//! and another one keep. The turn ends by noting on what the token depends: the LSN of this shard's last log record, and how many
//! messages that must be kept were posted to each other shard. All of these only grow, and so do the tokens: one is committed
//! when the log and every shard have come that far, and with it all before it. So a wait costs one number, and its end one
//! comparison.

use std::collections::VecDeque;

use lapwing_session::CommitToken;

/// One shard's tokens: those it waits for.
#[derive(Debug)]
pub(crate) struct CommitTokens {
    /// The one that this turn gives out.
    current: CommitToken,
    /// Somebody has taken it.
    is_taken: bool,
    /// Every token up to this one is committed.
    committed: CommitToken,
    /// Tokens that are not committed, oldest first, each with the LSN that it waits for.
    line: VecDeque<(CommitToken, u64)>,
    /// For each of them, by shard, the messages posted there until then.
    marks: VecDeque<u64>,
    /// By shard: messages that must be kept there, posted so far.
    posted: Box<[u64]>,
}

impl CommitTokens {
    pub(crate) fn new(shards: u32) -> Self {
        let posted = vec![0; shards as usize].into_boxed_slice();
        CommitTokens {
            current: CommitToken(1),
            is_taken: false,
            committed: CommitToken::NOTHING,
            line: VecDeque::new(),
            marks: VecDeque::new(),
            posted,
        }
    }

    /// The token to wait for with what happens now.
    pub(crate) fn take(&mut self) -> CommitToken {
        self.is_taken = true;
        self.current
    }

    /// Every token up to this one is committed.
    pub(crate) fn committed(&self) -> CommitToken {
        self.committed
    }

    /// A message that must be kept goes to another shard.
    pub(crate) fn posted(&mut self, shard: usize) {
        self.posted[shard] += 1;
    }

    /// The turn is over; `lsn`: that of the last record handed to the log so far.
    pub(crate) fn close(&mut self, lsn: u64) {
        if std::mem::take(&mut self.is_taken) {
            self.line.push_back((self.current, lsn));
            self.marks.extend(self.posted.iter());
            self.current = self.current.next();
        }
    }

    /// True when `commit` would find one committed.
    pub(crate) fn is_due(&self, durable_lsn: u64, confirmed: impl Fn(usize) -> u64) -> bool {
        self.line.front().is_some_and(|(_, lsn)| *lsn <= durable_lsn)
            && self.posted.iter().enumerate().all(|(shard, _)| self.marks[shard] <= confirmed(shard))
    }

    /// The log is durable up to `durable_lsn`, and each shard has confirmed so many messages of ours; returns the last token that
    /// this commits, if it commits one.
    pub(crate) fn commit(&mut self, durable_lsn: u64, confirmed: impl Fn(usize) -> u64) -> Option<CommitToken> {
        let before = self.committed;
        while self.is_due(durable_lsn, &confirmed) {
            if let Some((token, _)) = self.line.pop_front() {
                self.committed = token;
            }
            self.marks.drain(..self.posted.len());
        }
        (self.committed > before).then_some(self.committed)
    }

    /// True when nothing waits.
    pub(crate) fn is_settled(&self) -> bool {
        self.line.is_empty() && !self.is_taken
    }
}

/// The other side: which messages of other shards must be kept here, and from when on they are.
#[derive(Debug)]
pub(crate) struct Confirmations {
    /// By shard: messages taken from it so far.
    taken: Box<[u64]>,
    is_new: bool,
    /// What is not durable yet, oldest first: the LSN that it waits for, and beside it `taken` as it was.
    line: VecDeque<u64>,
    marks: VecDeque<u64>,
}

impl Confirmations {
    pub(crate) fn new(shards: u32) -> Self {
        let taken = vec![0; shards as usize].into_boxed_slice();
        Confirmations { taken, is_new: false, line: VecDeque::new(), marks: VecDeque::new() }
    }

    /// A message of another shard that must be kept has been handled.
    pub(crate) fn taken(&mut self, from: usize) {
        self.taken[from] += 1;
        self.is_new = true;
    }

    /// The turn is over; `lsn`: that of the last record handed to the log so far.
    pub(crate) fn close(&mut self, lsn: u64) {
        if std::mem::take(&mut self.is_new) {
            self.line.push_back(lsn);
            self.marks.extend(self.taken.iter());
        }
    }

    /// True when `confirm` would have something to say.
    pub(crate) fn is_due(&self, durable_lsn: u64) -> bool {
        self.line.front().is_some_and(|lsn| *lsn <= durable_lsn)
    }

    /// The log is durable up to `durable_lsn`: tells each shard how many of its messages are, where that has changed.
    pub(crate) fn confirm(&mut self, durable_lsn: u64, mut tell: impl FnMut(usize, u64)) {
        let (due, shards) = (self.line.iter().take_while(|lsn| **lsn <= durable_lsn).count(), self.taken.len());
        if due == 0 {
            return;
        }
        self.line.drain(..due);
        let last: Vec<u64> = self.marks.drain(..due * shards).skip((due - 1) * shards).collect();
        last.into_iter().enumerate().for_each(|(shard, count)| tell(shard, count));
    }

    /// True when nothing waits to be confirmed.
    pub(crate) fn is_settled(&self) -> bool {
        self.line.is_empty() && !self.is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a token committed when log and shards have come far enough, never before, and with it those before it?
    #[test]
    fn a_token_waits_for_the_log_and_for_every_shard() {
        let mut tokens = CommitTokens::new(2);
        let first = tokens.take();
        tokens.close(10);
        let second = tokens.take();
        tokens.posted(1);
        tokens.close(10);
        assert_eq!(tokens.take(), second.next());
        tokens.close(11);
        assert_eq!(tokens.commit(9, |_| 0), None);
        assert_eq!(tokens.commit(11, |_| 0), Some(first), "the second waits for shard 1, and the third for the second");
        assert_eq!(tokens.commit(11, |_| 1), Some(second.next()));
        assert!(tokens.is_settled());
    }

    /// Does a turn in which nobody waits cost no number?
    #[test]
    fn a_turn_without_a_wait_leaves_nothing() {
        let mut tokens = CommitTokens::new(1);
        tokens.close(5);
        assert!(tokens.is_settled());
        assert_eq!(tokens.take(), CommitToken(1));
        assert_eq!(tokens.commit(u64::MAX, |_| 0), None, "not before the turn is over");
    }

    /// Is each shard told how many of its messages are durable, at the last LSN that is?
    #[test]
    fn confirmations_follow_the_log() {
        let mut confirmations = Confirmations::new(2);
        confirmations.taken(1);
        confirmations.close(3);
        confirmations.taken(1);
        confirmations.taken(0);
        confirmations.close(4);
        let mut told = vec![];
        confirmations.confirm(2, |shard, count| told.push((shard, count)));
        assert!(told.is_empty() && confirmations.is_due(3));
        confirmations.confirm(3, |shard, count| told.push((shard, count)));
        assert_eq!(told, [(0, 0), (1, 1)]);
        told.clear();
        confirmations.confirm(9, |shard, count| told.push((shard, count)));
        assert_eq!(told, [(0, 1), (1, 2)]);
        assert!(confirmations.is_settled());
    }
}
