//! Questions that wait for the hooks: those of clients that were let in, and those of strangers, each shard in turn.
//!
//! Two lines, so that nobody who is in waits behind a flood of those who want to come in.

use std::collections::VecDeque;
use std::time::Instant;

use super::lanes::Question;
use super::{HookCall, HookName};
use crate::mailbox::Inlet;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A client that was let in, or its will.
    Insiders = 0,
    /// Somebody who is nobody yet.
    Strangers = 1,
}

impl Line {
    fn of(calls: &[HookCall]) -> Self {
        match calls.first() {
            Some(HookCall::Auth(auth)) if auth.again => Line::Insiders,
            Some(call) if matches!(call.hook(), HookName::Connect | HookName::Auth) => Line::Strangers,
            _ => Line::Insiders,
        }
    }
}

/// What waits, by line and shard.
pub(super) struct Lines {
    waiting: [Vec<VecDeque<Question>>; 2],
    /// By line: the shard to look at next.
    turns: [usize; 2],
}

impl Lines {
    pub(super) fn new(shards: usize) -> Self {
        let line = || (0..shards).map(|_| VecDeque::new()).collect();
        Lines { waiting: [line(), line()], turns: [0, 0] }
    }

    /// Takes everything that has come; how much that may be is bounded where it is asked.
    pub(super) fn take(&mut self, inlets: &mut [Inlet<Vec<Question>>]) {
        for (shard, inlet) in inlets.iter_mut().enumerate() {
            while let Some(batch) = inlet.take() {
                batch.into_iter().for_each(|question| self.add(shard, question));
            }
        }
    }

    fn add(&mut self, shard: usize, question: Question) {
        self.waiting[Line::of(&question.calls) as usize][shard].push_back(question);
    }

    /// Questions of each shard in turn, about one batch's worth; those that are late go to `late` and no further.
    pub(super) fn gather(
        &mut self,
        line: Line,
        batch_calls: usize,
        now: Instant,
        mut late: impl FnMut(&Question),
    ) -> Vec<(usize, Question)> {
        let (waiting, turn) = (&mut self.waiting[line as usize], &mut self.turns[line as usize]);
        let (mut gathered, mut calls, mut empty) = (Vec::new(), 0, 0);
        while empty < waiting.len() && calls < batch_calls {
            let shard = *turn;
            *turn = (shard + 1) % waiting.len();
            match waiting[shard].pop_front() {
                None => empty += 1,
                Some(question) if question.deadline <= now => {
                    empty = 0;
                    late(&question);
                }
                Some(question) => {
                    empty = 0;
                    calls += question.calls.len();
                    gathered.push((shard, question));
                }
            }
        }
        gathered
    }

    /// Somebody waits in this line.
    pub(super) fn have(&self, line: Line) -> bool {
        self.waiting[line as usize].iter().any(|waiting| !waiting.is_empty())
    }

    /// Nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.iter().flatten().all(VecDeque::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::hooks::{AuthCall, HookClient};

    fn question(ticket: u64, again: bool, deadline: Instant) -> Question {
        let client = HookClient { client_id: "c".into(), identity: None, address: String::new(), version: 5 };
        let auth = AuthCall { client: Arc::new(client), method: "m".into(), data: None, is_first: true, again };
        Question { ticket, deadline, calls: vec![HookCall::Auth(Box::new(auth))], bytes: 1 }
    }

    /// Does each line go through its shards in turn, apart from the other one, and is what is late left out?
    #[test]
    fn who_is_in_has_a_line_of_his_own() {
        let now = Instant::now();
        let later = now + Duration::from_secs(60);
        let mut lines = Lines::new(2);
        for ticket in 0..4 {
            lines.add(0, question(ticket, false, later));
        }
        lines.add(1, question(10, false, later));
        lines.add(1, question(20, true, later));
        lines.add(0, question(21, true, now));
        assert!(lines.have(Line::Insiders) && lines.have(Line::Strangers));
        let mut late = vec![];
        let mut gather = |line, batch_calls| {
            let gathered = lines.gather(line, batch_calls, now, |question| late.push(question.ticket));
            gathered.into_iter().map(|(shard, question)| (shard, question.ticket)).collect::<Vec<_>>()
        };
        assert_eq!(gather(Line::Insiders, 10), [(1, 20)]);
        assert_eq!(gather(Line::Strangers, 3), [(0, 0), (1, 10), (0, 1)]);
        assert_eq!(gather(Line::Strangers, 10), [(0, 2), (0, 3)]);
        assert_eq!(late, [21]);
        assert!(lines.is_empty() && !lines.have(Line::Strangers));
    }
}
